#include "rigidplastic/bullet/contact_solver.h"

#include <BulletCollision/NarrowPhaseCollision/btPersistentManifold.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>

namespace exemplar::rigid {

void ContactSolver::allow(std::span<const AllowedOverlap> overlaps, IndexOf index_of) {
  m_index_of = index_of;
  for (const AllowedOverlap& overlap : overlaps)
    m_allowed[{std::min(overlap.a, overlap.b), std::max(overlap.a, overlap.b)}] = overlap;
}

void ContactSolver::convertContacts(btPersistentManifold** manifolds, int count,
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

void ContactSolver::release_friction() {
  for (int k = 0; k < m_tmpSolverContactFrictionConstraintPool.size(); ++k) {
    btSolverConstraint& friction = m_tmpSolverContactFrictionConstraintPool[k];
    const btSolverConstraint& contact = m_tmpSolverContactConstraintPool[friction.m_frictionIndex];
    if (contact.m_appliedImpulse > 0 || friction.m_appliedImpulse == 0) continue;
    friction.m_lowerLimit = friction.m_upperLimit = 0;
    resolveSingleConstraintRowGeneric(m_tmpSolverBodyPool[friction.m_solverBodyIdA],
                                      m_tmpSolverBodyPool[friction.m_solverBodyIdB], friction);
  }
}

btScalar ContactSolver::solveSingleIteration(int iteration, btCollisionObject** bodies, int body_count,
                                             btPersistentManifold** manifolds, int manifold_count,
                                             btTypedConstraint** constraints, int constraint_count,
                                             const btContactSolverInfo& info, btIDebugDraw* drawer) {
  const btScalar residual = btSequentialImpulseConstraintSolver::solveSingleIteration(
      iteration, bodies, body_count, manifolds, manifold_count, constraints, constraint_count, info, drawer);
  release_friction();
  return residual;
}

template <class Visit>
void ContactSolver::for_each_row(const Visit& visit) {
  for (btConstraintArray* rows :
       {&m_tmpSolverContactConstraintPool, &m_tmpSolverContactFrictionConstraintPool,
        &m_tmpSolverNonContactConstraintPool}) {
    for (int k = 0; k < rows->size(); ++k) visit((*rows)[k]);
  }
}

// What Bullet put into the row: e times the speed of approach before the forces of the tick.
btScalar ContactSolver::restitution_of(const btSolverConstraint& contact, const btContactSolverInfo& info) {
  const btSolverBody &a = m_tmpSolverBodyPool[contact.m_solverBodyIdA],
                     &b = m_tmpSolverBodyPool[contact.m_solverBodyIdB];
  const btScalar speed = contact.m_contactNormal1.dot(a.m_linearVelocity) +
                         contact.m_relpos1CrossNormal.dot(a.m_angularVelocity) +
                         contact.m_contactNormal2.dot(b.m_linearVelocity) +
                         contact.m_relpos2CrossNormal.dot(b.m_angularVelocity);
  const auto& point = *static_cast<const btManifoldPoint*>(contact.m_originalContactPoint);
  return std::max(btScalar(0),
                  restitutionCurve(speed, point.m_combinedRestitution, info.m_restitutionVelocityThreshold));
}

bool ContactSolver::remove_restitution(const btContactSolverInfo& info) {
  bool bounces = false;
  for (int k = 0; k < m_tmpSolverContactConstraintPool.size(); ++k) {
    btSolverConstraint& contact = m_tmpSolverContactConstraintPool[k];
    const btScalar restitution = restitution_of(contact, info);
    contact.m_rhs -= restitution * contact.m_jacDiagABInv;
    bounces = bounces || restitution > 0;
  }
  return bounces;
}

// Σ j · (u + u')/2, u without the forces of the tick: see rigidplastic/simulation/energy_ledger.h.
btScalar ContactSolver::contact_work() const {
  const auto speed = [&](const btSolverConstraint& row) {
    const auto of = [&](const btSolverBody& body, const btVector3& linear, const btVector3& angular) {
      const btVector3 v = body.m_linearVelocity +
                          0.5 * (body.m_externalForceImpulse + body.m_deltaLinearVelocity),
                      w = body.m_angularVelocity +
                          0.5 * (body.m_externalTorqueImpulse + body.m_deltaAngularVelocity);
      return linear.dot(v) + angular.dot(w);
    };
    return of(m_tmpSolverBodyPool[row.m_solverBodyIdA], row.m_contactNormal1, row.m_relpos1CrossNormal) +
           of(m_tmpSolverBodyPool[row.m_solverBodyIdB], row.m_contactNormal2, row.m_relpos2CrossNormal);
  };
  btScalar work = 0;
  for (const btConstraintArray* rows :
       {&m_tmpSolverContactConstraintPool, &m_tmpSolverContactFrictionConstraintPool}) {
    for (int k = 0; k < rows->size(); ++k) work += btScalar((*rows)[k].m_appliedImpulse) * speed((*rows)[k]);
  }
  return work;
}

ContactSolver::Solution ContactSolver::solution() {
  Solution result;
  for_each_row([&](btSolverConstraint& row) { result.impulses.push_back(row.m_appliedImpulse); });
  for (int k = 0; k < m_tmpSolverBodyPool.size(); ++k) {
    result.changes.push_back(m_tmpSolverBodyPool[k].m_deltaLinearVelocity);
    result.changes.push_back(m_tmpSolverBodyPool[k].m_deltaAngularVelocity);
  }
  return result;
}

void ContactSolver::set_solution(const Solution& a, const Solution& b, btScalar share) {
  std::size_t row_index = 0;
  for_each_row([&](btSolverConstraint& row) {
    row.m_appliedImpulse = a.impulses[row_index] + share * (b.impulses[row_index] - a.impulses[row_index]);
    ++row_index;
  });
  for (int k = 0; k < m_tmpSolverBodyPool.size(); ++k) {
    const auto i = 2 * static_cast<std::size_t>(k);
    m_tmpSolverBodyPool[k].m_deltaLinearVelocity = a.changes[i].lerp(b.changes[i], share);
    m_tmpSolverBodyPool[k].m_deltaAngularVelocity = a.changes[i + 1].lerp(b.changes[i + 1], share);
  }
}

btScalar ContactSolver::solveGroupCacheFriendlyIterations(btCollisionObject** bodies, int body_count,
                                                          btPersistentManifold** manifolds,
                                                          int manifold_count, btTypedConstraint** constraints,
                                                          int constraint_count,
                                                          const btContactSolverInfo& info,
                                                          btIDebugDraw* drawer) {
  constexpr btScalar k_noticeable = 1e-10;  // of the kinetic energy
  const btScalar residual = btSequentialImpulseConstraintSolver::solveGroupCacheFriendlyIterations(
      bodies, body_count, manifolds, manifold_count, constraints, constraint_count, info, drawer);
  btScalar moving = 0;
  for (int k = 0; k < m_tmpSolverBodyPool.size(); ++k) {
    const btSolverBody& body = m_tmpSolverBodyPool[k];
    if (body.internalGetInvMass().x() > 0)
      moving += body.m_linearVelocity.length2() / body.internalGetInvMass().x();
  }
  if (!(contact_work() > k_noticeable * moving) || !remove_restitution(info)) return residual;
  const Solution bouncing = solution();
  const Solution none{std::vector<btScalar>(bouncing.impulses.size(), 0),
                      std::vector<btVector3>(bouncing.changes.size(), btVector3(0, 0, 0))};
  set_solution(none, none, 0);
  for (int k = 0; k < info.m_numIterations; ++k)
    solveSingleIteration(k, bodies, body_count, manifolds, manifold_count, constraints, constraint_count,
                         info, drawer);
  const Solution dead = solution();
  btScalar low = 0, high = 1;  // the work grows with the share of the bounce where it passes zero
  for (int pass = 0; pass < 50; ++pass) {
    const btScalar middle = 0.5 * (low + high);
    set_solution(dead, bouncing, middle);
    (contact_work() > 0 ? high : low) = middle;
  }
  set_solution(dead, bouncing, low);
  return residual;
}

}  // namespace exemplar::rigid
