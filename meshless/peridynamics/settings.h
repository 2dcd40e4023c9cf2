// Settings of method `peridynamics`, described once.
#pragma once

#include <optional>

#include "core/scene/scene_settings.h"
#include "meshless/peridynamics/cuts.h"
#include "meshless/peridynamics/elements/elements.h"
#include "meshless/peridynamics/model.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {

enum class WrittenSurface { deforming, fragments };
enum class DustDisplay { surface, hidden, points };

struct ProjectileSettings {
  ProjectileModel model = ProjectileModel::levine;
  Vec3 position = Vec3::Zero();
  Vec3 velocity = Vec3(0, -10, 0);
  double radius = 0.02;
  double stiffness = 1e15;
};

struct CrackSettings {
  Vec3 centre = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();
  int count = 9;
  double length = 1;
  double wander = 0.35;
  double strength = 0.6;
};

struct NotchPlane {
  Vec3 point = Vec3::Zero(), normal = Vec3::UnitY();
};
struct NotchDisc {
  Vec3 centre = Vec3::Zero(), normal = Vec3::UnitY();
  double radius = 0.01;
};
struct NotchPatch {
  Vec3 corner = Vec3::Zero(), u = Vec3::UnitX(), v = Vec3::UnitZ();
};
struct NotchSettings {
  std::optional<NotchPlane> plane;
  std::optional<NotchDisc> disc;
  std::optional<NotchPatch> parallelogram;
};

// v(x) = velocity + gradient (x − centre) + angular_velocity × (x − centre), added to the body's own.
struct VelocityField {
  RegionSettings region;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();
  std::vector<Vec3> gradient;  // three rows, or none
  Vec3 centre = Vec3::Zero();
};

struct Settings {
  ElementKind elements = ElementKind::voronoi;
  int particles = 4000;
  int layers = 0;
  std::optional<double> layer_distance;
  double horizon = 3;
  std::optional<double> horizon_length;
  std::optional<double> spacing_quantile;
  std::optional<double> bulk_modulus, critical_strain, fracture_energy;
  StiffnessMode stiffness = StiffnessMode::calibrated;
  BreakRule break_rule = BreakRule::max;
  BreakOrder break_order = BreakOrder::before_force;
  double strengthening = 0.25;
  bool clamp_strengthening = true;
  double strength_spread = 0.02;
  ContactModel contact = ContactModel::levine;
  double contact_range = 0.9;
  double contact_stiffness = 0;
  std::optional<double> restitution;
  std::optional<double> friction;
  double step = 0;
  WrittenSurface surface = WrittenSurface::deforming;
  int split_frames = 4;
  DustDisplay dust = DustDisplay::surface;
  double dust_size = 0;
  std::optional<ProjectileSettings> projectile;
  std::optional<CrackSettings> cracks;
  std::vector<NotchSettings> notches;
  std::vector<VelocityField> velocities;
};

void describe(Describe<ProjectileSettings>& d);
void describe(Describe<CrackSettings>& d);
void describe(Describe<NotchPlane>& d);
void describe(Describe<NotchDisc>& d);
void describe(Describe<NotchPatch>& d);
void describe(Describe<NotchSettings>& d);
void describe(Describe<VelocityField>& d);
void describe(Describe<Settings>& d);

Notch notch_of(const NotchSettings& settings);

Rules rules_of(const Settings& settings, std::uint64_t seed);

}  // namespace exemplar::peridynamics
