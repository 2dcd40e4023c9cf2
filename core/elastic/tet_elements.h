// Tetrahedral elements ready for evaluation: rest edge inverses, volumes, scatter slots and colouring, and
// the sums over elements of an energy, its gradient and its Hessian. Deterministic for any number of threads.
//
// What is evaluated are integration points: the one of a linear tet, or the four of a quadratic one, which look like
// linear tets themselves (quadratic_tet.h). "Element" e below counts these points; with linear tets both are the same.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/elastic/energies.h"
#include "core/elastic/quadratic_tet.h"
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
  // nodes. `selection`: only these tets (empty: all). `midsides`: of the mesh, whose vertices then are all nodes;
  // empty: linear tets. Throws InputError for tets without positive volume.
  explicit TetElements(const TetMesh& mesh, int first_node = 0, std::span<const int> selection = {},
                       const Midsides& midsides = {});

  std::size_t count() const { return volume.size(); }
  bool quadratic() const { return m_quadratic; }
  int nodes_per_tet() const { return m_quadratic ? 10 : 4; }
  std::size_t points_per_tet() const { return m_quadratic ? 4 : 1; }
  std::size_t tet_count() const { return count() / points_per_tet(); }
  std::size_t tet_of(std::size_t e) const { return m_quadratic ? e / 4 : e; }
  const int* nodes_of(std::size_t e) const {
    return m_quadratic ? nodes.data() + 10 * (e / 4) : nodes.data() + 4 * e;
  }
  // Edges of a linear tet, or those that a point of a quadratic one sees: ∂x/∂L.
  Mat3 edges(const Points& x, std::size_t e) const {
    if (!m_quadratic) return edge_matrix(x, nodes_of(e));
    const int point = static_cast<int>(e);
    return quadratic_edges<double>(x, {&point, 1});
  }
  Mat3 deformation(const Points& x, std::size_t e) const { return edges(x, e) * rest_inverse[e]; }
  template <class S>
  TetGroup<S> gather(const Points& x, std::span<const int> group) const {
    LanePointers<S> rest, volumes;
    TetGroup<S> result;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const std::size_t e = lane_element(group, k);
      rest[k] = rest_inverse[e].data();
      volumes[k] = &volume[e];
    }
    result.rest_inverse = gather_matrix<S>(rest);
    result.volume = exemplar::gather(volumes, 0);
    if (m_quadratic) {
      result.f.noalias() = quadratic_edges<S>(x, group) * result.rest_inverse;
    } else {
      result.f.noalias() = linear_edges<S>(x, group) * result.rest_inverse;
    }
    return result;
  }
  // Calls body.template operator()<S>(elements) for all elements, four at a time if the energy allows it.
  template <class Energy, class Body>
  void for_each_group(const Body& body, bool one_by_one = false) const {
    if (m_quadratic) {
      colouring.for_each(
          [&](std::size_t tet) { for_points<Energy>(static_cast<int>(4 * tet), body, one_by_one); });
      return;
    }
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
    if (m_quadratic) {
      const auto pulled = quadratic_tet::pulled(quadratic_tet::Shares<S>(group), blocks);
      const BlockSlot* slot = slots.data() + 55 * tet_of(to_size(group[0]));
      for (std::size_t b = 0; b < 55; ++b) matrix.add(slot[b], pulled[b]);
      return;
    }
    for (std::size_t k = 0; k < group.size(); ++k) {
      const BlockSlot* slot = slots.data() + 10 * static_cast<std::size_t>(group[k]);
      for (std::size_t b = 0; b < 10; ++b) matrix.add(slot[b], lane(blocks[b], static_cast<int>(k)));
    }
  }
  // Adds nodal vectors (columns: corners of what a point sees) of a group: add(node, component, value).
  template <class S, class Add>
  void for_each_nodal(std::span<const int> group, const Eigen::Matrix<S, 3, 4>& nodal, const Add& add) const {
    if (m_quadratic) {
      const auto pulled = quadratic_tet::pulled(quadratic_tet::Shares<S>(group), nodal);
      const int* at = nodes_of(to_size(group[0]));
      for (int a = 0; a < 10; ++a) {
        for (int c = 0; c < 3; ++c) add(at[a], c, pulled(c, a));
      }
      return;
    }
    for (std::size_t k = 0; k < group.size(); ++k) {
      const int* at = nodes_of(static_cast<std::size_t>(group[k]));
      for (int a = 0; a < 4; ++a) {
        for (int c = 0; c < 3; ++c) add(at[a], c, lane(nodal(c, a), static_cast<int>(k)));
      }
    }
  }
  template <class S>
  void scatter(std::span<const int> group, const Eigen::Matrix<S, 3, 4>& nodal, Points& sum) const {
    for_each_nodal(group, nodal, [&](int node, int c, double value) { sum(node, c) += value; });
  }
  void prefetch(std::span<const int> group, const BlockMatrix& matrix) const {
    if (m_quadratic) return;
    for (const int e : group) {
      for (std::size_t b = 0; b < 10; ++b) matrix.prefetch(slots[10 * static_cast<std::size_t>(e) + b]);
    }
  }
  // Precomputes where each tet's blocks go. `column_of_node` is −1 for held nodes.
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node);
  BlockPattern::CliqueList cliques() const { return {nodes, nodes_per_tet()}; }

  std::vector<int> nodes;          // four or ten per tet
  std::vector<Mat3> rest_inverse;  // per element; may be replaced by B F_p⁻¹ (plasticity)
  std::vector<double> volume;      // per element, m³
  ElementColouring colouring;      // of tets
  std::vector<BlockSlot> slots;    // 10 or 55 per tet

 private:
  template <class S>
  Matrix3<S> linear_edges(const Points& x, std::span<const int> group) const {
    LanePointers<S> corner[4];
    for (std::size_t k = 0; k < corner[0].size(); ++k) {
      const int* at = nodes.data() + 4 * lane_element(group, k);
      for (int a = 0; a < 4; ++a) corner[a][k] = x.data() + 3 * at[a];
    }
    Matrix3<S> d;
    for (int c = 0; c < 3; ++c) {
      const S origin = exemplar::gather(corner[0], c);
      for (int a = 0; a < 3; ++a) d(c, a) = exemplar::gather(corner[a + 1], c) - origin;
    }
    return d;
  }
  template <class S>
  Matrix3<S> quadratic_edges(const Points& x, std::span<const int> group) const {
    const auto y = quadratic_tet::corners(quadratic_tet::Shares<S>(group), x, nodes_of(to_size(group[0])));
    Matrix3<S> d;
    for (int a = 0; a < 3; ++a) d.col(a) = y.col(a + 1) - y.col(0);
    return d;
  }
  // The four points of a quadratic tet, at once or one by one.
  template <class Energy, class Body>
  static void for_points(int first, const Body& body, bool one_by_one) {
    const std::array<int, 4> points{first, first + 1, first + 2, first + 3};
    if constexpr (k_works_in_lanes<Energy>) {
      if (!one_by_one) {
        body.template operator()<Lanes>(std::span<const int>(points));
        return;
      }
    }
    for (const int& point : points) body.template operator()<double>(std::span<const int>(&point, 1));
  }

  bool m_quadratic = false;
};

// An energy on all elements: its value (J), its gradient (N) and its Hessian (N/m).
double elastic_energy(const ElasticEnergy& energy, const TetElements& elements, const Points& x);
void add_elastic_gradient(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                          Points& gradient);
void add_elastic_hessian(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                         bool project, BlockMatrix& hessian);

// How many tets have no positive volume (quadratic ones: at one of their points or more), counted against their
// undeformed orientation.
int count_inverted(const TetElements& elements, const Points& x);
// A part in (0, 1] of the straight path from x0 (no inverted elements) to x1 on which every element keeps at least
// a tenth of its volume at x0; 1: the whole path does.
double way_without_inversion(const TetElements& elements, const Points& x0, const Points& x1);

// A quarter of each tet's mass on each of its nodes; of quadratic tets 1/36 on corners, 4/27 on midside nodes (kg).
VecX lumped_mass(const TetElements& elements, double density, Eigen::Index node_count);
// Of linear tets, ∫ρ N_a N_b: volume/10 on the diagonal, volume/20 beside it; with one integration point volume/16
// everywhere.
void add_consistent_mass(const TetElements& elements, double density, BlockMatrix& mass,
                         bool one_point = false);

}  // namespace exemplar
