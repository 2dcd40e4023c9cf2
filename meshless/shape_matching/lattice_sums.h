// Sums over boxes of a lattice that cost the same however wide the boxes are (Rivers and James 2007, "FastLSM"): a
// box is a window along x, then y, then z, and the window sums of a line take three additions a point whatever the
// window's length. They are formed without subtracting (van Herk 1992): the line is cut into pieces as long as the
// window, and a window is the end of one piece and the beginning of the next. Running sums that subtract what leaves
// the window would lose digits as the body grows.
//
// Every line is summed by one thread in a fixed order: results do not depend on the number of threads.
#pragma once

#include <array>
#include <vector>

#include "core/math/types.h"

namespace exemplar::shape_matching {

// Which lattice points the particles and cells of a cubical model are. A cell whose first corner is point c reaches
// from c − overlap to c + subdivisions + overlap along each axis.
struct LatticeRegions {
  std::array<int, 3> points{};  // along x, y, z
  int overlap = 0;
  int subdivisions = 1;
  std::vector<int> particles;  // lattice point of every particle, x fastest
  std::vector<int> corners;    // of every cell: its first corner
  bool empty() const { return corners.empty(); }
};

class LatticeSums {
 public:
  static constexpr int width = 12;  // numbers a point
  explicit LatticeSums(LatticeRegions regions);

  // `values`: `width` numbers a particle; `sums` gets those of every cell's particles.
  void over_cells(const std::vector<double>& values, std::vector<double>& sums);
  // `values`: `width` numbers a cell; `sums` gets those of every particle's cells.
  void over_particles(const std::vector<double>& values, std::vector<double>& sums);

 private:
  void sum(const std::vector<int>& from, const std::vector<double>& values, int before,
           const std::vector<int>& to, std::vector<double>& sums);
  void sum_lines(int axis, int before);

  LatticeRegions m_regions;
  std::vector<double> m_grid;
};

}  // namespace exemplar::shape_matching
