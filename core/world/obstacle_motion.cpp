#include "core/world/obstacle_motion.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/errors.h"
#include "core/world/rotation.h"

namespace exemplar {

namespace {

constexpr int solver_sweeps = 40;
constexpr int separation_sweeps = 8;

}  // namespace

void spin_freely(const ObstacleBody& body, ObstacleState& state, double dt) {
  const Vec3 momentum = body.world_inertia(state) * state.angular_velocity;
  ObstacleState middle = state;
  middle.orientation = exp_quaternion(0.5 * dt * state.angular_velocity) * state.orientation;
  const Vec3 omega = body.world_inverse_inertia(middle) * momentum;
  state.orientation = (exp_quaternion(dt * omega) * state.orientation).normalized();
  state.angular_velocity = body.world_inverse_inertia(state) * momentum;
}

ObstacleWorld::ObstacleWorld(std::vector<ObstacleBody> bodies, const Vec3& gravity, double start_time)
    : m_bodies(std::move(bodies)), m_gravity(gravity) {
  m_state.received.assign(m_bodies.size(), Vec3::Zero());
  for (const ObstacleBody& b : m_bodies) m_state.bodies.push_back(b.initial_state());
  set_time(start_time);
}

void ObstacleWorld::set_time(double time) {
  m_state.time = time;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!m_bodies[i].dynamic()) m_state.bodies[i] = m_bodies[i].prescribed_state(time);
  }
}

void ObstacleWorld::advance(double dt) {
  // During the step keyframed obstacles move with their mean velocity, which takes them exactly to their next
  // pose.
  for (std::size_t i = 0; i < size(); ++i) {
    if (m_bodies[i].kind() != ObstacleKind::keyframed) continue;
    const ObstacleState next = m_bodies[i].prescribed_state(m_state.time + dt);
    m_state.bodies[i].velocity = (next.position - m_state.bodies[i].position) / dt;
    m_state.bodies[i].angular_velocity =
        log_rotation(next.orientation * m_state.bodies[i].orientation.conjugate()) / dt;
  }
  integrate_velocities(dt);
  std::vector<Contact> contacts = find_contacts(dt, 0);
  solve_contacts(contacts, dt);
  integrate_positions(dt);
  set_time(m_state.time + dt);
  separate();
}

void ObstacleWorld::integrate_velocities(double dt) {
  for (std::size_t i = 0; i < size(); ++i) {
    if (m_bodies[i].dynamic()) m_state.bodies[i].velocity += dt * m_gravity;
  }
}

void ObstacleWorld::integrate_positions(double dt) {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!m_bodies[i].dynamic()) continue;
    m_state.bodies[i].position += dt * m_state.bodies[i].velocity;
    spin_freely(m_bodies[i], m_state.bodies[i], dt);
  }
}

std::vector<ObstacleWorld::Contact> ObstacleWorld::find_contacts(double reach_time, double margin) const {
  std::vector<Contact> contacts;
  for (std::size_t a = 0; a < size(); ++a) {
    for (std::size_t b = 0; b < size(); ++b) {
      if (a != b && (m_bodies[a].dynamic() || m_bodies[b].dynamic()))
        add_contacts(a, b, reach_time, margin, contacts);
    }
  }
  return contacts;
}

void ObstacleWorld::add_contacts(std::size_t a, std::size_t b, double reach_time, double margin,
                                 std::vector<Contact>& out) const {
  const ObstacleState &sa = m_state.bodies[a], &sb = m_state.bodies[b];
  const ShapeGeometry &shape_a = m_bodies[a].shape(), &shape_b = m_bodies[b].shape();
  const double radius_a = shape_a.bounding_radius();
  if (!std::isfinite(radius_a)) return;  // a plane has no samples
  const double reach =
      reach_time * ((sa.velocity - sb.velocity).norm() + radius_a * sa.angular_velocity.norm() +
                    (sa.position - sb.position).norm() * sb.angular_velocity.norm()) +
      margin;
  if (shape_b.value(sb.to_local(sa.position)) > radius_a + reach) return;
  const Points& samples = shape_a.samples();
  const double radius = shape_a.features().radius;
  for (Eigen::Index k = 0; k < samples.rows(); ++k) {
    const Vec3 centre = sa.to_world(samples.row(k).transpose());
    const SignedDistance d = m_bodies[b].distance(sb, centre);
    const double gap = d.value - radius;
    const Vec3 point = centre - (radius + 0.5 * gap) * d.gradient;
    const double closing = d.gradient.dot(sb.velocity_at(point) - sa.velocity_at(point));
    if (gap > reach_time * std::max(0.0, closing) + margin) continue;
    Contact contact{a, b, point, d.gradient, gap, 0};
    const double e = std::max(m_bodies[a].description().restitution, m_bodies[b].description().restitution);
    // What gravity alone gives in two steps must not bounce, or nothing would come to rest.
    if (closing > 2 * reach_time * m_gravity.norm()) contact.bounce = e * closing;
    out.push_back(contact);
  }
}

Mat3 ObstacleWorld::inverse_mass_at(std::size_t i, const Vec3& point) const {
  if (!m_bodies[i].dynamic()) return Mat3::Zero();
  const Mat3 r = cross_matrix(point - m_state.bodies[i].position);
  return m_bodies[i].inverse_mass() * Mat3::Identity() -
         r * m_bodies[i].world_inverse_inertia(m_state.bodies[i]) * r;
}

void ObstacleWorld::apply_impulse(std::size_t i, const Vec3& world_point, const Vec3& impulse) {
  m_state.received[i] += impulse;
  if (!m_bodies[i].dynamic()) return;
  ObstacleState& s = m_state.bodies[i];
  s.velocity += m_bodies[i].inverse_mass() * impulse;
  s.angular_velocity += m_bodies[i].world_inverse_inertia(s) * (world_point - s.position).cross(impulse);
}

void ObstacleWorld::exchange(std::size_t a, std::size_t b, const Vec3& point, const Vec3& impulse) {
  apply_impulse(a, point, impulse);
  apply_impulse(b, point, -impulse);
}

// Sequential impulses: sums are clamped, so that a contact can take back what it gave too much.
void ObstacleWorld::solve_contacts(std::vector<Contact>& contacts, double dt) {
  for (int sweep = 0; sweep < solver_sweeps; ++sweep) {
    for (Contact& contact : contacts) solve_contact(contact, dt);
  }
}

void ObstacleWorld::solve_contact(Contact& c, double dt) {
  const Mat3 inverse = inverse_mass_at(c.a, c.point) + inverse_mass_at(c.b, c.point);
  const auto relative = [&] {
    return Vec3(m_state.bodies[c.a].velocity_at(c.point) - m_state.bodies[c.b].velocity_at(c.point));
  };
  const double wanted = c.bounce > 0 ? c.bounce : -std::max(c.gap, 0.0) / dt;
  const double step = (wanted - c.normal.dot(relative())) / c.normal.dot(inverse * c.normal);
  const double sum = std::max(0.0, c.normal_sum + step);
  exchange(c.a, c.b, c.point, (sum - c.normal_sum) * c.normal);
  c.normal_sum = sum;

  Vec3 slip = relative();
  slip -= c.normal.dot(slip) * c.normal;
  if (slip.squaredNorm() < 1e-24) return;
  const double mu = std::sqrt(m_bodies[c.a].description().friction * m_bodies[c.b].description().friction);
  const Vec3 direction = slip.normalized();
  Vec3 friction = c.friction_sum - slip.norm() / direction.dot(inverse * direction) * direction;
  const double limit = mu * c.normal_sum, size = friction.norm();
  if (size > limit) friction *= limit / size;
  exchange(c.a, c.b, c.point, friction - c.friction_sum);
  c.friction_sum = friction;
}

// Removes overlap by moving bodies as impulses would, without touching their velocities.
void ObstacleWorld::separate() {
  for (int sweep = 0; sweep < separation_sweeps; ++sweep) {
    bool moved = false;
    for (const Contact& c : find_contacts(0, 0)) {
      if (c.gap > -1e-9) continue;
      moved = true;
      const Mat3 inverse = inverse_mass_at(c.a, c.point) + inverse_mass_at(c.b, c.point);
      const Vec3 push = -0.4 * c.gap / c.normal.dot(inverse * c.normal) * c.normal;
      for (const auto& [i, p] : {std::pair{c.a, push}, std::pair{c.b, Vec3(-push)}}) {
        if (!m_bodies[i].dynamic()) continue;
        ObstacleState& s = m_state.bodies[i];
        const Vec3 turn = m_bodies[i].world_inverse_inertia(s) * (c.point - s.position).cross(p);
        s.position += m_bodies[i].inverse_mass() * p;
        s.orientation = (exp_quaternion(turn) * s.orientation).normalized();
      }
    }
    if (!moved) return;
  }
}

ContactImpulse ObstacleWorld::collide_particle(std::size_t i, const Vec3& world_point, const Vec3& normal,
                                               const Vec3& velocity, double inverse_mass) {
  const Obstacle& o = m_bodies[i].description();
  const Vec3 relative = velocity - m_state.bodies[i].velocity_at(world_point);
  const double closing = -normal.dot(relative);
  ContactImpulse out;
  if (closing <= 0) return out;
  const Mat3 inverse = inverse_mass * Mat3::Identity() + inverse_mass_at(i, world_point);
  // The impulse that sticks; outside the friction cone the tangential part slides at the cone's edge.
  const Vec3 stick = inverse.ldlt().solve(o.restitution * closing * normal - relative);
  const double normal_part = normal.dot(stick);
  const Vec3 tangential = stick - normal_part * normal;
  if (tangential.norm() <= o.friction * normal_part) {
    out = {stick, normal_part};
  } else {
    const Vec3 direction = normal + o.friction * tangential.normalized();
    out.normal = (1 + o.restitution) * closing / normal.dot(inverse * direction);
    out.impulse = out.normal * direction;
  }
  apply_impulse(i, world_point, -out.impulse);
  return out;
}

Vec3 ObstacleWorld::linear_momentum() const {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < size(); ++i) {
    if (m_bodies[i].dynamic()) sum += m_bodies[i].mass() * m_state.bodies[i].velocity;
  }
  return sum;
}

Vec3 ObstacleWorld::angular_momentum(const Vec3& about) const {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < size(); ++i) {
    if (!m_bodies[i].dynamic()) continue;
    const ObstacleState& s = m_state.bodies[i];
    sum += m_bodies[i].mass() * (s.position - about).cross(s.velocity);
    sum += m_bodies[i].world_inertia(s) * s.angular_velocity;
  }
  return sum;
}

double ObstacleWorld::kinetic_energy() const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!m_bodies[i].dynamic()) continue;
    const ObstacleState& s = m_state.bodies[i];
    sum += 0.5 * m_bodies[i].mass() * s.velocity.squaredNorm();
    sum += 0.5 * s.angular_velocity.dot(m_bodies[i].world_inertia(s) * s.angular_velocity);
  }
  return sum;
}

double ObstacleWorld::potential_energy() const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (m_bodies[i].dynamic()) sum -= m_bodies[i].mass() * m_gravity.dot(m_state.bodies[i].position);
  }
  return sum;
}

double ObstacleWorld::deepest_overlap() const {
  double deepest = 0;
  for (const Contact& c : find_contacts(0, 0)) deepest = std::max(deepest, -c.gap);
  return deepest;
}

void ObstacleWorld::restore(State state) {
  if (state.bodies.size() != size() || state.received.size() != size())
    throw InputError("the saved obstacles do not fit this scene");
  m_state = std::move(state);
}

}  // namespace exemplar
