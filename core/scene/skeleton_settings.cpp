#include "core/scene/skeleton_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/input_file.h"

namespace exemplar {

namespace {

int root_of(std::vector<int>& parent, int i) {
  while (parent[static_cast<std::size_t>(i)] != i) i = parent[static_cast<std::size_t>(i)];
  return i;
}

// Bones between points that exist, each with a length, all of one piece, in no ring unless that is meant.
void check_skeleton(const SkeletonSettings& s, const ProblemSink& sink) {
  const int count = static_cast<int>(s.points.size());
  if (s.bones.empty()) return sink("bones", "a skeleton needs at least one bone");
  std::vector<int> parent(s.points.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (std::size_t k = 0; k < s.bones.size(); ++k) {
    const BoneSettings& bone = s.bones[k];
    const std::string path = fmt::format("bones[{}]", k);
    if (bone.from < 0 || bone.to < 0 || bone.from >= count || bone.to >= count)
      return sink(path,
                  fmt::format("joins points {} and {}, but there are {} points", bone.from, bone.to, count));
    const Vec3 span =
        s.points[static_cast<std::size_t>(bone.to)] - s.points[static_cast<std::size_t>(bone.from)];
    if (!(span.norm() > 0)) return sink(path, "has no length");
    const int a = root_of(parent, bone.from), b = root_of(parent, bone.to);
    if (a == b && !s.closed)
      sink(path, "closes a loop; a skeleton is a tree unless \"closed\": true says that a ring is meant");
    parent[static_cast<std::size_t>(a)] = b;
  }
  for (std::size_t k = 1; k < s.bones.size(); ++k) {
    if (root_of(parent, s.bones[k].from) != root_of(parent, s.bones[0].from))
      return sink(fmt::format("bones[{}]", k), "is not connected to bones[0]");
  }
}

}  // namespace

void describe(Describe<BoneSettings>& d) {
  d.field("from", &BoneSettings::from, "", "index of the point where the bone starts", non_negative())
      .required();
  d.field("to", &BoneSettings::to, "", "index of the point where it ends", non_negative()).required();
}

void describe(Describe<SkeletonSettings>& d) {
  d.field("points", &SkeletonSettings::points, "m", "ends of bones, in the body's own coordinates")
      .required();
  d.field("bones", &SkeletonSettings::bones, "", "pairs of points; bones that share one are joined there")
      .required();
  d.field("closed", &SkeletonSettings::closed, "", "bones may form rings (a frame)");
  d.field("strength", &SkeletonSettings::strength, "N m",
          "moment at which every joint yields; none: from the yield stress and the joint's cross-section",
          positive());
  d.check(check_skeleton);
}

void describe(Describe<DentMapSettings>& d) {
  d.field("values", &DentMapSettings::values, "", "depths, row by row, in any unit");
  d.field("columns", &DentMapSettings::columns, "", "numbers in a row", non_negative());
  d.field("rows", &DentMapSettings::rows, "", "number of rows", non_negative());
  d.field("file", &DentMapSettings::file, "", "text file with one row of numbers per line, instead of values")
      .path();
  d.field("width", &DentMapSettings::width, "m", "longer side of the map", positive());
}

namespace {

void read_rows(DentMapSettings& map, const std::string& file, const std::string& path) {
  std::istringstream in;
  try {
    in.str(read_input(file, k_largest_text_file));
  } catch (const InputError& error) {
    throw InputError(Problem{file, path + ".file", error.problems().front().message});
  }
  map.values.clear();
  map.rows = map.columns = 0;
  for (std::string line; std::getline(in, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    int count = 0;
    for (double value; numbers >> value; ++count) map.values.push_back(value);
    if (!numbers.eof())
      throw InputError(Problem{file, path + ".file",
                               fmt::format("row {} holds something that is no number", map.rows + 1)});
    if (count == 0) continue;
    if (map.rows > 0 && count != map.columns)
      throw InputError(Problem{
          file, path + ".file",
          fmt::format("row {} has {} numbers, the ones before it {}", map.rows + 1, count, map.columns)});
    map.columns = count;
    ++map.rows;
  }
}

}  // namespace

DentMapSettings read_dent_map(const DentMapSettings& settings, const std::string& directory,
                              const std::string& path) {
  DentMapSettings map = settings;
  if (map.file) read_rows(map, directory.empty() ? *map.file : directory + "/" + *map.file, path);
  const std::size_t needed = static_cast<std::size_t>(map.columns) * static_cast<std::size_t>(map.rows);
  if (map.columns < 2 || map.rows < 2 || map.values.size() != needed)
    throw InputError(
        Problem{"", path,
                fmt::format("a dent map of {} columns and {} rows (at least 2 each) needs {} numbers, got {}",
                            map.columns, map.rows, needed, map.values.size())});
  for (const double value : map.values) {
    if (!std::isfinite(value)) throw InputError(Problem{"", path, "holds numbers that are not finite"});
  }
  if (!(*std::max_element(map.values.begin(), map.values.end()) > 0))
    throw InputError(Problem{"", path, "needs at least one depth > 0"});
  return map;
}

}  // namespace exemplar
