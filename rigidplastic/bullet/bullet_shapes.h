// Bullet collision shapes for bodies and obstacles. Shapes are made once and shared by every world that is
// built from them; lengths in metres.
//
// Facts of Bullet that shaped this: a moving triangle mesh is a btGImpactMeshShape, which gets no contact
// from a static plane it lies below, so planes are thick boxes; convex hulls keep contact points between
// steps and rest better than GImpact, which rebuilds its manifold every tick; default margins (4 cm) are too
// large for small bodies.
#pragma once

#include <memory>
#include <vector>

#include "core/world/obstacle.h"

class btCollisionShape;
class btStridingMeshInterface;

namespace exemplar {

enum class CollisionGeometry { automatic, hull, mesh };

// Owns the shape and what it points to.
class BulletShape {
 public:
  BulletShape();
  ~BulletShape();
  BulletShape(BulletShape&&) noexcept;
  BulletShape& operator=(BulletShape&&) noexcept;

  btCollisionShape* get() const { return m_shape.get(); }
  bool is_hull() const { return m_is_hull; }
  double smallest_extent() const { return m_smallest_extent; }  // m

  // `automatic` takes the convex hull where it holds at most a quarter more volume than the mesh.
  static BulletShape from_mesh(const TriMesh& mesh, CollisionGeometry geometry);
  // In the obstacle's body frame; `moves`: dynamic or keyframed.
  static BulletShape from_obstacle(const ShapeGeometry& shape, bool moves);

 private:
  std::unique_ptr<btCollisionShape> m_shape;
  std::unique_ptr<btStridingMeshInterface> m_mesh_interface;
  std::vector<std::unique_ptr<btCollisionShape>> m_children;
  std::unique_ptr<TriMesh> m_mesh;  // what the interface points to
  bool m_is_hull = false;
  double m_smallest_extent = 0;
};

}  // namespace exemplar
