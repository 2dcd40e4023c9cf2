#include "core/run/surface_crossings.h"

#include <algorithm>

#include "core/mesh/crossings.h"
#include "core/run/method.h"

namespace exemplar {

double surface_crossings(const Geometry& surface) {
  if (surface.kind != CellKind::triangles) return k_unknown;
  TriMesh mesh{surface.points, Triangles(static_cast<Eigen::Index>(surface.connectivity.size() / 3), 3)};
  std::copy(surface.connectivity.begin(), surface.connectivity.end(), mesh.triangles.data());
  return static_cast<double>(crossing_pairs(mesh, surface.rigid_parts).size());
}

}  // namespace exemplar
