// Bullet collision shapes for bodies and obstacles. Shapes are shared by every world that is built from them
// and may change between ticks; lengths in metres.
//
// Facts of Bullet that shaped this: a moving triangle mesh is a btGImpactMeshShape, which gets no contact
// from a static plane it lies below, so planes are thick boxes; convex hulls keep contact points between
// steps and rest better than GImpact, which rebuilds its manifold every tick; default margins (4 cm) are too
// large for small bodies, so they are half a percent of the smallest extent; GImpact's refit clamps boxes to those of the last build plus 1 m and loses what
// lies beyond, so a shape that outgrows them is built anew.
//
// The margin is around the surface: two hulls, a hull and a ball, and triangles and anything else, stand apart by their margins.
// Only hulls on planes and boxes touch exactly (face_contact.h). All shapes shrunk by their margins were tried: triangles of jagged
// pieces then cross each other (a test of breaking pieces took minutes instead of seconds), and with hulls alone shrunk a ball
// lay a margin deeper on a body's hull than on its triangles, which moved dents.
#pragma once

#include <memory>
#include <vector>

#include "core/world/obstacle.h"

class btCollisionShape;
class btStridingMeshInterface;

namespace exemplar::rigid {

// `automatic` takes a ball or a body of revolution for what the mesh stands for (roundness.h), else the convex hull where it
// holds at most a quarter more volume than the mesh, else the triangles. `round_or_mesh` never takes the hull.
enum class CollisionGeometry { automatic, round_or_mesh, hull, mesh };

// Owns the shape and what it points to.
class BulletShape {
 public:
  BulletShape();
  ~BulletShape();
  BulletShape(BulletShape&&) noexcept;
  BulletShape& operator=(BulletShape&&) noexcept;

  btCollisionShape* get() const { return m_shape.get(); }
  bool is_hull() const { return m_is_hull; }
  bool is_round() const { return m_is_round; }
  const char* description() const;                              // what it collides as
  double smallest_extent() const { return m_smallest_extent; }  // m

  static BulletShape from_mesh(const TriMesh& mesh, CollisionGeometry geometry);
  // In the obstacle's body frame; `moves`: dynamic or keyframed.
  static BulletShape from_obstacle(const ShapeGeometry& shape, bool moves);

  // New places of the vertices of a shape made by from_mesh: a hull stays a hull, triangles are refitted, what was round
  // becomes what it would have been otherwise, and round again where it came from. True: the Bullet shape is another object
  // than before.
  bool move_vertices(const Points& vertices);
  // Whether vertices moved since the shape was last built from nothing.
  bool refitted() const { return m_refitted; }
  // Builds the search tree of the triangles from nothing, so that it depends on the vertices only, not on
  // the way they came.
  void build();

 private:
  void build_hull(const TriMesh& hull);
  void take_triangles(const TriMesh& mesh);
  bool make_round(const TriMesh& mesh);
  bool stands_for_round(const Points& vertices) const;

  std::unique_ptr<btCollisionShape> m_shape;
  std::unique_ptr<btCollisionShape> m_round;  // waits here while the vertices are elsewhere
  Points m_round_vertices;                    // for which it is round; none: never
  std::unique_ptr<btStridingMeshInterface> m_mesh_interface;
  std::vector<std::unique_ptr<btCollisionShape>> m_children;
  std::unique_ptr<TriMesh> m_mesh;                   // what the interface points to
  Vec3 m_low = Vec3::Zero(), m_high = Vec3::Zero();  // bounds at the last build
  double m_margin = 0;
  bool m_is_hull = false;  // once it is not round
  bool m_is_round = false;
  bool m_refitted = false;
  double m_smallest_extent = 0;
};

}  // namespace exemplar::rigid
