#include "rigidplastic/bullet/overlap.h"

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <btBulletCollisionCommon.h>

#include <algorithm>

#include "rigidplastic/bullet/vectors.h"

namespace exemplar::rigid {

namespace {

struct DeepestContact final : btCollisionWorld::ContactResultCallback {
  double depth = 0;

  btScalar addSingleResult(btManifoldPoint& point, const btCollisionObjectWrapper*, int, int,
                           const btCollisionObjectWrapper*, int, int) override {
    depth = std::max(depth, -static_cast<double>(point.getDistance()));
    return 0;
  }
};

}  // namespace

double overlap_of(const BulletShape& a, const RigidState& state_a, const BulletShape& b,
                  const RigidState& state_b) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
  btDbvtBroadphase broadphase;
  btCollisionWorld world(&dispatcher, &broadphase, &configuration);
  btCollisionObject first, second;
  first.setCollisionShape(a.get());
  first.setWorldTransform(to_bullet(state_a));
  second.setCollisionShape(b.get());
  second.setWorldTransform(to_bullet(state_b));
  DeepestContact deepest;
  world.contactPairTest(&first, &second, deepest);
  return deepest.depth;
}

}  // namespace exemplar::rigid
