// Tetrahedral elements ready for evaluation: rest edge inverses, volumes, scatter slots and colouring, and
// the sums over elements of an energy, its gradient and its Hessian. Deterministic for any number of threads.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/elastic/energies.h"
#include "core/elastic/tet_kernel.h"
#include "core/mesh/mesh.h"
#include "core/sparse/element_colouring.h"
#include "core/sparse/node_columns.h"
#include "core/sparse/pattern.h"

namespace exemplar {

// What the kernels need of one element (S = double) or of up to four (Lanes).
template <class S>
struct TetGroup {
  Matrix3<S> f;  // deformation gradient
  Matrix3<S> rest_inverse;
  S volume;
};

// The element of lane k; lanes too many repeat the last.
inline std::size_t lane_element(std::span<const int> group, std::size_t k) {
  return static_cast<std::size_t>(group[std::min(k, group.size() - 1)]);
}

class TetElements {
 public:
  TetElements() = default;
  // Elements of a mesh; node indices are raised by `first_node` when the mesh is part of a larger set of
  // nodes. `selection`: only these tets (empty: all). Throws InputError for tets without positive volume.
  explicit TetElements(const TetMesh& mesh, int first_node = 0, std::span<const int> selection = {});

  std::size_t count() const { return volume.size(); }
  const int* nodes_of(std::size_t e) const { return nodes.data() + 4 * e; }
  Mat3 deformation(const Points& x, std::size_t e) const {
    return edge_matrix(x, nodes_of(e)) * rest_inverse[e];
  }
  template <class S>
  TetGroup<S> gather(const Points& x, std::span<const int> group) const {
    LanePointers<S> rest, corner[4];
    TetGroup<S> result;
    LanePointers<S> volumes;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const std::size_t e = lane_element(group, k);
      rest[k] = rest_inverse[e].data();
      volumes[k] = &volume[e];
      for (int a = 0; a < 4; ++a) corner[a][k] = x.data() + 3 * nodes_of(e)[a];
    }
    Matrix3<S> edges;
    for (int c = 0; c < 3; ++c) {
      const S origin = exemplar::gather(corner[0], c);
      for (int a = 0; a < 3; ++a) edges(c, a) = exemplar::gather(corner[a + 1], c) - origin;
    }
    result.rest_inverse = gather_matrix<S>(rest);
    result.volume = exemplar::gather(volumes, 0);
    result.f.noalias() = edges * result.rest_inverse;
    return result;
  }
  // Calls body.template operator()<S>(elements) for all elements, four at a time if the energy allows it.
  template <class Energy, class Body>
  void for_each_group(const Body& body, bool one_by_one = false) const {
    if constexpr (k_works_in_lanes<Energy>) {
      if (!one_by_one) {
        colouring.for_each_group<4>(
            [&](std::span<const int> group) { body.template operator()<Lanes>(group); });
        return;
      }
    }
    colouring.for_each_group<1>([&](std::span<const int> group) { body.template operator()<double>(group); });
  }
  // Adds the blocks of a group.
  template <class S>
  void scatter(std::span<const int> group, const BlocksOf<S>& blocks, BlockMatrix& matrix) const {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const BlockSlot* slot = slots.data() + 10 * static_cast<std::size_t>(group[k]);
      for (std::size_t b = 0; b < 10; ++b) matrix.add(slot[b], lane(blocks[b], static_cast<int>(k)));
    }
  }
  // Adds nodal vectors (columns) of a group.
  template <class S>
  void scatter(std::span<const int> group, const Eigen::Matrix<S, 3, 4>& nodal, Points& sum) const {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const int* at = nodes_of(static_cast<std::size_t>(group[k]));
      for (int a = 0; a < 4; ++a) {
        for (int c = 0; c < 3; ++c) sum(at[a], c) += lane(nodal(c, a), static_cast<int>(k));
      }
    }
  }
  void prefetch(std::span<const int> group, const BlockMatrix& matrix) const {
    for (const int e : group) {
      for (std::size_t b = 0; b < 10; ++b) matrix.prefetch(slots[10 * static_cast<std::size_t>(e) + b]);
    }
  }
  // Precomputes where each element's blocks go. `column_of_node` is −1 for held nodes.
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node);

  std::vector<int> nodes;          // four per element
  std::vector<Mat3> rest_inverse;  // may be replaced by B F_p⁻¹ (plasticity)
  std::vector<double> volume;      // m³
  ElementColouring colouring;
  std::vector<BlockSlot> slots;  // ten per element
};

double elastic_energy(const ElasticEnergy& energy, const TetElements& elements, const Points& x);
void add_elastic_gradient(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                          Points& gradient);
void add_elastic_hessian(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                         bool project, BlockMatrix& hessian);

// How many elements have no positive volume, counted against their undeformed orientation.
int count_inverted(const TetElements& elements, const Points& x);
// A part in (0, 1] of the straight way from x0 (no inverted elements) to x1 on which every element keeps at least
// a tenth of its volume at x0; 1: the whole way does.
double way_without_inversion(const TetElements& elements, const Points& x0, const Points& x1);

// A quarter of each element's mass on each of its nodes (kg).
VecX lumped_mass(const TetElements& elements, double density, Eigen::Index node_count);
// ∫ρ N_a N_b: volume/10 on the diagonal, volume/20 beside it; with one integration point volume/16
// everywhere.
void add_consistent_mass(const TetElements& elements, double density, BlockMatrix& mass,
                         bool one_point = false);

}  // namespace exemplar
