#include "core/implicit/implicit_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exemplar {

namespace {

double largest_row(const Points& rows) {
  return rows.rows() > 0 ? std::sqrt(rows.rowwise().squaredNorm().maxCoeff()) : 0.0;
}

}  // namespace

ImplicitSolver::Problem::Problem(ImplicitSolver& solver, const StepInput& input, Points start, VecX q)
    : m_solver(solver),
      m_input(input),
      m_x(std::move(start)),
      m_predicted(solver.m_state.positions + input.dt * solver.m_state.velocities),
      m_q(std::move(q)),
      m_weights(solver.m_state.weights),
      m_gradient(m_x.rows(), 3) {
  for (std::size_t t = 0; t < solver.m_terms.size(); ++t) {
    const int count = solver.m_terms[t]->weight_count();
    const bool given = t < input.given_weights.size() && input.given_weights[t].has_value();
    if (given) m_weights[t] = *input.given_weights[t];
    m_weight_border.push_back(count > 0 && !given ? m_border : -1);
    if (m_weight_border.back() < 0) continue;
    if (solver.m_terms[t]->weights_on_simplex()) m_groups.push_back({m_border, count});
    m_border += count;
  }
  m_weight_total = m_border;
  for (std::size_t i = 0; i < solver.m_obstacles.size(); ++i) {
    const bool dynamic = solver.m_obstacles[i].dynamic();
    m_obstacle_border.push_back(dynamic ? m_border : -1);
    if (!dynamic) continue;
    m_border += 6;
    m_inertias.emplace_back(solver.m_obstacles[i], solver.m_state.obstacles[i], solver.m_gravity, input.dt);
    m_inertia_obstacle.push_back(static_cast<int>(i));
  }
  if (solver.m_options.damping > 0) assemble_damping();
}

VecX ImplicitSolver::Problem::pack(const Points& x, const VecX& q, const std::vector<VecX>& weights) const {
  const Eigen::Index dofs = pattern().dofs();
  VecX z(dofs + m_border);
  for (std::size_t i = 0; i < m_solver.m_column.size(); ++i) {
    const int c = m_solver.m_column[i];
    if (c >= 0) z.segment<3>(3 * c) = x.row(static_cast<Eigen::Index>(i)).transpose();
  }
  for (std::size_t t = 0; t < weights.size(); ++t) {
    if (m_weight_border[t] >= 0) z.segment(dofs + m_weight_border[t], weights[t].size()) = weights[t];
  }
  for (const int i : m_inertia_obstacle) z.segment<6>(dofs + border_of_obstacle(i)) = q.segment<6>(6 * i);
  return z;
}

void ImplicitSolver::Problem::unpack(const VecX& z) {
  const Eigen::Index dofs = pattern().dofs();
  for (std::size_t i = 0; i < m_solver.m_column.size(); ++i) {
    const int c = m_solver.m_column[i];
    if (c >= 0) m_x.row(static_cast<Eigen::Index>(i)) = z.segment<3>(3 * c).transpose();
  }
  for (std::size_t t = 0; t < m_weights.size(); ++t) {
    if (m_weight_border[t] >= 0) m_weights[t] = z.segment(dofs + m_weight_border[t], m_weights[t].size());
  }
  for (const int i : m_inertia_obstacle) m_q.segment<6>(6 * i) = z.segment<6>(dofs + border_of_obstacle(i));
}

double ImplicitSolver::Problem::inertia_value() const {
  double sum = 0;
  for (Eigen::Index i = 0; i < m_x.rows(); ++i) {
    sum += m_solver.m_masses[i] * (m_x.row(i) - m_predicted.row(i)).squaredNorm();
  }
  return sum / (2 * m_input.dt * m_input.dt);
}

VecX ImplicitSolver::Problem::displacement() const {
  VecX d;
  reduce(m_x - m_solver.m_state.positions, d);
  return d;
}

double ImplicitSolver::Problem::damping_value() const {
  const VecX d = displacement();
  VecX kd;
  m_damping.multiply(d, kd);
  return m_solver.m_options.damping / (2 * m_input.dt) * d.dot(kd);
}

void ImplicitSolver::Problem::assemble_damping() {
  m_damping = BlockMatrix(pattern());
  for (std::size_t t = 0; t < m_solver.m_terms.size(); ++t) {
    const double share = m_solver.m_terms[t]->damping_share();
    if (share == 0) continue;
    MatX c = MatX::Zero(pattern().dofs(), m_weights[t].size());
    MatX d = MatX::Zero(m_weights[t].size(), m_weights[t].size());
    if (share == 1) {
      m_solver.m_terms[t]->add_hessian(m_solver.m_state.positions, m_weights[t], true, m_damping, c, d);
      continue;
    }
    BlockMatrix own(pattern());
    m_solver.m_terms[t]->add_hessian(m_solver.m_state.positions, m_weights[t], true, own, c, d);
    m_damping.add_scaled(own, share);
  }
}

double ImplicitSolver::Problem::value(const VecX& z) {
  unpack(z);
  double sum = m_solver.m_options.inertia ? inertia_value() : 0.0;
  for (std::size_t t = 0; t < m_solver.m_terms.size(); ++t)
    sum += m_solver.m_terms[t]->value(m_x, m_weights[t]);
  // Work of the loads along the step's displacement: no cancellation between large numbers.
  if (m_input.forces.size() > 0) sum -= m_input.forces.cwiseProduct(m_x - m_solver.m_state.positions).sum();
  if (!m_damping.empty()) sum += damping_value();
  for (std::size_t k = 0; k < m_inertias.size(); ++k) {
    sum += m_inertias[k].value(m_q.segment<6>(6 * m_inertia_obstacle[k]));
  }
  if (has_contact())
    sum += m_solver.m_contact->value(m_x, m_q) + m_solver.m_contact->friction_value(m_x, m_q);
  return sum;
}

void ImplicitSolver::Problem::reduce(const Points& full, VecX& g) const {
  g.conservativeResize(std::max<Eigen::Index>(g.size(), pattern().dofs()));
  for (std::size_t i = 0; i < m_solver.m_column.size(); ++i) {
    const int c = m_solver.m_column[i];
    if (c >= 0) g.segment<3>(3 * c) = full.row(static_cast<Eigen::Index>(i)).transpose();
  }
}

void ImplicitSolver::Problem::gradient(const VecX& z, VecX& g) {
  unpack(z);
  const Eigen::Index dofs = pattern().dofs();
  g.setZero(dofs + m_border);
  m_gradient.setZero();
  for (std::size_t t = 0; t < m_solver.m_terms.size(); ++t) {
    VecX g_w = VecX::Zero(m_weights[t].size());
    m_solver.m_terms[t]->add_gradient(m_x, m_weights[t], m_gradient, g_w);
    if (m_weight_border[t] >= 0) g.segment(dofs + m_weight_border[t], g_w.size()) = g_w;
  }
  m_force_scale = std::max(m_solver.m_options.stiffness_force, largest_row(m_gradient));
  if (m_input.forces.size() > 0) {
    m_force_scale = std::max(m_force_scale, largest_row(m_input.forces));
    m_gradient -= m_input.forces;
  }
  if (m_solver.m_options.inertia) {
    const double factor = 1 / (m_input.dt * m_input.dt);
    m_gradient += factor * (m_solver.m_masses.asDiagonal() * (m_x - m_predicted));
  }
  VecX nodes;
  reduce(m_gradient, nodes);
  g.head(dofs) = nodes;
  if (!m_damping.empty()) {
    VecX kd;
    m_damping.multiply(displacement(), kd);
    g.head(dofs) += m_solver.m_options.damping / m_input.dt * kd;
  }
  for (std::size_t k = 0; k < m_inertias.size(); ++k) {
    const int i = m_inertia_obstacle[k];
    g.segment<6>(dofs + border_of_obstacle(i)) += m_inertias[k].gradient(m_q.segment<6>(6 * i));
  }
  if (has_contact()) {
    const std::vector<ContactBlock> blocks = m_solver.m_contact->blocks(m_x, m_q, Derivatives::gradient);
    // Contact is one of the forces at work: in an impact of a body at rest in itself it is the only one.
    for (const ContactBlock& block : blocks) {
      for (std::size_t n = 0; n < block.nodes.size(); ++n)
        m_force_scale =
            std::max(m_force_scale, block.gradient.segment<3>(3 * static_cast<Eigen::Index>(n)).norm());
    }
    add_contact_blocks(blocks, g);
    add_contact_blocks(m_solver.m_contact->friction_blocks(m_x, m_q, Derivatives::gradient), g);
  }
  if (m_solver.m_any_masked) {
    for (Eigen::Index i = 0; i < dofs; ++i) {
      if (m_solver.m_masked[static_cast<std::size_t>(i)]) g[i] = 0;
    }
  }
}

void ImplicitSolver::Problem::hessian(const VecX& z, bool project, BorderedHessian& h) {
  unpack(z);
  const Eigen::Index dofs = pattern().dofs();
  MatX unused_c, unused_d;
  for (std::size_t t = 0; t < m_solver.m_terms.size(); ++t) {
    const Eigen::Index count = m_weights[t].size();
    if (m_weight_border[t] >= 0 || count == 0) {
      const Eigen::Index at = std::max(m_weight_border[t], 0);
      m_solver.m_terms[t]->add_hessian(m_x, m_weights[t], project, h.a, h.c.middleCols(at, count),
                                       h.d.block(at, at, count, count));
    } else {
      unused_c.setZero(dofs, count);
      unused_d.setZero(count, count);
      m_solver.m_terms[t]->add_hessian(m_x, m_weights[t], project, h.a, unused_c, unused_d);
    }
  }
  if (m_solver.m_options.inertia) {
    const double factor = 1 / (m_input.dt * m_input.dt);
    for (std::size_t i = 0; i < m_solver.m_column.size(); ++i) {
      if (m_solver.m_column[i] >= 0) {
        h.a.add_to_diagonal(m_solver.m_column[i], factor * m_solver.m_masses[static_cast<Eigen::Index>(i)]);
      }
    }
  }
  if (!m_damping.empty()) h.a.add_scaled(m_damping, m_solver.m_options.damping / m_input.dt);
  for (std::size_t k = 0; k < m_inertias.size(); ++k) {
    const int i = m_inertia_obstacle[k], at = border_of_obstacle(i);
    h.d.block<6, 6>(at, at) += m_inertias[k].hessian(m_q.segment<6>(6 * i));
  }
  if (has_contact()) {
    const Derivatives kind = project ? Derivatives::projected_hessian : Derivatives::hessian;
    add_contact_blocks(m_solver.m_contact->blocks(m_x, m_q, kind), h);
    add_contact_blocks(m_solver.m_contact->friction_blocks(m_x, m_q, kind), h);
  }
  if (m_solver.m_any_masked) mask(h);
}

void ImplicitSolver::Problem::add_contact_blocks(const std::vector<ContactBlock>& blocks, VecX& g) const {
  const Eigen::Index dofs = pattern().dofs();
  for (const ContactBlock& block : blocks) {
    Eigen::Index at = 0;
    for (const int node : block.nodes) {
      const int c = m_solver.m_column[static_cast<std::size_t>(node)];
      if (c >= 0) g.segment<3>(3 * c) += block.gradient.segment<3>(at);
      at += 3;
    }
    for (int k = 0; k < block.obstacle_count(); ++k, at += 6) {
      const int border = border_of_obstacle(block.obstacles[static_cast<std::size_t>(k)]);
      g.segment<6>(dofs + border) += block.gradient.segment<6>(at);
    }
  }
}

void ImplicitSolver::Problem::add_contact_blocks(const std::vector<ContactBlock>& blocks,
                                                 BorderedHessian& h) const {
  for (const ContactBlock& block : blocks) {
    const Eigen::Index node_count = static_cast<Eigen::Index>(block.nodes.size());
    for (Eigen::Index a = 0; a < node_count; ++a) {
      const int ca = m_solver.m_column[static_cast<std::size_t>(block.nodes[static_cast<std::size_t>(a)])];
      if (ca < 0) continue;
      for (Eigen::Index b = 0; b <= a; ++b) {
        const int cb = m_solver.m_column[static_cast<std::size_t>(block.nodes[static_cast<std::size_t>(b)])];
        if (cb >= 0) h.a.add(pattern().slot(ca, cb), block.hessian.block<3, 3>(3 * a, 3 * b));
      }
      for (int k = 0; k < block.obstacle_count(); ++k) {
        const int border = border_of_obstacle(block.obstacles[static_cast<std::size_t>(k)]);
        h.c.block<3, 6>(3 * ca, border) += block.hessian.block<3, 6>(3 * a, 3 * node_count + 6 * k);
      }
    }
    for (int k = 0; k < block.obstacle_count(); ++k) {
      for (int l = 0; l < block.obstacle_count(); ++l) {
        h.d.block<6, 6>(border_of_obstacle(block.obstacles[static_cast<std::size_t>(k)]),
                        border_of_obstacle(block.obstacles[static_cast<std::size_t>(l)])) +=
            block.hessian.block<6, 6>(3 * node_count + 6 * k, 3 * node_count + 6 * l);
      }
    }
  }
}

// Rows and columns of single held coordinates become those of the identity (scaled like the rest).
void ImplicitSolver::Problem::mask(BorderedHessian& h) const {
  const std::vector<char>& masked = m_solver.m_masked;
  const std::span<const int> start = pattern().column_start(), rows = pattern().row_index();
  const std::span<double> values = h.a.values();
  for (std::size_t j = 0; j + 1 < start.size(); ++j) {
    for (std::size_t k = static_cast<std::size_t>(start[j]); k < static_cast<std::size_t>(start[j + 1]);
         ++k) {
      const std::size_t i = static_cast<std::size_t>(rows[k]);
      if (!masked[i] && !masked[j]) continue;
      values[k] = i == j ? std::max(std::abs(values[k]), 1e-12) : 0.0;
    }
    if (masked[j]) h.c.row(static_cast<Eigen::Index>(j)).setZero();
  }
}

double ImplicitSolver::Problem::max_step(const VecX& z, const VecX& dz) {
  if (!has_contact()) return 1.0;
  unpack(z + dz);
  const Points x1 = m_x;
  const VecX q1 = m_q;
  unpack(z);
  m_solver.m_contact->find_pairs(m_x, m_q, x1, q1);
  return m_solver.m_contact->max_step(m_x, m_q, x1, q1);
}

// Weights stand before obstacles in the border: an energy for the former, a force for the latter.
double ImplicitSolver::Problem::border_scale(int i) const {
  return i < m_weight_total ? m_force_scale * m_solver.m_options.length : m_force_scale;
}

void ImplicitSolver::Problem::find_contacts(const VecX& z) {
  if (!has_contact()) return;
  unpack(z);
  m_solver.m_contact->find_pairs(m_x, m_q, m_x, m_q);
}

void ImplicitSolver::Problem::lag_friction(const VecX& z) {
  if (!has_contact()) return;
  unpack(z);
  m_solver.m_contact->update_friction(m_x, m_q, m_input.dt);
}

// Nodes first, then obstacles, then one more that stands for all that is held or prescribed.
LinkedGroups ImplicitSolver::Problem::link_all() const {
  const int nodes = static_cast<int>(m_x.rows()), obstacles = static_cast<int>(m_obstacle_border.size());
  const int fixed = nodes + obstacles;
  LinkedGroups groups(fixed + 1);
  LinkedGroups terms = m_solver.m_groups;
  for (int i = 0; i < nodes; ++i) {
    groups.link(i, terms.root(i));
    const int c = m_solver.m_column[static_cast<std::size_t>(i)];
    const auto masked = [&](int k) { return m_solver.m_masked[static_cast<std::size_t>(3 * c + k)] != 0; };
    if (c < 0 || masked(0) || masked(1) || masked(2)) groups.link(i, fixed);
  }
  for (int o = 0; o < obstacles; ++o) {
    if (border_of_obstacle(o) < 0) groups.link(nodes + o, fixed);
  }
  if (!has_contact()) return groups;
  for (const ContactLink& link : m_solver.m_contact->links(m_x, m_q)) {
    std::vector<int> all = link.nodes;
    for (const int o : link.obstacles) all.push_back(nodes + o);
    for (const int member : all) groups.link(all.front(), member);
  }
  return groups;
}

// Along a common translation every term but inertia and loads is constant, so that H is an exact quadratic
// with the curvature Σm/h²: its minimum is found in closed form. Newton's method has been there already after
// a whole step with an exact linear solve; conjugate gradients leave a part (an impact at 200 m/s on a box:
// 3e-9 of the momentum).
void ImplicitSolver::Problem::balance_momentum(VecX& z) {
  unpack(z);
  LinkedGroups groups = link_all();
  const Eigen::Index nodes = m_x.rows(), dofs = pattern().dofs();
  Points force = Points::Zero(groups.size(), 3);
  VecX mass = VecX::Zero(groups.size());
  const double factor = 1 / (m_input.dt * m_input.dt);
  for (Eigen::Index i = 0; i < nodes; ++i) {
    const int root = groups.root(static_cast<int>(i));
    force.row(root) += factor * m_solver.m_masses[i] * (m_x.row(i) - m_predicted.row(i));
    if (m_input.forces.size() > 0) force.row(root) -= m_input.forces.row(i);
    mass[root] += m_solver.m_masses[i];
  }
  for (std::size_t k = 0; k < m_inertias.size(); ++k) {
    const int o = m_inertia_obstacle[k], root = groups.root(static_cast<int>(nodes) + o);
    force.row(root) += m_inertias[k].gradient(m_q.segment<6>(6 * o)).head<3>().transpose();
    mass[root] += m_solver.m_obstacles[static_cast<std::size_t>(o)].mass();
  }
  const int fixed = groups.root(groups.size() - 1);
  const double longest =
      has_contact() ? 0.1 * m_solver.m_contact->options().reach : std::numeric_limits<double>::infinity();
  const auto shift = [&](int member) -> Vec3 {
    const int root = groups.root(member);
    if (root == fixed || !(mass[root] > 0)) return Vec3::Zero();
    const Vec3 way = -force.row(root).transpose() / (factor * mass[root]);
    // Groups are a reach apart: shorter ways bring nothing together.
    return way.norm() < longest ? way : Vec3::Zero();
  };
  for (Eigen::Index i = 0; i < nodes; ++i) {
    const int c = m_solver.m_column[static_cast<std::size_t>(i)];
    if (c >= 0) z.segment<3>(3 * c) += shift(static_cast<int>(i));
  }
  for (const int o : m_inertia_obstacle)
    z.segment<3>(dofs + border_of_obstacle(o)) += shift(static_cast<int>(nodes) + o);
}

}  // namespace exemplar
