#include "rigidplastic/bullet/yielding_joint.h"

#include <algorithm>

namespace exemplar::rigid {

namespace {

// What a blow tears open is mended slowly: Bullet mends with velocities, and the share of a gap per step is the faster the
// shorter the step.
constexpr btScalar k_mend_speed = 0.2;  // m/s
constexpr btScalar k_mend_rate = 2;     // rad/s

btScalar limited(btScalar value, btScalar most) {
  return std::clamp(value, -most, most);
}

}  // namespace

YieldingJoint::YieldingJoint(btRigidBody& a, btRigidBody& b, const btTransform& frame_a,
                             const btTransform& frame_b, const btVector3& moment)
    : btTypedConstraint(MAX_CONSTRAINT_TYPE, a, b),
      m_frame_a(frame_a),
      m_frame_b(frame_b),
      m_moment(moment) {}

void YieldingJoint::set(const btTransform& frame_a, const btTransform& frame_b, const btVector3& moment) {
  m_frame_a = frame_a;
  m_frame_b = frame_b;
  m_moment = moment;
}

void YieldingJoint::getInfo1(btConstraintInfo1* info) {
  info->m_numConstraintRows = 6;
  info->nub = 6;
}

void YieldingJoint::getInfo2(btConstraintInfo2* info) {
  linear_rows(*info);
  angular_rows(*info);
}

// e_k · (v_a + ω_a × r_a − v_b − ω_b × r_b) = −erp/dt · e_k · (p_a − p_b).
void YieldingJoint::linear_rows(btConstraintInfo2& info) const {
  const btVector3 arm_a = m_rbA.getCenterOfMassTransform().getBasis() * m_frame_a.getOrigin();
  const btVector3 arm_b = m_rbB.getCenterOfMassTransform().getBasis() * m_frame_b.getOrigin();
  const btVector3 gap = m_rbA.getCenterOfMassPosition() + arm_a - m_rbB.getCenterOfMassPosition() - arm_b;
  for (int k = 0; k < 3; ++k) {
    const int row = k * info.rowskip;
    btVector3 axis(0, 0, 0);
    axis[k] = 1;
    const btVector3 turn_a = arm_a.cross(axis), turn_b = arm_b.cross(axis);
    for (int c = 0; c < 3; ++c) {
      info.m_J1linearAxis[row + c] = axis[c];
      info.m_J2linearAxis[row + c] = -axis[c];
      info.m_J1angularAxis[row + c] = turn_a[c];
      info.m_J2angularAxis[row + c] = -turn_b[c];
    }
    info.m_constraintError[row] = limited(-info.fps * info.erp * gap[k], k_mend_speed);
  }
}

// n · (ω_a − ω_b) = erp/dt · n · φ, φ the rotation vector that takes a back to the held orientation. A joint that is
// giving way holds the orientation that it has: φ is 0 then, and the row only brakes.
void YieldingJoint::angular_rows(btConstraintInfo2& info) const {
  const btQuaternion a = m_rbA.getOrientation() * m_frame_a.getRotation();
  const btQuaternion b = m_rbB.getOrientation() * m_frame_b.getRotation();
  btQuaternion back = b * a.inverse();
  if (back.w() < 0) back = -back;
  const btVector3 twice_sine(back.x(), back.y(), back.z());
  const btScalar sine = twice_sine.length();
  const btScalar angle = 2 * btAtan2(sine, back.w());
  const btVector3 phi = sine > btScalar(1e-12) ? twice_sine * (angle / sine) : twice_sine * btScalar(2);
  const btMatrix3x3 axes(a);
  for (int k = 0; k < 3; ++k) {
    const int row = (3 + k) * info.rowskip;
    const btVector3 axis = axes.getColumn(k);
    for (int c = 0; c < 3; ++c) {
      info.m_J1angularAxis[row + c] = axis[c];
      info.m_J2angularAxis[row + c] = -axis[c];
    }
    info.m_constraintError[row] = limited(info.fps * info.erp * axis.dot(phi), k_mend_rate);
    info.m_lowerLimit[row] = -m_moment[k] / info.fps;
    info.m_upperLimit[row] = m_moment[k] / info.fps;
  }
}

}  // namespace exemplar::rigid
