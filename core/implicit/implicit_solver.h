// Implicit Euler by minimisation for nodes with any energy terms (schumacher2012 eq. 3–4), the one solver of
// `fem` and `shell`:
//   H(x, w, q) = 1/(2h²) ‖x − x₀ − h v₀‖²_M + Σ terms(x, w) − f·x + contact and friction(x, q)
//                + inertia of dynamic obstacles(q)
// over free nodes x, example weights w and the six increments q of every dynamic obstacle, so that momentum
// is exchanged exactly. h step (s), M lumped masses (kg), f forces (N); viscosity is one of the terms. Without
// inertia (quasi-static) the first term is left out. What residual Newton's method leaves would be an error of the momentum; a last, exact
// minimisation over common translations of everything that hangs together freely takes it away. Supports hold
// whole nodes (taken out of the system) or single coordinates (masked).
//
// Each summand is a StepTerm (step_terms.h, contact_term.h); StepProblem adds them up, StepUnknowns says where
// the unknowns stand, StepSystem holds the linear system.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/contact/contact.h"
#include "core/implicit/momentum_balance.h"
#include "core/implicit/pull_term.h"
#include "core/implicit/step_problem.h"
#include "core/implicit/step_system.h"
#include "core/world/pressure.h"

namespace exemplar {

// implicit_euler: order 1, loses energy at a rate that falls with the step. bdf2: order 2 (Curtiss and Hirschfelder
// 1952, with steps of any length), loses far less; as stable. In the same minimisation: with r = h/h₋₁ the step goes
// on from x̃ = x₀ + r²/(1 + 2r) (x₀ − x₋₁), the same ṽ, over the time h (1 + r)/(1 + 2r). Friction keeps its
// first-order rate. The first step is implicit Euler's. tr_bdf2: order 2 (Bank et al. 1985), a step of length h in
// two stages, the trapezoidal rule over γh, γ = 2 − √2, and bdf2 over the rest; both solve with the same time γh/2. It
// damps what it cannot resolve as bdf2 does, has half of its error at equal cost, and forgets what came before the step:
// the length of steps may change freely.
enum class Integrator { implicit_euler, bdf2, tr_bdf2 };

// What one solve of ImplicitSolver::step() does. trapezoid: over h, with the forces F₀ at its start,
//   x = x₀ + h/2 (v₀ + v),  M v = M v₀ + h/2 (F₀ + F),
// which is a minimisation as that of implicit Euler over h/2, from x₀ + h/2 v₀ and v₀ + h/2 M⁻¹F₀.
enum class StepRule { implicit_euler, bdf2, trapezoid };

// The solves of one step of length dt (s).
struct StepStage {
  StepRule rule;
  double dt;
};
std::vector<StepStage> stages_of(Integrator integrator, double dt);

struct ImplicitOptions {
  NewtonOptions newton;
  LinearMethod linear = LinearMethod::automatic;
  bool inertia = true;
  Integrator integrator = Integrator::implicit_euler;
  double stiffness_force = 0;  // N: smallest force that counts in the relative tolerance (material × mesh)
  double length = 1;           // m: mean edge
};

struct StepInput {
  double dt = 0;                 // s
  double time = 0;               // s, at the end of the step: where keyframed obstacles go
  std::optional<StepRule> rule;  // none: the first of the integrator's stages
  Points forces;                 // N, every node; empty: none
  Points force_change;           // N, by how much they are more than in the last solve; empty: not at all
  std::vector<PressedTriangle> pressed;  // their forces are those at the end of the step
  std::vector<PulledNodes> pulled;       // by springs whose targets are those at the end of the step
  std::vector<SupportedNode> held;       // positions at the end of the step
  // Per term: explicit control, NaN where a weight is free; empty: none anywhere. On the simplex the given ones
  // must leave the others room: none negative, a sum of at most 1.
  std::vector<std::optional<VecX>> given_weights;
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

// The force with which a support holds a node, N: in its held coordinates, zero in the others.
struct Reaction {
  int node = 0;
  std::array<int, 3> support{-1, -1, -1};  // which support of the node's body holds each coordinate
  Vec3 force = Vec3::Zero();
};

// How a dynamic obstacle's motion changes at the end of a step, gravity included.
struct ObstacleRate {
  Vec3 acceleration = Vec3::Zero();  // m/s²
  Vec3 torque = Vec3::Zero();        // Nm, about the centre of mass, world axes

  static constexpr auto described() {
    return std::tuple(member("acceleration", &ObstacleRate::acceleration),
                      member("torque", &ObstacleRate::torque));
  }
};

// All state that changes: what a checkpoint holds and what a failed step goes back to.
struct ImplicitState {
  Points positions, velocities;
  Points accelerations;  // m/s², at the end of the last step
  // Where the last step began, for bdf2; last_dt (s) 0: there was none.
  Points last_positions, last_velocities;
  std::vector<ObstacleState> last_obstacles;
  double last_dt = 0;
  std::vector<VecX> weights;  // per term
  std::vector<ObstacleState> obstacles;
  std::vector<ObstacleRate> obstacle_rates;  // of the dynamic ones, zero for others
  LinearMemory linear;
  StepEnergies energies;

  static constexpr auto described() {
    using S = ImplicitState;
    return std::tuple(
        member("positions", &S::positions), member("velocities", &S::velocities),
        member("accelerations", &S::accelerations), member("last_positions", &S::last_positions),
        member("last_velocities", &S::last_velocities), member("last_obstacles", &S::last_obstacles),
        member("last_dt", &S::last_dt), member("weights", &S::weights), member("obstacles", &S::obstacles),
        member("obstacle_rates", &S::obstacle_rates), member("linear", &S::linear),
        member("energies", &S::energies));
  }
};

class ImplicitSolver {
 public:
  // `masses`: kg per node (0 allowed: no inertia). Terms are shared with their makers, who may change them
  // between steps. `abstract` (one per node; empty: none): nodes without mass whose three numbers are no place
  // in space, e.g. angles in units of length.
  ImplicitSolver(Points positions, Points velocities, VecX masses,
                 std::vector<std::shared_ptr<NodeTerm>> terms, ImplicitOptions options,
                 std::vector<char> abstract = {});

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
  // Of one term, between steps.
  void set_weights(std::size_t term, VecX weights) { m_state.weights[term] = std::move(weights); }
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
  const LinearSolver* linear_solver() const { return m_system.solver(); }
  // The smallest gap at the end of the last step, m; infinite where nothing is near.
  double smallest_gap() const { return m_smallest_gap; }
  // Of the supports, in the order of the last step's `held`.
  const std::vector<Reaction>& reactions() const { return m_reactions; }
  // At the points of the contact surface at the end of the last step, N; none without contact. Pressure alone or
  // with friction.
  Points contact_forces(bool friction) const;
  const ContactPotential* contact() const { return m_contact ? &*m_contact : nullptr; }
  // Wall time spent in contact so far, s.
  double contact_seconds() const { return m_contact ? m_contact->seconds() : 0; }

 private:
  Points held_start(const StepInput& input) const;
  void prepare_system(const StepInput& input);
  VecX prescribed_increments(const StepInput& input) const;
  Points predict(const StepInput& input, const Points& start, int order) const;
  bool terms_allow(const Points& x) const;
  double largest_detour(const StepInput& input, const VecX& q) const;
  void set_base(const StepInput& input);
  void start_accelerations(const StepInput& input);
  void add_force_change(const StepInput& input);
  RateBase rate_base(double dt) const;
  ObstacleState base_of(std::size_t obstacle) const;
  RigidInertia inertia_of(std::size_t obstacle) const;
  ObstacleState moved_obstacle(std::size_t obstacle, const Vec6& increment) const;
  ObstacleRate rate_of(std::size_t obstacle, const ObstacleState& end) const;
  StepStatus place_obstacles(const StepInput& input, VecX& q, Points& start, NewtonSummary& spent);
  StepStatus follow_prescribed_motion(const StepInput& input, VecX& q, Points& start, NewtonSummary& spent);
  // The step's function at (start, q). `input` must outlive it.
  std::unique_ptr<StepProblem> problem_at(const StepInput& input, const Points& start, const VecX& q);
  void start_from_prediction(const StepInput& input, const Points& start, StepProblem& problem, VecX& z);
  bool path_is_clear(const Points& end);
  NewtonSummary solve(StepProblem& problem, VecX& z);
  NewtonSummary settle_friction(StepProblem& problem, VecX& z);
  void balance(const StepInput& input, const StepUnknowns& unknowns, StepPoint& at) const;
  void finish(const StepInput& input, StepPoint end);
  void keep_reactions(const StepInput& input, const StepGradient& residual);

  ImplicitState m_state;
  VecX m_masses;
  std::vector<char> m_abstract;
  std::vector<std::shared_ptr<NodeTerm>> m_terms;
  ImplicitOptions m_options;
  std::vector<ObstacleBody> m_obstacles;
  std::optional<ContactPotential> m_contact;
  Vec3 m_gravity = Vec3::Zero();
  double m_smallest_gap = 0;
  std::vector<Reaction> m_reactions;
  VecX m_end_increments;      // q at the end of the last step
  double m_stiffening = 0;    // J: added to contact at the start of the step
  bool m_may_predict = true;  // the step may start from any place that can be reached freely
  // What inertia goes on from: state and step themselves, or x̃, ṽ and the shorter time of the other rules.
  struct Base {
    StepRule rule = StepRule::implicit_euler;
    Points positions, velocities;
    double dt = 0;
    double share = 0;  // bdf2: r²/(1 + 2r)
  };
  Base m_base;
  StepSystem m_system;
};

}  // namespace exemplar
