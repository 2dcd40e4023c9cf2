#include "core/mesh/volume/cells.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/base/errors.h"

namespace exemplar {

namespace {

using Corners = std::array<int, 4>;

// Corners are numbered by bits: 1 for x, 2 for y, 4 for z. Every tet below has positive volume.
constexpr std::array<Corners, 5> even_five{
    {{0, 3, 6, 5}, {1, 0, 5, 3}, {2, 0, 3, 6}, {4, 0, 6, 5}, {7, 3, 5, 6}}};
constexpr std::array<Corners, 5> odd_five{
    {{1, 2, 4, 7}, {0, 1, 2, 4}, {3, 1, 7, 2}, {5, 1, 4, 7}, {6, 2, 7, 4}}};
constexpr std::array<Corners, 6> six{
    {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}}};

std::span<const Corners> tets_of(const Eigen::Vector3i& p, Split split, bool mirrored) {
  if (split == Split::six) return six;
  return (p.sum() + (mirrored ? 1 : 0)) % 2 == 0 ? std::span<const Corners>(even_five)
                                                 : std::span<const Corners>(odd_five);
}

}  // namespace

TetMesh cell_tets(const CellGrid& grid, std::span<const char> kept, Split split,
                  std::vector<std::size_t>* cell_of_tet, bool mirrored) {
  const CellGrid nodes{grid.origin, grid.cell, grid.size.array() + 1};
  const auto node = [&](const Eigen::Vector3i& p, int corner) {
    return nodes.index(p.x() + (corner & 1), p.y() + (corner >> 1 & 1), p.z() + (corner >> 2));
  };
  std::vector<int> number(nodes.count(), -1);
  std::size_t tet_count = 0;
  for (std::size_t c = 0; c < grid.count(); ++c) {
    if (!kept[c]) continue;
    const Eigen::Vector3i p = grid.place(c);
    for (int corner = 0; corner < 8; ++corner) number[node(p, corner)] = 0;
    tet_count += tets_of(p, split, mirrored).size();
  }
  int used = 0;
  for (int& n : number) {
    if (n == 0) n = used++;
  }
  TetMesh mesh;
  mesh.vertices.resize(used, 3);
  for (std::size_t n = 0; n < number.size(); ++n) {
    if (number[n] < 0) continue;
    mesh.vertices.row(number[n]) = grid.origin + nodes.place(n).cast<double>().cwiseProduct(grid.cell);
  }
  mesh.tets.resize(static_cast<Eigen::Index>(tet_count), 4);
  Eigen::Index t = 0;
  for (std::size_t c = 0; c < grid.count(); ++c) {
    if (!kept[c]) continue;
    const Eigen::Vector3i p = grid.place(c);
    for (const Corners& corners : tets_of(p, split, mirrored)) {
      for (int k = 0; k < 4; ++k) mesh.tets(t, k) = number[node(p, corners[k])];
      ++t;
      if (cell_of_tet) cell_of_tet->push_back(c);
    }
  }
  return mesh;
}

TetMesh box_tets(const Vec3& size, const Eigen::Vector3i& resolution, Split split, bool mirrored) {
  if (!size.allFinite() || size.minCoeff() <= 0) throw InputError("a box needs positive, finite sizes");
  if (resolution.minCoeff() < 1) throw InputError("a box needs at least one cell along each axis");
  const double cells = resolution.cast<double>().prod();
  constexpr double most = 2e7;
  if (cells > most) {
    throw InputError(
        fmt::format("a box of {} × {} × {} cells would have {:.2g} tets (about {:.2g} GB); at most {:.2g} "
                    "cells are allowed",
                    resolution.x(), resolution.y(), resolution.z(), 5 * cells, 5 * cells * 16e-9, most));
  }
  CellGrid grid;
  grid.size = resolution;
  grid.cell = size.cwiseQuotient(resolution.cast<double>());
  grid.origin = -0.5 * size;
  return cell_tets(grid, std::vector<char>(grid.count(), 1), split, nullptr, mirrored);
}

}  // namespace exemplar
