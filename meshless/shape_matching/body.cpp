#include "meshless/shape_matching/body.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace exemplar::shape_matching {

using namespace lanes;

namespace {

std::vector<CellSet> make_levels(const CellModel& model, const BodyOptions& options) {
  std::vector<CellSet> levels;
  levels.reserve(static_cast<std::size_t>(std::max(1, options.levels)));
  MatchOptions finest = options.match;
  finest.owns_rest_shapes = options.plasticity.kind != PlasticityKind::none;
  levels.emplace_back(model.rest_positions, model.masses, model.cells, finest, model.regions);
  Cells cells = model.cells;
  for (int level = 1; level < options.levels && cells.count() > 1; ++level) {
    cells = coarsen(cells, model.rest_positions);
    finest.bend_share = 1.0;
    levels.emplace_back(model.rest_positions, model.masses, cells, finest);
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
      m_ahead(positions),
      m_goals(positions),
      m_pass(positions) {
  m_memory.last_deformation = Points::Zero(positions.rows(), 3);
  if (!(options.match.beta >= 0.0 && options.match.beta <= 1.0))
    throw InputError("beta must be between 0 and 1");
  m_memory.centre = (m_model.masses.transpose() * positions / m_model.masses.sum()).transpose();
}

const StiffnessPlan& ShapeMatchingBody::plan(double dt) {
  if (dt != m_plan_dt || m_plasticity.softness() != m_plan_softness) {
    StiffnessRequest request = m_options.stiffness;
    request.dt = dt;
    request.beta = m_options.match.beta;
    request.is_single_cell = m_levels.front().cells().count() == 1;
    const Eigen::RowVector3d extent =
        m_model.rest_positions.colwise().maxCoeff() - m_model.rest_positions.colwise().minCoeff();
    request.extent = extent.maxCoeff();
    request.thinness = extent.maxCoeff() > 0.0 ? extent.minCoeff() / extent.maxCoeff() : 1.0;
    request.softness = m_plan_softness = m_plasticity.softness();
    request.mean_square_radii.clear();
    for (const CellSet& level : m_levels) request.mean_square_radii.push_back(level.mean_square_radius());
    request.trims_passes = m_model.square_radius > 0.0;
    if (m_model.square_radius > 0.0) request.mean_square_radii.front() = m_model.square_radius;
    m_plan = plan_stiffness(request);
    m_plan_dt = dt;
  }
  return m_plan;
}

void ShapeMatchingBody::set_supports(std::vector<HeldParticle> particles) {
  m_held = std::move(particles);
}

void ShapeMatchingBody::set_held(const std::vector<int>& particles) {
  m_held.clear();
  for (const int p : particles) m_held.push_back({p});
}

// While goals are sought held coordinates stand still; at the end of a step they move as told.
void ShapeMatchingBody::hold(Points& rates, bool moves) const {
  for (const HeldParticle& h : m_held)
    for (int axis = 0; axis < 3; ++axis)
      if (h.held[axis]) rates(h.particle, axis) = moves ? h.velocity(axis) : 0.0;
}

void ShapeMatchingBody::wake() {
  m_memory.is_asleep = false;
  m_memory.quiet_time = 0.0;
}

void ShapeMatchingBody::step(double dt, const Vec3& gravity, const Points& forces) {
  begin_step(dt, gravity, forces);
  while (next_pass()) {
  }
  end_passes();
  keep_volume(dt);
  move(dt);
}

void ShapeMatchingBody::begin_step(double dt, const Vec3& gravity, const Points& forces, bool has_contact) {
  assert(dt > 0.0);
  if (m_memory.is_asleep) {
    velocities.rowwise() += dt * gravity.transpose();
    m_memory.flowing_cells = 0;
    m_memory.was_settling = false;
    return;
  }
  const StiffnessPlan& now = plan(dt);
  if (forces.rows() > 0) velocities += dt * m_model.masses.cwiseInverse().asDiagonal() * forces;
  hold(velocities, false);
  // One undamped pass conserves angular momentum by itself; nothing needs to know the rigid motion then.
  const bool is_settling = has_contact && settles(now, gravity);
  const double lookahead = is_settling ? now.settling : now.lookahead;
  const bool is_plain = lookahead == 0.0 && is_single_pass(now);
  CloudMotion motion;
  motion.centre = positions.row(0).transpose();
  if (!is_plain || m_options.plasticity.kind != PlasticityKind::none)
    motion = cloud_motion(positions, velocities, m_model.masses, m_memory.centre);
  m_memory.centre = motion.centre;
  // A held body has no rigid motion of its own: all of its velocity is deformation.
  if (!m_held.empty()) motion.velocity = motion.spin = Vec3::Zero();
  if (m_options.plasticity.kind != PlasticityKind::none) flow(dt);
  calm(motion, is_settling, dt);
  // Gravity is the same for all particles, so it is left out of the look-ahead and added with the goals.
  if (lookahead > 0.0) look_ahead(motion, lookahead * dt);
  m_step = {dt, gravity, has_contact, is_plain, lookahead > 0.0, motion, m_levels.size() - 1, 0, Points()};
  if (is_single_pass(now)) return;
  if (has_contact) m_touched = Points::Zero(positions.rows(), 3);
  m_goals = ahead();
}

void ShapeMatchingBody::end_passes() {
  if (m_memory.is_asleep) return;
  const StiffnessPlan& now = m_plan;
  const Step& step = m_step;
  MomentumSum added;
  if (is_single_pass(now)) {
    const CellSet& cells = m_levels.front();
    m_levels.front().fit(ahead(), m_memory.centre);
    added = pull(ahead(), now.alphas[0] / step.dt, step.dt * step.gravity,
                 [&](std::size_t i) { return cells.goal(i); });
  } else {
    if (step.before.rows() > 0) m_goals = step.before + now.alphas[0] * (m_goals - step.before);
    const double* goals = m_goals.data();
    added = pull(ahead(), 1.0 / step.dt, step.dt * step.gravity,
                 [=](std::size_t i) { return load_three(goals + 3 * i); });
    if (step.has_contact) added -= momentum_of(positions, m_touched, m_model.masses, m_memory.centre);
  }
  if (!step.is_plain && m_held.empty()) take_out(added, step.motion);
  hold(velocities, true);
}

// Of the surface, or of the cells where there is none.
double ShapeMatchingBody::volume_at(const Points& at, Points& gradient, double& rest) const {
  if (!m_surface) return m_levels.front().volume(at, gradient, rest);
  rest = m_surface->rest;
  return m_surface->at(at, gradient);
}

// Newton's steps for V(x + h v) = V₀ along M⁻¹ ∇V(x): an impulse of uniform pressure where the body is, so that both momenta
// are kept (with ∇V at x + h v a spinning cube lost 3 % of its angular momentum a second).
bool ShapeMatchingBody::keep_volume(double dt) {
  constexpr double enough = 1e-6, exact = 1e-9;  // of the volume
  if (m_memory.is_asleep || !(m_options.match.conserve_volume || m_surface)) return false;
  Points gradient, direction;
  double rest = 0.0;
  bool is_changed = false;
  for (int round = 0; round < 3; ++round) {
    const double volume = volume_at(positions + dt * velocities, gradient, rest);
    if (!(std::abs(volume - rest) > (is_changed ? exact : enough) * std::abs(rest))) break;
    if (!is_changed) {
      Points inverse_masses = m_model.masses.cwiseInverse().replicate(1, 3);
      hold(inverse_masses, false);
      volume_at(positions, direction, rest);
      direction = direction.cwiseProduct(inverse_masses).eval();
    }
    const double slope = direction.cwiseProduct(gradient).sum();
    if (!(slope > 0.0)) break;
    velocities += (rest - volume) / (slope * dt) * direction;
    is_changed = true;
  }
  return is_changed;
}

// Whether the body swings slower than if it had just been put where it lies, whatever it does as a rigid one: a block 1° below
// the critical angle that had begun to slide trembled and went on at 84 mm/s.
bool ShapeMatchingBody::settles(const StiffnessPlan& now, const Vec3& gravity) const {
  if (!(now.slowest > 0.0)) return false;
  double rigid = 0.0;
  if (m_held.empty()) {
    const CloudMotion motion = cloud_motion(positions, velocities, m_model.masses, m_memory.centre);
    rigid = 0.5 * (motion.mass * motion.velocity.squaredNorm() + motion.spin.dot(motion.angular_momentum));
  }
  const double swinging = std::max(0.0, kinetic_energy() - rigid);
  return std::sqrt(2.0 * swinging / m_model.masses.sum()) < gravity.norm() / now.slowest;
}

Points ShapeMatchingBody::trial_velocities() const {
  Points trial = velocities + (m_goals - ahead()) / m_step.dt;
  trial.rowwise() += (m_step.dt * m_step.gravity).transpose();
  hold(trial, true);
  return trial;
}

void ShapeMatchingBody::take(const Points& change) {
  m_touched += change;
  m_goals += m_step.dt * change;
}

// Flow is judged by the shape as it is, not as it would be a moment later, and before the goals, so that
// these already lead to the new rest shape; goals of the old one would bend the body back and let it flow the
// other way.
void ShapeMatchingBody::flow(double dt) {
  m_levels.front().match_unbent(positions, m_memory.centre, m_pass);
  if (m_options.plasticity.kind == PlasticityKind::with_rotation &&
      m_options.plasticity.reference == PlasticityReference::body)
    m_memory.rotation = body_rotation(m_model.rest_positions, m_pass, m_model.masses, m_memory.rotation);
  const double reached =
      m_options.plasticity.reached > 0.0 ? m_plan.reached / m_options.plasticity.reached : 1.0;
  m_memory.flowing_cells =
      m_plasticity.update(m_levels.front(), m_pass, m_memory.rotation, dt, reached * m_plan_softness);
  if (m_memory.flowing_cells == 0 || m_levels.size() == 1) return;
  VecX shares = VecX::Zero(positions.rows());
  const Cells& cells = m_levels.front().cells();
  for (int c = 0; c < cells.count(); ++c)
    for (const int p : cells.of(c)) shares(p) = std::max(shares(p), m_plasticity.shares()[c]);
  for (std::size_t level = 1; level < m_levels.size(); ++level) {
    m_levels[level].match(positions, m_memory.centre, m_goals);
    follow_flow(m_levels[level], m_pass, shares);
  }
}

namespace {

// Calls body(i, 3 i) for every particle, on several threads.
template <class Body>
void for_each_particle(const Points& points, const Body& body) {
  parallel_ranges(static_cast<std::size_t>(points.rows()), 2048, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i, 3 * i);
  });
}

}  // namespace

int ShapeMatchingBody::active_levels(const StiffnessPlan& now) {
  return static_cast<int>(
      std::count_if(now.alphas.begin(), now.alphas.end(), [](double a) { return a > 0.0; }));
}

namespace {

// The velocity field c + w × x of a rigid motion as columns of a 3×4 matrix: w × x is three multiply-adds.
struct RigidField {
  Lane columns[3], constant;
  RigidField(const Vec3& w, const Vec3& c)
      : columns{{0, w.z(), -w.y(), 0}, {-w.z(), 0, w.x(), 0}, {w.y(), -w.x(), 0, 0}},
        constant{c.x(), c.y(), c.z(), 0} {}
  Lane at(const double* x) const {
    return constant + columns[0] * x[0] + columns[1] * x[1] + columns[2] * x[2];
  }
};

}  // namespace

void ShapeMatchingBody::look_ahead(const CloudMotion& motion, double time) {
  const double *x = positions.data(), *v = velocities.data();
  double* out = m_ahead.data();
  const RigidField rigid(motion.spin, motion.velocity - motion.spin.cross(motion.centre));
  for_each_particle(positions, [=](std::size_t, std::size_t k) {
    store_three(out + k, load_three(x + k) + time * (load_three(v + k) - rigid.at(x + k)));
  });
}

void ShapeMatchingBody::calm(const CloudMotion& motion, bool settles, double dt) {
  if (!settles) {
    m_memory.was_settling = false;
    return;
  }
  const RigidField rigid(motion.spin, motion.velocity - motion.spin.cross(motion.centre));
  const double* x = positions.data();
  double *v = velocities.data(), *last = m_memory.last_deformation.data();
  const bool has_last = std::exchange(m_memory.was_settling, true);
  const double kept = std::exp(-m_plan.calming * dt);
  for_each_particle(positions, [=](std::size_t, std::size_t k) {
    const Lane of_body = rigid.at(x + k), now = load_three(v + k) - of_body;
    if (has_last) store_three(v + k, of_body + 0.5 * kept * (now + load_three(last + k)));
    store_three(last + k, now);
  });
}

bool ShapeMatchingBody::is_single_pass(const StiffnessPlan& now) const {
  return active_levels(now) == 1 && now.iterations == 1 && now.alphas[0] > 0.0;
}

void ShapeMatchingBody::blend(double alpha) {
  const double* pass = m_pass.data();
  double* goals = m_goals.data();
  for_each_particle(positions, [=](std::size_t, std::size_t k) {
    for (std::size_t j = k; j < k + 3; ++j) goals[j] += alpha * (pass[j] - goals[j]);
  });
  for (const HeldParticle& h : m_held)
    for (int axis = 0; axis < 3; ++axis)
      if (h.held[axis]) m_goals(h.particle, axis) = ahead()(h.particle, axis);
}

bool ShapeMatchingBody::has_pass_left() const {
  return m_step.level > 0 || m_step.pass < m_plan.iterations;
}

// Several levels or passes: the next one changes m_goals. Coarser levels come first.
bool ShapeMatchingBody::next_pass() {
  if (m_memory.is_asleep || is_single_pass(m_plan)) return false;
  while (m_step.level > 0) {
    const std::size_t level = m_step.level--;
    if (m_plan.alphas[level] <= 0.0) continue;
    m_levels[level].match(m_goals, m_memory.centre, m_pass);
    blend(m_plan.alphas[level]);
    return true;
  }
  // α applies to the result of all passes together: in all but the last they replace the positions (§3.2).
  if (m_step.pass == 0 && m_plan.alphas[0] < 1.0) m_step.before = m_goals;
  if (m_step.pass == m_plan.iterations) return false;
  ++m_step.pass;
  m_levels.front().match(m_goals, m_memory.centre, m_pass);
  blend(m_step.pass == m_plan.iterations ? m_plan.last_pass : 1.0);
  return true;
}

// v ← v + rate (g − x̂) + h g; returns the momenta about m_memory.centre that the goals added.
template <class GoalOf>
MomentumSum ShapeMatchingBody::pull(const Points& ahead, double rate, const Vec3& gravity_step,
                                    const GoalOf& goal_of) {
  const double *x = positions.data(), *from = ahead.data(), *m = m_model.masses.data();
  double* v = velocities.data();
  const Lane gravity{gravity_step.x(), gravity_step.y(), gravity_step.z(), 0.0},
      centre{m_memory.centre.x(), m_memory.centre.y(), m_memory.centre.z(), 0.0};
  return ordered_sum<MomentumSum>(static_cast<std::size_t>(positions.rows()),
                                  [&](std::size_t begin, std::size_t end, MomentumSum& part) {
                                    MomentumSum sum;
                                    for (std::size_t i = begin, k = 3 * begin; i < end; ++i, k += 3) {
                                      const Lane change = rate * (goal_of(i) - load_three(from + k));
                                      store_three(v + k, load_three(v + k) + change + gravity);
                                      sum.add(m[i], load_three(x + k) - centre, change);
                                    }
                                    part = sum;
                                  });
}

// Takes the rigid motion with the given momenta out of the velocities.
void ShapeMatchingBody::take_out(const MomentumSum& added, const CloudMotion& motion) {
  const Vec3 velocity = added.momentum() / motion.mass,
             spin = solve_inertia(motion.inertia, added.angular_momentum());
  const RigidField rigid(spin, velocity - spin.cross(motion.centre));
  const double* x = positions.data();
  double* v = velocities.data();
  for_each_particle(positions, [=](std::size_t, std::size_t k) {
    store_three(v + k, load_three(v + k) - rigid.at(x + k));
  });
}

void ShapeMatchingBody::lie_still() {
  assert(m_memory.is_asleep);
  velocities.setZero();
}

void ShapeMatchingBody::move(double dt) {
  if (m_memory.is_asleep) return move_rigidly(dt);
  double* x = positions.data();
  const double* v = velocities.data();
  for_each_particle(positions, [=](std::size_t, std::size_t k) {
    for (std::size_t j = k; j < k + 3; ++j) x[j] += dt * v[j];
  });
  update_sleep(dt);
}

void ShapeMatchingBody::update_sleep(double dt) {
  if (!m_options.sleep.enabled) return;
  const CloudMotion motion = cloud_motion(positions, velocities, m_model.masses, m_memory.centre);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    const Vec3 x = positions.row(i);
    sum += m_model.masses(i) * (velocities.row(i).transpose() - motion.at(x)).squaredNorm();
  }
  const bool is_quiet = std::sqrt(sum / motion.mass) < m_options.sleep.speed && m_memory.flowing_cells == 0;
  m_memory.quiet_time = is_quiet ? m_memory.quiet_time + dt : 0.0;
  if (m_memory.quiet_time < m_options.sleep.delay) return;
  m_memory.is_asleep = true;
  velocities.setZero();
  if (!m_held.empty()) return;
  for (Eigen::Index i = 0; i < positions.rows(); ++i)
    velocities.row(i) = motion.at(positions.row(i).transpose()).transpose();
}

// Asleep the body falls and turns as a rigid one: no fits, nothing flows.
void ShapeMatchingBody::move_rigidly(double dt) {
  if (!m_held.empty()) {
    velocities.setZero();
    return;
  }
  const CloudMotion motion = cloud_motion(positions, velocities, m_model.masses, m_memory.centre);
  const Vec3 centre = motion.centre + dt * motion.velocity;
  const double angle = motion.spin.norm() * dt;
  Mat3 turn = Mat3::Identity();
  if (angle > 0.0) turn = Eigen::AngleAxisd(angle, motion.spin.normalized()).toRotationMatrix();
  // The spin that carries the same angular momentum with the turned inertia.
  const Vec3 spin = solve_inertia(turn * motion.inertia * turn.transpose(), motion.angular_momentum);
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    const Vec3 arm = turn * (positions.row(i).transpose() - motion.centre);
    positions.row(i) = (centre + arm).transpose();
    velocities.row(i) = (motion.velocity + spin.cross(arm)).transpose();
  }
  m_memory.centre = centre;
}

CloudMotion ShapeMatchingBody::motion() const {
  return cloud_motion(positions, velocities, m_model.masses, m_memory.centre);
}

double ShapeMatchingBody::kinetic_energy() const {
  return 0.5 * m_model.masses.dot(velocities.rowwise().squaredNorm());
}

double ShapeMatchingBody::largest_plastic_deformation() const {
  double most = 0.0;
  for (int c = 0; c < cells().cells().count(); ++c) most = std::max(most, m_plasticity.deformation(c));
  return most;
}

ShapeMatchingBody::State ShapeMatchingBody::state() const {
  State out{positions, velocities, m_memory, m_plasticity.state(), {}};
  for (const CellSet& level : m_levels) out.levels.push_back(level.state());
  return out;
}

void ShapeMatchingBody::set_state(State state) {
  if (state.positions.rows() != positions.rows() || state.velocities.rows() != positions.rows() ||
      state.memory.last_deformation.rows() != m_memory.last_deformation.rows() ||
      state.levels.size() != m_levels.size())
    throw InputError("the saved state does not fit this shape-matching body");
  positions = std::move(state.positions);
  velocities = std::move(state.velocities);
  m_memory = std::move(state.memory);
  m_plasticity.set_state(std::move(state.plasticity));
  for (std::size_t l = 0; l < m_levels.size(); ++l) m_levels[l].set_state(state.levels[l]);
}

}  // namespace exemplar::shape_matching
