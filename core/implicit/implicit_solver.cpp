#include "core/implicit/implicit_solver.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "core/implicit/contact_term.h"
#include "core/implicit/prescribed_motion.h"
#include "core/implicit/pressure_term.h"
#include "core/implicit/step_terms.h"

namespace exemplar {

namespace {

// Friction is lagged after every iteration between these residuals, and once more at k_solved. Farther away normal forces
// mean nothing yet (twenty layers of cloth that land on each other took 66 iterations a step, 25 so).
constexpr double k_far = 0.3, k_settled = 1e-2;
constexpr int k_most_laggings = 10;  // in a step
// With tolerances near round-off friction is lagged once only, at a state that is solved so far: every lagging on the way
// would carry the rounding of its iterate into the forces (two equal blocks that collide were seen to part by 2e-10 m).
constexpr double k_near_round_off = 1e-8, k_solved = 1e-4;
constexpr int k_most_holds = 10;  // in a solve

void add_counts(const NewtonSummary& more, NewtonSummary& total) {
  total.iterations += more.iterations;
  total.projections += more.projections;
  total.backtracks += more.backtracks;
  total.cg_iterations += more.cg_iterations;
  total.factorisations += more.factorisations;
}

// The next solve of several: its outcome with everybody's counts.
void add_solve(const NewtonSummary& next, NewtonSummary& total) {
  const NewtonSummary before = std::exchange(total, next);
  add_counts(before, total);
}

// As minimise(), but an iteration that has turned sliding contacts round is followed by one that holds them
// (ContactFriction). Such iterations may be more than `options` allows.
NewtonSummary minimise_with_friction(StepProblem& problem, LinearSolver& solver, ContactFriction& friction,
                                     const NewtonOptions& options, VecX& z) {
  NewtonOptions watching = options, once = options;
  watching.interrupted = [&] {
    return friction.reversals() > 0 || (options.interrupted && options.interrupted());
  };
  once.max_iterations = 1;
  NewtonSummary total;
  for (int holds = 0;; ++holds) {
    add_solve(minimise(problem, solver, holds < k_most_holds ? watching : options, z), total);
    const bool may_hold =
        total.status == NewtonStatus::interrupted || total.status == NewtonStatus::iteration_limit;
    if (!may_hold || friction.reversals() == 0 || holds == k_most_holds) return total;
    friction.hold_reversals();
    add_counts(minimise(problem, solver, once, z), total);
    friction.release();
    if (total.iterations >= options.max_iterations) {
      total.status = NewtonStatus::iteration_limit;
      return total;
    }
  }
}

// Given weights as they are; the free ones (NaN) where they were, shrunk to the room that is left to them.
void set_given(const VecX& given, bool on_simplex, VecX& weights) {
  double room = 1, sum = 0;
  for (Eigen::Index k = 0; k < given.size(); ++k) {
    const bool free = std::isnan(given[k]);
    if (!free) weights[k] = given[k];
    (free ? sum : room) += free ? weights[k] : -given[k];
  }
  if (!on_simplex || sum <= room || !given.array().isFinite().any()) return;
  const double factor = room > StepUnknowns::least_room ? room / sum : 0;
  for (Eigen::Index k = 0; k < given.size(); ++k) {
    if (std::isnan(given[k])) weights[k] *= factor;
  }
}

}  // namespace

std::vector<StepStage> stages_of(Integrator integrator, double dt) {
  const double part = 2 - std::sqrt(2.0);  // γ
  switch (integrator) {
    case Integrator::implicit_euler:
      return {{StepRule::implicit_euler, dt}};
    case Integrator::bdf2:
      return {{StepRule::bdf2, dt}};
    case Integrator::tr_bdf2:
      return {{StepRule::trapezoid, part * dt}, {StepRule::bdf2, (1 - part) * dt}};
  }
  return {};
}

ImplicitSolver::ImplicitSolver(Points positions, Points velocities, VecX masses,
                               std::vector<std::shared_ptr<NodeTerm>> terms, ImplicitOptions options,
                               std::vector<char> abstract)
    : m_masses(std::move(masses)),
      m_abstract(std::move(abstract)),
      m_terms(std::move(terms)),
      m_options(std::move(options)) {
  assert(m_abstract.empty() || to_row(m_abstract.size()) == m_masses.size());
  assert(positions.rows() == velocities.rows() && positions.rows() == m_masses.size());
  m_state.positions = std::move(positions);
  m_state.velocities = std::move(velocities);
  m_state.accelerations = Points::Zero(m_state.positions.rows(), 3);
  for (const auto& term : m_terms) m_state.weights.push_back(VecX::Zero(term->weight_count()));
}

void ImplicitSolver::add_contact(ContactSurface surface, std::vector<ObstacleBody> obstacles,
                                 const ContactOptions& options, const Vec3& gravity) {
  m_obstacles = std::move(obstacles);
  m_gravity = gravity;
  m_state.obstacles.clear();
  for (const ObstacleBody& obstacle : m_obstacles) m_state.obstacles.push_back(obstacle.initial_state());
  m_state.obstacle_rates.assign(m_obstacles.size(), {});
  const ContactCliques cliques = contact_cliques(surface);
  m_system.set_cliques(cliques.nodes, cliques.size);
  m_contact.emplace(std::move(surface), m_obstacles, options);
  const VecX zero = VecX::Zero(6 * to_row(m_obstacles.size()));
  m_contact->find_pairs(m_state.positions, zero, m_state.positions, zero);
  m_state.energies.barrier = m_contact->value(m_state.positions, zero);
  m_smallest_gap = m_contact->smallest_gap(m_state.positions, zero);
  m_end_increments = zero;
}

void ImplicitSolver::set_state(ImplicitState state) {
  assert(state.positions.rows() == m_state.positions.rows() &&
         state.accelerations.rows() == m_state.positions.rows() &&
         state.weights.size() == m_state.weights.size());
  m_state = std::move(state);
  if (!m_system.empty()) m_system.solver()->set_memory(m_state.linear);
}

void ImplicitSolver::prepare_system(const StepInput& input) {
  if (m_system.prepare(m_state.positions.rows(), input.held, input.pulled, m_terms, m_options.linear))
    m_system.solver()->set_memory(m_state.linear);
  m_system.set_positions(m_state.positions, m_abstract);
  set_base(input);
  const RateBase rates = rate_base(input.dt);
  for (const auto& term : m_terms) term->begin_step(rates);
}

void ImplicitSolver::set_base(const StepInput& input) {
  m_base = {input.rule.value_or(stages_of(m_options.integrator, input.dt)[0].rule), m_state.positions,
            m_state.velocities, input.dt, 0};
  if (!m_options.inertia) m_base.rule = StepRule::implicit_euler;
  if (m_base.rule == StepRule::bdf2 && m_state.last_dt == 0) m_base.rule = StepRule::implicit_euler;
  if (m_base.rule == StepRule::bdf2) {
    const double r = input.dt / m_state.last_dt;
    m_base.share = r * r / (1 + 2 * r);
    m_base.dt = input.dt * (1 + r) / (1 + 2 * r);
    m_base.positions += m_base.share * (m_state.positions - m_state.last_positions);
    m_base.velocities += m_base.share * (m_state.velocities - m_state.last_velocities);
  } else if (m_base.rule == StepRule::trapezoid) {
    const bool is_first = m_state.accelerations.isZero(0);
    if (is_first) start_accelerations(input);
    m_base.dt = input.dt / 2;
    m_base.positions += m_base.dt * m_state.velocities;
    m_base.velocities += m_base.dt * m_state.accelerations;
    if (!is_first && input.force_change.size() > 0) add_force_change(input);
  }
}

// The forces at a step's start are those of this step, not of the last one: free coordinates alone.
void ImplicitSolver::add_force_change(const StepInput& input) {
  Points change = input.force_change;
  for (const SupportedNode& node : input.held) {
    for (int c = 0; c < 3; ++c) {
      if (node.held[to_size(c)]) change(node.node, c) = 0;
    }
  }
  for (Eigen::Index i = 0; i < change.rows(); ++i) {
    if (m_masses[i] > 0) m_base.velocities.row(i) += m_base.dt / m_masses[i] * change.row(i);
  }
}

// The trapezoidal rule needs the rate at the step's start: the central difference along the velocities.
RateBase ImplicitSolver::rate_base(double dt) const {
  RateBase base{m_base.dt, {{1, m_state.positions}}};
  if (m_base.rule == StepRule::bdf2) {
    base.places[0].first = 1 + m_base.share;
    base.places.emplace_back(-m_base.share, m_state.last_positions);
  } else if (m_base.rule == StepRule::trapezoid) {
    base.places.emplace_back(0.5, m_state.positions + 0.5 * dt * m_state.velocities);
    base.places.emplace_back(-0.5, m_state.positions - 0.5 * dt * m_state.velocities);
  }
  return base;
}

// At the very start, where no step has told them.
void ImplicitSolver::start_accelerations(const StepInput& input) {
  Points forces = internal_forces();
  if (input.forces.size() > 0) forces += input.forces;
  for (Eigen::Index i = 0; i < forces.rows(); ++i) {
    if (m_masses[i] > 0) m_state.accelerations.row(i) = forces.row(i) / m_masses[i];
  }
  for (const SupportedNode& node : input.held) {
    for (int c = 0; c < 3; ++c) {
      if (node.held[to_size(c)]) m_state.accelerations(node.node, c) = 0;
    }
  }
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].dynamic()) m_state.obstacle_rates[i].acceleration = m_gravity;
  }
}

// Where inertia starts from, as a displacement since the present pose (it becomes a part of the velocity of
// inertia_of()) and velocities.
ObstacleState ImplicitSolver::base_of(std::size_t obstacle) const {
  const ObstacleBody& body = m_obstacles[obstacle];
  const ObstacleState& start = m_state.obstacles[obstacle];
  ObstacleState base = start;
  const Vec3 momentum = body.world_inertia(start) * start.angular_velocity;
  if (m_base.rule == StepRule::bdf2) {
    const ObstacleState& last = m_state.last_obstacles[obstacle];
    const Vec3 last_momentum = body.world_inertia(last) * last.angular_velocity;
    base = moved(start, m_base.share * increment_between(last, start));
    base.velocity += m_base.share * (start.velocity - last.velocity);
    base.angular_velocity =
        body.world_inverse_inertia(start) * (momentum + m_base.share * (momentum - last_momentum));
  } else if (m_base.rule == StepRule::trapezoid) {
    const ObstacleRate& rate = m_state.obstacle_rates[obstacle];
    Vec6 ahead;
    ahead << start.velocity, start.angular_velocity;
    base = moved(start, m_base.dt * ahead);
    base.velocity += m_base.dt * rate.acceleration;
    base.angular_velocity = body.world_inverse_inertia(start) * (momentum + m_base.dt * rate.torque);
  }
  return base;
}

// Increments count from the present pose, so that the displacement from there to x̃ is a part of the velocity.
RigidInertia ImplicitSolver::inertia_of(std::size_t obstacle) const {
  ObstacleState start = m_state.obstacles[obstacle];
  if (m_base.rule != StepRule::implicit_euler) {
    const ObstacleState base = base_of(obstacle);
    const Vec6 ahead = increment_between(start, base) / m_base.dt;
    start.velocity = base.velocity + ahead.head<3>();
    start.angular_velocity = base.angular_velocity + ahead.tail<3>();
  }
  return {m_obstacles[obstacle], start, m_gravity, m_base.dt};
}

ObstacleState ImplicitSolver::moved_obstacle(std::size_t obstacle, const Vec6& increment) const {
  ObstacleState end = inertia_of(obstacle).finish(increment);
  if (m_base.rule == StepRule::implicit_euler) return end;
  const ObstacleBody& body = m_obstacles[obstacle];
  const ObstacleState& start = m_state.obstacles[obstacle];
  const Vec6 ahead = increment_between(start, base_of(obstacle)) / m_base.dt;
  end.velocity -= ahead.head<3>();
  end.angular_velocity -= body.world_inverse_inertia(end) * (body.world_inertia(start) * ahead.tail<3>());
  return end;
}

ObstacleRate ImplicitSolver::rate_of(std::size_t obstacle, const ObstacleState& end) const {
  const ObstacleBody& body = m_obstacles[obstacle];
  const ObstacleState base = base_of(obstacle);
  const Vec3 momentum = body.world_inertia(m_state.obstacles[obstacle]) * base.angular_velocity;
  return {(end.velocity - base.velocity) / m_base.dt,
          (body.world_inertia(end) * end.angular_velocity - momentum) / m_base.dt};
}

// Increments of keyframed obstacles at the step's end, zero for all others.
VecX ImplicitSolver::prescribed_increments(const StepInput& input) const {
  VecX q = VecX::Zero(6 * to_row(m_obstacles.size()));
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    const auto at = 6 * to_row(i);
    if (m_obstacles[i].kind() == ObstacleKind::keyframed) {
      q.segment<6>(at) = increment_between(m_state.obstacles[i], m_obstacles[i].prescribed_state(input.time));
    }
  }
  return q;
}

// How far the keyframes leave the straight way of the increments `q` within the step: the largest angle in
// half radians, or distance in half inner radii. Above 1 the step does not see where the obstacle goes, e.g.
// a whole turn within it.
double ImplicitSolver::largest_detour(const StepInput& input, const VecX& q) const {
  double largest = 0;
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].kind() != ObstacleKind::keyframed) continue;
    const Vec6 increment = q.segment<6>(6 * to_row(i));
    for (const double s : {0.25, 0.5, 0.75}) {
      const Vec6 off = increment_between(moved(m_state.obstacles[i], s * increment),
                                         m_obstacles[i].prescribed_state(input.time - (1 - s) * input.dt));
      largest = std::max({largest, off.tail<3>().norm() / 0.5,
                          off.head<3>().norm() / (0.5 * m_obstacles[i].shape().inner_radius())});
    }
  }
  return largest;
}

// The nodes after free flight with their velocities (order 1) and the last step's accelerations (2); held
// coordinates stay as they are in `start`, at their targets.
Points ImplicitSolver::predict(const StepInput& input, const Points& start, int order) const {
  Points ahead = m_base.positions + m_base.dt * m_base.velocities;
  if (order == 2) ahead += m_base.dt * m_base.dt * m_state.accelerations;
  for (const SupportedNode& node : input.held) {
    for (int c = 0; c < 3; ++c) {
      if (node.held[to_size(c)]) ahead(node.node, c) = start(node.node, c);
    }
  }
  return ahead;
}

// Whether the straight way from the present state stays in the terms' domains.
bool ImplicitSolver::terms_allow(const Points& x) const {
  return std::all_of(m_terms.begin(), m_terms.end(),
                     [&](const auto& term) { return term->max_step(m_state.positions, x) >= 1; });
}

// Moves keyframed obstacles to the step's end and finds a start without overlap: the predicted nodes with
// them if the way is free, else the nodes where they are, carried along where an obstacle comes their way.
StepStatus ImplicitSolver::place_obstacles(const StepInput& input, VecX& q, Points& start,
                                           NewtonSummary& spent) {
  q = prescribed_increments(input);
  m_may_predict = !m_contact;
  if (!m_contact) return StepStatus::ok;
  if (input.may_refuse && largest_detour(input, q) > 1) return StepStatus::obstacle_too_fast;
  m_contact->begin_step(m_state.obstacles, m_state.positions);
  m_stiffening = 0;
  const VecX zero = VecX::Zero(q.size());
  VecX q_free = q;
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (!m_obstacles[i].dynamic()) continue;
    q_free.segment<6>(6 * to_row(i)) = inertia_of(i).free_increment();
  }
  const Points predicted = m_options.inertia ? predict(input, start, 1) : start;
  m_contact->find_pairs(m_state.positions, zero, predicted, q_free);
  if (m_contact->max_step(m_state.positions, zero, predicted, q_free) >= 1 && terms_allow(predicted)) {
    // Without obstacles the step starts as it would without contact, if nothing stands in the way.
    m_may_predict = m_obstacles.empty() && path_is_clear(start);
    if (m_may_predict) return StepStatus::ok;
    start = predicted;
    q = q_free;
    return StepStatus::ok;
  }
  if (input.may_refuse && m_contact->overshoot(m_state.positions, zero, predicted, q_free) > 1)
    return StepStatus::impact_too_fast;
  m_contact->stiffen(m_state.positions, zero, predicted, q_free, m_masses, input.dt);
  m_contact->find_pairs(m_state.positions, zero, m_state.positions, zero);
  m_stiffening = m_contact->added_by_stiffening(m_state.positions, zero);
  return follow_prescribed_motion(input, q, start, spent);
}

// From the present state to (start, q), with Newton's method where the way is blocked: what is pinched slips
// out of the way as far as it can.
StepStatus ImplicitSolver::follow_prescribed_motion(const StepInput& input, VecX& q, Points& start,
                                                    NewtonSummary& spent) {
  constexpr int max_solves = 16;
  constexpr double least_progress = 1.0 / 64;  // between two of them
  const VecX q_end = q;
  const Points end = start;
  PrescribedMotion motion(*m_contact, m_obstacles, m_state.obstacles, input.held, q_end, end);
  q.setZero();
  start = m_state.positions;
  double before = -1;
  for (int solves = 0; !motion.advance(start, q); ++solves) {
    if (solves == max_solves || motion.progress() < before + least_progress)
      return StepStatus::obstacle_too_fast;
    before = motion.progress();
    const std::unique_ptr<StepProblem> problem = problem_at(input, start, q);
    VecX z = problem->pack();
    problem->begin_solve(z);
    const NewtonSummary summary = minimise(*problem, *m_system.solver(), m_options.newton, z);
    add_counts(summary, spent);
    if (!summary.converged())
      return summary.status == NewtonStatus::interrupted ? StepStatus::interrupted
                                                         : StepStatus::obstacle_too_fast;
    const StepPoint& reached = problem->unpack(z);
    start = reached.x;
    q = reached.q;
    motion.release();
  }
  return StepStatus::ok;
}

// Terms in the order in which their gradients are summed up.
std::unique_ptr<StepProblem> ImplicitSolver::problem_at(const StepInput& input, const Points& start,
                                                        const VecX& q) {
  StepUnknowns unknowns(m_system.columns(), input.held);
  StepPoint point{start, m_state.weights, q};
  for (std::size_t t = 0; t < m_terms.size(); ++t) {
    VecX given = VecX::Constant(m_terms[t]->weight_count(), std::numeric_limits<double>::quiet_NaN());
    if (t < input.given_weights.size() && input.given_weights[t]) given = *input.given_weights[t];
    set_given(given, m_terms[t]->weights_on_simplex(), point.weights[t]);
    unknowns.add_weights(given, m_terms[t]->weights_on_simplex());
  }
  for (const ObstacleBody& obstacle : m_obstacles) unknowns.add_obstacle(obstacle.dynamic());
  auto problem = std::make_unique<StepProblem>(m_system.pattern(), std::move(unknowns), std::move(point),
                                               StepScales{m_options.stiffness_force, m_options.length});
  const StepUnknowns& places = problem->unknowns();
  for (std::size_t t = 0; t < m_terms.size(); ++t)
    problem->add_internal(std::make_unique<WeightedTerm>(*m_terms[t], t, places));
  if (input.forces.size() > 0) problem->add(std::make_unique<LoadTerm>(input.forces, m_state.positions));
  if (!input.pressed.empty())
    problem->add(std::make_unique<PressureTerm>(input.pressed, m_state.positions, places));
  if (!input.pulled.empty()) problem->add(std::make_unique<PullTerm>(input.pulled, places));
  if (m_options.inertia)
    problem->add(std::make_unique<InertiaTerm>(m_masses, m_base.positions + m_base.dt * m_base.velocities,
                                               m_base.dt, places));
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].dynamic())
      problem->add(std::make_unique<RigidInertiaTerm>(inertia_of(i), to_int(i), places));
  }
  if (m_contact) problem->add(std::make_unique<ContactTerm>(*m_contact, places, input.dt, m_stiffening));
  return problem;
}

// Friction is lagged after every iteration until forces and slips have settled, and then stands still for the rest.
NewtonSummary ImplicitSolver::solve(StepProblem& problem, VecX& z) {
  NewtonSummary total;
  const auto rubs = [&] { return m_contact && m_contact->friction().contacts() > 0; };
  problem.begin_solve(z);
  // Before the first step the gaps are as somebody chose them, and so would be the forces that friction is lagged from:
  // its first solve goes without.
  const bool is_first = m_contact && m_options.inertia && m_state.accelerations.isZero(0);
  if (!is_first) problem.lag(z);
  if (!rubs()) {
    total = minimise(problem, *m_system.solver(), m_options.newton, z);
    if (!m_contact || !total.converged()) return total;
    problem.begin_solve(z);
    problem.lag(z);
    if (!rubs()) return total;
  }
  add_solve(settle_friction(problem, z), total);
  if (!total.converged()) return total;
  add_solve(minimise_with_friction(problem, *m_system.solver(), m_contact->friction(), m_options.newton, z),
            total);
  return total;
}

// Leaves friction lagged at z, which is solved to k_solved: where less would do for the iterations, normal forces would
// be wrong by percents (a block just above its angle of friction slid by a third too little).
NewtonSummary ImplicitSolver::settle_friction(StepProblem& problem, VecX& z) {
  NewtonOptions options = m_options.newton;
  NewtonSummary total;
  const auto solve_and_lag = [&](double tolerance) {
    options.force_tolerance = std::max(m_options.newton.force_tolerance, tolerance);
    add_solve(minimise_with_friction(problem, *m_system.solver(), m_contact->friction(), options, z), total);
    problem.begin_solve(z);
    problem.lag(z);
  };
  if (m_options.newton.force_tolerance >= k_near_round_off) {
    solve_and_lag(k_far);
    if (!total.converged()) return total;
    options.max_iterations = 1;
    for (int k = 0; k < k_most_laggings; ++k) {
      solve_and_lag(k_settled);
      if (total.status != NewtonStatus::iteration_limit) break;
    }
    if (total.status != NewtonStatus::iteration_limit && !total.converged()) return total;
    options.max_iterations = m_options.newton.max_iterations;
  }
  solve_and_lag(k_solved);
  return total;
}

// The present positions with held coordinates at their targets.
Points ImplicitSolver::held_start(const StepInput& input) const {
  Points start = m_state.positions;
  for (const SupportedNode& node : input.held) {
    for (int c = 0; c < 3; ++c) {
      if (node.held[to_size(c)]) start(node.node, c) = node.position[c];
    }
  }
  return start;
}

std::unique_ptr<NewtonProblem> ImplicitSolver::make_problem(const StepInput& input, VecX& z) {
  prepare_system(input);
  Points start = held_start(input);
  VecX q;
  NewtonSummary spent;
  if (place_obstacles(input, q, start, spent) != StepStatus::ok) return nullptr;
  std::unique_ptr<StepProblem> problem = problem_at(input, start, q);
  z = problem->pack();
  problem->begin_solve(z);
  problem->lag(z);
  return problem;
}

// Whether all nodes can go straight from the present state to `end`; finds the pairs of that way.
bool ImplicitSolver::path_is_clear(const Points& end) {
  const VecX zero = VecX::Zero(6 * to_row(m_obstacles.size()));
  m_contact->find_pairs(m_state.positions, zero, end, zero);
  return m_contact->max_step(m_state.positions, zero, end, zero) >= 1;
}

// Where velocity, or velocity and the last step's acceleration, would carry the nodes, if that is better; the
// choice depends on the state only. In smooth motion the second saves one Newton iteration of three.
void ImplicitSolver::start_from_prediction(const StepInput& input, const Points& start, StepProblem& problem,
                                           VecX& z) {
  double best = problem.value(z);
  for (const int order : {1, 2}) {
    VecX guess = z;
    const Points ahead = predict(input, start, order);
    if (m_contact && !path_is_clear(ahead)) continue;
    m_system.columns().gather(ahead, guess);
    const double value = problem.value(guess);
    if (!(value < best)) continue;
    best = value;
    z = guess;
  }
}

StepOutcome ImplicitSolver::step(const StepInput& input) {
  prepare_system(input);
  Points start = held_start(input);
  StepOutcome outcome;
  VecX q;
  NewtonSummary spent;
  outcome.status = place_obstacles(input, q, start, spent);
  outcome.newton = spent;
  if (outcome.status != StepStatus::ok) return outcome;
  const std::unique_ptr<StepProblem> problem = problem_at(input, start, q);
  VecX z = problem->pack();
  if (m_may_predict && m_options.inertia) start_from_prediction(input, start, *problem, z);
  outcome.newton = solve(*problem, z);
  add_counts(spent, outcome.newton);
  m_state.linear = m_system.solver()->memory();
  if (!outcome.newton.converged()) {
    outcome.status = outcome.newton.status == NewtonStatus::interrupted ? StepStatus::interrupted
                                                                        : StepStatus::not_converged;
    return outcome;
  }
  keep_reactions(input, problem->last_gradient());
  StepPoint end = problem->unpack(z);
  if (m_options.inertia) balance(input, problem->unknowns(), end);
  problem->account(end, m_state.energies);
  finish(input, std::move(end));
  return outcome;
}

void ImplicitSolver::balance(const StepInput& input, const StepUnknowns& unknowns, StepPoint& at) const {
  const Points predicted = m_base.positions + m_base.dt * m_base.velocities;
  Points forces = input.forces;
  if (!input.pressed.empty()) {
    if (forces.size() == 0) forces = Points::Zero(at.x.rows(), 3);
    add_pressure_forces(input.pressed, at.x, forces);
  }
  FreeMotion motion{m_masses, m_abstract, predicted, forces, m_base.dt, m_obstacles, {}};
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].dynamic()) motion.inertias.emplace_back(to_int(i), inertia_of(i));
  }
  const ContactPotential* contact = m_contact ? &*m_contact : nullptr;
  const double longest =
      contact ? 0.1 * contact->points().smallest_reach() : std::numeric_limits<double>::infinity();
  LinkedGroups groups = link_all(m_system.groups(), unknowns, m_obstacles.size(), contact, at);
  // What is pulled does not move freely: the spring's force answers to each of its moves.
  for (const PulledNodes& pull : input.pulled) groups.link(pull.nodes.front(), groups.size() - 1);
  balance_momentum(motion, unknowns, std::move(groups), longest, at);
}

// What the sum of all terms leaves at held coordinates is what the supports give.
void ImplicitSolver::keep_reactions(const StepInput& input, const StepGradient& residual) {
  m_reactions.clear();
  for (const SupportedNode& node : input.held) {
    Reaction& reaction = m_reactions.emplace_back();
    reaction.node = node.node;
    reaction.support = node.support;
    for (int c = 0; c < 3; ++c) {
      if (node.held[to_size(c)]) reaction.force[c] = residual.nodes(node.node, c);
    }
  }
}

Points ImplicitSolver::contact_forces(bool friction) const {
  if (!m_contact) return {};
  Points forces = Points::Zero(m_contact->points().surface().map.size(), 3);
  const auto add = [&](const std::vector<ContactBlock>& blocks) {
    for (const ContactBlock& block : blocks) {
      for (int p = 0; p < block.point_count; ++p)
        forces.row(block.points[to_size(p)]) -= block.gradient.segment<3>(3 * p).transpose();
    }
  };
  add(m_contact->blocks(m_state.positions, m_end_increments, Derivatives::gradient));
  if (friction) add(m_contact->friction().blocks(m_state.positions, m_end_increments, Derivatives::gradient));
  return forces;
}

void ImplicitSolver::finish(const StepInput& input, StepPoint end) {
  m_end_increments = end.q;
  if (m_contact) m_smallest_gap = m_contact->smallest_gap(end.x, end.q);
  std::vector<ObstacleState> obstacles;
  std::vector<ObstacleRate> rates(m_obstacles.size());
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    obstacles.push_back(m_obstacles[i].dynamic() ? moved_obstacle(i, end.q.segment<6>(6 * to_row(i)))
                                                 : m_obstacles[i].prescribed_state(input.time));
    if (m_obstacles[i].dynamic()) rates[i] = rate_of(i, obstacles.back());
  }
  m_state.obstacle_rates = std::move(rates);
  if (m_options.inertia) {
    Points velocities = (end.x - m_base.positions) / m_base.dt;
    m_state.accelerations = (velocities - m_base.velocities) / m_base.dt;
    if (m_options.integrator != Integrator::implicit_euler) {
      m_state.last_positions = m_state.positions;
      m_state.last_velocities = m_state.velocities;
      m_state.last_obstacles = m_state.obstacles;
      m_state.last_dt = input.dt;
    }
    m_state.velocities = std::move(velocities);
  } else {
    m_state.velocities.setZero();
  }
  m_state.obstacles = std::move(obstacles);
  m_state.positions = std::move(end.x);
  m_state.weights = std::move(end.weights);
  for (std::size_t t = 0; t < m_terms.size(); ++t)
    m_terms[t]->end_step(m_state.positions, m_state.weights[t]);
}

double ImplicitSolver::term_energy(std::size_t term) {
  return m_terms[term]->value(m_state.positions, m_state.weights[term]);
}

double ImplicitSolver::potential_energy() {
  double sum = 0;
  for (std::size_t t = 0; t < m_terms.size(); ++t) sum += term_energy(t);
  return sum;
}

Points ImplicitSolver::internal_forces() {
  Points g = Points::Zero(m_state.positions.rows(), 3);
  for (std::size_t t = 0; t < m_terms.size(); ++t) {
    VecX g_w = VecX::Zero(m_state.weights[t].size());
    m_terms[t]->add_gradient(m_state.positions, m_state.weights[t], g, g_w);
  }
  return -g;
}

int ImplicitSolver::unknowns() const {
  int border = 0;
  for (const auto& term : m_terms) border += term->weight_count();
  for (const ObstacleBody& obstacle : m_obstacles) border += obstacle.dynamic() ? 6 : 0;
  return (m_system.empty() ? 3 * to_int(m_state.positions.rows()) : m_system.pattern().dofs()) + border;
}

}  // namespace exemplar
