// Closedness of written fragments by their edges.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/output/fields.h"

namespace exemplar::peridynamics {

inline const FieldArray& array_of(const Geometry& geometry, const std::string& name, Association on) {
  for (const FieldArray& array : geometry.arrays)
    if (array.name == name && array.on == on) return array;
  throw std::runtime_error("no array " + name);
}

// Edges of fragments that triangles do not run through as often one way as the other. Points of a fragment at
// one place (the same bits) are one.
inline int open_edges_of(const Geometry& surface) {
  const std::vector<double>& fragment = array_of(surface, "fragment", Association::cell).values;
  std::map<std::array<double, 4>, int> vertex_at;
  std::map<std::pair<int, int>, int> balance;
  for (std::size_t t = 0; t < fragment.size(); ++t) {
    std::array<int, 3> corner;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 p = surface.points.row(surface.connectivity[3 * t + k]);
      const std::array<double, 4> key{fragment[t], p.x(), p.y(), p.z()};
      corner[k] = vertex_at.try_emplace(key, static_cast<int>(vertex_at.size())).first->second;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = corner[k], b = corner[(k + 1) % 3];
      if (a != b) balance[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
  }
  int open = 0;
  for (const auto& [edge, sum] : balance) open += sum != 0;
  return open;
}

}  // namespace exemplar::peridynamics
