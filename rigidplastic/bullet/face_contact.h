// Contacts between a convex hull, or a body of revolution, and a face of a box, which may stand for a plane: the corners of the
// hull that touch the face or will within the tick, four of them at most. A body of revolution has the lowest points of its
// circles for corners (revolved_shape.h).
//
// Bullet finds one point a tick, the nearest, and gathers others over the ticks. A body that rolls has moved on by then: one end
// of a cylinder's edge fell while the other was borne, the edge of the next facet was known only when it was in the floor, and
// mending these overlaps lifted the body without taking the energy for it from its motion. A cylinder of 12 kg that rolled at
// 0.3 m/s never came to rest. With all corners known ahead every contact is stopped before it overlaps, which only takes energy.
// A corner's way within the tick is an arc: its velocity is taken where it is halfway, so that it leads to where the corner ends.
// Taken at the start, every contact of a rolling body lay ahead of where it presses, and the body lost its speed in four seconds.
// Where a hull lies over the face's edges, what bears it are the corners of the part above the face. Where it is tilted over an
// edge, and for everything else, Bullet's own points are taken. Units: m, s.
#pragma once

#include <BulletCollision/BroadphaseCollision/btCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCollisionCreateFunc.h>
#include <LinearMath/btScalar.h>

class btCollisionDispatcher;

namespace exemplar::rigid {

// m/s; what comes slower does not bounce. What bounces is left to touch first: a contact that is still open takes gap/dt off the
// rebound in Bullet.
inline constexpr btScalar k_bounce_speed = 0.2;

// Makes the algorithm for pairs of a hull, or a revolved shape, and a box; `inner` makes Bullet's own for the same pair.
struct FaceContactMaker final : btCollisionAlgorithmCreateFunc {
  explicit FaceContactMaker(btCollisionAlgorithmCreateFunc* inner) : m_inner(inner) {}
  btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                 const btCollisionObjectWrapper* first,
                                                 const btCollisionObjectWrapper* second) override;
  void register_at(btCollisionDispatcher& dispatcher);

 private:
  btCollisionAlgorithmCreateFunc* m_inner;
};

}  // namespace exemplar::rigid
