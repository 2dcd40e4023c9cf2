// A joint that holds two bodies together at a point and holds their relative orientation up to a moment (patkar2014
// §4.1), as a constraint for Bullet's solver: three linear rows and three angular rows along given axes, each angular
// row clamped to ± its moment · dt. Along the first axis the caller puts the demanded direction, so that the joint
// yields there at its strength; Bullet's own joints have no such axis that may change every tick, and three motors
// along fixed axes would yield as a box. Units: N m, N m s.
#pragma once

#include <BulletDynamics/ConstraintSolver/btTypedConstraint.h>
#include <btBulletDynamicsCommon.h>

namespace exemplar::rigid {

class YieldingJoint final : public btTypedConstraint {
 public:
  YieldingJoint(btRigidBody& a, btRigidBody& b, const btTransform& frame_a, const btTransform& frame_b,
                const btVector3& moment);

  // The axes are those of frame_a; both frames agree in the orientation that the joint holds.
  void set(const btTransform& frame_a, const btTransform& frame_b, const btVector3& moment);
  const btVector3& pivot_a() const { return m_frame_a.getOrigin(); }

  void getInfo1(btConstraintInfo1* info) override;
  void getInfo2(btConstraintInfo2* info) override;
  void setParam(int, btScalar, int) override {}
  btScalar getParam(int, int) const override { return 0; }

 private:
  void linear_rows(btConstraintInfo2& info) const;
  void angular_rows(btConstraintInfo2& info) const;

  btTransform m_frame_a, m_frame_b;
  btVector3 m_moment;
};

}  // namespace exemplar::rigid
