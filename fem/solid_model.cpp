#include "fem/solid_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"

namespace exemplar::fem {

namespace {

// Of the potentials that act on a body, relative to its energy.
double largest_stiffness(const SolidBody& body) {
  double largest = body.internal_stiffness;
  if (largest > 0) return largest;
  for (const ExampleSet& set : body.examples) largest = std::max(largest, set.stiffness);
  return largest;
}

// Where the pose nodes of the compatible method start: in the example that the weights name, so that a body
// released there feels no force from W_p; mixed weights start from the mixed positions, which the first step
// makes consistent.
Points initial_pose(const SolidBody& body) {
  Points pose = body.mesh.vertices;
  const ExampleSet& set = body.examples.front();
  for (Eigen::Index i = 0; i < set.initial_weights.size(); ++i) {
    pose += set.initial_weights[i] * (set.poses[static_cast<std::size_t>(i)] - body.mesh.vertices);
  }
  return pose;
}

}  // namespace

void make_quadratic(SolidBody& body) {
  assert(body.midsides.empty());
  body.midsides = midsides_of(body.mesh);
  const auto complete = [&](Points& points) {
    if (points.rows() > 0) points = with_midsides(points, body.midsides);
  };
  complete(body.mesh.vertices);
  complete(body.positions);
  complete(body.velocities);
  for (ExampleSet& set : body.examples) {
    for (Points& pose : set.poses) complete(pose);
  }
  if (!body.plastic) return;
  for (Points& pose : body.plastic->poses) complete(pose);
}

SolidModel::SolidModel(std::vector<SolidBody> bodies, ImplicitOptions options, ExampleMethod method,
                       double penalty)
    : m_bodies(std::move(bodies)) {
  for (const SolidBody& body : m_bodies) {
    m_first_node.push_back(m_node_count);
    m_node_count += static_cast<int>(body.mesh.vertices.rows());
  }
  m_total_nodes = m_node_count;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const bool extra = method == ExampleMethod::compatible && !m_bodies[b].examples.empty();
    m_pose_offset.push_back(extra ? m_total_nodes - m_first_node[b] : 0);
    if (extra) m_total_nodes += static_cast<int>(m_bodies[b].mesh.vertices.rows());
  }
  Points positions = Points::Zero(m_total_nodes, 3), velocities = Points::Zero(m_total_nodes, 3);
  VecX masses = VecX::Zero(m_total_nodes);
  std::vector<std::shared_ptr<NodeTerm>> terms;
  double volume = 0, stiffness = 0;
  std::size_t tets = 0;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    SolidBody& body = m_bodies[b];
    const Eigen::Index n = body.mesh.vertices.rows();
    if (body.positions.rows() == 0) body.positions = body.mesh.vertices;
    if (body.velocities.rows() == 0) body.velocities = Points::Zero(n, 3);
    positions.middleRows(m_first_node[b], n) = body.positions;
    velocities.middleRows(m_first_node[b], n) = body.velocities;
    if (m_pose_offset[b] > 0)
      positions.middleRows(m_first_node[b] + m_pose_offset[b], n) = initial_pose(body);
    add_body(b, method, penalty, terms);
    masses += lumped_mass(m_elastic[b]->elements(), body.density, m_total_nodes);
    volume +=
        std::accumulate(m_elastic[b]->elements().volume.begin(), m_elastic[b]->elements().volume.end(), 0.0);
    tets += m_elastic[b]->elements().tet_count();
    stiffness = std::max(
        stiffness,
        largest_stiffness(body) *
            std::visit([](const auto& psi) { return psi.principal(Vec3::Ones()).a.norm(); }, body.energy));
  }
  options.length = std::cbrt(6 * volume / static_cast<double>(std::max<std::size_t>(tets, 1)));
  // Below this force the strain is under 1e-7: nothing that a picture or a metric would show.
  options.stiffness_force = 1e-7 * stiffness * options.length * options.length;
  m_solver = std::make_unique<ImplicitSolver>(std::move(positions), std::move(velocities), std::move(masses),
                                              std::move(terms), std::move(options));
  ImplicitState state = m_solver->state();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    for (std::size_t s = 0; s < m_bodies[b].examples.size(); ++s) {
      const VecX& initial = m_bodies[b].examples[s].initial_weights;
      if (initial.size() > 0) state.weights[example_term(b, s)] = initial;
    }
  }
  m_solver->set_state(std::move(state));
}

TetElements SolidModel::make_elements(std::size_t b, std::span<const int> tets) const {
  TetElements elements(m_bodies[b].mesh, m_first_node[b], tets, m_bodies[b].midsides);
  if (m_bodies[b].fill.size() > 0) {
    for (std::size_t e = 0; e < elements.count(); ++e) {
      const std::size_t t = elements.tet_of(e);
      elements.volume[e] *= m_bodies[b].fill[tets.empty() ? to_row(t) : tets[t]];
    }
  }
  return elements;
}

Points SolidModel::global(std::size_t b, const Points& local) const {
  Points all = Points::Zero(m_node_count, 3);
  all.middleRows(m_first_node[b], local.rows()) = local;
  return all;
}

void SolidModel::add_body(std::size_t b, ExampleMethod method, double penalty,
                          std::vector<std::shared_ptr<NodeTerm>>& terms) {
  const SolidBody& body = m_bodies[b];
  const bool has_internal = body.internal_stiffness > 0;
  m_elastic.push_back(std::make_shared<ElasticTerm>(
      make_elements(b, {}), has_internal ? scaled(body.energy, body.internal_stiffness) : body.energy));
  if (has_internal) terms.push_back(m_elastic.back());
  m_example_terms.emplace_back();
  m_incompatible.emplace_back();
  m_compatible.emplace_back();
  // A pose of a part would leave the other pose nodes loose, and two sets would need two poses.
  assert(method != ExampleMethod::compatible || (body.examples.size() <= 1 && body.midsides.empty()));
  for (const ExampleSet& set : body.examples) {
    std::vector<Points> poses;
    for (const Points& pose : set.poses) poses.push_back(global(b, pose));
    m_example_terms[b].push_back(terms.size());
    const ElasticEnergy energy = scaled(body.energy, set.stiffness);
    if (method == ExampleMethod::compatible) {
      assert(set.tets.empty());
      m_compatible[b] = std::make_shared<CompatibleTerm>(make_elements(b, {}), m_pose_offset[b], poses,
                                                         energy, penalty, set.on_simplex);
      terms.push_back(m_compatible[b]);
    } else {
      m_incompatible[b].push_back(
          std::make_shared<ExampleTerm>(make_elements(b, set.tets), poses, energy, set.on_simplex));
      terms.push_back(m_incompatible[b].back());
    }
  }
  if (body.damping > 0) add_viscosity(b, terms);
  m_plasticities.emplace_back();
  if (body.plastic) {
    std::vector<Points> poses;
    for (const Points& pose : body.plastic->poses) poses.push_back(global(b, pose));
    m_plasticities[b] = std::make_unique<Plasticity>(m_elastic[b]->elements(), body.plastic->parameters,
                                                     poses, body.plastic->takes_part);
  }
}

// Every element as viscous as the potentials that act on it are stiff.
void SolidModel::add_viscosity(std::size_t b, std::vector<std::shared_ptr<NodeTerm>>& terms) const {
  const SolidBody& body = m_bodies[b];
  TetElements elements = make_elements(b, {});
  std::vector<double> stiffness(elements.tet_count(), body.internal_stiffness);
  for (const ExampleSet& set : body.examples) {
    if (set.tets.empty()) {
      for (double& s : stiffness) s += set.stiffness;
    }
    for (const int tet : set.tets) stiffness[to_size(tet)] += set.stiffness;
  }
  for (std::size_t e = 0; e < elements.count(); ++e) elements.volume[e] *= stiffness[elements.tet_of(e)];
  terms.push_back(
      std::make_shared<ViscousTerm>(std::move(elements), small_strain_parameters(body.energy), body.damping));
}

StepOutcome SolidModel::step(const StepInput& input) {
  set_yield(true);
  StepOutcome outcome = m_solver->step(input);
  if (outcome.status == StepStatus::ok && !plasticity_frozen) flow(input);
  set_yield(false);
  return outcome;
}

// With examples flow has a way of its own, or moves W_p: neither has a minimum of the step's kind.
bool SolidModel::flows_within_steps(std::size_t b) const {
  if (!m_plasticities[b] || m_bodies[b].internal_stiffness == 0) return false;
  return !m_plasticities[b]->parameters().rate && !m_plasticities[b]->has_examples() &&
         m_example_terms[b].empty();
}

void SolidModel::set_yield(bool within_step) {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (!flows_within_steps(b)) continue;
    const bool yields = within_step && !plasticity_frozen;
    m_elastic[b]->yield(yields ? &m_plasticities[b]->parameters().yield : nullptr,
                        yields ? &m_plasticities[b]->strains() : nullptr);
  }
}

void SolidModel::flow(const StepInput& input) {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    // Without W_i there is no stress to yield to (the examples' potential never makes anything flow).
    if (!m_plasticities[b] || m_bodies[b].internal_stiffness == 0) continue;
    if (flows_within_steps(b)) {
      const std::vector<ElementFlow> flows = m_elastic[b]->flows(m_solver->state().positions);
      m_dissipation += m_plasticities[b]->take_over(flows, m_elastic[b]->elements()).released;
    } else {
      m_dissipation += flow_after_step(b, input);
    }
  }
}

// Returns what W_i and W_p lost, J. Flow moves example 0; weights that are free follow, and only the body as a whole
// knows what W_p is then: all elements flow less where the sum would rise.
double SolidModel::flow_after_step(std::size_t b, const StepInput& input) {
  constexpr int most_tries = 6;
  Plasticity& plasticity = *m_plasticities[b];
  const std::vector<Mat3> inverse = plasticity.inverse();
  const std::vector<double> strains = plasticity.strains();
  std::vector<VecX> weights;
  for (const std::size_t term : m_example_terms[b]) weights.push_back(m_solver->state().weights[term]);
  const double before = example_energy_of(b);
  double share = 1;
  for (int k = 0; k < most_tries; ++k, share *= 0.5) {
    const FlowSum sum = plasticity.update(m_solver->state().positions, m_elastic[b]->energy(), input.dt,
                                          m_elastic[b]->elements(), share);
    if (!sum.flowed) return 0;
    update_examples(b);
    settle_weights(b, input);
    const double released = sum.released + before - example_energy_of(b);
    if (released >= 0) return released;
    plasticity.set(inverse, strains, m_elastic[b]->elements());
    update_examples(b);
    for (std::size_t s = 0; s < weights.size(); ++s) m_solver->set_weights(m_example_terms[b][s], weights[s]);
  }
  return 0;
}

// The pose of the compatible method moves with its weights: there the next step does it.
void SolidModel::settle_weights(std::size_t b, const StepInput& input) {
  for (std::size_t s = 0; s < m_incompatible[b].size(); ++s) {
    const std::size_t term = m_example_terms[b][s];
    const bool named = term < input.given_weights.size() && input.given_weights[term];
    m_solver->set_weights(term, m_incompatible[b][s]->settled_weights(
                                    m_solver->state().positions, m_solver->state().weights[term],
                                    named ? *input.given_weights[term] : VecX()));
  }
}

void SolidModel::update_examples(std::size_t b) {
  const std::vector<Mat3>& inverse = m_plasticities[b]->inverse();
  const bool carry = m_bodies[b].plastic->carries_examples;
  if (m_compatible[b]) m_compatible[b]->set_plastic(inverse, carry);
  for (std::size_t s = 0; s < m_incompatible[b].size(); ++s) {
    const std::vector<int>& tets = m_bodies[b].examples[s].tets;
    if (tets.empty()) {
      m_incompatible[b][s]->set_plastic(inverse, carry);
      continue;
    }
    const std::size_t per_tet = m_elastic[b]->elements().points_per_tet();
    std::vector<Mat3> selected;
    for (const int tet : tets) {
      const auto first = inverse.begin() + to_int(to_size(tet) * per_tet);
      selected.insert(selected.end(), first, first + to_int(per_tet));
    }
    m_incompatible[b][s]->set_plastic(selected, carry);
  }
}

Points SolidModel::body_positions(std::size_t b) const {
  return m_solver->state().positions.middleRows(m_first_node[b], m_bodies[b].mesh.vertices.rows());
}

Points SolidModel::body_velocities(std::size_t b) const {
  return m_solver->state().velocities.middleRows(m_first_node[b], m_bodies[b].mesh.vertices.rows());
}

double SolidModel::internal_energy() const {
  double sum = 0;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (m_bodies[b].internal_stiffness > 0) sum += m_elastic[b]->value(m_solver->state().positions, {});
  }
  return sum;
}

double SolidModel::example_energy_of(std::size_t b) const {
  double sum = 0;
  for (const std::size_t term : m_example_terms[b]) sum += m_solver->term_energy(term);
  return sum;
}

double SolidModel::example_energy() const {
  double sum = 0;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) sum += example_energy_of(b);
  return sum;
}

void SolidModel::set_state(State state) {
  m_solver->set_state(std::move(state.solver));
  set_plastic_state(std::move(state.plastic));
}

SolidModel::PlasticState SolidModel::plastic_state() const {
  PlasticState state;
  for (const auto& plasticity : m_plasticities) {
    state.inverse.push_back(plasticity ? plasticity->inverse() : std::vector<Mat3>{});
    state.strain.push_back(plasticity ? plasticity->strains() : std::vector<double>{});
  }
  state.dissipation = m_dissipation;
  return state;
}

void SolidModel::set_plastic_state(PlasticState state) {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const std::size_t count = m_plasticities[b] ? m_plasticities[b]->inverse().size() : 0;
    if (state.inverse.size() != m_bodies.size() || state.inverse[b].size() != count)
      throw InputError("this state belongs to other bodies");
    if (!m_plasticities[b]) continue;
    m_plasticities[b]->set(std::move(state.inverse[b]), std::move(state.strain[b]), m_elastic[b]->elements());
    update_examples(b);
  }
  m_dissipation = state.dissipation;
}

}  // namespace exemplar::fem
