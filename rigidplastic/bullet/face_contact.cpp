#include "rigidplastic/bullet/face_contact.h"

#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "rigidplastic/bullet/corner_shape.h"

namespace exemplar::rigid {

namespace {

constexpr btScalar k_slack = 0.01;  // of the hull's margin
constexpr std::size_t k_most = 4;   // points of a Bullet manifold

// A corner of the hull above a face.
struct FaceCorner {
  int index = 0;       // of the hull's point
  btVector3 point;     // world, turned with the hull by half the tick
  btScalar gap = 0;    // along the face's normal
  btScalar speed = 0;  // m/s, at which the gap grows
  btScalar next = 0;   // the gap after the tick if nothing stopped it
};

// A face of a box, in world coordinates.
struct Face {
  btVector3 normal;        // unit, outwards
  btScalar offset = 0;     // of its plane along the normal
  int axis = 0;            // of the box
  btTransform box;         // box → world
  btVector3 half_extents;  // of the box

  bool holds(const btVector3& point) const {
    const btVector3 local = box.invXform(point);
    for (int k = 0; k < 3; ++k)
      if (k != axis && btFabs(local[k]) > half_extents[k]) return false;
    return true;
  }
};

btVector3 velocity_of(const btCollisionObject* object, const btVector3& point) {
  const btRigidBody* body = btRigidBody::upcast(object);
  return body ? body->getVelocityInLocalPoint(point - body->getWorldTransform().getOrigin())
              : btVector3(0, 0, 0);
}

// What its forces add to an object's velocity, for a unit of time.
btVector3 acceleration_of(const btCollisionObject* object) {
  const btRigidBody* body = btRigidBody::upcast(object);
  return body ? body->getTotalForce() * body->getInvMass() : btVector3(0, 0, 0);
}

// Where a point of an object is in the middle of the tick, as far as the object's turning is concerned.
btVector3 half_turned(const btCollisionObject* object, const CornerShape& shape, const btVector3& point,
                      btScalar dt) {
  const btRigidBody* body = btRigidBody::upcast(object);
  if (!body) return point;
  const btVector3 spin = shape.turning(body->getWorldTransform(), body->getAngularVelocity());
  const btScalar angle = 0.5 * dt * spin.length();
  if (angle == 0) return point;
  const btVector3& centre = body->getWorldTransform().getOrigin();
  return centre + (point - centre).rotate(spin.normalized(), angle);
}

// The face that the hull is farthest out of, or least deep in.
Face facing(const btCollisionObjectWrapper& box_object, const btCollisionObjectWrapper& hull_object) {
  const auto& box = static_cast<const btBoxShape&>(*box_object.getCollisionShape());
  const btTransform to_box = box_object.getWorldTransform().inverseTimes(hull_object.getWorldTransform());
  btVector3 low, high;
  corner_shape(*hull_object.getCollisionShape()).bounds(to_box, low, high);
  Face face;
  face.box = box_object.getWorldTransform();
  face.half_extents = box.getHalfExtentsWithMargin();
  btScalar best = -BT_LARGE_FLOAT;
  for (int k = 0; k < 3; ++k) {
    for (const btScalar side : {1.0, -1.0}) {
      const btScalar out = (side > 0 ? low[k] : -high[k]) - face.half_extents[k];
      if (out <= best) continue;
      best = out;
      face.axis = k;
      face.normal = side * face.box.getBasis().getColumn(k);
    }
  }
  face.offset = face.normal.dot(face.box.getOrigin()) + face.half_extents[face.axis];
  return face;
}

template <class Measure>
FaceCorner extract_best(std::vector<FaceCorner>& from, const Measure& measure) {
  const auto best = std::max_element(from.begin(), from.end(), [&](const FaceCorner& a, const FaceCorner& b) {
    return measure(a) < measure(b);
  });
  const FaceCorner corner = *best;
  from.erase(best);
  return corner;
}

// The nearest, the farthest from it, the farthest from the line through both, the farthest on that line's other side.
std::vector<FaceCorner> spread_out(std::vector<FaceCorner> from, const btVector3& normal) {
  std::vector<FaceCorner> chosen;
  chosen.push_back(extract_best(from, [](const FaceCorner& c) { return -c.next; }));
  const btVector3 first = chosen[0].point;
  chosen.push_back(extract_best(from, [&](const FaceCorner& c) { return (c.point - first).length2(); }));
  const btVector3 across = normal.cross(chosen[1].point - first);
  const auto offset = [&](const FaceCorner& c) { return across.dot(c.point - first); };
  chosen.push_back(extract_best(from, [&](const FaceCorner& c) { return btFabs(offset(c)); }));
  const btScalar side = offset(chosen[2]) > 0 ? -1 : 1;
  chosen.push_back(extract_best(from, [&](const FaceCorner& c) { return side * offset(c); }));
  return chosen;
}

// At most four: of those that touch within the tick the nearest and the ones that lie farthest apart, then the ones that come
// nearest. `slack`: what still counts as touching.
std::vector<FaceCorner> chosen_corners(std::vector<FaceCorner> corners, const btVector3& normal,
                                       btScalar slack) {
  if (corners.size() <= k_most) return corners;
  const auto touching = std::stable_partition(corners.begin(), corners.end(),
                                              [&](const FaceCorner& c) { return c.next <= slack; });
  const auto count = static_cast<std::size_t>(touching - corners.begin());
  if (count > k_most) return spread_out({corners.begin(), touching}, normal);
  std::stable_sort(touching, corners.end(),
                   [](const FaceCorner& a, const FaceCorner& b) { return a.next < b.next; });
  corners.resize(k_most);
  return corners;
}

// Counter-clockwise seen from outside; points within it are left out.
std::vector<FaceCorner> outline(std::vector<FaceCorner> corners, const Face& face) {
  const btVector3 u = face.box.getBasis().getColumn((face.axis + 1) % 3), v = face.normal.cross(u);
  const auto turn = [&](const FaceCorner& a, const FaceCorner& b, const FaceCorner& c) {
    return (b.point - a.point).cross(c.point - a.point).dot(face.normal);
  };
  std::sort(corners.begin(), corners.end(), [&](const FaceCorner& a, const FaceCorner& b) {
    const btScalar ua = u.dot(a.point), ub = u.dot(b.point);
    return ua != ub ? ua < ub : v.dot(a.point) < v.dot(b.point);
  });
  if (corners.size() < 3) return corners;
  std::vector<FaceCorner> hull;
  const auto add_chain = [&](auto from, auto to) {
    const std::size_t start = hull.size();
    for (auto c = from; c != to; ++c) {
      while (hull.size() >= start + 2 && turn(hull[hull.size() - 2], hull.back(), *c) <= 0) hull.pop_back();
      hull.push_back(*c);
    }
    hull.pop_back();  // begins the other chain
  };
  add_chain(corners.begin(), corners.end());
  add_chain(corners.rbegin(), corners.rend());
  return hull;
}

constexpr int k_on_edge = -2;  // index of a point between corners

FaceCorner between(const FaceCorner& a, const FaceCorner& b, btScalar t) {
  const auto mixed = [&](btScalar from, btScalar to) { return from + t * (to - from); };
  return {k_on_edge, a.point + t * (b.point - a.point), mixed(a.gap, b.gap), mixed(a.speed, b.speed),
          mixed(a.next, b.next)};
}

// What of an outline lies over the face.
std::vector<FaceCorner> cut_by_edges(std::vector<FaceCorner> outline, const Face& face) {
  for (int k = 0; k < 3; ++k) {
    if (k == face.axis) continue;
    for (const btScalar side : {1.0, -1.0}) {
      const auto inside = [&](const FaceCorner& c) {
        return face.half_extents[k] - side * face.box.invXform(c.point)[k];
      };
      std::vector<FaceCorner> cut;
      for (std::size_t i = 0; i < outline.size(); ++i) {
        const FaceCorner &a = outline[i], &b = outline[(i + 1) % outline.size()];
        const btScalar in_a = inside(a), in_b = inside(b);
        if (in_a >= 0) cut.push_back(a);
        if ((in_a > 0 && in_b < 0) || (in_a < 0 && in_b > 0))
          cut.push_back(between(a, b, in_a / (in_a - in_b)));
      }
      outline = std::move(cut);
    }
  }
  return outline;
}

class FaceContact final : public btCollisionAlgorithm {
 public:
  FaceContact(btCollisionAlgorithmConstructionInfo& info, btCollisionAlgorithmCreateFunc& inner,
              const btCollisionObjectWrapper* first, const btCollisionObjectWrapper* second)
      : btCollisionAlgorithm(info) {
    m_manifold = m_dispatcher->getNewManifold(first->getCollisionObject(), second->getCollisionObject());
    m_threshold = m_manifold->getContactProcessingThreshold();
    info.m_manifold = m_manifold;
    m_inner = inner.CreateCollisionAlgorithm(info, first, second);
  }

  ~FaceContact() override {
    m_inner->~btCollisionAlgorithm();
    m_dispatcher->freeCollisionAlgorithm(m_inner);
    m_dispatcher->releaseManifold(m_manifold);
  }

  FaceContact(const FaceContact&) = delete;
  FaceContact& operator=(const FaceContact&) = delete;

  void processCollision(const btCollisionObjectWrapper* first, const btCollisionObjectWrapper* second,
                        const btDispatcherInfo& info, btManifoldResult* result) override {
    result->setPersistentManifold(m_manifold);
    const bool box_first = first->getCollisionShape()->getShapeType() == BOX_SHAPE_PROXYTYPE;
    const btCollisionObjectWrapper &box = box_first ? *first : *second, &hull = box_first ? *second : *first;
    const Face face = facing(box, hull);
    const std::optional<std::vector<FaceCorner>> corners = corners_above(face, box, hull, info.m_timeStep);
    if (corners) {
      fill(*corners, face.normal, box);
    } else {
      m_manifold->setContactProcessingThreshold(m_threshold);
      const btCollisionObjectWrapper shrunk(hull.m_parent, &corner_shape(*hull.getCollisionShape()).shrunk(),
                                            hull.getCollisionObject(), hull.getWorldTransform(),
                                            hull.m_partId, hull.m_index);
      m_inner->processCollision(box_first ? first : &shrunk, box_first ? &shrunk : second, info, result);
      result->refreshContactPoints();
    }
  }

  btScalar calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&,
                                 btManifoldResult*) override {
    return 1;
  }

  void getAllContactManifolds(btManifoldArray& manifolds) override { manifolds.push_back(m_manifold); }

 private:
  // Nothing when some of those that matter lie beyond the face's edges.
  std::optional<std::vector<FaceCorner>> corners_above(const Face& face, const btCollisionObjectWrapper& box,
                                                       const btCollisionObjectWrapper& hull_object,
                                                       btScalar dt) const {
    const CornerShape& hull = corner_shape(*hull_object.getCollisionShape());
    const btScalar reach = m_manifold->getContactBreakingThreshold();
    const btScalar pull = face.normal.dot(acceleration_of(hull_object.getCollisionObject()) -
                                          acceleration_of(box.getCollisionObject()));
    std::vector<btVector3> places;
    hull.corners(-(face.normal * hull_object.getWorldTransform().getBasis()), places);
    std::vector<FaceCorner> corners;
    for (std::size_t i = 0; i < places.size(); ++i) {
      FaceCorner corner;
      corner.index = static_cast<int>(i);
      corner.point = hull_object.getWorldTransform()(places[i]);
      corner.gap = face.normal.dot(corner.point) - face.offset;
      corner.point = half_turned(hull_object.getCollisionObject(), hull, corner.point, dt);
      corner.speed = face.normal.dot(velocity_of(hull_object.getCollisionObject(), corner.point) -
                                     velocity_of(box.getCollisionObject(), corner.point));
      corner.next = corner.gap + dt * (corner.speed + dt * pull);
      if (std::min(corner.gap, corner.next) < reach) corners.push_back(corner);
    }
    const btScalar slack = k_slack * hull_object.getCollisionShape()->getMargin();
    const auto beyond = std::stable_partition(
        corners.begin(), corners.end(), [&](const FaceCorner& corner) { return face.holds(corner.point); });
    if (std::any_of(beyond, corners.end(), [&](const FaceCorner& c) { return c.next <= slack; })) {
      // Tilted over the edge: it is the hull's face that bears, and not the box's.
      if (std::any_of(beyond, corners.end(), [&](const FaceCorner& c) { return c.gap < -reach; })) return {};
      corners = cut_by_edges(outline(corners, face), face);
      if (corners.empty()) return {};
    } else {
      corners.erase(beyond, corners.end());
    }
    return chosen_corners(std::move(corners), face.normal, slack);
  }

  // The points of the manifold anew, each with the impulse that it had in the tick before.
  void fill(const std::vector<FaceCorner>& corners, const btVector3& normal,
            const btCollisionObjectWrapper& box) {
    const bool box_first = m_manifold->getBody0() == box.getCollisionObject();
    std::vector<btManifoldPoint> points;
    for (const FaceCorner& corner : corners) {
      points.push_back(manifold_point(corner, normal, box_first));
      if (points.back().m_combinedRestitution > 0 && corner.gap > 0 && -corner.speed > k_bounce_speed)
        points.pop_back();
    }
    m_manifold->clearManifold();
    m_manifold->setContactProcessingThreshold(BT_LARGE_FLOAT);
    for (const btManifoldPoint& point : points) m_manifold->addManifoldPoint(point);
  }

  btScalar impulse_before(int corner, bool box_first) const {
    if (corner == k_on_edge) return 0;
    for (int c = 0; c < m_manifold->getNumContacts(); ++c) {
      const btManifoldPoint& point = m_manifold->getContactPoint(c);
      if ((box_first ? point.m_index1 : point.m_index0) == corner) return point.m_appliedImpulse;
    }
    return 0;
  }

  btManifoldPoint manifold_point(const FaceCorner& corner, const btVector3& normal, bool box_first) const {
    const btCollisionObject *first = m_manifold->getBody0(), *second = m_manifold->getBody1();
    const btVector3 on_face = corner.point - corner.gap * normal;
    const btVector3 &on_first = box_first ? on_face : corner.point,
                    &on_second = box_first ? corner.point : on_face;
    btManifoldPoint point(first->getWorldTransform().invXform(on_first),
                          second->getWorldTransform().invXform(on_second), box_first ? -normal : normal,
                          corner.gap);
    point.m_positionWorldOnA = on_first;
    point.m_positionWorldOnB = on_second;
    point.m_combinedFriction = gCalculateCombinedFrictionCallback(first, second);
    point.m_combinedRestitution = gCalculateCombinedRestitutionCallback(first, second);
    point.m_appliedImpulse = impulse_before(corner.index, box_first);
    point.m_partId0 = point.m_partId1 = point.m_index0 = point.m_index1 = -1;  // Bullet leaves them open
    (box_first ? point.m_index1 : point.m_index0) = corner.index;
    return point;
  }

  btPersistentManifold* m_manifold = nullptr;
  btScalar m_threshold = 0;  // of the manifold, for Bullet's own points
  btCollisionAlgorithm* m_inner = nullptr;
};

}  // namespace

btCollisionAlgorithm* FaceContactMaker::CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                                 const btCollisionObjectWrapper* first,
                                                                 const btCollisionObjectWrapper* second) {
  void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(FaceContact));
  return new (memory) FaceContact(info, *m_inner, first, second);
}

void FaceContactMaker::register_at(btCollisionDispatcher& dispatcher) {
  for (const int type : {CONVEX_HULL_SHAPE_PROXYTYPE, CUSTOM_CONVEX_SHAPE_TYPE}) {
    dispatcher.registerCollisionCreateFunc(type, BOX_SHAPE_PROXYTYPE, this);
    dispatcher.registerCollisionCreateFunc(BOX_SHAPE_PROXYTYPE, type, this);
  }
}

}  // namespace exemplar::rigid
