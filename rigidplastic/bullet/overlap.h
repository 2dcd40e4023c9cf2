// Overlaps of the pieces of one body. Hulls of pieces cut along tets reach into their neighbours from the start, by a few
// percent of their size, and cuts are jagged: where two pieces slide along one, Bullet finds their teeth deep in each
// other and pushes them apart at once, which lifted a breaking crane of 23 t by 0.25 m within two frames. Here a contact
// of the two stops them as any contact does, but counts only what is deeper than their first overlap, and that is mended
// slowly. Units: m.
#pragma once

#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolver.h>

#include <map>
#include <span>

#include "rigidplastic/bullet/world.h"

namespace exemplar::rigid {

// How deep two shapes reach into each other; 0 when they do not touch.
double overlap_of(const BulletShape& a, const RigidState& state_a, const BulletShape& b,
                  const RigidState& state_b);

// Bullet's solver with two changes. It takes the allowed overlaps off the contacts before they are solved (`index_of`: of a Bullet
// object). And a contact that ends an iteration without a normal impulse ends it without friction: Bullet leaves it what an
// earlier iteration gave, when it still had one, so that a cube whose weight lay on three of its corners was braked by all
// four, and stuck on a slope of 40° with 0.9 of the friction that would hold it.
class ForgivingSolver final : public btSequentialImpulseConstraintSolver {
 public:
  using IndexOf = int (*)(const btCollisionObject*);
  void allow(std::span<const AllowedOverlap> overlaps, IndexOf index_of);

 protected:
  void convertContacts(btPersistentManifold** manifolds, int count, const btContactSolverInfo& info) override;
  btScalar solveSingleIteration(int iteration, btCollisionObject** bodies, int body_count,
                                btPersistentManifold** manifolds, int manifold_count,
                                btTypedConstraint** constraints, int constraint_count,
                                const btContactSolverInfo& info, btIDebugDraw* drawer) override;

 private:
  void release_friction();

  std::map<std::pair<int, int>, AllowedOverlap> m_allowed;
  IndexOf m_index_of = nullptr;
};

}  // namespace exemplar::rigid
