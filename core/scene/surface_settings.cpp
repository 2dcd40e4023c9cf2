#include "core/scene/surface_settings.h"

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/mesh/files/files.h"
#include "core/scene/files/mesh_cache.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const PrimitiveInfo& primitive : primitive_list()) names.push_back(primitive.name);
  names.push_back("file");
  return names;
}

// Models take seconds to remesh, so they are kept.
TriMesh cached_model(const SurfaceSettings& settings, const std::function<TriMesh()>& make) {
  SurfaceSettings unscaled = settings;
  unscaled.scale = 1;
  return cached_surface(write_object(description_of<SurfaceSettings>(), &unscaled).dump(), make);
}

TriMesh make_unscaled(const SurfaceSettings& s, const std::string& directory) {
  if (s.box) return make_box(*s.box);
  if (s.plank) return make_plank(*s.plank);
  if (s.plate) return make_plate(*s.plate);
  if (s.sheet) return make_sheet(*s.sheet);
  if (s.sleeve) return make_sleeve(*s.sleeve);
  if (s.sphere) return make_sphere(*s.sphere);
  if (s.cylinder) return make_cylinder(*s.cylinder);
  if (s.capsule) return make_capsule(*s.capsule);
  if (s.torus) return make_torus(*s.torus);
  if (s.tube) return make_tube(*s.tube);
  if (s.barrel) return make_barrel(*s.barrel);
  if (s.vase) return make_vase(*s.vase);
  if (s.car) return cached_model(s, [&] { return make_car(*s.car); });
  if (s.aeroplane) return cached_model(s, [&] { return make_aeroplane(*s.aeroplane); });
  if (s.arm) return cached_model(s, [&] { return make_arm(*s.arm); });
  if (s.crane) return cached_model(s, [&] { return make_crane(*s.crane); });
  if (s.ship) return cached_model(s, [&] { return make_ship(*s.ship); });
  if (s.rabbit) return cached_model(s, [&] { return make_rabbit(*s.rabbit); });
  if (s.frame) return cached_model(s, [&] { return make_frame(*s.frame); });
  if (s.spaceship) return cached_model(s, [&] { return make_spaceship(*s.spaceship); });
  if (s.file) return read_surface((std::filesystem::path(directory) / *s.file).string());
  throw InputError("the surface has no source");
}

}  // namespace

TriMesh make_surface(const SurfaceSettings& settings, const std::string& directory) {
  TriMesh mesh = make_unscaled(settings, directory);
  mesh.vertices *= settings.scale;
  return mesh;
}

SurfaceSettings surface_of_primitive(const std::string& name) {
  SurfaceSettings settings;
  const FieldSpec* field = description_of<SurfaceSettings>().find(name);
  if (!field || !field->is_optional || field->kind != FieldKind::object) {
    throw InputError("there is no primitive called '" + name + "' (exemplar list primitives names them)");
  }
  field->make(&settings);
  return settings;
}

void describe(Describe<BoxParams>& d) {
  d.field("size", &BoxParams::size, "m", "extents along x, y, z", positive());
  d.field("resolution", &BoxParams::resolution, "", "cells along x, y, z", between(1, 2000));
}

void describe(Describe<PlankParams>& d) {
  d.field("length", &PlankParams::length, "m", "along x", positive());
  d.field("thickness", &PlankParams::thickness, "m", "along y", positive());
  d.field("width", &PlankParams::width, "m", "along z", positive());
  d.field("resolution", &PlankParams::resolution, "", "cells along x", between(1, 2000));
}

void describe(Describe<PlateParams>& d) {
  d.field("length", &PlateParams::length, "m", "along x", positive());
  d.field("width", &PlateParams::width, "m", "along z", positive());
  d.field("thickness", &PlateParams::thickness, "m", "along y", positive());
  d.field("resolution", &PlateParams::resolution, "", "cells along x", between(1, 2000));
}

void describe(Describe<SheetParams>& d) {
  d.field("length", &SheetParams::length, "m", "along x", positive());
  d.field("width", &SheetParams::width, "m", "along z", positive());
  d.field("resolution_x", &SheetParams::resolution_x, "", "cells along x", between(1, 4000));
  d.field("resolution_z", &SheetParams::resolution_z, "", "cells along z", between(1, 4000));
  d.field("alternate", &SheetParams::alternate, "", "neighbouring cells have opposite diagonals");
}

void describe(Describe<SleeveParams>& d) {
  d.field("radius", &SleeveParams::radius, "m", "radius", positive());
  d.field("length", &SleeveParams::length, "m", "along x", positive());
  d.field("resolution", &SleeveParams::resolution, "", "edges around", between(6, 2000));
}

void describe(Describe<SphereParams>& d) {
  d.field("radius", &SphereParams::radius, "m", "radius", positive());
  d.field("resolution", &SphereParams::resolution, "", "parts per icosahedron edge", between(1, 400));
}

void describe(Describe<CylinderParams>& d) {
  d.field("radius", &CylinderParams::radius, "m", "radius", positive());
  d.field("height", &CylinderParams::height, "m", "along y", positive());
  d.field("resolution", &CylinderParams::resolution, "", "edges around", between(6, 2000));
}

void describe(Describe<CapsuleParams>& d) {
  d.field("radius", &CapsuleParams::radius, "m", "of the cylinder and of both ends", positive());
  d.field("height", &CapsuleParams::height, "m", "overall, at least two radii", positive());
  d.field("resolution", &CapsuleParams::resolution, "", "edges around", between(6, 2000));
}

void describe(Describe<TorusParams>& d) {
  d.field("major_radius", &TorusParams::major_radius, "m", "axis to the middle of the ring", positive());
  d.field("minor_radius", &TorusParams::minor_radius, "m", "of the ring's cross-section", positive());
  d.field("resolution", &TorusParams::resolution, "", "edges around the axis", between(12, 2000));
}

void describe(Describe<TubeParams>& d) {
  d.field("radius", &TubeParams::radius, "m", "outer radius", positive());
  d.field("wall", &TubeParams::wall, "m", "thickness of the wall", positive());
  d.field("height", &TubeParams::height, "m", "along y", positive());
  d.field("resolution", &TubeParams::resolution, "", "edges around", between(8, 2000));
}

void describe(Describe<BarrelParams>& d) {
  d.field("radius", &BarrelParams::radius, "m", "of the body at the rims", positive());
  d.field("height", &BarrelParams::height, "m", "along y", positive());
  d.field("bulge", &BarrelParams::bulge, "m", "by how much the middle is wider", non_negative());
  d.field("hoop", &BarrelParams::hoop, "m", "height of the hoops; 0: none", non_negative());
  d.field("recess", &BarrelParams::recess, "m", "depth of the lids below their rims; 0: none",
          non_negative());
  d.field("resolution", &BarrelParams::resolution, "", "edges around the rims", between(20, 1000));
}

void describe(Describe<VaseParams>& d) {
  d.field("height", &VaseParams::height, "m", "height", positive());
  d.field("foot_radius", &VaseParams::foot_radius, "m", "outer radius at the foot", positive());
  d.field("belly_radius", &VaseParams::belly_radius, "m", "outer radius at 0.4 of the height", positive());
  d.field("neck_radius", &VaseParams::neck_radius, "m", "outer radius at 0.8 of the height", positive());
  d.field("lip_radius", &VaseParams::lip_radius, "m", "outer radius at the mouth", positive());
  d.field("wall", &VaseParams::wall, "m", "thickness of the wall", positive());
  d.field("resolution", &VaseParams::resolution, "", "edges around the belly", between(16, 1000));
}

void describe(Describe<CarParams>& d) {
  d.field("length", &CarParams::length, "m", "along x", positive());
  d.field("width", &CarParams::width, "m", "along z", positive());
  d.field("height", &CarParams::height, "m", "along y", positive());
  d.field("resolution", &CarParams::resolution, "", "edges along the length", between(12, 160));
}

void describe(Describe<AeroplaneParams>& d) {
  d.field("length", &AeroplaneParams::length, "m", "along x", positive());
  d.field("wing_span", &AeroplaneParams::wing_span, "m", "along z", positive());
  d.field("resolution", &AeroplaneParams::resolution, "", "edges along the length", between(24, 160));
}

void describe(Describe<ArmParams>& d) {
  d.field("length", &ArmParams::length, "m", "shoulder to knuckles, along x", positive());
  d.field("girth", &ArmParams::girth, "", "factor on the thickness", between(0.7, 1.4));
  d.field("biceps", &ArmParams::biceps, "", "how far the biceps stands out", between(0, 1));
  d.field("resolution", &ArmParams::resolution, "", "edges along the length", between(20, 160));
}

void describe(Describe<CraneParams>& d) {
  d.field("height", &CraneParams::height, "m", "to the jib's tip", positive());
  d.field("reach", &CraneParams::reach, "m", "tower's axis to the jib's tip", positive());
  d.field("resolution", &CraneParams::resolution, "", "edges along the height", between(30, 160));
}

void describe(Describe<ShipParams>& d) {
  d.field("length", &ShipParams::length, "m", "along x", positive());
  d.field("beam", &ShipParams::beam, "m", "along z", positive());
  d.field("resolution", &ShipParams::resolution, "", "edges along the length", between(30, 160));
}

void describe(Describe<RabbitParams>& d) {
  d.field("height", &RabbitParams::height, "m", "feet to the tips of the ears", positive());
  d.field("ear_length", &RabbitParams::ear_length, "", "factor on the length of the ears", between(0.6, 1.3));
  d.field("resolution", &RabbitParams::resolution, "", "edges along the height", between(24, 160));
}

void describe(Describe<FrameParams>& d) {
  d.field("edge", &FrameParams::edge, "m", "between the centres of the balls", positive());
  d.field("ball_radius", &FrameParams::ball_radius, "m", "of the four balls", positive());
  d.field("rod_radius", &FrameParams::rod_radius, "m", "of the six rods", positive());
  d.field("resolution", &FrameParams::resolution, "", "edges along a rod", between(10, 80));
}

void describe(Describe<SpaceshipParams>& d) {
  d.field("length", &SpaceshipParams::length, "m", "along x", positive());
  d.field("width", &SpaceshipParams::width, "m", "along z", positive());
  d.field("resolution", &SpaceshipParams::resolution, "", "edges along the length", between(24, 160));
}

void describe(Describe<SurfaceSettings>& d) {
  d.field("box", &SurfaceSettings::box, "", "box centred at the origin");
  d.field("plank", &SurfaceSettings::plank, "", "flat box along x");
  d.field("plate", &SurfaceSettings::plate, "", "thin solid plate in the xz plane");
  d.field("sheet", &SurfaceSettings::sheet, "", "open rectangle in the xz plane, for kind sheet");
  d.field("sleeve", &SurfaceSettings::sleeve, "", "open tube about x, for kind sheet");
  d.field("sphere", &SurfaceSettings::sphere, "", "sphere");
  d.field("cylinder", &SurfaceSettings::cylinder, "", "cylinder about y");
  d.field("capsule", &SurfaceSettings::capsule, "", "capsule about y");
  d.field("torus", &SurfaceSettings::torus, "", "ring about y");
  d.field("tube", &SurfaceSettings::tube, "", "pipe with a wall about y");
  d.field("barrel", &SurfaceSettings::barrel, "", "drum with rims and hoops, resting on y = 0");
  d.field("vase", &SurfaceSettings::vase, "", "hollow vase, resting on y = 0");
  d.field("car", &SurfaceSettings::car, "", "car body, x forward, wheels on y = 0");
  d.field("aeroplane", &SurfaceSettings::aeroplane, "", "jet, nose along x");
  d.field("arm", &SurfaceSettings::arm, "", "human arm along x");
  d.field("crane", &SurfaceSettings::crane, "", "harbour crane, feet on y = 0");
  d.field("ship", &SurfaceSettings::ship, "", "freighter, bow along x");
  d.field("rabbit", &SurfaceSettings::rabbit, "", "sitting rabbit, looks along x");
  d.field("frame", &SurfaceSettings::frame, "", "tetrahedral frame of balls and rods");
  d.field("spaceship", &SurfaceSettings::spaceship, "", "small spaceship, nose along x");
  d.field("file", &SurfaceSettings::file, "", "mesh file, relative to the scene file").path();
  d.field("scale", &SurfaceSettings::scale, "", "factor on all coordinates", positive());
  d.exactly_one(source_names());
}

}  // namespace exemplar
