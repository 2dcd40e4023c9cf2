// Shape matching of many overlapping cells (bugbear2009 §2.1.5 and §3.1.2, after Müller, Heidelberger,
// Teschner, Gross 2005): every cell finds the transformation that best carries its rest shape to its
// particles, and every particle's goal is the mean of what its cells want.
//
//   q_i      rest position of particle i relative to the cell's rest centre [m]
//   w_i      m_i / n_i, n_i the number of cells that hold i (Rivers and James 2007): with it Σ m g = Σ m x
//   x_cm     Σ w x / Σ w
//   A_pq     Σ w (x − x_cm) qᵀ,   A_qq = Σ w q qᵀ,   A = A_pq A_qq⁻¹            (eq. 2.16, 2.17)
//   R        rotation of A_pq                                                  (eq. 2.18; rotation.h)
//   T        β A + (1 − β) R, optionally T / ∛det T                             (eq. 2.19)
//   g_i      mean over the cells of T q_i + x_cm                               (eq. 2.20)
//
// Flat and thin cells: A_qq is singular, so A = A_pq A_qq⁺ + R (I − A_qq A_qq⁺), i.e. A turns with R in the
// directions in which the cell has no extent. Quadratic mode (Müller §4.2): q̃ = (q, x², y², z², xy, yz, zx)
// less its mean, without which neither momentum nor a quadratic motion would be kept; eight corners leave
// Ã_qq with rank 6: pseudo-inverse.
//
// The volume step divides T, not A as the thesis does: dividing A only would leave det T ≠ 1 for β < 1.
//
// Bends. A cell of cubes has its particles in its corners, which are farther out than what they stand for: a stretch that
// grows across the cell (bending, u_x = κ x y) costs the cell Σ w κ² x² y² with y² = b²/4 at every corner, where a solid has
// the mean of y², b²/12. Bars of one, two and four layers were 3, 1.5 and 1.125 times as stiff in bending as in stretching. So
// goals follow the bilinear part of the motion, without which bends are paid for:
//
//   B_m      xy, yz, zx and xyz of q, made orthonormal under w, and orthogonal to 1 and q
//   a_m      Σ w x B_m; none for x = R q + x_cm
//   η        share of its stiffness that a bend keeps: (b²/12)/(mean of y² over the particles) = 1/(1 + 2/n²), n the intervals
//            along a cell's edge; 2 η² for xyz, for which stretches and shears vary along both directions
//   g_i      … + Σ_m (1 − (1 − β) η_m) a_m B_m,i
//
// No linear map is in B, so that stretching, A and R are what they were, and both momenta are kept.
//
// Layout: cells near each other form a block with a list of its particles and their rest positions, so that a
// block works in the first-level cache. Sums over a cell's particles run with the three components in one
// vector (loads and multiply-adds only, no shuffles); rotations of four cells are found at once, one per
// lane. Blocks run on several threads; a particle then adds up the partial sums of its few blocks in a fixed
// order, so the result does not depend on the number of threads. Cells that never flow share their particles'
// rest positions, cells that may (plasticity) own theirs, and A and T are kept only where they are more than
// R: memory traffic decides the speed.
//
// Cubical cells that overlap by two layers or more are summed over the lattice instead (lattice_sums.h): a particle is
// then in (2 o + 2)³ cells, and going through them all would cost so many times more. T q + x_cm is linear in q, so the
// goals are sums of cells' numbers over boxes of the lattice just as A_pq is one of particles' numbers. Cells that own
// their rest shapes (plasticity, quadratic mode) are summed one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/aligned_vector.h"
#include "core/base/index.h"
#include "core/base/state_member.h"
#include "meshless/shape_matching/cell_lanes.h"
#include "meshless/shape_matching/cells.h"

namespace exemplar::shape_matching {

struct MatchOptions {
  double beta = 0.0;  // share of the linear part, [0, 1)
  bool conserve_volume = false;
  bool quadratic = false;
  bool owns_rest_shapes = false;  // cells may flow: set_rest_shape is allowed
  double bend_share = 1.0;  // η; 1: as the particles have it. Not for sums over the lattice or quadratic mode
};

class CellSet {
 public:
  // `regions`: where the cells lie on a lattice, if they do.
  CellSet(const Points& rest_positions, const VecX& masses, const Cells& cells, const MatchOptions& options,
          const LatticeRegions& regions = {});

  // Goals for the given positions; also updates each cell's rotation, transformation and centre. `origin` is
  // any point near the body: sums are formed relative to it.
  void match(const Points& positions, const Vec3& origin, Points& goals);
  // The same without what is followed of the bends: what cells want that flow.
  void match_unbent(const Points& positions, const Vec3& origin, Points& goals);
  // The same in two halves, for callers that use each goal at once: memory traffic decides the speed.
  void fit(const Points& positions, const Vec3& origin);
  lanes::Lane goal(std::size_t particle) const {
    lanes::Lane sum{};
    for (int e = m_particle_start[particle]; e < m_particle_start[particle + 1]; ++e)
      sum += lanes::load(m_sums.data() + lanes::width * static_cast<std::ptrdiff_t>(m_particle_entries[e]));
    return sum * m_inverse_counts(static_cast<Eigen::Index>(particle)) + m_origin;
  }

  const Cells& cells() const { return m_cells; }
  bool sums_over_lattice() const { return m_lattice.has_value(); }
  const MatchOptions& options() const { return m_options; }
  Mat3 rotation(int cell) const;        // R
  Mat3 linear(int cell) const;          // A; kept where T is more than R or cells own their rest shapes
  Mat3 transformation(int cell) const;  // T
  Vec3 centre(int cell) const;          // x_cm
  // Mean over the cells of the mass-weighted variance of q along one axis [m²].
  double mean_square_radius() const { return m_mean_square_radius; }

  // Mass-weighted volume ratio Σ_c W_c det A_c of the cells that are not flat (W_c their share of the mass) and
  // its gradient by the positions; `rest` gets Σ_c W_c.
  double volume(const Points& positions, Points& gradient, double& rest) const;

  // Rest shape of a cell in the order of cells().of(cell); a new one is centred again.
  Points rest_shape(int cell) const;
  void set_rest_shape(int cell, const Points& shape);

  // Everything that a later step depends on: rotations and rest shapes.
  struct State {
    std::vector<Quat> rotations;  // of each cell
    Points rest_shapes;           // of all cells one after the other, where they own them

    static constexpr auto described() {
      return std::tuple(member("rotations", &State::rotations), member("rest_shapes", &State::rest_shapes));
    }
  };
  State state() const;
  // Throws InputError if it is another body's.
  void set_state(const State& state);

 private:
  struct Batch {
    lanes::LaneQuat q;
    lanes::LaneVec centre;       // x_cm
    lanes::LaneVec rest_centre;  // of the rest positions that the sums see
    lanes::Lane inverse_weight{};
    int first[lanes::width]{};  // of each cell's members in m_index
    int count[lanes::width]{};
    int cell[lanes::width]{};
  };
  struct Maps {
    lanes::LaneMat transformation, linear, inverse, null_space;  // T, A, A_qq⁺, I − A_qq A_qq⁺
    bool has_null_space = false;
  };
  struct QuadraticRow {
    double terms[6];  // centred x², y², z², xy, yz, zx
    double dual[9];   // Ã_qq⁺ q̃
  };
  struct Block {
    int first_batch = 0, last_batch = 0;
    int first_entry = 0, entries = 0;
    Vec3 rest_origin = Vec3::Zero();
  };
  // Four doubles a point on 32-byte borders: loads that straddle cache lines cost twice.
  using PaddedPoints = AlignedVector<double>;
  struct Place {
    int batch = 0, lane = 0, block = 0;
  };

  void arrange(const Points& rest_positions);
  void add_block(std::span<const int> ordered_cells, const Points& rest_positions);
  void add_batch(std::span<const int> cells_of_batch, std::span<const int> members);
  void make_entries(std::size_t particles);
  Points centred(int cell, const Points& shape) const;
  void write_shape(int cell, const Points& q);
  void update_rest(int cell, const Points& q);
  void update_quadratic(int cell, const Points& q);
  void update_bends(int cell, const Points& q);
  void match_block(const Block& block, const Points& positions, const Vec3& origin);
  lanes::LaneMat sum(Batch& batch, const double* weighted, const double* rest) const;
  void fit_lattice(const Points& positions, const Vec3& origin);
  void fit_lattice_batch(std::size_t batch, const Vec3& origin);
  const lanes::LaneMat& fit_batch(std::size_t batch, const lanes::LaneMat& a_pq, lanes::LaneMat& r);
  void blend(Maps& maps, const lanes::LaneMat& a_pq, const lanes::LaneMat& r) const;
  void scatter(const Batch& batch, const lanes::LaneMat& t, const double* rest, double* sums) const;
  void add_quadratic(const Batch& batch, const Maps& maps, const double* weighted, double* sums) const;
  void add_bends(const Batch& batch, const double* weighted, double* sums) const;
  const double* rest_row(const double* block_rest, int member) const;

  Cells m_cells;
  MatchOptions m_options;
  VecX m_shares;          // m_i / n_i
  VecX m_inverse_counts;  // 1 / n_i
  double m_mean_square_radius = 0.0;
  std::vector<Place> m_places;  // of every cell
  AlignedVector<Batch> m_batches;
  AlignedVector<Maps> m_maps;  // per batch, where T is more than R
  AlignedVector<std::uint32_t>
      m_index;         // particles of each cell: where in the block's arrays of padded points
  PaddedPoints m_own;  // per member: q and a one, where cells own their rest shapes
  std::vector<QuadraticRow> m_quadratic;
  bool m_follows_bends = true;
  PaddedPoints m_bends;  // per member: B_m, where bends keep a share of their stiffness only
  std::vector<Block> m_blocks;
  std::vector<int> m_entry_particles;  // particle of every block entry
  PaddedPoints m_entry_rest;           // per entry: rest position relative to the block's rest origin, a one
  PaddedPoints m_sums;                 // four doubles per entry
  lanes::Lane m_origin{};              // of the last fit
  std::optional<LatticeSums> m_lattice;
  Points m_lattice_rest;  // rest positions of the particles relative to the blocks' common origin
  std::vector<double> m_particle_values, m_cell_values;
  std::vector<int> m_particle_start, m_particle_entries;
};

}  // namespace exemplar::shape_matching
