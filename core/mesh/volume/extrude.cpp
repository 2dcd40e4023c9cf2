#include "core/mesh/volume/extrude.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/repair.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

void check_areas(const TriMesh& sheet) {
  for (Eigen::Index t = 0; t < sheet.triangles.rows(); ++t) {
    const Vec3 a = sheet.vertices.row(sheet.triangles(t, 0)), b = sheet.vertices.row(sheet.triangles(t, 1)),
               c = sheet.vertices.row(sheet.triangles(t, 2));
    if (!((b - a).cross(c - a).norm() > 0))
      throw InputError(
          fmt::format("triangle {} of the sheet has no area, so that it cannot be extruded (shell and "
                      "mass-spring leave such triangles out)",
                      t));
  }
}

// Area-weighted vertex normals.
Points vertex_normals(const TriMesh& mesh) {
  Points normals = Points::Zero(mesh.vertices.rows(), 3);
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vec3 a = mesh.vertices.row(mesh.triangles(t, 0));
    const Vec3 b = mesh.vertices.row(mesh.triangles(t, 1));
    const Vec3 c = mesh.vertices.row(mesh.triangles(t, 2));
    const Vec3 n = (b - a).cross(c - a);
    for (int k = 0; k < 3; ++k) normals.row(mesh.triangles(t, k)) += n.transpose();
  }
  for (Eigen::Index i = 0; i < normals.rows(); ++i) {
    const double length = normals.row(i).norm();
    if (length > 0) normals.row(i) /= length;
  }
  return normals;
}

// Three tets of the prism (a0 a1 a2 below, b0 b1 b2 above); diagonals leave the smaller vertex of each side,
// so neighbouring prisms agree.
void add_prism(std::array<int, 3> a, std::array<int, 3> b, std::vector<std::array<int, 4>>& tets) {
  const auto smallest = static_cast<std::size_t>(std::min_element(a.begin(), a.end()) - a.begin());
  std::rotate(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(smallest), a.end());
  std::rotate(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(smallest), b.end());
  tets.push_back({a[0], b[1], b[2], b[0]});
  if (a[1] < a[2]) {
    tets.push_back({a[0], a[1], a[2], b[2]});
    tets.push_back({a[0], a[1], b[2], b[1]});
  } else {
    tets.push_back({a[0], a[1], a[2], b[1]});
    tets.push_back({a[0], a[2], b[2], b[1]});
  }
}

}  // namespace

Volume extrude_sheet(const TriMesh& sheet, double thickness) {
  const int n = static_cast<int>(sheet.vertices.rows());
  const Points normals = vertex_normals(sheet);
  Volume volume;
  volume.mesh.vertices.resize(3 * n, 3);
  volume.mesh.vertices << sheet.vertices - 0.5 * thickness * normals, sheet.vertices,
      sheet.vertices + 0.5 * thickness * normals;
  std::vector<std::array<int, 4>> tets;
  for (int layer = 0; layer < 2; ++layer) {
    for (Eigen::Index t = 0; t < sheet.triangles.rows(); ++t) {
      std::array<int, 3> low{}, high{};
      for (std::size_t k = 0; k < 3; ++k) {
        low[k] = sheet.triangles(t, static_cast<int>(k)) + layer * n;
        high[k] = low[k] + n;
      }
      add_prism(low, high, tets);
    }
  }
  volume.mesh.tets.resize(static_cast<Eigen::Index>(tets.size()), 4);
  for (std::size_t e = 0; e < tets.size(); ++e) {
    for (std::size_t k = 0; k < 4; ++k)
      volume.mesh.tets(static_cast<Eigen::Index>(e), static_cast<int>(k)) = tets[e][k];
  }
  const VecX volumes = tet_volumes(volume.mesh.vertices, volume.mesh.tets);
  check_areas(sheet);
  if (volumes.size() == 0 || volumes.minCoeff() <= 0) {
    throw InputError("the sheet is too thick for its curvature: its offset surfaces fold");
  }
  volume.fill = VecX::Ones(volumes.size());
  volume.surface = embed(sheet.vertices, volume.mesh);
  volume.notes.push_back("the sheet was extruded to a solid with two layers of elements");
  return volume;
}

TriMesh extruded_surface(const TriMesh& sheet, double thickness) {
  return boundary_surface(extrude_sheet(sheet, thickness).mesh);
}

}  // namespace exemplar
