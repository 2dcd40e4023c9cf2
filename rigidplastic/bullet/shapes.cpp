#include "rigidplastic/bullet/shapes.h"

#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <LinearMath/btConvexHullComputer.h>
#include <btBulletCollisionCommon.h>

#include <algorithm>

#include "core/mesh/mass_properties.h"
#include "rigidplastic/bullet/hull_shape.h"
#include "rigidplastic/bullet/revolved_shape.h"
#include "rigidplastic/bullet/vectors.h"

namespace exemplar::rigid {

namespace {

constexpr double k_margin_fraction = 0.005;  // of the smallest extent
constexpr double k_threshold_margins = 2;    // contact points nearer to each other than this are one
constexpr double k_hull_volume = 1.25;       // largest hull volume over mesh volume that counts as convex
constexpr double k_round_volume = 1.02;      // the same for bodies that may be round
constexpr double k_plane_half_size = 500;    // m, of the box that stands for a plane
constexpr double k_plane_depth = 5;          // m
constexpr double k_refit_room = 0.9;         // m, of the 1 m that GImpact leaves around a build
constexpr double k_not_moved = 1e-9;         // of the smallest extent, that rounding may move vertices

Vec3 extents(const Points& points) {
  return points.colwise().maxCoeff() - points.colwise().minCoeff();
}

TriMesh convex_hull(const Points& vertices) {
  btConvexHullComputer hull;
  hull.compute(vertices.data(), 3 * sizeof(double), static_cast<int>(vertices.rows()), 0, 0);
  TriMesh result;
  result.vertices.resize(hull.vertices.size(), 3);
  for (int i = 0; i < hull.vertices.size(); ++i) {
    for (int k = 0; k < 3; ++k) result.vertices(i, k) = hull.vertices[i][k];
  }
  std::vector<int> corners;
  for (int f = 0; f < hull.faces.size(); ++f) {
    const btConvexHullComputer::Edge* first = &hull.edges[hull.faces[f]];
    const int apex = first->getSourceVertex();
    for (const auto* edge = first->getNextEdgeOfFace(); edge->getTargetVertex() != apex;
         edge = edge->getNextEdgeOfFace()) {
      corners.insert(corners.end(), {apex, edge->getSourceVertex(), edge->getTargetVertex()});
    }
  }
  result.triangles =
      Eigen::Map<const Triangles>(corners.data(), static_cast<Eigen::Index>(corners.size() / 3), 3);
  return result;
}

std::unique_ptr<btTriangleIndexVertexArray> mesh_interface(TriMesh& mesh) {
  return std::make_unique<btTriangleIndexVertexArray>(
      static_cast<int>(mesh.triangles.rows()), mesh.triangles.data(), 3 * static_cast<int>(sizeof(int)),
      static_cast<int>(mesh.vertices.rows()), mesh.vertices.data(), 3 * static_cast<int>(sizeof(double)));
}

bool is_nearly_convex(const TriMesh& mesh, const TriMesh& hull, double most) {
  const double volume = signed_volume(mesh.vertices, mesh.triangles);
  return std::abs(signed_volume(hull.vertices, hull.triangles)) <= most * volume;
}

// Bullet takes for one contact point what lies within a shape's breaking threshold, and the later triangle's point
// replaces the earlier one, however deep that was. It makes the threshold 2 % of the shape's radius, but GImpact's radius
// is infinite, so that with a plane's box it was 14 m: points above the floor replaced those in it, and a crane on its
// four feet fell through or was thrown up.
class MeshShape : public btGImpactMeshShape {
 public:
  MeshShape(btStridingMeshInterface* mesh, double threshold)
      : btGImpactMeshShape(mesh), m_threshold(threshold) {}
  btScalar getContactBreakingThreshold(btScalar) const override { return m_threshold; }

 private:
  double m_threshold;
};

}  // namespace

BulletShape::BulletShape() = default;
BulletShape::~BulletShape() = default;
BulletShape::BulletShape(BulletShape&&) noexcept = default;
BulletShape& BulletShape::operator=(BulletShape&&) noexcept = default;

BulletShape BulletShape::from_mesh(const TriMesh& mesh, CollisionGeometry geometry) {
  BulletShape result;
  result.m_smallest_extent = extents(mesh.vertices).minCoeff();
  result.m_margin = k_margin_fraction * result.m_smallest_extent;
  const TriMesh hull = geometry == CollisionGeometry::mesh ? TriMesh{} : convex_hull(mesh.vertices);
  result.m_is_hull = geometry == CollisionGeometry::hull || (geometry == CollisionGeometry::automatic &&
                                                             is_nearly_convex(mesh, hull, k_hull_volume));
  const bool may_be_round =
      geometry == CollisionGeometry::automatic || geometry == CollisionGeometry::round_or_mesh;
  if (may_be_round && is_nearly_convex(mesh, hull, k_round_volume) && result.make_round(mesh)) return result;
  if (result.m_is_hull) {
    result.build_hull(hull);
  } else {
    result.take_triangles(mesh);
  }
  return result;
}

bool BulletShape::make_round(const TriMesh& mesh) {
  if (const std::optional<double> radius = ball_of(mesh)) {
    m_shape = std::make_unique<btSphereShape>(*radius);
  } else if (const std::optional<Revolution> revolution = revolution_of(mesh)) {
    m_shape = std::make_unique<RevolvedShape>(*revolution, m_margin);
  }
  m_is_round = m_shape != nullptr;
  if (m_is_round) {
    m_mesh = std::make_unique<TriMesh>(mesh);
    m_round_vertices = mesh.vertices;
  }
  return m_is_round;
}

void BulletShape::take_triangles(const TriMesh& mesh) {
  m_mesh = std::make_unique<TriMesh>(mesh);
  m_mesh_interface = mesh_interface(*m_mesh);
  build();
}

const char* BulletShape::description() const {
  if (!m_is_round) return m_is_hull ? "convex hull" : "triangles";
  return m_shape->getShapeType() == SPHERE_SHAPE_PROXYTYPE ? "ball" : "body of revolution";
}

void BulletShape::build_hull(const TriMesh& hull) {
  m_shape = std::make_unique<HullShape>(hull, m_margin);
}

void BulletShape::build() {
  m_refitted = false;
  if (m_is_hull || m_is_round || !m_mesh) return;
  auto shape = std::make_unique<MeshShape>(m_mesh_interface.get(), k_threshold_margins * m_margin);
  shape->setMargin(m_margin);
  shape->updateBound();
  m_shape = std::move(shape);
  m_low = m_mesh->vertices.colwise().minCoeff();
  m_high = m_mesh->vertices.colwise().maxCoeff();
}

bool BulletShape::stands_for_round(const Points& vertices) const {
  return m_round_vertices.rows() > 0 && (vertices - m_round_vertices).cwiseAbs().maxCoeff() <=
                                            k_not_moved * extents(m_round_vertices).minCoeff();
}

bool BulletShape::move_vertices(const Points& vertices) {
  const bool was_round = m_is_round;
  m_is_round = stands_for_round(vertices);
  m_smallest_extent = extents(m_is_round ? m_round_vertices : vertices).minCoeff();
  if (m_is_round && was_round) return false;
  if (m_is_round) {
    m_shape = std::move(m_round);
    m_refitted = false;
    return true;
  }
  if (was_round) m_round = std::move(m_shape);
  if (m_is_hull) {
    build_hull(convex_hull(vertices));
    return true;
  }
  if (was_round) {
    take_triangles({vertices, m_mesh->triangles});
    return true;
  }
  m_mesh->vertices = vertices;
  const Vec3 low = vertices.colwise().minCoeff(), high = vertices.colwise().maxCoeff();
  const bool outgrown =
      ((m_low - low).array() > k_refit_room).any() || ((high - m_high).array() > k_refit_room).any();
  if (outgrown) {
    build();
    return true;
  }
  auto* shape = static_cast<btGImpactMeshShape*>(m_shape.get());
  shape->postUpdate();
  shape->updateBound();
  m_refitted = true;
  return false;
}

BulletShape BulletShape::from_obstacle(const ShapeGeometry& geometry, bool moves) {
  BulletShape result;
  const ShapeDescription& d = geometry.description();
  switch (geometry.kind()) {
    case ShapeKind::plane: {
      auto compound = std::make_unique<btCompoundShape>();
      result.m_children.push_back(
          std::make_unique<btBoxShape>(btVector3(k_plane_half_size, k_plane_depth, k_plane_half_size)));
      compound->addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(0, -k_plane_depth, 0)),
                              result.m_children.back().get());
      result.m_shape = std::move(compound);
      result.m_smallest_extent = k_plane_depth;
      break;
    }
    case ShapeKind::sphere:
      result.m_shape = std::make_unique<btSphereShape>(d.radius);
      result.m_smallest_extent = 2 * d.radius;
      break;
    case ShapeKind::box:
      result.m_shape = std::make_unique<btBoxShape>(to_bullet(0.5 * d.size));
      result.m_smallest_extent = d.size.minCoeff();
      break;
    case ShapeKind::capsule:
      result.m_shape = std::make_unique<btCapsuleShape>(d.radius, d.length);
      result.m_smallest_extent = 2 * d.radius;
      break;
    case ShapeKind::cylinder:
      result.m_shape = std::make_unique<btCylinderShape>(btVector3(d.radius, 0.5 * d.length, d.radius));
      result.m_smallest_extent = std::min(2 * d.radius, d.length);
      break;
    case ShapeKind::mesh: {
      if (moves) return from_mesh(d.mesh, CollisionGeometry::automatic);
      result.m_mesh = std::make_unique<TriMesh>(d.mesh);
      result.m_mesh_interface = mesh_interface(*result.m_mesh);
      result.m_shape = std::make_unique<btBvhTriangleMeshShape>(result.m_mesh_interface.get(), true);
      result.m_smallest_extent = extents(d.mesh.vertices).minCoeff();
      break;
    }
  }
  if (geometry.kind() != ShapeKind::sphere && geometry.kind() != ShapeKind::capsule) {
    result.m_shape->setMargin(std::min(0.04, k_margin_fraction * result.m_smallest_extent));
  }
  return result;
}

}  // namespace exemplar::rigid
