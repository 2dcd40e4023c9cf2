// A convex hull for Bullet, with the same hull shrunk by its margin for contacts with boxes and planes (face_contact.h). Lengths in
// metres.
#pragma once

#include <BulletCollision/CollisionShapes/btConvexHullShape.h>

#include "core/mesh/mesh.h"

namespace exemplar::rigid {

class HullShape final : public btConvexHullShape {
 public:
  HullShape(const TriMesh& hull, double margin);
  // With its margin it is the hull with rounded edges and corners.
  const btConvexHullShape& shrunk() const { return m_shrunk; }

 private:
  btConvexHullShape m_shrunk;
};

// The vertices of a closed surface moved inwards, so that each of a vertex's faces moves by `distance`, in the least-squares
// sense where it has more than three. No vertex moves by more than a third of its shortest edge.
Points shrunk_vertices(const TriMesh& surface, double distance);

}  // namespace exemplar::rigid
