// Bullet's solver with three changes.
//
// It takes the allowed overlaps off the contacts before they are solved (overlap.h).
//
// A contact that ends an iteration without a normal impulse ends it without friction: Bullet leaves it what an earlier
// iteration gave, when it still had one, so that a cube whose weight lay on three of its corners was braked by all four,
// and stuck on a slope of 40° with 0.9 of the friction that would hold it.
//
// And no bounce adds energy. By Newton's law each contact that closes opens again at the share e of its speed; where a
// body touches with several, or with friction, the law may ask for more than the body had: of two corners that lift off
// while a third strikes, those that are pressed by the strike push as well. Then the impulses are solved again without
// restitution, which takes energy, and those of the two solutions are mixed so that the contacts take none and give none.
// Both solutions obey Coulomb's law, and so does what lies between them.
#pragma once

#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolver.h>

#include <map>
#include <span>
#include <vector>

#include "rigidplastic/bullet/world.h"

namespace exemplar::rigid {

class ContactSolver final : public btSequentialImpulseConstraintSolver {
 public:
  // `index_of`: of a Bullet object.
  using IndexOf = int (*)(const btCollisionObject*);
  void allow(std::span<const AllowedOverlap> overlaps, IndexOf index_of);

 protected:
  void convertContacts(btPersistentManifold** manifolds, int count, const btContactSolverInfo& info) override;
  btScalar solveSingleIteration(int iteration, btCollisionObject** bodies, int body_count,
                                btPersistentManifold** manifolds, int manifold_count,
                                btTypedConstraint** constraints, int constraint_count,
                                const btContactSolverInfo& info, btIDebugDraw* drawer) override;
  btScalar solveGroupCacheFriendlyIterations(btCollisionObject** bodies, int body_count,
                                             btPersistentManifold** manifolds, int manifold_count,
                                             btTypedConstraint** constraints, int constraint_count,
                                             const btContactSolverInfo& info, btIDebugDraw* drawer) override;

 private:
  // Impulses of all rows, changes of velocity of all bodies (linear and angular, one after the other).
  struct Solution {
    std::vector<btScalar> impulses;
    std::vector<btVector3> changes;
  };
  void release_friction();
  template <class Visit>
  void for_each_row(const Visit& visit);
  btScalar restitution_of(const btSolverConstraint& contact, const btContactSolverInfo& info);
  bool remove_restitution(const btContactSolverInfo& info);
  btScalar contact_work() const;  // done by contacts and friction, J
  Solution solution();
  void set_solution(const Solution& a, const Solution& b, btScalar share);  // a + share (b − a)

  std::map<std::pair<int, int>, AllowedOverlap> m_allowed;
  IndexOf m_index_of = nullptr;
};

}  // namespace exemplar::rigid
