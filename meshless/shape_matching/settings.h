// Settings of the method `shape-matching`; each is described once, in settings.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scene/settings.h"

namespace exemplar::shape_matching {

enum class CellShape { cubes, tets, regions };
enum class PlasticityModel { automatic, none, stretch, with_rotation };
enum class Reference { neighbours, body };
enum class SurfaceEmbedding { smooth, owning_cell };

struct PlasticitySettings {
  PlasticityModel model = PlasticityModel::automatic;
  Reference reference = Reference::neighbours;
  double yield = 0;    // 0: from the material's yield strain
  double creep = 500;  // 1/s; 0: at once
  double max = 2;
};

// A body with parameters of its own, welded to another one or not (weld.h).
struct PartSettings {
  std::string body;
  std::optional<std::string> of;  // welded to this body
  std::optional<double> detach_impulse;
  double detach_time = 0.01;
  std::optional<double> beta, stiffness_time, damping_ratio, yield, creep;
};

struct Settings {
  CellShape cells = CellShape::cubes;
  double cell_size = 0;  // m; 0: from the body's size
  IntVec3 cell_counts = IntVec3::Zero();
  int overlap = 0;
  int subdivisions = 1;
  int regions = 0;  // k-means regions; 0: from the number of particles
  double region_overlap = 0.3;
  double beta = 0;
  bool conserve_volume = false;
  bool quadratic = false;
  int iterations = 0;  // 0: as the material asks for, at most max_iterations
  int max_iterations = 1;
  int levels = 1;
  int substeps = 0;  // of a scene step; 0: as the material asks for
  int max_substeps = 128;
  double stiffness_time = 0;  // s; 0: from the material
  double damping_ratio = 0.1;
  PlasticitySettings plasticity;
  bool sleep = false;
  SurfaceEmbedding embedding = SurfaceEmbedding::smooth;
  double push_speed = 1;  // m/s
  std::vector<PartSettings> parts;
};

void describe(Describe<PlasticitySettings>& d);
void describe(Describe<PartSettings>& d);
void describe(Describe<Settings>& d);

// What holds for a body: the settings with its part's own in their place.
Settings settings_for(const std::string& body, const Settings& settings);

}  // namespace exemplar::shape_matching
