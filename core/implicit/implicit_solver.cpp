#include "core/implicit/implicit_solver.h"

#include <algorithm>
#include <cassert>

#include "core/implicit/implicit_problem.h"
#include "core/implicit/prescribed_motion.h"

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
                               std::vector<std::shared_ptr<NodeTerm>> terms, ImplicitOptions options)
    : m_masses(std::move(masses)), m_terms(std::move(terms)), m_options(std::move(options)) {
  assert(positions.rows() == velocities.rows() && positions.rows() == m_masses.size());
  m_state.positions = std::move(positions);
  m_state.velocities = std::move(velocities);
  m_state.accelerations = Points::Zero(m_state.positions.rows(), 3);
  for (const auto& term : m_terms) m_state.weights.push_back(VecX::Zero(term->weight_count()));
}

ImplicitSolver::~ImplicitSolver() = default;

void ImplicitSolver::add_contact(ContactSurface surface, std::vector<ObstacleBody> obstacles,
                                 const ContactOptions& options, const Vec3& gravity) {
  m_obstacles = std::move(obstacles);
  m_gravity = gravity;
  m_state.obstacles.clear();
  for (const ObstacleBody& obstacle : m_obstacles) m_state.obstacles.push_back(obstacle.initial_state());
  // Points of one triangle may hang on different tets: their nodes must be in the pattern together.
  const PointMap& map = surface.map;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    std::vector<int> nodes;
    for (int c = 0; c < 3; ++c) {
      const auto p = static_cast<std::size_t>(surface.triangles(t, c));
      nodes.insert(nodes.end(), map.nodes.begin() + map.offsets[p], map.nodes.begin() + map.offsets[p + 1]);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    nodes.resize(12, -1);
    m_contact_cliques.insert(m_contact_cliques.end(), nodes.begin(), nodes.end());
  }
  m_contact.emplace(std::move(surface), m_obstacles, options);
  const VecX zero = VecX::Zero(6 * static_cast<Eigen::Index>(m_obstacles.size()));
  m_contact->find_pairs(m_state.positions, zero, m_state.positions, zero);
  m_state.energies.barrier = m_contact->value(m_state.positions, zero);
  m_pattern.reset();
}

void ImplicitSolver::set_state(ImplicitState state) {
  assert(state.positions.rows() == m_state.positions.rows() &&
         state.accelerations.rows() == m_state.positions.rows() &&
         state.weights.size() == m_state.weights.size());
  m_state = std::move(state);
  if (m_linear) m_linear->set_memory(m_state.linear);
}

void ImplicitSolver::prepare_system(const std::vector<SupportedNode>& held) {
  std::vector<int> whole;
  for (const SupportedNode& node : held) {
    if (node.held[0] && node.held[1] && node.held[2]) whole.push_back(node.node);
  }
  if (!m_pattern || whole != m_held_nodes) {
    m_held_nodes = whole;
    m_column.assign(static_cast<std::size_t>(m_state.positions.rows()), 0);
    for (const int node : whole) m_column[static_cast<std::size_t>(node)] = -1;
    int columns = 0;
    for (int& c : m_column) {
      if (c == 0) c = columns++;
    }
    std::vector<BlockPattern::CliqueList> lists;
    for (const auto& term : m_terms) term->append_cliques(lists);
    if (!m_contact_cliques.empty()) lists.push_back({m_contact_cliques, 12});
    m_groups = LinkedGroups(static_cast<int>(m_column.size()));
    for (const BlockPattern::CliqueList& list : lists) {
      for (std::size_t k = 1; k < list.nodes.size(); ++k) {
        const bool same = k % static_cast<std::size_t>(list.size) != 0;
        if (same && list.nodes[k] >= 0 && list.nodes[k - 1] >= 0)
          m_groups.link(list.nodes[k - 1], list.nodes[k]);
      }
    }
    // Cliques are in nodes; the pattern is in columns.
    std::vector<std::vector<int>> mapped;
    for (BlockPattern::CliqueList& list : lists) {
      std::vector<int>& out = mapped.emplace_back();
      out.reserve(list.nodes.size());
      for (const int node : list.nodes)
        out.push_back(node < 0 ? -1 : m_column[static_cast<std::size_t>(node)]);
    }
    for (std::size_t k = 0; k < lists.size(); ++k) lists[k].nodes = mapped[k];
    m_linear.reset();
    m_pattern = std::make_unique<BlockPattern>(columns, lists);
    m_linear = std::make_unique<LinearSolver>(*m_pattern, m_options.linear);
    m_linear->set_memory(m_state.linear);
    for (const auto& term : m_terms) term->connect(*m_pattern, m_column);
  }
  Points free_positions(m_pattern->columns(), 3);
  for (std::size_t i = 0; i < m_column.size(); ++i) {
    if (m_column[i] >= 0)
      free_positions.row(m_column[i]) = m_state.positions.row(static_cast<Eigen::Index>(i));
  }
  m_linear->set_positions(std::move(free_positions));
  m_masked.assign(static_cast<std::size_t>(m_pattern->dofs()), 0);
  m_any_masked = false;
  for (const SupportedNode& node : held) {
    const int c = m_column[static_cast<std::size_t>(node.node)];
    if (c < 0) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      m_masked[3 * static_cast<std::size_t>(c) + k] = node.held[k] ? 1 : 0;
      m_any_masked = m_any_masked || node.held[k];
    }
  }
}

// Increments of keyframed obstacles at the step's end, zero for all others.
VecX ImplicitSolver::prescribed_increments(const StepInput& input) const {
  VecX q = VecX::Zero(6 * static_cast<Eigen::Index>(m_obstacles.size()));
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    const auto at = 6 * static_cast<Eigen::Index>(i);
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
    const Vec6 increment = q.segment<6>(6 * static_cast<Eigen::Index>(i));
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
      if (node.held[static_cast<std::size_t>(c)]) ahead(node.node, c) = start(node.node, c);
    }
  }
  return ahead;
}

// Moves keyframed obstacles to the step's end and finds a start without overlap: the predicted nodes with
// them if the way is free, else the nodes where they are, carried along where an obstacle comes their way.
StepStatus ImplicitSolver::place_obstacles(const StepInput& input, VecX& q, Points& start,
                                           NewtonSummary& spent) {
  q = prescribed_increments(input);
  if (!m_contact) return StepStatus::ok;
  if (input.may_refuse && largest_detour(input, q) > 1) return StepStatus::obstacle_too_fast;
  m_contact->begin_step(m_state.obstacles, m_state.positions);
  m_stiffening = 0;
  const VecX zero = VecX::Zero(q.size());
  VecX q_free = q;
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (!m_obstacles[i].dynamic()) continue;
    const RigidInertia inertia(m_obstacles[i], m_state.obstacles[i], m_gravity, input.dt);
    q_free.segment<6>(6 * static_cast<Eigen::Index>(i)) = inertia.free_increment();
  }
  const Points predicted = m_options.inertia ? predict(input, start, 1) : start;
  m_contact->find_pairs(m_state.positions, zero, predicted, q_free);
  if (m_contact->max_step(m_state.positions, zero, predicted, q_free) >= 1) {
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
    Problem problem(*this, input, start, q);
    VecX z = problem.pack(start, q, problem.weights());
    problem.find_contacts(z);
    const NewtonSummary summary = minimise(problem, *m_linear, m_options.newton, z);
    add_counts(summary, spent);
    if (!summary.converged())
      return summary.status == NewtonStatus::interrupted ? StepStatus::interrupted
                                                         : StepStatus::obstacle_too_fast;
    problem.unpack(z);
    start = problem.positions();
    q = problem.increments();
    motion.let_go();
  }
  return StepStatus::ok;
}

NewtonSummary ImplicitSolver::solve(Problem& problem, VecX& z) {
  NewtonSummary total;
  const int solves = m_contact ? std::max(1, m_options.friction_solves) : 1;
  for (int k = 0; k < solves; ++k) {
    problem.find_contacts(z);
    problem.lag_friction(z);
    if (k > 0 && m_contact->friction_contacts() == 0) break;
    const NewtonSummary summary = minimise(problem, *m_linear, m_options.newton, z);
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
      if (node.held[static_cast<std::size_t>(c)]) start(node.node, c) = node.position[c];
    }
  }
  return start;
}

std::unique_ptr<NewtonProblem> ImplicitSolver::make_problem(const StepInput& input, VecX& z) {
  prepare_system(input.held);
  Points start = held_start(input);
  VecX q;
  NewtonSummary spent;
  if (place_obstacles(input, q, start, spent) != StepStatus::ok) return nullptr;
  auto problem = std::make_unique<Problem>(*this, input, start, q);
  z = problem->pack(start, q, problem->weights());
  problem->find_contacts(z);
  problem->lag_friction(z);
  return problem;
}

// Where velocity, or velocity and the last step's acceleration, would carry the nodes, if that is better; the
// choice depends on the state only. In smooth motion the second saves one Newton iteration of three.
void ImplicitSolver::start_from_prediction(const StepInput& input, const Points& start, const VecX& q,
                                           Problem& problem, VecX& z) const {
  double best = problem.value(z);
  for (const int order : {1, 2}) {
    const VecX guess = problem.pack(predict(input, start, order), q, problem.weights());
    const double value = problem.value(guess);
    if (!(value < best)) continue;
    best = value;
    z = guess;
  }
}

StepOutcome ImplicitSolver::step(const StepInput& input) {
  prepare_system(input.held);
  Points start = held_start(input);
  StepOutcome outcome;
  VecX q;
  NewtonSummary spent;
  outcome.status = place_obstacles(input, q, start, spent);
  outcome.newton = spent;
  if (outcome.status != StepStatus::ok) return outcome;
  Problem problem(*this, input, start, q);
  VecX z = problem.pack(start, q, problem.weights());
  if (!m_contact && m_options.inertia) start_from_prediction(input, start, q, problem, z);
  outcome.newton = solve(problem, z);
  add_counts(spent, outcome.newton);
  m_state.linear = m_linear->memory();
  if (!outcome.newton.converged()) {
    outcome.status = outcome.newton.status == NewtonStatus::interrupted ? StepStatus::interrupted
                                                                        : StepStatus::not_converged;
    return outcome;
  }
  if (m_options.inertia) problem.balance_momentum(z);
  problem.unpack(z);
  account(problem);
  finish(input, problem.positions(), problem.increments(), problem.weights());
  return outcome;
}

void ImplicitSolver::account(Problem& problem) {
  StepEnergies& energies = m_state.energies;
  energies.damping += problem.damping_work();
  if (!m_contact) return;
  const Points& x = problem.positions();
  const VecX& q = problem.increments();
  const double added = m_contact->added_by_stiffening(x, q);
  energies.contact += m_contact->friction_work(x, q) + added - m_stiffening;
  energies.barrier = m_contact->value(x, q) - added;
}

void ImplicitSolver::finish(const StepInput& input, const Points& x, const VecX& q,
                            std::vector<VecX> weights) {
  if (m_contact) m_smallest_gap = m_contact->smallest_gap(x, q);
  if (m_options.inertia) {
    const Points velocities = (x - m_state.positions) / input.dt;
    m_state.accelerations = (velocities - m_state.velocities) / input.dt;
    m_state.velocities = velocities;
  } else {
    m_state.velocities.setZero();
  }
  m_state.positions = x;
  m_state.weights = std::move(weights);
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].dynamic()) {
      const RigidInertia inertia(m_obstacles[i], m_state.obstacles[i], m_gravity, input.dt);
      m_state.obstacles[i] = inertia.finish(q.segment<6>(6 * static_cast<Eigen::Index>(i)));
    } else {
      m_state.obstacles[i] = m_obstacles[i].prescribed_state(input.time);
    }
  }
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
  return (m_pattern ? m_pattern->dofs() : 3 * static_cast<int>(m_state.positions.rows())) + border;
}

}  // namespace exemplar
