#include "core/world/rigid_inertia.h"

#include "core/world/obstacle_motion.h"
#include "core/world/rotation.h"

namespace exemplar {

RigidInertia::RigidInertia(const ObstacleBody& body, const ObstacleState& start, const Vec3& gravity,
                           double dt)
    : m_body(&body), m_start(start), m_displacement(dt * start.velocity + dt * dt * gravity), m_dt(dt) {
  ObstacleState next = start;
  spin_freely(body, next, dt);
  m_predicted = next.orientation;
  const Mat3& inertia = body.body_inertia();
  m_spread = 0.5 * inertia.trace() * Mat3::Identity() - inertia;
  m_moment = start.orientation.toRotationMatrix() * m_spread * m_predicted.toRotationMatrix().transpose();
}

Vec6 RigidInertia::free_increment() const {
  Vec6 q;
  q << m_displacement, log_rotation(m_predicted * m_start.orientation.conjugate());
  return q;
}

double RigidInertia::value(const Vec6& q) const {
  // As a sum of squares: the trace form would lose the digits that a line search needs.
  const Mat3 off =
      exp_rotation(q.tail<3>()) * m_start.orientation.toRotationMatrix() - m_predicted.toRotationMatrix();
  const double turned = (off * m_spread * off.transpose()).trace();
  return 0.5 * (m_body->mass() * (q.head<3>() - m_displacement).squaredNorm() + turned) / (m_dt * m_dt);
}

Vec6 RigidInertia::gradient(const Vec6& q) const {
  Vec6 g;
  g << m_body->mass() * (q.head<3>() - m_displacement), Vec3::Zero();
  for (int k = 0; k < 3; ++k) g.tail<3>() -= rotate(q.tail<3>(), m_moment.col(k)).jacobian.row(k).transpose();
  return g / (m_dt * m_dt);
}

Mat6 RigidInertia::hessian(const Vec6& q) const {
  Mat6 h = Mat6::Zero();
  h.topLeftCorner<3, 3>().diagonal().setConstant(m_body->mass());
  for (int k = 0; k < 3; ++k) h.bottomRightCorner<3, 3>() -= rotate(q.tail<3>(), m_moment.col(k)).second[k];
  return h / (m_dt * m_dt);
}

ObstacleState RigidInertia::finish(const Vec6& q) const {
  ObstacleState end = moved(m_start, q);
  end.velocity = q.head<3>() / m_dt;
  // Torque that the term exerts against: E changes by −tr([δ]× N)/h² under a turn δ, N = exp([θ]×) M.
  const Mat3 n = exp_rotation(q.tail<3>()) * m_moment;
  const Vec3 axial(n(1, 2) - n(2, 1), n(2, 0) - n(0, 2), n(0, 1) - n(1, 0));
  const Vec3 torque = -axial / (m_dt * m_dt);
  const Vec3 momentum = m_body->world_inertia(m_start) * m_start.angular_velocity + m_dt * torque;
  end.angular_velocity = m_body->world_inverse_inertia(end) * momentum;
  return end;
}

ObstacleState moved(const ObstacleState& start, const Vec6& q) {
  ObstacleState end = start;
  end.position += q.head<3>();
  end.orientation = (exp_quaternion(q.tail<3>()) * start.orientation).normalized();
  return end;
}

Vec6 increment_between(const ObstacleState& start, const ObstacleState& end) {
  Vec6 q;
  q << end.position - start.position, log_rotation(end.orientation * start.orientation.conjugate());
  return q;
}

}  // namespace exemplar
