// What a scene says about a body's skeleton (method `rigid-bend`) and about dent maps that somebody drew (method
// `rigid-dent`). Points in the body's own coordinates, metres.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scene/settings.h"

namespace exemplar {

struct BoneSettings {
  int from = 0, to = 0;  // indices into the skeleton's points
};

struct SkeletonSettings {
  std::vector<Vec3> points;
  std::vector<BoneSettings> bones;
  bool closed = false;             // bones may form rings
  std::optional<double> strength;  // N m, of every joint
};

// Depths row after row, in any unit: the largest one becomes the dent distance.
struct DentMapSettings {
  std::vector<double> values;
  int columns = 0, rows = 0;
  std::optional<std::string> file;  // numbers separated by spaces or commas, one row a line
  double width = 0.1;               // m, of the map's longer side
};

void describe(Describe<BoneSettings>& d);
void describe(Describe<SkeletonSettings>& d);
void describe(Describe<DentMapSettings>& d);

// The numbers of a drawn map with its file read. Throws InputError with paths below `path` when they do not fit.
DentMapSettings read_dent_map(const DentMapSettings& settings, const std::string& directory,
                              const std::string& path);

}  // namespace exemplar
