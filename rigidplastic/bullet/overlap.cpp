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

void ForgivingSolver::allow(std::span<const AllowedOverlap> overlaps, IndexOf index_of) {
  m_index_of = index_of;
  for (const AllowedOverlap& overlap : overlaps)
    m_allowed[{std::min(overlap.a, overlap.b), std::max(overlap.a, overlap.b)}] = overlap;
}

void ForgivingSolver::convertContacts(btPersistentManifold** manifolds, int count,
                                      const btContactSolverInfo& info) {
  for (int m = 0; m < (m_allowed.empty() ? 0 : count); ++m) {
    const int first = m_index_of(manifolds[m]->getBody0()), second = m_index_of(manifolds[m]->getBody1());
    const auto allowed = m_allowed.find({std::min(first, second), std::max(first, second)});
    if (allowed == m_allowed.end()) continue;
    for (int c = 0; c < manifolds[m]->getNumContacts(); ++c) {
      btManifoldPoint& point = manifolds[m]->getContactPoint(c);
      // Bullet mends the share m_erp2 of a depth in a step.
      const double deepest = -allowed->second.mend_speed * info.m_timeStep / info.m_erp2;
      point.setDistance(std::max(point.getDistance() + allowed->second.depth, deepest));
    }
  }
  btSequentialImpulseConstraintSolver::convertContacts(manifolds, count, info);
}

void ForgivingSolver::release_friction() {
  for (int k = 0; k < m_tmpSolverContactFrictionConstraintPool.size(); ++k) {
    btSolverConstraint& friction = m_tmpSolverContactFrictionConstraintPool[k];
    const btSolverConstraint& contact = m_tmpSolverContactConstraintPool[friction.m_frictionIndex];
    if (contact.m_appliedImpulse > 0 || friction.m_appliedImpulse == 0) continue;
    friction.m_lowerLimit = friction.m_upperLimit = 0;
    resolveSingleConstraintRowGeneric(m_tmpSolverBodyPool[friction.m_solverBodyIdA],
                                      m_tmpSolverBodyPool[friction.m_solverBodyIdB], friction);
  }
}

btScalar ForgivingSolver::solveSingleIteration(int iteration, btCollisionObject** bodies, int body_count,
                                               btPersistentManifold** manifolds, int manifold_count,
                                               btTypedConstraint** constraints, int constraint_count,
                                               const btContactSolverInfo& info, btIDebugDraw* drawer) {
  const btScalar residual = btSequentialImpulseConstraintSolver::solveSingleIteration(
      iteration, bodies, body_count, manifolds, manifold_count, constraints, constraint_count, info, drawer);
  release_friction();
  return residual;
}

}  // namespace exemplar::rigid
