// A convex body of revolution for Bullet: the hull of circles about an axis through the origin. Lengths in metres.
#pragma once

#include "rigidplastic/bullet/corner_shape.h"
#include "rigidplastic/bullet/roundness.h"

namespace exemplar::rigid {

class RevolvedShape final : public btConvexInternalShape, public CornerShape {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();
  RevolvedShape(const Revolution& revolution, double margin);

  // The lowest point of each circle, and three more around the first and the last, on which the body may stand.
  void corners(const btVector3& down, std::vector<btVector3>& result) const override;
  void bounds(const btTransform& transform, btVector3& low, btVector3& high) const override;
  btVector3 turning(const btTransform& world, const btVector3& spin) const override;
  const btConvexShape& shrunk() const override { return *this; }

  // Of the circles shrunk by the margin.
  btVector3 localGetSupportingVertexWithoutMargin(const btVector3& direction) const override;
  void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* directions, btVector3* supports,
                                                         int count) const override;
  void calculateLocalInertia(btScalar mass, btVector3& inertia) const override;
  const char* getName() const override { return "Revolved"; }

 private:
  btVector3 m_axis, m_across;  // unit
  std::vector<Circle> m_circles, m_shrunk;
};

}  // namespace exemplar::rigid
