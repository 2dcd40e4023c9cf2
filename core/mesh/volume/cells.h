// Cubes of a regular grid cut into tets. Used for boxes and cages.
#pragma once

#include <span>

#include "core/mesh/mesh.h"
#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

struct CellGrid {
  Vec3 origin = Vec3::Zero();
  Vec3 cell = Vec3::Ones();  // edge lengths
  Eigen::Vector3i size = Eigen::Vector3i::Zero();

  std::size_t count() const {
    return static_cast<std::size_t>(size.x()) * static_cast<std::size_t>(size.y()) *
           static_cast<std::size_t>(size.z());
  }
  std::size_t index(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * size.y() + y) * static_cast<std::size_t>(size.x()) + x;
  }
  Eigen::Vector3i place(std::size_t index) const {
    const auto nx = static_cast<std::size_t>(size.x());
    const auto ny = static_cast<std::size_t>(size.y());
    return {static_cast<int>(index % nx), static_cast<int>(index / nx % ny),
            static_cast<int>(index / (nx * ny))};
  }
  Vec3 centre(const Eigen::Vector3i& p) const {
    return origin + (p.cast<double>().array() + 0.5).matrix().cwiseProduct(cell);
  }
};

// Tets of the kept cells in the order of the cells; vertices in the order of the grid. `cell_of_tet` is
// optional. `mirrored`: with a split into five, the first cell has the diagonals of its neighbours.
TetMesh cell_tets(const CellGrid& grid, std::span<const char> kept, Split split,
                  std::vector<std::size_t>* cell_of_tet = nullptr, bool mirrored = false);

}  // namespace exemplar
