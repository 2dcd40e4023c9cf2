#include "core/mesh/volume/tet_box.h"

#include <array>
#include <cassert>
#include <utility>

namespace exemplar {

TetMesh tet_box(const Vec3& size, const Eigen::Vector3i& nodes) {
  assert(nodes.minCoeff() >= 2);
  TetMesh mesh;
  const auto index = [&](int i, int j, int k) { return i + nodes.x() * (j + nodes.y() * k); };
  mesh.vertices.resize(nodes.prod(), 3);
  for (int k = 0; k < nodes.z(); ++k) {
    for (int j = 0; j < nodes.y(); ++j) {
      for (int i = 0; i < nodes.x(); ++i) {
        const Vec3 t = Vec3(i, j, k).cwiseQuotient((nodes - Eigen::Vector3i::Ones()).cast<double>());
        mesh.vertices.row(index(i, j, k)) = (t - Vec3::Constant(0.5)).cwiseProduct(size).transpose();
      }
    }
  }
  // Corners of a cell as bits x y z; the last tet is the one in the middle.
  constexpr std::array<std::array<int, 4>, 5> even{
      {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}, {1, 2, 4, 7}}};
  mesh.tets.resize(5 * (nodes.x() - 1) * (nodes.y() - 1) * (nodes.z() - 1), 4);
  Eigen::Index row = 0;
  for (int k = 0; k + 1 < nodes.z(); ++k) {
    for (int j = 0; j + 1 < nodes.y(); ++j) {
      for (int i = 0; i + 1 < nodes.x(); ++i) {
        const int mirror = (i + j + k) % 2;  // flips the x bit of every corner
        for (const auto& tet : even) {
          for (int a = 0; a < 4; ++a) {
            const int corner = tet[static_cast<std::size_t>(a)] ^ mirror;
            mesh.tets(row, a) = index(i + (corner & 1), j + ((corner >> 1) & 1), k + ((corner >> 2) & 1));
          }
          const auto p = [&](int a) -> Vec3 { return mesh.vertices.row(mesh.tets(row, a)).transpose(); };
          if ((p(1) - p(0)).cross(p(2) - p(0)).dot(p(3) - p(0)) < 0)
            std::swap(mesh.tets(row, 2), mesh.tets(row, 3));
          ++row;
        }
      }
    }
  }
  return mesh;
}

}  // namespace exemplar
