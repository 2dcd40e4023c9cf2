#include "core/implicit/implicit_solver.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "core/implicit/contact_term.h"
#include "core/implicit/prescribed_motion.h"
#include "core/implicit/step_terms.h"

namespace exemplar {

namespace {

void add_counts(const NewtonSummary& more, NewtonSummary& total) {
  total.iterations += more.iterations;
  total.projections += more.projections;
  total.backtracks += more.backtracks;
  total.cg_iterations += more.cg_iterations;
  total.factorisations += more.factorisations;
}

}  // namespace

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
  const ContactCliques cliques = contact_cliques(surface);
  m_system.set_cliques(cliques.nodes, cliques.size);
  m_contact.emplace(std::move(surface), m_obstacles, options);
  const VecX zero = VecX::Zero(6 * to_row(m_obstacles.size()));
  m_contact->find_pairs(m_state.positions, zero, m_state.positions, zero);
  m_state.energies.barrier = m_contact->value(m_state.positions, zero);
}

void ImplicitSolver::set_state(ImplicitState state) {
  assert(state.positions.rows() == m_state.positions.rows() &&
         state.accelerations.rows() == m_state.positions.rows() &&
         state.weights.size() == m_state.weights.size());
  m_state = std::move(state);
  if (!m_system.empty()) m_system.solver()->set_memory(m_state.linear);
}

void ImplicitSolver::prepare_system(const StepInput& input) {
  if (m_system.prepare(m_state.positions.rows(), input.held, m_terms, m_options.linear))
    m_system.solver()->set_memory(m_state.linear);
  m_system.set_positions(m_state.positions, m_abstract);
  for (const auto& term : m_terms) term->begin_step(m_state.positions, input.dt);
}

RigidInertia ImplicitSolver::inertia_of(std::size_t obstacle, double dt) const {
  return {m_obstacles[obstacle], m_state.obstacles[obstacle], m_gravity, dt};
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
  Points ahead = start + input.dt * m_state.velocities;
  if (order == 2) ahead += input.dt * input.dt * m_state.accelerations;
  for (const SupportedNode& node : input.held) {
    for (int c = 0; c < 3; ++c) {
      if (node.held[to_size(c)]) ahead(node.node, c) = start(node.node, c);
    }
  }
  return ahead;
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
    q_free.segment<6>(6 * to_row(i)) = inertia_of(i, input.dt).free_increment();
  }
  const Points predicted = m_options.inertia ? predict(input, start, 1) : start;
  m_contact->find_pairs(m_state.positions, zero, predicted, q_free);
  if (m_contact->max_step(m_state.positions, zero, predicted, q_free) >= 1) {
    // Without obstacles the step starts as it would without contact, if nothing stands in the way.
    m_may_predict = m_obstacles.empty() && way_is_free(start);
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
    const bool given = t < input.given_weights.size() && input.given_weights[t].has_value();
    if (given) point.weights[t] = *input.given_weights[t];
    unknowns.add_weights(m_terms[t]->weight_count(), given, m_terms[t]->weights_on_simplex());
  }
  for (const ObstacleBody& obstacle : m_obstacles) unknowns.add_obstacle(obstacle.dynamic());
  const std::vector<VecX> weights = point.weights;
  auto problem = std::make_unique<StepProblem>(m_system.pattern(), std::move(unknowns), std::move(point),
                                               StepScales{m_options.stiffness_force, m_options.length});
  const StepUnknowns& places = problem->unknowns();
  for (std::size_t t = 0; t < m_terms.size(); ++t)
    problem->add_internal(std::make_unique<WeightedTerm>(*m_terms[t], t, places));
  if (input.forces.size() > 0) problem->add(std::make_unique<LoadTerm>(input.forces, m_state.positions));
  if (m_options.inertia)
    problem->add(std::make_unique<InertiaTerm>(m_masses, m_state.positions + input.dt * m_state.velocities,
                                               input.dt, places));
  if (m_options.damping > 0)
    problem->add(std::make_unique<DampingTerm>(m_terms, weights, m_state.positions, m_options.damping,
                                               input.dt, m_system.pattern(), places));
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].dynamic())
      problem->add(std::make_unique<RigidInertiaTerm>(inertia_of(i, input.dt), to_int(i), places));
  }
  if (m_contact) problem->add(std::make_unique<ContactTerm>(*m_contact, places, input.dt, m_stiffening));
  return problem;
}

NewtonSummary ImplicitSolver::solve(StepProblem& problem, VecX& z) {
  NewtonSummary total;
  const int solves = m_contact ? std::max(1, m_options.friction_solves) : 1;
  for (int k = 0; k < solves; ++k) {
    problem.begin_solve(z);
    problem.lag(z);
    if (k > 0 && m_contact->friction().contacts() == 0) break;
    const NewtonSummary summary = minimise(problem, *m_system.solver(), m_options.newton, z);
    const NewtonSummary before = total;
    total = summary;
    add_counts(before, total);
    if (!summary.converged()) break;
  }
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
bool ImplicitSolver::way_is_free(const Points& end) {
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
    if (m_contact && !way_is_free(ahead)) continue;
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
  StepPoint end = problem->unpack(z);
  if (m_options.inertia) balance(input, problem->unknowns(), end);
  problem->account(end, m_state.energies);
  finish(input, std::move(end));
  return outcome;
}

void ImplicitSolver::balance(const StepInput& input, const StepUnknowns& unknowns, StepPoint& at) const {
  const Points predicted = m_state.positions + input.dt * m_state.velocities;
  FreeMotion motion{m_masses, m_abstract, predicted, input.forces, input.dt, m_obstacles, {}};
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].dynamic()) motion.inertias.emplace_back(to_int(i), inertia_of(i, input.dt));
  }
  const ContactPotential* contact = m_contact ? &*m_contact : nullptr;
  const double longest =
      contact ? 0.1 * contact->points().smallest_reach() : std::numeric_limits<double>::infinity();
  balance_momentum(motion, unknowns, link_all(m_system.groups(), unknowns, m_obstacles.size(), contact, at),
                   longest, at);
}

void ImplicitSolver::finish(const StepInput& input, StepPoint end) {
  if (m_contact) m_smallest_gap = m_contact->smallest_gap(end.x, end.q);
  if (m_options.inertia) {
    const Points velocities = (end.x - m_state.positions) / input.dt;
    m_state.accelerations = (velocities - m_state.velocities) / input.dt;
    m_state.velocities = velocities;
  } else {
    m_state.velocities.setZero();
  }
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    m_state.obstacles[i] = m_obstacles[i].dynamic()
                               ? inertia_of(i, input.dt).finish(end.q.segment<6>(6 * to_row(i)))
                               : m_obstacles[i].prescribed_state(input.time);
  }
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
