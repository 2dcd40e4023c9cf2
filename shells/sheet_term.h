// The energies of a sheet as a term of the implicit solver: the conventional potential W_i and, in the same
// pass over the triangles, the example potential W_p of schumacher2012 §4.1.2:
//   W = Σ_t ½ (p − p̄)ᵀC(p − p̄) + ½ (p − p̄_w)ᵀC_p(p − p̄_w),   p̄_w = p̄_0 + Σ_i w_i D_i,   D_i = p_i − p_0
// p the measures of triangle_energy.h, p_i those of example i, C_p the stiffness of the examples. As the
// geometry of a triangle is computed once for both, an example costs next to nothing.
//
// Viscosity, in the same pass: over a step of length h from x₀, in place of the rate of work,
//   D(x) = β/(2h) Σ_t (p(x) − p(x₀))ᵀ(C + C_p)(p(x) − p(x₀))
// β (s) of the material. p does not see rotations, so that rigid motions of any size cost nothing and the
// forces have neither resultant nor moment (as fem/viscous_term.h for solids); for small strains it is
// stiffness-proportional damping. ‖x − x₀‖²_K with the stiffness K at x₀, used before, brakes rotations of
// stressed sheets: a free one lost 4 % of its angular momentum in 2 s at β 2 ms.
//
// Derivatives go through q = (squared lengths, angles): ∂²W/∂z² = JᵀKJ + Σ n_k ∂²s_k + Σ_e κ_e ∂²θ_e with
// J = ∂q/∂z, K = ∂²W/∂q², n = ∂W/∂s, κ_e the moment at edge e. Projected: K and the 3×3 matrix of Σ n_k ∂²s_k
// are projected, κ_e ∂²θ_e is left out (what is left is positive semi-definite).
//
// Predicted stretch: after a Newton step that turned an edge by dx, its squared length has the error |dx|² of
// the linearisation, and with it the membrane force n, which in a thin sheet is huge beside the true one.
// The geometric stiffness therefore takes s − |e − e_before|², what the last step's linear model promised
// (mixed integration point strategy, Magisano et al. 2017; in a trial 6.2 → 3.6 iterations for a plate, 18 →
// 9.9 for paper, 7.8 → 7.4 for cloth).
#pragma once

#include <memory>
#include <vector>

#include "core/implicit/node_term.h"
#include "core/sparse/element_colouring.h"
#include "shells/sheet.h"

namespace exemplar::shells {

// Per triangle, one column each.
template <class Triangle>
using Rests = Eigen::Matrix<double, Triangle::measures, Eigen::Dynamic>;

template <class Triangle>
struct ExamplePotential {
  double membrane = 1, bending = 1;    // stiffness relative to the material
  std::vector<Rests<Triangle>> poses;  // p_i, without the undeformed one
  std::vector<char> takes_part;        // per triangle; empty: all
  bool on_simplex = true;
};

template <class Triangle>
class SheetTerm : public NodeTerm {
 public:
  using Measures = typename Triangle::Measures;

  // `triangles`: without factors. `internal`: factor of W_i, 0: off. `rest`: p̄ of W_i and p_0 of W_p.
  SheetTerm(std::shared_ptr<const Sheet> sheet, std::vector<Triangle> triangles, double internal,
            Rests<Triangle> rest, const ExamplePotential<Triangle>* examples);

  int weight_count() const override { return static_cast<int>(m_poses.size()); }
  bool weights_on_simplex() const override { return m_on_simplex; }
  void set_viscosity(double beta) { m_viscosity = beta; }
  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override {
    lists.push_back({m_nodes, k_nodes});
  }
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override;
  double value(const Points& x, const VecX& w) override;
  void add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) override;
  void add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a, Eigen::Ref<MatX> c,
                   Eigen::Ref<MatX> d) override;
  void begin_step(const RateBase& base) override;
  // The work of the viscous forces at x along the step's change.
  double dissipated(const Points& x) override;
  void accepted(const Points& x, const VecX& w) override;
  void end_step(const Points& x, const VecX& w) override;

  // Dihedral angles, continued from those of the last step's end.
  VecX angles(const Points& x) const { return m_sheet->angles(x, m_reference); }
  const VecX& reference_angles() const { return m_reference; }
  void set_reference_angles(VecX theta) { m_reference = std::move(theta); }

  // The rest state of W_i; that of example 0 of W_p moves by the same amounts (schumacher2012 §5).
  const Rests<Triangle>& rest() const { return m_rest; }
  void set_rest(Rests<Triangle> rest);
  const Sheet& sheet() const { return *m_sheet; }
  const Triangle& triangle(std::size_t t) const { return m_triangles[t]; }

  // W_i of each triangle, its membrane and its bending part (rows), J.
  MatX triangle_energies(const Points& x) const;
  double example_energy(const Points& x, const VecX& w) const;

 private:
  static constexpr int k_nodes = 9;  // own vertices, opposite ones across the edges, packs
  static constexpr int k_dofs = 3 * k_nodes;
  using Jacobian = Eigen::Matrix<double, 6, k_dofs>;

  // Where a triangle's unknowns are among its nodes.
  struct Local {
    int count = 0;
    std::array<int, 3> wing, pack;  // −1: none
  };
  // One triangle's share at a state: its geometry, ∂W/∂p, the factors on C, and p − p̄_w.
  struct Point {
    Vec6 q;
    Measures f, factors, off_examples;
  };

  void number_nodes();
  void find_example_directions();
  Measures example_rest(std::size_t t, const VecX& w) const;
  bool in_examples(std::size_t t) const { return !m_poses.empty() && (m_in.empty() || m_in[t]); }
  Point evaluate(const Points& x, const VecX& theta, const VecX& w, std::size_t t) const;
  Measures viscous_force(const Measures& p, std::size_t t) const;
  double viscous_value(const Measures& p, std::size_t t) const;
  double example_value(const Measures& p, const VecX& w, std::size_t t) const;
  void forget_iterates();
  void differentiate_angles(const Points& x);
  Jacobian jacobian(const Points& x, std::size_t t) const;
  Vec3 stretch_error(const Points& x, std::size_t t) const;
  void add_triangle(const Points& x, const VecX& w, bool project, std::size_t t, BlockMatrix& a,
                    Eigen::Ref<MatX> c);
  void add_membrane_force(const Vec3& n, bool project, Eigen::Matrix<double, k_dofs, k_dofs>& h) const;
  void add_edge(const Points& x, std::size_t e, BlockMatrix& a) const;
  void scatter(std::size_t t, const Eigen::Matrix<double, k_dofs, 1>& local, Eigen::Ref<VecX> column) const;

  std::shared_ptr<const Sheet> m_sheet;
  std::vector<Triangle> m_triangles;
  double m_internal;
  Rests<Triangle> m_rest;
  Measures m_factors = Measures::Zero();  // C_p = C diag(factors): one for the membrane, one for bending
  std::vector<Rests<Triangle>> m_poses;
  std::vector<Rests<Triangle>> m_ways, m_pulls;  // D_i and C_p D_i
  MatX m_way_stiffness;                          // Σ_t D_iᵀ C_p D_j = ∂²W/∂w²
  std::vector<char> m_in;
  bool m_on_simplex = true;
  double m_viscosity = 0;        // β, s
  double m_rate = 0;             // β/h in a step, 0 between steps
  Rests<Triangle> m_step_start;  // p(x₀)
  Rests<Triangle> m_rate_base;   // Σ c_k p(x_k) of RateBase

  std::vector<int> m_nodes;  // k_nodes per triangle, the unused ones repeat the first
  std::vector<Local> m_local;
  std::vector<int> m_hinges, m_hinge_nodes;  // edges with an angle and their four nodes
  ElementColouring m_triangle_colours, m_hinge_colours;
  std::vector<BlockSlot> m_triangle_slots, m_hinge_slots;
  std::vector<int> m_column;

  VecX m_reference;            // angles at the last step's end
  Points m_before, m_iterate;  // the last two iterates of Newton's method; empty: none
  VecX m_theta;                // scratch: angles, their gradients, moments κ, per triangle sums
  Eigen::Matrix<double, 12, Eigen::Dynamic> m_theta_gradient;
  Eigen::Matrix<double, 3, Eigen::Dynamic> m_moments;
  std::vector<double> m_slots;
};

extern template class SheetTerm<PhysicalTriangle>;
extern template class SheetTerm<PaperTriangle>;

}  // namespace exemplar::shells
