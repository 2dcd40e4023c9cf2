// Procedural deformations of space for example poses: twist, bend, taper, stretch, shear, bulge, dent, waves and a
// B-spline free-form-deformation lattice (Sederberg and Parry 1986 with cubic B-splines). They act in the
// body's own coordinates, relative to its bounding box. Angles in degrees, lengths in metres.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scene/settings.h"

namespace exemplar {

struct Bounds {
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();
  Vec3 size() const { return high - low; }
  Vec3 centre() const { return 0.5 * (low + high); }
};
Bounds bounds_of(const Points& points);

// Cross-sections turn about `axis` through the box's centre, from −angle/2 at one end to +angle/2 at the
// other.
struct TwistMap {
  Vec3 axis = Vec3::UnitY();
  double angle = 90;
  double axial_scale = 1;  // stretches along the axis as well (a compressed twist is excited by compression)
};

// The line along `along` through the centre becomes a circular arc of the same length that turns by `angle`
// about `axis`; cross-sections stay plane.
struct BendMap {
  Vec3 axis = Vec3::UnitZ();
  std::optional<Vec3> along;  // none: the longest side of the box perpendicular to the axis
  double angle = 90;
  std::optional<Vec3>
      hinge;  // none: spread over the whole length; else all of it within `hinge_length` about here
  double hinge_length = 0.1;
};

// Cross-sections scale linearly from `start` to `end` along `axis`.
struct TaperMap {
  Vec3 axis = Vec3::UnitY();
  double start = 1, end = 0.5;
};

struct StretchMap {
  Vec3 axis = Vec3::UnitY();
  double factor = 1.5;
  bool keep_volume = false;  // sides shrink by 1/√factor
};

// Points move along `direction` by amount × (height along `normal` over the box's centre).
struct ShearMap {
  Vec3 direction = Vec3::UnitX();
  Vec3 normal = Vec3::UnitY();
  double amount = 0.5;
};

// Radial scale 1 + amount·exp(−(s/width)²) about the axis through `centre`; s: distance along the axis.
struct BulgeMap {
  Vec3 axis = Vec3::UnitY();
  double amount = 0.3;
  double width = 0.2;
  std::optional<Vec3> centre;  // none: the box's centre
};

// A smooth dent: points within `radius` of `centre` move along `direction`, at the centre by `depth`.
struct DentMap {
  Vec3 centre = Vec3::Zero();
  Vec3 direction = -Vec3::UnitY();
  double depth = 0.1;
  double radius = 0.3;
};

struct LatticeOffset {
  IntVec3 node = IntVec3::Zero();  // 0 … resolution−1 in each direction
  Vec3 offset = Vec3::Zero();      // m
};

// Control points on a regular grid over the box; displacement = cubic B-spline of their offsets.
struct LatticeMap {
  IntVec3 resolution = IntVec3::Constant(4);
  std::vector<LatticeOffset> offsets;
};

struct TranslateMap {
  Vec3 offset = Vec3::Zero();
};

// Points move along `direction` by amplitude · sin(2π s/wavelength + phase), s their distance along `along` from
// the box's centre; with `grow` the amplitude rises from 0 at one end of the box along that axis to its full
// value at the other. With `keep_length` the wave shortens the body along `along` as a wrinkle does, so that
// lines along it keep their length (as long as the slope 2π amplitude/wavelength is below 1).
struct WaveMap {
  Vec3 direction = Vec3::UnitY();
  Vec3 along = Vec3::UnitX();
  double amplitude = 0.05;
  double wavelength = 0.2;
  double phase = 0;  // degrees
  std::optional<Vec3> grow;
  bool keep_length = true;
};

// A box in which a map acts, with a smooth falloff outside it.
struct MapRegion {
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();
  double falloff = 0;
};

// One map (exactly one member set), optionally limited to a region by blending its displacement.
struct PoseMap {
  std::optional<TwistMap> twist;
  std::optional<BendMap> bend;
  std::optional<TaperMap> taper;
  std::optional<StretchMap> stretch;
  std::optional<ShearMap> shear;
  std::optional<BulgeMap> bulge;
  std::optional<DentMap> dent;
  std::optional<LatticeMap> lattice;
  std::optional<TranslateMap> translate;
  std::optional<WaveMap> wave;
  std::optional<MapRegion> within;
};

Points apply_map(const PoseMap& map, const Points& points, const Bounds& bounds);
Points apply_maps(const std::vector<PoseMap>& maps, const Points& points, const Bounds& bounds);

void describe(Describe<TwistMap>& d);
void describe(Describe<BendMap>& d);
void describe(Describe<TaperMap>& d);
void describe(Describe<StretchMap>& d);
void describe(Describe<ShearMap>& d);
void describe(Describe<BulgeMap>& d);
void describe(Describe<DentMap>& d);
void describe(Describe<LatticeOffset>& d);
void describe(Describe<LatticeMap>& d);
void describe(Describe<TranslateMap>& d);
void describe(Describe<WaveMap>& d);
void describe(Describe<MapRegion>& d);
void describe(Describe<PoseMap>& d);
std::vector<std::string> pose_map_names();

// The fields of a PoseMap for a struct derived from it.
template <class T>
void describe_pose_map(Describe<T>& d) {
  d.field("twist", &T::twist, "", "twist about an axis");
  d.field("bend", &T::bend, "", "bend into an arc");
  d.field("taper", &T::taper, "", "scale cross-sections along an axis");
  d.field("stretch", &T::stretch, "", "stretch along an axis");
  d.field("shear", &T::shear, "", "shear");
  d.field("bulge", &T::bulge, "", "radial bulge about an axis");
  d.field("dent", &T::dent, "", "smooth local dent");
  d.field("lattice", &T::lattice, "", "free-form deformation by a B-spline lattice");
  d.field("translate", &T::translate, "", "displacement (with `within`: of a part)");
  d.field("wave", &T::wave, "", "waves: wrinkles and folds");
  d.field("within", &T::within, "", "box in which the map acts; default: everywhere");
}

}  // namespace exemplar
