#include "meshless/mass_spring/spring_body.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace exemplar::mass_spring {

namespace {
constexpr double stability_margin = 0.9;

// What the springs amount to: Σ k l² is 6 E V in solids and 3 E V in sheets (network.h) [m/s].
double wave_speed(const Network& network) {
  const double sum = network.stiffness.dot(network.rest_lengths.cwiseAbs2());
  return std::sqrt(sum / ((network.guard.tets.rows() > 0 ? 6 : 3) * network.masses.sum()));
}

double extent(const Points& points) {
  return (points.colwise().maxCoeff() - points.colwise().minCoeff()).maxCoeff();
}
}  // namespace

SpringBody::SpringBody(Network network, const SpringOptions& options, double gravity)
    : positions(network.rest_positions),
      velocities(Points::Zero(network.rest_positions.rows(), 3)),
      m_network(std::move(network)),
      m_options(options),
      m_settling(wave_speed(m_network), extent(m_network.rest_positions), gravity),
      m_is_broken(static_cast<std::size_t>(m_network.springs.rows()), 0),
      m_is_unguarded(static_cast<std::size_t>(m_network.guard.tets.rows()), 0),
      m_inverse_masses(m_network.masses.cwiseInverse()),
      m_spring_forces(Points::Zero(m_network.springs.rows(), 3)) {
  // Central differences with lagged damping are stable up to h ω ≤ √(1 + ζ²) · 2 − 2 ζ.
  const double undamped = critical_step(m_network), zeta = options.damping_ratio;
  m_damping_time = zeta * undamped;  // c = 2 ζ k / ω_max, ω_max = 2/h_critical
  m_stable_step = options.integration == Integration::forces
                      ? stability_margin * undamped * (std::sqrt(1.0 + zeta * zeta) - zeta)
                      : std::numeric_limits<double>::infinity();
  m_node_start.assign(static_cast<std::size_t>(positions.rows()) + 1, 0);
  const Edges& springs = m_network.springs;
  for (Eigen::Index k = 0; k < springs.size(); ++k) ++m_node_start[springs.data()[k] + 1];
  std::partial_sum(m_node_start.begin(), m_node_start.end(), m_node_start.begin());
  m_node_springs.resize(static_cast<std::size_t>(springs.size()));
  std::vector<int> next(m_node_start.begin(), m_node_start.end() - 1);
  for (Eigen::Index s = 0; s < springs.rows(); ++s) {
    m_node_springs[next[springs(s, 0)]++] = static_cast<int>(s);
    m_node_springs[next[springs(s, 1)]++] = -1 - static_cast<int>(s);
  }
}

void SpringBody::set_held(std::vector<HeldNode> nodes) {
  m_held = std::move(nodes);
  m_inverse_masses = m_network.masses.cwiseInverse();
  for (const HeldNode& h : m_held)
    if (h.held[0] && h.held[1] && h.held[2]) m_inverse_masses(h.node) = 0.0;
}

void SpringBody::hold(Points& values) const {
  for (const HeldNode& h : m_held)
    for (int axis = 0; axis < 3; ++axis)
      if (h.held[axis]) values(h.node, axis) = h.velocity(axis);
}

// Springs in parallel into their own slots, then every node adds up its springs in a fixed order.
void SpringBody::add_spring_forces(bool is_damped, Points& forces) const {
  const Edges& springs = m_network.springs;
  parallel_for(
      static_cast<std::size_t>(springs.rows()),
      [&](std::size_t i) {
        const auto s = static_cast<Eigen::Index>(i);
        m_spring_forces.row(s).setZero();
        if (m_is_broken[i]) return;
        const Eigen::RowVector3d d = positions.row(springs(s, 1)) - positions.row(springs(s, 0));
        const double l = d.norm();
        if (!(l > 0.0)) return;  // two ends at one place: no direction to push
        double pull = l - m_network.rest_lengths(s);
        if (is_damped)
          pull += m_damping_time * (velocities.row(springs(s, 1)) - velocities.row(springs(s, 0))).dot(d) / l;
        m_spring_forces.row(s) = m_network.stiffness(s) * pull / l * d;
      },
      1024);
  parallel_for(
      static_cast<std::size_t>(positions.rows()),
      [&](std::size_t n) {
        for (int k = m_node_start[n]; k < m_node_start[n + 1]; ++k) {
          const int s = m_node_springs[k];
          if (s >= 0) {
            forces.row(static_cast<Eigen::Index>(n)) += m_spring_forces.row(s);
          } else {
            forces.row(static_cast<Eigen::Index>(n)) -= m_spring_forces.row(-1 - s);
          }
        }
      },
      1024);
}

Points SpringBody::spring_forces() const {
  Points forces = Points::Zero(positions.rows(), 3);
  add_spring_forces(false, forces);
  return forces;
}

void SpringBody::update_velocities(double dt, const Vec3& gravity, const Points& forces) {
  remove_overstretched(dt);
  Points total = forces.rows() > 0 ? forces : Points::Zero(positions.rows(), 3);
  if (m_options.integration == Integration::forces) {
    add_spring_forces(true, total);
    add_guard_forces(m_network.guard, m_is_unguarded, positions, total);
  }
  m_kept = std::exp(-m_options.air_drag * dt);
  m_relax_gain = 0.0;
  begin_booking(dt);
  parallel_for(
      static_cast<std::size_t>(positions.rows()),
      [&](std::size_t n) {
        const auto i = static_cast<Eigen::Index>(n);
        velocities.row(i) =
            m_kept * velocities.row(i) + dt * (gravity.transpose() + total.row(i) / m_network.masses(i));
      },
      1024);
  hold(velocities);
}

// Once through the springs and back, each time by the root of a spring's whole factor: such a product is symmetric in the
// masses' norm. One way only it is not, and strong dampers made a pile of blocks fly apart.
void SpringBody::damp_springs(double dt) {
  if (m_options.damping_time == 0.0) return;
  const Eigen::Index count = m_network.springs.rows();
  for (Eigen::Index s = 0; s < count; ++s) damp_spring(s, dt);
  for (Eigen::Index s = count - 1; s >= 0; --s) damp_spring(s, dt);
  hold(velocities);
}

void SpringBody::damp_spring(Eigen::Index s, double dt) {
  if (m_is_broken[static_cast<std::size_t>(s)]) return;
  const int a = m_network.springs(s, 0), b = m_network.springs(s, 1);
  const double w = m_inverse_masses(a) + m_inverse_masses(b);
  const Eigen::RowVector3d d = positions.row(b) - positions.row(a);
  const double l = d.norm();
  if (!(w > 0.0) || !(l > 0.0)) return;
  const double rate = (velocities.row(b) - velocities.row(a)).dot(d) / l;
  const double left = 1.0 / std::sqrt(1.0 + m_options.damping_time * m_network.stiffness(s) * w * dt);
  const Eigen::RowVector3d impulse = (1.0 - left) * rate / (w * l) * d;
  velocities.row(a) += m_inverse_masses(a) * impulse;
  velocities.row(b) -= m_inverse_masses(b) * impulse;
  m_damper_impulses(s) += (1.0 - left) * rate / w;
}

// How fast a spring gets longer at these velocities.
double SpringBody::length_rate(Eigen::Index s, const Points& at) const {
  const int a = m_network.springs(s, 0), b = m_network.springs(s, 1);
  const Eigen::RowVector3d d = positions.row(b) - positions.row(a);
  const double l = d.norm();
  return l > 0.0 ? (at.row(b) - at.row(a)).dot(d) / l : 0.0;
}

void SpringBody::begin_booking(double dt) {
  m_calmed.resize(0, 3);
  m_start_velocities = velocities;
  m_damper_impulses = VecX::Zero(m_network.springs.rows());
  if (m_options.integration != Integration::forces || m_damping_time == 0.0) return;
  for (Eigen::Index s = 0; s < m_damper_impulses.size(); ++s)
    if (!m_is_broken[s])
      m_damper_impulses(s) = m_damping_time * m_network.stiffness(s) * length_rate(s, velocities) * dt;
}

// Work of an impulse is along the mean of the velocities before and after the step, in which contact may have turned them
// round: along those before, dampers of a bouncing cube seemed to take up to a third of its energy more than they did.
void SpringBody::book_damping() {
  if (m_start_velocities.rows() == 0) return;
  const Points mean = 0.5 * (m_start_velocities + velocities);
  for (Eigen::Index s = 0; s < m_damper_impulses.size(); ++s)
    if (m_damper_impulses(s) != 0.0) m_damped_energy += m_damper_impulses(s) * length_rate(s, mean);
  m_damped_energy +=
      (1.0 - m_kept) * m_network.masses.dot(m_start_velocities.cwiseProduct(mean).rowwise().sum());
  if (m_calmed.rows() > 0)
    m_damped_energy += m_network.masses.dot(m_calmed.cwiseProduct(mean).rowwise().sum());
  m_start_velocities.resize(0, 3);
}

// Eq. 2.8 on the predicted positions, spring after spring; the velocities are those that lead there.
void SpringBody::relax(double dt, int passes) {
  Points x = positions + dt * velocities;
  const double before = kinetic_energy();
  const Edges& springs = m_network.springs;
  for (int pass = 0; pass < passes; ++pass) {
    for (Eigen::Index s = 0; s < springs.rows(); ++s) {
      if (m_is_broken[s]) continue;
      const int a = springs(s, 0), b = springs(s, 1);
      const double wa = m_inverse_masses(a), wb = m_inverse_masses(b);
      const Eigen::RowVector3d d = x.row(b) - x.row(a);
      const double l = d.norm();
      if (!(l > 0.0) || wa + wb == 0.0) continue;
      // Half each for equal masses, as in the thesis; by mass otherwise, or momentum would not be conserved.
      const Eigen::RowVector3d correction = (l - m_network.rest_lengths(s)) / (l * (wa + wb)) * d;
      x.row(a) += wa * correction;
      x.row(b) -= wb * correction;
    }
    open_tets(m_network.guard, m_is_unguarded, m_inverse_masses, x);
  }
  velocities = (x - positions) / dt;
  hold(velocities);
  m_relax_gain += kinetic_energy() - before;
}

RigidVelocity SpringBody::motion() const {
  return rigid_velocity(
      static_cast<std::size_t>(positions.rows()),
      [&](std::size_t i) { return m_network.masses(static_cast<Eigen::Index>(i)); },
      [&](std::size_t i) { return Vec3(positions.row(static_cast<Eigen::Index>(i))); },
      [&](std::size_t i) { return Vec3(velocities.row(static_cast<Eigen::Index>(i))); });
}

// Held bodies have no rigid motion of their own.
void SpringBody::take_out_gain() {
  if (!(m_relax_gain > 0.0)) return;
  RigidVelocity rigid = motion();
  if (!m_held.empty()) {
    rigid.velocity = rigid.spin = Vec3::Zero();
    rigid.deformation = kinetic_energy();
  }
  if (!(rigid.deformation > 0.0)) return;
  const double kept = std::sqrt(std::max(0.0, 1.0 - m_relax_gain / rigid.deformation));
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    const Vec3 of_body = rigid.at(positions.row(i).transpose());
    velocities.row(i) = (of_body + kept * (Vec3(velocities.row(i)) - of_body)).transpose();
  }
  hold(velocities);
}

bool SpringBody::settle(double dt) {
  if (!m_held.empty()) return false;
  const RigidVelocity rigid = motion();
  if (!m_settling.settles(rigid.deformation_speed())) return false;
  m_calmed = velocities;
  const double kept = m_settling.kept(dt);
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    const Vec3 of_body = rigid.at(positions.row(i).transpose());
    velocities.row(i) = (of_body + kept * (Vec3(velocities.row(i)) - of_body)).transpose();
  }
  m_calmed -= velocities;
  return true;
}

// What a spring held is that of half a step ago, where the velocities are: it has not yet done the work of this half, and with
// its energy at the end of it a breaking bar gained 4 % of its fall.
void SpringBody::remove_overstretched(double dt) {
  if (!(m_options.strain_limit > 0.0)) return;
  const Edges& springs = m_network.springs;
  for (Eigen::Index s = 0; s < springs.rows(); ++s) {
    const double l = (positions.row(springs(s, 1)) - positions.row(springs(s, 0))).norm();
    if (m_is_broken[s] || l <= (1.0 + m_options.strain_limit) * m_network.rest_lengths(s)) continue;
    m_released_energy += spring_energy(s, 0.5 * dt);
    m_is_broken[s] = 1;
  }
  leave_broken_tets();
}

// A tetrahedron that has lost an edge is no longer guarded: its corners may go where they want.
void SpringBody::leave_broken_tets() {
  for (std::size_t t = 0; t < m_is_unguarded.size(); ++t)
    for (const int s : m_network.tet_springs[t])
      if (m_is_broken[s]) m_is_unguarded[t] = 1;
}

void SpringBody::move(double dt) {
  book_damping();
  positions += dt * velocities;
  take_out_gain();
}

int SpringBody::broken_springs() const {
  return static_cast<int>(std::count(m_is_broken.begin(), m_is_broken.end(), 1));
}

double SpringBody::whole() const {
  return 1.0 - static_cast<double>(broken_springs()) / static_cast<double>(m_is_broken.size());
}

std::vector<int> SpringBody::loose_nodes() const {
  std::vector<char> is_loose(static_cast<std::size_t>(positions.rows()), 0);
  for (std::size_t t = 0; t < m_is_unguarded.size(); ++t)
    for (int k = 0; k < 4 && m_is_unguarded[t]; ++k)
      is_loose[m_network.guard.tets(static_cast<Eigen::Index>(t), k)] = 1;
  std::vector<int> out;
  for (std::size_t i = 0; i < is_loose.size(); ++i)
    if (is_loose[i]) out.push_back(static_cast<int>(i));
  return out;
}

int SpringBody::inverted_tets() const {
  return count_inverted(m_network.guard, m_is_unguarded, positions);
}

// Constraints have no stiffness: what they are off by is an error, not energy. Counted with the springs' stiffness, a cube of
// aluminium that fell by 30 cm seemed to hold 2000 times the energy of its fall.
double SpringBody::spring_energy(Eigen::Index spring, double back) const {
  if (m_options.integration == Integration::constraints) return 0.0;
  const int a = m_network.springs(spring, 0), b = m_network.springs(spring, 1);
  const Eigen::RowVector3d apart =
      positions.row(b) - positions.row(a) - back * (velocities.row(b) - velocities.row(a));
  const double l = apart.norm() - m_network.rest_lengths(spring);
  return 0.5 * m_network.stiffness(spring) * l * l;
}

double SpringBody::elastic_energy() const {
  if (m_options.integration == Integration::constraints) return 0.0;
  double sum = 0.0;
  for (Eigen::Index s = 0; s < m_network.springs.rows(); ++s)
    if (!m_is_broken[s]) sum += spring_energy(s);
  return sum + guard_energy(m_network.guard, m_is_unguarded, positions);
}

double SpringBody::kinetic_energy() const {
  return 0.5 * m_network.masses.dot(velocities.rowwise().squaredNorm());
}

void SpringBody::set_state(State state) {
  if (state.positions.rows() != positions.rows() || state.velocities.rows() != positions.rows() ||
      state.is_broken.size() != m_is_broken.size())
    throw InputError("the saved state does not fit this spring network");
  positions = std::move(state.positions);
  velocities = std::move(state.velocities);
  m_is_broken = std::move(state.is_broken);
  m_damped_energy = state.damped_energy;
  m_released_energy = state.released_energy;
  m_is_unguarded.assign(m_is_unguarded.size(), 0);
  leave_broken_tets();
}

}  // namespace exemplar::mass_spring
