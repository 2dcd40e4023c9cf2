// Implicit Euler by minimisation for nodes with any energy terms (schumacher2012 eq. 3–4), the one solver of
// `fem` and `shell`:
//   H(x, w, q) = 1/(2h²) ‖x − x₀ − h v₀‖²_M + Σ terms(x, w) − f·x + β/(2h) ‖x − x₀‖²_K₀ + contact and
//   friction(x, q)
//                + inertia of dynamic obstacles(q)
// over free nodes x, example weights w and the six increments q of every dynamic obstacle, so that momentum
// is exchanged exactly. h step (s), M lumped masses (kg), f forces (N), β stiffness-proportional damping (s),
// K₀ the terms' projected Hessian at the start of the step. Without inertia (quasi-static) the first term is
// left out. What residual Newton's method leaves would be an error of the momentum; a last, exact
// minimisation over common translations of everything that hangs together freely takes it away. Supports hold
// whole nodes (taken out of the system) or single coordinates (masked).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/contact/contact.h"
#include "core/implicit/linked_groups.h"
#include "core/implicit/node_term.h"
#include "core/sparse/newton.h"
#include "core/world/supports.h"

namespace exemplar {

struct ImplicitOptions {
  NewtonOptions newton;
  LinearMethod linear = LinearMethod::automatic;
  bool inertia = true;
  double damping = 0;          // β, s
  double stiffness_force = 0;  // N: smallest force that counts in the relative tolerance (material × mesh)
  double length = 1;           // m: mean edge
  int friction_solves = 2;     // solves per step while something slides: friction is lagged by one of them
};

struct StepInput {
  double dt = 0;                                   // s
  double time = 0;                                 // s, at the end of the step: where keyframed obstacles go
  Points forces;                                   // N, every node; empty: none
  std::vector<SupportedNode> held;                 // positions at the end of the step
  std::vector<std::optional<VecX>> given_weights;  // per term: explicit control; empty: none anywhere
  // Refuse the step (StepStatus::impact_too_fast) when free flight would carry something more than half the
  // way into an obstacle that stands in its path, or (obstacle_too_fast) when a keyframed obstacle does not
  // go nearly straight within it: for callers that can take a shorter one. Without this the minimum may lie
  // behind the obstacle, and at 200 m/s a soft body was seen to flow around a sphere with its momentum
  // unchanged.
  bool may_refuse = false;
};

enum class StepStatus { ok, not_converged, obstacle_too_fast, impact_too_fast, interrupted };

struct StepOutcome {
  StepStatus status = StepStatus::ok;
  NewtonSummary newton;  // of the last solve; counts summed over the step's solves
};

// Joule. The dissipations are sums over all steps of what left the bodies and obstacles in each of them; what
// implicit Euler itself loses, ½ Σ m |v₁ − v₀|² and the like in the potentials, is in none of them.
struct StepEnergies {
  double damping = 0;  // work of the damping forces: β/h ‖x − x₀‖²_K₀ in a step, never negative
  // Friction force times slip (never negative), and what is left in contact that was stiffened for an impact
  // when its stiffness goes back to normal after the step.
  double contact = 0;
  double barrier = 0;  // in contact at the present state
};

// All state that changes: what a checkpoint holds and what a failed step goes back to.
struct ImplicitState {
  Points positions, velocities;
  Points accelerations;       // m/s², of the last step: for the next one's starting point only
  std::vector<VecX> weights;  // per term
  std::vector<ObstacleState> obstacles;
  LinearMemory linear;
  StepEnergies energies;
};

class ImplicitSolver {
 public:
  // `masses`: kg per node (0 allowed: no inertia). Terms are shared with their makers, who may change them
  // between steps.
  ImplicitSolver(Points positions, Points velocities, VecX masses,
                 std::vector<std::shared_ptr<NodeTerm>> terms, ImplicitOptions options);
  ~ImplicitSolver();

  // Turns contact on; `surface` refers to this solver's nodes.
  void add_contact(ContactSurface surface, std::vector<ObstacleBody> obstacles, const ContactOptions& options,
                   const Vec3& gravity);

  // One step; when it is not ok the state is unchanged.
  StepOutcome step(const StepInput& input);

  // The function that step() would minimise and the z it would start from (empty result: the step would be
  // refused); for tests of its derivatives. `input` must outlive it.
  std::unique_ptr<NewtonProblem> make_problem(const StepInput& input, VecX& z);

  const ImplicitState& state() const { return m_state; }
  void set_state(ImplicitState state);
  const VecX& masses() const { return m_masses; }
  ImplicitOptions& options() { return m_options; }
  const std::vector<ObstacleBody>& obstacles() const { return m_obstacles; }
  // Sum of the terms at the present state, J.
  double potential_energy();
  double term_energy(std::size_t term);
  // −∂/∂x of all terms (no inertia, loads or contact): internal forces, N.
  Points internal_forces();
  // Degrees of freedom of the last step's linear system, border included.
  int unknowns() const;
  const LinearSolver* linear_solver() const { return m_linear.get(); }
  // Contact energy at the present state and the smallest gap, if there is contact.
  double smallest_gap() const { return m_smallest_gap; }

 private:
  class Problem;
  Points held_start(const StepInput& input) const;
  void prepare_system(const std::vector<SupportedNode>& held);
  VecX prescribed_increments(const StepInput& input) const;
  Points predict(const StepInput& input, const Points& start, int order) const;
  double largest_detour(const StepInput& input, const VecX& q) const;
  StepStatus place_obstacles(const StepInput& input, VecX& q, Points& start, NewtonSummary& spent);
  StepStatus follow_prescribed_motion(const StepInput& input, VecX& q, Points& start, NewtonSummary& spent);
  void start_from_prediction(const StepInput& input, const Points& start, const VecX& q, Problem& problem,
                             VecX& z) const;
  NewtonSummary solve(Problem& problem, VecX& z);
  void account(Problem& problem);
  void finish(const StepInput& input, const Points& x, const VecX& q, std::vector<VecX> weights);

  ImplicitState m_state;
  VecX m_masses;
  std::vector<std::shared_ptr<NodeTerm>> m_terms;
  ImplicitOptions m_options;
  std::vector<ObstacleBody> m_obstacles;
  std::optional<ContactPotential> m_contact;
  std::vector<int> m_contact_cliques;  // twelve nodes each, −1 where fewer
  Vec3 m_gravity = Vec3::Zero();
  double m_smallest_gap = 0;
  double m_stiffening = 0;  // J: added to contact at the start of the step

  // The linear system for the present set of held nodes.
  std::vector<int> m_held_nodes;
  std::vector<int> m_column;
  std::vector<char> m_masked;  // per reduced coordinate: held alone
  bool m_any_masked = false;
  LinkedGroups m_groups;  // nodes that the terms link
  std::unique_ptr<BlockPattern> m_pattern;
  std::unique_ptr<LinearSolver> m_linear;
};

}  // namespace exemplar
