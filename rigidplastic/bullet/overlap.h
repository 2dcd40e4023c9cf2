// Overlaps that pieces of one body have from the start: hulls of pieces cut along tets reach into their neighbours, by a
// few percent of their size. Once such pieces part, Bullet would push them out of each other and lift them; here a
// contact of the two counts only what is deeper than their first overlap. Units: m.
#pragma once

#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolver.h>

#include <map>
#include <span>

#include "rigidplastic/bullet/world.h"

namespace exemplar::rigid {

// How deep two shapes reach into each other; 0 when they do not touch.
double overlap_of(const BulletShape& a, const RigidState& state_a, const BulletShape& b,
                  const RigidState& state_b);

// Takes the allowed overlaps off the contacts before they are solved. `index_of`: of a Bullet object.
class ForgivingSolver final : public btSequentialImpulseConstraintSolver {
 public:
  using IndexOf = int (*)(const btCollisionObject*);
  void allow(std::span<const AllowedOverlap> overlaps, IndexOf index_of);

 protected:
  void convertContacts(btPersistentManifold** manifolds, int count, const btContactSolverInfo& info) override;

 private:
  std::map<std::pair<int, int>, double> m_allowed;
  IndexOf m_index_of = nullptr;
};

}  // namespace exemplar::rigid
