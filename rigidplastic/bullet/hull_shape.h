// A convex hull for Bullet, with the same hull shrunk by its margin for contacts with boxes and planes (face_contact.h). Lengths in
// metres.
#pragma once

#include <BulletCollision/CollisionShapes/btConvexHullShape.h>

#include "core/mesh/mesh.h"
#include "rigidplastic/bullet/corner_shape.h"

namespace exemplar::rigid {

class HullShape final : public btConvexHullShape, public CornerShape {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();
  HullShape(const TriMesh& hull, double margin);
  void corners(const btVector3& down, std::vector<btVector3>& result) const override;
  void bounds(const btTransform& transform, btVector3& low, btVector3& high) const override;
  btVector3 turning(const btTransform&, const btVector3& spin) const override { return spin; }
  const btConvexShape& shrunk() const override { return m_shrunk; }

 private:
  btConvexHullShape m_shrunk;
};

// The vertices of a closed surface moved inwards, so that each of a vertex's faces moves by `distance`, in the least-squares
// sense where it has more than three. No vertex moves by more than a third of its shortest edge.
Points shrunk_vertices(const TriMesh& surface, double distance);

}  // namespace exemplar::rigid
