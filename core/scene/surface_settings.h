// Where a body's (or mesh obstacle's) surface comes from: a primitive, a procedural model or a file.
#pragma once

#include <optional>
#include <string>

#include "core/mesh/models/primitives.h"
#include "core/scene/settings.h"

namespace exemplar {

struct SurfaceSettings {
  std::optional<BoxParams> box;
  std::optional<PlankParams> plank;
  std::optional<PlateParams> plate;
  std::optional<SheetParams> sheet;
  std::optional<SleeveParams> sleeve;
  std::optional<SphereParams> sphere;
  std::optional<CylinderParams> cylinder;
  std::optional<CapsuleParams> capsule;
  std::optional<TorusParams> torus;
  std::optional<TubeParams> tube;
  std::optional<BarrelParams> barrel;
  std::optional<VaseParams> vase;
  std::optional<CarParams> car;
  std::optional<AeroplaneParams> aeroplane;
  std::optional<ArmParams> arm;
  std::optional<CraneParams> crane;
  std::optional<ShipParams> ship;
  std::optional<RabbitParams> rabbit;
  std::optional<FrameParams> frame;
  std::optional<SpaceshipParams> spaceship;
  std::optional<std::string> file;  // relative to the scene file
  double scale = 1;
};

// Exactly one source must be set. `directory`: where relative file names start. Throws InputError.
TriMesh make_surface(const SurfaceSettings& settings, const std::string& directory);

// A setting with one primitive of this name and its defaults; throws InputError for unknown names.
SurfaceSettings surface_of_primitive(const std::string& name);

void describe(Describe<BoxParams>& d);
void describe(Describe<PlankParams>& d);
void describe(Describe<PlateParams>& d);
void describe(Describe<SheetParams>& d);
void describe(Describe<SleeveParams>& d);
void describe(Describe<SphereParams>& d);
void describe(Describe<CylinderParams>& d);
void describe(Describe<CapsuleParams>& d);
void describe(Describe<TorusParams>& d);
void describe(Describe<TubeParams>& d);
void describe(Describe<BarrelParams>& d);
void describe(Describe<VaseParams>& d);
void describe(Describe<CarParams>& d);
void describe(Describe<AeroplaneParams>& d);
void describe(Describe<ArmParams>& d);
void describe(Describe<CraneParams>& d);
void describe(Describe<ShipParams>& d);
void describe(Describe<RabbitParams>& d);
void describe(Describe<FrameParams>& d);
void describe(Describe<SpaceshipParams>& d);
void describe(Describe<SurfaceSettings>& d);

}  // namespace exemplar
