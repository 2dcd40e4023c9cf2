#include "core/world/obstacle.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/world/rotation.h"

namespace exemplar {

namespace {

void check(const Obstacle& o) {
  const bool finite = o.position.allFinite() && o.rotation.allFinite() && o.velocity.allFinite() &&
                      o.angular_velocity.allFinite() && std::isfinite(o.friction) &&
                      std::isfinite(o.restitution);
  if (!finite) throw InputError("obstacle " + o.name + ": numbers must be finite");
  if (o.friction < 0) throw InputError("obstacle " + o.name + ": friction must not be negative");
  if (o.restitution < 0 || o.restitution > 1)
    throw InputError("obstacle " + o.name + ": restitution must be between 0 and 1");
  if (o.kind == ObstacleKind::dynamic) {
    if (!(o.mass > 0) || !std::isfinite(o.mass))
      throw InputError("obstacle " + o.name + ": a dynamic obstacle needs a positive mass");
    if (o.shape.kind == ShapeKind::plane)
      throw InputError("obstacle " + o.name + ": a plane is infinite and cannot be dynamic");
  }
  if (o.kind == ObstacleKind::keyframed) check_keyframes(o.keyframes);
}

}  // namespace

ObstacleBody::ObstacleBody(Obstacle description)
    : m_description(std::move(description)), m_shape(m_description.shape) {
  check(m_description);
  m_initial.orientation = exp_quaternion(m_description.rotation);
  m_initial.position = m_description.position;
  if (kind() == ObstacleKind::keyframed) m_initial = prescribed_state(m_description.keyframes.front().time);
  if (!dynamic()) return;
  m_initial.position += m_initial.orientation * m_shape.centroid();
  m_initial.velocity = m_description.velocity;
  m_initial.angular_velocity = m_description.angular_velocity;
  m_shape = m_shape.centred();
  m_body_inertia = mass() * m_shape.unit_inertia();
  m_body_inverse_inertia = m_body_inertia.inverse();
}

Mat3 ObstacleBody::world_inertia(const ObstacleState& state) const {
  const Mat3 r = state.orientation.toRotationMatrix();
  return r * m_body_inertia * r.transpose();
}

Mat3 ObstacleBody::world_inverse_inertia(const ObstacleState& state) const {
  const Mat3 r = state.orientation.toRotationMatrix();
  return r * m_body_inverse_inertia * r.transpose();
}

ObstacleState ObstacleBody::prescribed_state(double time) const {
  if (kind() != ObstacleKind::keyframed) return m_initial;
  const RigidMotion motion = evaluate(m_description.keyframes, m_description.interpolation, time);
  return {motion.position, motion.orientation, motion.velocity, motion.angular_velocity};
}

SignedDistance ObstacleBody::distance(const ObstacleState& state, const Vec3& world) const {
  const Mat3 r = state.orientation.toRotationMatrix();
  SignedDistance d = m_shape.distance(r.transpose() * (world - state.position));
  d.gradient = r * d.gradient;
  d.hessian = r * d.hessian * r.transpose();
  return d;
}

TriMesh ObstacleBody::surface(const ObstacleState& state) const {
  TriMesh mesh = m_shape.surface();
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i)
    mesh.vertices.row(i) = state.to_world(mesh.vertices.row(i).transpose()).transpose();
  return mesh;
}

std::vector<ObstacleBody> make_obstacles(const std::vector<Obstacle>& descriptions) {
  std::vector<ObstacleBody> bodies;
  bodies.reserve(descriptions.size());
  for (const Obstacle& description : descriptions) bodies.emplace_back(description);
  return bodies;
}

}  // namespace exemplar
