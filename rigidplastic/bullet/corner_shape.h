// A convex shape that knows which of its points may touch a plane, for face_contact.h. Lengths in metres, in the shape's frame.
#pragma once

#include <BulletCollision/CollisionShapes/btConvexInternalShape.h>

#include <vector>

namespace exemplar::rigid {

class CornerShape {
 public:
  virtual ~CornerShape() = default;
  // The points that may lie lowest when `down` points down, always as many and in the same order.
  virtual void corners(const btVector3& down, std::vector<btVector3>& result) const = 0;
  // Extents along the axes of the frame that `transform` leads to.
  virtual void bounds(const btTransform& transform, btVector3& low, btVector3& high) const = 0;
  // The part of an angular velocity (world) that moves these points.
  virtual btVector3 turning(const btTransform& world, const btVector3& spin) const = 0;
  // With its margin it is the shape with rounded edges and corners.
  virtual const btConvexShape& shrunk() const = 0;
};

// The corner shape that a Bullet shape is; it has to be a hull or a revolved one.
const CornerShape& corner_shape(const btCollisionShape& shape);

}  // namespace exemplar::rigid
