#include "shells/sheet_model.h"

#include <algorithm>

#include "core/base/index.h"

namespace exemplar::shells {

namespace {

// Ascending, each node once with all that is held of it.
void merge_held(std::vector<SupportedNode>& held) {
  std::stable_sort(held.begin(), held.end(),
                   [](const SupportedNode& a, const SupportedNode& b) { return a.node < b.node; });
  std::vector<SupportedNode> merged;
  for (const SupportedNode& node : held) {
    if (merged.empty() || merged.back().node != node.node) {
      merged.push_back(node);
      continue;
    }
    for (int c = 0; c < 3; ++c) {
      if (!node.held[to_size(c)]) continue;
      merged.back().held[to_size(c)] = true;
      merged.back().support[to_size(c)] = node.support[to_size(c)];
      merged.back().position[c] = node.position[c];
    }
  }
  held = std::move(merged);
}

}  // namespace

SheetModel::SheetModel(std::vector<SheetInput> inputs, ImplicitOptions options) {
  std::vector<std::shared_ptr<NodeTerm>> terms;
  int nodes = 0;
  double stiffness = 0, edges = 0;
  for (SheetInput& input : inputs) {
    stiffness = std::max(stiffness, input.material.young * input.material.thickness *
                                        std::max(input.internal_stiffness, 1e-6));
    m_bodies.push_back(make_sheet_body(std::move(input), nodes));
    m_first_term.push_back(terms.size());
    terms.insert(terms.end(), m_bodies.back()->terms().begin(), m_bodies.back()->terms().end());
    nodes += m_bodies.back()->sheet().node_count();
    edges += m_bodies.back()->sheet().mean_edge();
  }
  Points positions(nodes, 3), velocities = Points::Zero(nodes, 3);
  VecX masses = VecX::Zero(nodes);
  std::vector<char> abstract(to_size(nodes), 0);
  for (const auto& body : m_bodies) {
    const Sheet& sheet = body->sheet();
    positions.middleRows(sheet.first_node(), sheet.node_count()) = body->start();
    if (body->input().velocities.rows() > 0)
      velocities.middleRows(sheet.first_node(), sheet.vertex_count()) = body->input().velocities;
    std::fill_n(abstract.begin() + sheet.first_node() + sheet.first_pack(), sheet.pack_count(), 1);
    masses.segment(sheet.first_node(), sheet.vertex_count()) =
        sheet.vertex_masses(body->input().density * body->input().material.thickness);
  }
  options.length = edges / static_cast<double>(m_bodies.size());
  // Below this force the membrane strain is under 1e-9; bending forces of thin sheets are that much smaller.
  options.stiffness_force = 1e-9 * stiffness * options.length;
  m_solver = std::make_unique<ImplicitSolver>(std::move(positions), std::move(velocities), std::move(masses),
                                              std::move(terms), std::move(options), std::move(abstract));
  ImplicitState state = m_solver->state();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    for (std::size_t s = 0; s < m_bodies[b]->input().examples.size(); ++s) {
      const VecX& initial = m_bodies[b]->input().examples[s].initial_weights;
      if (initial.size() > 0) state.weights[example_term(b, s)] = initial;
    }
  }
  m_solver->set_state(std::move(state));
}

std::vector<SupportedNode> SheetModel::fixed(const Points& positions, const std::vector<int>& nodes) {
  std::vector<SupportedNode> held;
  for (const int node : nodes) {
    SupportedNode support;
    support.node = node;
    support.position = positions.row(node).transpose();
    held.push_back(support);
  }
  return held;
}

void SheetModel::hold_vertices(StepInput& input) const {
  for (const auto& body : m_bodies) {
    for (int v = 0; v < body->sheet().vertex_count(); ++v)
      input.held.push_back(fixed(m_solver->state().positions, {body->sheet().first_node() + v}).front());
  }
}

// Clamped edges from the held vertices; angles that do not count, and unused coordinates of packs, are held.
void SheetModel::complete(StepInput& input) {
  const Points& x = m_solver->state().positions;
  std::vector<char> held(to_size(static_cast<int>(x.rows())), 0);
  for (const SupportedNode& node : input.held)
    held[to_size(node.node)] = node.held[0] && node.held[1] && node.held[2];
  for (const auto& body : m_bodies) {
    const Sheet& sheet = body->sheet();
    const auto first = held.begin() + sheet.first_node();
    body->set_clamped({first, first + sheet.first_pack()});
    std::vector<SupportedNode> packs(to_size(sheet.pack_count()));
    for (int k = 0; k < sheet.pack_count(); ++k) {
      packs[to_size(k)].node = sheet.first_node() + sheet.first_pack() + k;
      packs[to_size(k)].position = x.row(packs[to_size(k)].node).transpose();
    }
    const VecX theta = body->angles(x);
    for (std::size_t e = 0; e < sheet.edges().size(); ++e) {
      const SheetEdge& edge = sheet.edges()[e];
      if (edge.pack < 0) continue;
      SupportedNode& pack = packs[to_size(edge.pack - sheet.first_pack())];
      pack.held[to_size(edge.coordinate)] = !edge.active();
      if (!edge.active())
        pack.position[edge.coordinate] = sheet.released_phi(to_int(e), theta[to_row(e)]) * edge.length;
    }
    for (int g = 0; g < sheet.ghost_count(); ++g) {
      const int node = sheet.first_node() + sheet.vertex_count() + g;
      if (!held[to_size(node)]) input.held.push_back(fixed(x, {node}).front());
    }
    for (const SupportedNode& pack : packs) {
      if (pack.held[0] || pack.held[1] || pack.held[2]) input.held.push_back(pack);
    }
  }
  merge_held(input.held);
}

StepOutcome SheetModel::step(StepInput input) {
  complete(input);
  StepOutcome outcome = m_solver->step(input);
  if (outcome.status != StepStatus::ok) return outcome;
  flow();
  return outcome;
}

void SheetModel::flow() {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    std::vector<VecX> of_body;
    for (std::size_t s = 0; s < m_bodies[b]->input().examples.size(); ++s) of_body.push_back(weights(b, s));
    m_bodies[b]->flow(m_solver->state().positions, of_body);
  }
}

Points SheetModel::positions(std::size_t b) const {
  return m_solver->state().positions.middleRows(first_node(b), m_bodies[b]->sheet().vertex_count());
}

Points SheetModel::velocities(std::size_t b) const {
  return m_solver->state().velocities.middleRows(first_node(b), m_bodies[b]->sheet().vertex_count());
}

double SheetModel::internal_energy() const {
  double sum = 0;
  for (const auto& body : m_bodies) sum += body->internal_energy(m_solver->state().positions);
  return sum;
}

double SheetModel::example_energy(std::size_t term) const {
  std::size_t b = 0;
  while (b + 1 < m_bodies.size() && m_first_term[b + 1] <= term) ++b;
  const std::size_t set = term - m_first_term[b];
  return m_bodies[b]->example_energy(m_solver->state().positions, set, weights(b, set));
}

double SheetModel::plastic_dissipation() const {
  double sum = 0;
  for (const auto& body : m_bodies) sum += body->dissipation();
  return sum;
}

}  // namespace exemplar::shells
