// The example potential W_p of solids with incompatible rest shapes (schumacher2012 §4.1.1, eq. 5).
//
// Per tet and example i: R_i, the proper rotation of the polar decomposition of rest → example, takes it to
// the common frame, D_i = R_iᵀ Dm_i − Dm_0. The interpolated rest shape is Dm_w = Dm_0 + Σ w_i D_i, F = Ds
// Dm_w⁻¹, and W_p = Σ vol ψ(F) with the constant rest volume: a departure from the literal W(X_w, x), whose
// volume changes with w; there is no measurable difference and there are fewer terms. With B = Dm_w⁻¹, G_i =
// D_i B, dF_i = −F G_i:
//   ∂W/∂w_i = −vol (FᵀP):G_i
//   H_xw,i  = vol (H:dF_i − P G_iᵀ) Bᵀ
//   H_ww,ij = vol (dF_i:H:dF_j + (FᵀP):(G_i G_j + G_j G_i))
// As dF_i is also what the edge change −F D_i gives at fixed weights, vol (H:dF_i) Bᵀ is the element's
// stiffness matrix K times that change: nothing but K is needed, and with a projected K the bordered matrix
// keeps the projection's sign. With the nodal forces N = vol P Bᵀ: ∂W/∂w_i = −(FᵀN):D_i,
// vol P G_iᵀ Bᵀ = N (B D_i)ᵀ, vol (FᵀP):(G_i G_j) = (FᵀN):(D_i B D_j).
// If no example tet is inverted, det Dm_w > 0 on the whole simplex; inverted ones are refused.
#pragma once

#include <span>
#include <vector>

#include "core/elastic/tet_elements.h"
#include "core/implicit/node_term.h"

namespace exemplar::fem {

class ExampleTerm : public NodeTerm {
 public:
  // `elements`: of the region that the examples shape. `poses`: positions of the solver's nodes in each
  // example (rows of other nodes are not looked at). Throws InputError for an example that inverts an
  // element.
  ExampleTerm(TetElements elements, const std::vector<Points>& poses, const ElasticEnergy& energy,
              bool on_simplex);

  int weight_count() const override { return m_count; }
  bool weights_on_simplex() const override { return m_on_simplex; }
  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override {
    lists.push_back(m_elements.cliques());
  }
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override;
  double value(const Points& x, const VecX& w) override;
  void add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) override;
  void add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a, Eigen::Ref<MatX> c,
                   Eigen::Ref<MatX> d) override;
  double max_step(const Points& x0, const Points& x1) override {
    return has_barrier(m_energy) ? way_without_inversion(m_elements, x0, x1) : 1;
  }

  // Example 0 becomes F_p Dm_0, and the rotations of the others are taken against it again: a product of two
  // symmetric positive definite factors is not one, so that det Dm_w > 0 would otherwise be lost. One matrix
  // per integration point. `carry`: the examples become F_i F_p Dm_0 with F_i = Dm_i Dm_0⁻¹, what is seen
  // when the body flows first and then takes the pose; else they stay.
  void set_plastic(const std::vector<Mat3>& plastic_inverse, bool carry = false);

  // The least energy at x over the weights that are not given (NaN: free), from `w` on.
  VecX settled_weights(const Points& x, VecX w, const VecX& given);

  std::size_t element_count() const { return m_elements.count(); }
  const TetElements& elements() const { return m_elements; }
  const ElasticEnergy& energy() const { return m_energy; }
  // The edge matrix of the interpolated rest shape.
  Mat3 rest_edges(std::size_t e, const VecX& w) const;

 private:
  VecX slopes(const Points& x, const VecX& w);  // ∂W_p/∂w
  void set_weights(const VecX& w);
  // Borders of one element or four from stiffness blocks and nodal forces N (columns: nodes 1 to 3).
  template <class S>
  void add_borders(std::span<const int> group, const TetGroup<S>& tets, const Matrix3<S>& nodal,
                   const BlocksOf<S>& blocks, Eigen::Ref<MatX> c);
  const Mat3& direction(std::size_t e, int i) const {
    return m_directions[e * static_cast<std::size_t>(m_count) + static_cast<std::size_t>(i)];
  }

  template <class S>
  Matrix3<S> direction(std::span<const int> group, int i) const;

  TetElements m_elements;  // rest_inverse: that of Dm_w for m_weights
  ElasticEnergy m_energy;
  int m_count;
  bool m_on_simplex;
  VecX m_weights;                  // for which rest_inverse was computed
  std::vector<Mat3> m_rest;        // Dm_0, or F_p Dm_0
  std::vector<Mat3> m_undeformed;  // Dm_0 without plasticity
  std::vector<Mat3> m_poses;       // Dm_i, m per element
  std::vector<Mat3> m_directions;  // D_i
  std::vector<int> m_column;
  std::vector<double> m_slots;  // per-element sums over elements, added in order
};

}  // namespace exemplar::fem
