#include "meshless/shapematching/body.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/math/errors.h"
#include "core/math/parallel.h"

namespace exemplar {

namespace {

std::vector<CellSet> make_levels(const CellModel& model, const BodyOptions& options) {
  std::vector<CellSet> levels;
  levels.reserve(static_cast<std::size_t>(std::max(1, options.levels)));
  levels.emplace_back(model.rest_positions, model.masses, model.cells, options.match);
  Cells cells = model.cells;
  for (int level = 1; level < options.levels && cells.count() > 1; ++level) {
    cells = coarsen(cells, model.rest_positions);
    levels.emplace_back(model.rest_positions, model.masses, cells, options.match);
  }
  return levels;
}

}  // namespace

ShapeMatchingBody::ShapeMatchingBody(CellModel model, const BodyOptions& options)
    : positions(model.rest_positions),
      velocities(Points::Zero(model.rest_positions.rows(), 3)),
      m_model(std::move(model)),
      m_options(options),
      m_levels(make_levels(m_model, options)),
      m_plasticity(m_levels.front(), options.plasticity),
      m_is_held(static_cast<std::size_t>(positions.rows()), 0),
      m_ahead(positions),
      m_goals(positions),
      m_pass(positions) {
  if (!(options.match.beta >= 0.0 && options.match.beta <= 1.0))
    throw InputError("beta must be between 0 and 1");
  m_centre = (m_model.masses.transpose() * positions / m_model.masses.sum()).transpose();
}

const StiffnessPlan& ShapeMatchingBody::plan(double dt) {
  if (dt != m_plan_dt) {
    StiffnessRequest request = m_options.stiffness;
    request.dt = dt;
    request.beta = m_options.match.beta;
    request.mean_square_radii.clear();
    for (const CellSet& level : m_levels) request.mean_square_radii.push_back(level.mean_square_radius());
    m_plan = plan_stiffness(request);
    m_plan_dt = dt;
  }
  return m_plan;
}

void ShapeMatchingBody::set_held(const std::vector<int>& particles) {
  std::fill(m_is_held.begin(), m_is_held.end(), 0);
  for (const int p : particles) m_is_held[p] = 1;
  m_has_held = !particles.empty();
}

void ShapeMatchingBody::wake() {
  m_is_asleep = false;
  m_quiet_time = 0.0;
}

void ShapeMatchingBody::step(double dt, const Vec3& gravity, const Points& forces) {
  assert(dt > 0.0);
  if (m_is_asleep) return move_rigidly(dt, gravity);
  const StiffnessPlan& now = plan(dt);
  const auto n = static_cast<std::size_t>(positions.rows());
  parallel_for(
      n,
      [&](std::size_t i) {
        if (m_is_held[i]) {
          velocities.row(i).setZero();
        } else {
          velocities.row(i) += dt * gravity.transpose();
          if (forces.rows() > 0) velocities.row(i) += dt / m_model.masses(i) * forces.row(i);
        }
      },
      1024);
  // A held body has no rigid motion of its own: all of its velocity is deformation.
  RigidMotion motion = rigid_motion(positions, velocities, m_model.masses, m_centre);
  m_centre = motion.centre;
  if (m_has_held) motion.velocity = motion.spin = Vec3::Zero();
  look_ahead(motion, now.lookahead * dt);
  match_goals(now);
  apply_goals(dt, motion);
  update_sleep(dt, motion);
}

void ShapeMatchingBody::look_ahead(const RigidMotion& motion, double time) {
  parallel_for(
      static_cast<std::size_t>(positions.rows()),
      [&](std::size_t i) {
        const Vec3 x = positions.row(i);
        m_ahead.row(i) = (x + time * (velocities.row(i).transpose() - motion.at(x))).transpose();
        if (m_is_held[i]) m_ahead.row(i) = positions.row(i);
      },
      1024);
}

// m_goals = y. The last pass' goals of the finest cells stay in m_pass for plastic flow.
void ShapeMatchingBody::match_goals(const StiffnessPlan& now) {
  m_goals = m_ahead;
  const auto n = static_cast<std::size_t>(positions.rows());
  const auto blend = [&](double alpha) {
    parallel_for(
        n,
        [&](std::size_t i) {
          if (!m_is_held[i]) m_goals.row(i) += alpha * (m_pass.row(i) - m_goals.row(i));
        },
        1024);
  };
  for (std::size_t level = m_levels.size(); level-- > 1;) {
    if (now.alphas[level] <= 0.0) continue;
    m_levels[level].match(m_goals, m_centre, m_pass);
    blend(now.alphas[level]);
  }
  // α applies to the result of all passes together: in all but the last they replace the positions (§3.2).
  const Points before = now.iterations > 1 && now.alphas[0] < 1.0 ? m_goals : Points();
  for (int pass = 0; pass < now.iterations; ++pass) {
    m_levels.front().match(m_goals, m_centre, m_pass);
    blend(now.iterations > 1 ? 1.0 : now.alphas[0]);
  }
  if (before.rows() > 0) m_goals = before + now.alphas[0] * (m_goals - before);
}

void ShapeMatchingBody::apply_goals(double dt, const RigidMotion& motion) {
  const auto n = static_cast<std::size_t>(positions.rows());
  const double rate = 1.0 / dt;
  parallel_for(
      n,
      [&](std::size_t i) {
        m_goals.row(i) = rate * (m_goals.row(i) - m_ahead.row(i));  // from here on: velocity change
      },
      1024);
  if (!m_has_held) {
    const RigidMotion added = rigid_motion(positions, m_goals, m_model.masses, motion.centre);
    parallel_for(
        n, [&](std::size_t i) { m_goals.row(i) -= added.at(positions.row(i).transpose()).transpose(); },
        1024);
  }
  parallel_for(
      n,
      [&](std::size_t i) {
        if (m_is_held[i]) return;
        velocities.row(i) += m_goals.row(i);
        positions.row(i) += dt * velocities.row(i);
      },
      1024);
  if (m_options.plasticity.kind == PlasticityKind::none) return;
  if (m_options.plasticity.kind == PlasticityKind::with_rotation &&
      m_options.plasticity.reference == PlasticityReference::body)
    m_rotation = body_rotation(m_model.rest_positions, positions, m_model.masses, m_rotation);
  m_flowing_cells = m_plasticity.update(m_levels.front(), m_pass, m_rotation, dt);
}

void ShapeMatchingBody::update_sleep(double dt, const RigidMotion& motion) {
  if (!m_options.sleep.enabled) return;
  double sum = 0.0;
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    const Vec3 x = positions.row(i);
    sum += m_model.masses(i) * (velocities.row(i).transpose() - motion.at(x)).squaredNorm();
  }
  const bool is_quiet = std::sqrt(sum / motion.mass) < m_options.sleep.speed && m_flowing_cells == 0;
  m_quiet_time = is_quiet ? m_quiet_time + dt : 0.0;
  if (m_quiet_time < m_options.sleep.delay) return;
  m_is_asleep = true;
  const RigidMotion now = rigid_motion(positions, velocities, m_model.masses, m_centre);
  for (Eigen::Index i = 0; i < positions.rows(); ++i)
    velocities.row(i) = m_has_held ? Eigen::RowVector3d::Zero().eval()
                                   : now.at(positions.row(i).transpose()).transpose().eval();
}

// Asleep the body falls and turns as a rigid one: no fits, nothing flows.
void ShapeMatchingBody::move_rigidly(double dt, const Vec3& gravity) {
  m_flowing_cells = 0;
  if (m_has_held) return;
  const RigidMotion motion = rigid_motion(positions, velocities, m_model.masses, m_centre);
  const Vec3 velocity = motion.velocity + dt * gravity, centre = motion.centre + dt * velocity;
  const double angle = motion.spin.norm() * dt;
  const Mat3 turn = angle > 0.0 ? Eigen::AngleAxisd(angle, motion.spin.normalized()).toRotationMatrix()
                                : Mat3::Identity().eval();
  // The spin that carries the same angular momentum with the turned inertia.
  const Vec3 spin = solve_inertia(turn * motion.inertia * turn.transpose(), motion.angular_momentum);
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    const Vec3 arm = turn * (positions.row(i).transpose() - motion.centre);
    positions.row(i) = (centre + arm).transpose();
    velocities.row(i) = (velocity + spin.cross(arm)).transpose();
  }
  m_centre = centre;
}

RigidMotion ShapeMatchingBody::motion() const {
  return rigid_motion(positions, velocities, m_model.masses, m_centre);
}

double ShapeMatchingBody::kinetic_energy() const {
  return 0.5 * m_model.masses.dot(velocities.rowwise().squaredNorm());
}

double ShapeMatchingBody::largest_plastic_deformation() const {
  double most = 0.0;
  for (int c = 0; c < cells().cells().count(); ++c) most = std::max(most, m_plasticity.deformation(c));
  return most;
}

std::vector<double> ShapeMatchingBody::state() const {
  std::vector<double> out{m_is_asleep ? 1.0 : 0.0, m_quiet_time, static_cast<double>(m_flowing_cells)};
  out.insert(out.end(), m_centre.data(), m_centre.data() + 3);
  out.insert(out.end(), m_rotation.data(), m_rotation.data() + 9);
  out.insert(out.end(), positions.data(), positions.data() + positions.size());
  out.insert(out.end(), velocities.data(), velocities.data() + velocities.size());
  const std::vector<double> plastic = m_plasticity.state();
  out.insert(out.end(), plastic.begin(), plastic.end());
  for (const CellSet& level : m_levels) {
    const std::vector<double> cells = level.state();
    out.insert(out.end(), cells.begin(), cells.end());
  }
  return out;
}

void ShapeMatchingBody::set_state(std::span<const double> state) {
  std::size_t expected = 15 + static_cast<std::size_t>(2 * positions.size()) + m_plasticity.state_size();
  for (const CellSet& level : m_levels) expected += level.state_size();
  if (state.size() != expected) throw InputError("the saved state does not fit this shape-matching body");
  const double* data = state.data();
  const auto take = [&data](double* to, std::size_t count) {
    std::copy_n(data, count, to);
    data += count;
  };
  double head[3];
  take(head, 3);
  m_is_asleep = head[0] != 0.0;
  m_quiet_time = head[1];
  m_flowing_cells = static_cast<int>(head[2]);
  take(m_centre.data(), 3);
  take(m_rotation.data(), 9);
  take(positions.data(), static_cast<std::size_t>(positions.size()));
  take(velocities.data(), static_cast<std::size_t>(velocities.size()));
  m_plasticity.set_state({data, m_plasticity.state_size()});
  data += m_plasticity.state_size();
  for (CellSet& level : m_levels) {
    level.set_state({data, level.state_size()});
    data += level.state_size();
  }
}

}  // namespace exemplar
