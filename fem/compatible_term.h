// The example potential of the predecessor, with a compatible interpolated pose (Martin et al. 2011;
// schumacher2012 §4): the nodes y of X_w are unknowns too, tied to the weights through the strain
// interpolation
//   W_p(y, w, x) = W(X_w = y, x) + γ ‖∇_y W_I‖²,   W_I(y, w) = ½ Σ vol ‖E(y) − Σ w_i E_i‖²
// (a penalty on ‖E(y) − E_w‖² itself would lock w as γ grows). With B = Dy⁻¹, F = Ds Dy⁻¹, b_a rows of B and
// K_ab the stiffness blocks for fixed y:
//   ∂W/∂y_a = −vol FᵀP b_a,   K_xy,ab = −K_ab F − vol P b_b b_aᵀ,   K_yy,ab = Fᵀ K_ab F + vol (FᵀP b_b b_aᵀ +
//   b_b b_aᵀ PᵀF)
// Plastic flow turns example 0 into F_p, as it does in the incompatible term: with E_0 = ½(F_pᵀF_p − I) the
// interpolated strain is (1 − Σ w_i) E_0 + Σ w_i E_i. F_p fits no placement of the nodes in general; y is
// then the pose that comes nearest to it. The penalty has the Gauss–Newton Hessian 2γ K_I² (two rings of
// neighbours), K_I = ∂²W_I/∂y². y is free to move rigidly: a small shift on its diagonal removes that from
// the linear system without changing the energy.
#pragma once

#include <memory>
#include <vector>

#include "core/elastic/tet_elements.h"
#include "core/implicit/node_term.h"

namespace exemplar::fem {

class CompatibleTerm : public NodeTerm {
 public:
  // `elements`: of the whole body. Node n of the body has the pose node n + pose_offset. `poses`: positions
  // of the body's nodes in each example, in the solver's numbering. `penalty`: γ relative to μ/edge length.
  CompatibleTerm(TetElements elements, int pose_offset, const std::vector<Points>& poses,
                 const ElasticEnergy& energy, double penalty, bool on_simplex);

  int weight_count() const override { return m_count; }
  bool weights_on_simplex() const override { return m_on_simplex; }
  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override;
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override;
  double value(const Points& x, const VecX& w) override;
  void add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) override;
  void add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a, Eigen::Ref<MatX> c,
                   Eigen::Ref<MatX> d) override;
  // Example 0 becomes F_p; one matrix F_p⁻¹ per element. `carry`: the others become F_i F_p, with
  // E = F_pᵀ E_i F_p + E_0; else they stay.
  void set_plastic(const std::vector<Mat3>& plastic_inverse, bool carry = false);
  // γ ‖∇_y W_I‖² alone.
  double penalty_energy(const Points& x, const VecX& w);
  // What is added to the diagonal of the pose nodes in the Hessian, N/m.
  double gauge_shift() const { return m_shift; }

 private:
  int pose_node(std::size_t e, int a) const { return m_elements.nodes_of(e)[a] + m_pose_offset; }
  Mat3 pose_edges(const Points& x, std::size_t e) const;
  Mat3 strain_residual(const Mat3& f, std::size_t e, const VecX& w) const;
  const Mat3& direction(std::size_t e, int i) const {
    return m_directions[e * static_cast<std::size_t>(m_count) + static_cast<std::size_t>(i)];
  }
  VecX interpolation_gradient(const Points& x, const VecX& w) const;  // ∇_y W_I, over the pose nodes
  MatX interpolation_weights(const Points& x) const;                  // ∂(∇_y W_I)/∂w
  void assemble_interpolation(const Points& x, const VecX& w);        // K_I
  void add_penalty_hessian(BlockMatrix& a, double factor) const;

  TetElements m_elements;       // rest inverses of the undeformed body
  TetElements m_pose_elements;  // the same with nodes counted from 0, on m_pose_pattern
  ElasticEnergy m_energy;
  int m_first = 0;  // first node of the body
  int m_nodes = 0;
  int m_pose_offset;
  int m_count;
  bool m_on_simplex;
  double m_gamma = 0;
  double m_shift = 0;
  std::vector<Mat3> m_strains;     // E_i, m_count per element
  std::vector<Mat3> m_rest;        // E_0: zero, or that of F_p
  std::vector<Mat3> m_directions;  // E_i − E_0
  std::unique_ptr<BlockPattern> m_pose_pattern;
  BlockMatrix m_interpolation;  // K_I
  std::vector<int> m_cliques;   // eight nodes per element
  std::vector<int> m_rings;  // every pose node with its neighbours (the solver's numbers), padded with −1
  int m_ring_size = 0;
  std::vector<BlockSlot> m_slots;       // 36 per element
  std::vector<BlockSlot> m_ring_slots;  // pairs of each ring
  std::vector<int> m_column;
};

}  // namespace exemplar::fem
