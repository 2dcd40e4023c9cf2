// Contact for implicit solvers: the barrier potential of Li et al. 2020 (IPC) between deformable surfaces and
// obstacles and among obstacles, its step limit that lets nothing cross, and lagged smooth Coulomb friction.
//
// Pairs: (i) a point and the signed distance of a convex shape, (ii) a point and a triangle, (iii) two edges.
// Surface vertices meet shapes by (i) and mesh obstacles by (ii); obstacle features (sphere centre, capsule
// axis, box, cylinder and mesh vertices and edges, each with the feature's radius) meet surface triangles and
// edges by (ii) and (iii), so that nothing slips between the vertices of a coarse surface. Each pair has the
// energy of barrier.h with its own area A.
//
// Unknowns: nodes x of the solver and, per obstacle, q = (u, θ): displacement and rotation vector since the
// step's start (see rigid_inertia.h). Derivatives with respect to q exist for dynamic obstacles only;
// keyframed ones may move in q too. The energy depends on relative positions only: forces and moments on the
// two sides cancel exactly.
//
// Use in a step:
//   contact.begin_step(states, x_start);
//   each Newton iteration, with direction (dx, dq):  find_pairs(x, q, x + dx, q + dq); α = max_step(x, q, x +
//   dx, q + dq); line search in (0, α]: value(x, q);  then blocks(x, q, …) for the derivatives (the pairs
//   stay valid on that segment). Before the first iteration find_pairs(x, q, x, q). Friction:
//   update_friction(x, q, dt) fixes normals and normal forces (at the start of the step and as often as the
//   solver repeats it), then friction_value and friction_blocks. A keyframed obstacle is moved first, and
//   what stands in its way (stops) with it: see core/implicit/prescribed_motion.h.
//
// Deformable bodies meet each other (ContactSurface::between) and themselves (ContactBody::self) by further pairs
// (ii) and (iii) of surface features only (body_search.h).
//
// The pieces: contact_points.h (what moves), contact_search.h and body_search.h (pairs), step_limit.h, barrier.h,
// impact_stiffening.h, contact_friction.h, contact_blocks.h (derivatives), contact_scatter.h (to the linear
// system). Reach, stiffness and friction belong to the pair: those of its body (ContactSurface::bodies).
//
// Symbols: d̂ reach (m), κ stiffness (Pa), ε_v sticking speed (m/s).
#pragma once

#include <limits>
#include <vector>

#include "core/contact/body_search.h"
#include "core/contact/contact_friction.h"
#include "core/contact/impact_stiffening.h"

namespace exemplar {

class ContactPotential {
 public:
  using PointsRef = ContactPoints::PointsRef;

  // `obstacles` must outlive the potential.
  ContactPotential(ContactSurface surface, const std::vector<ObstacleBody>& obstacles,
                   const ContactOptions& options)
      : m_points(std::move(surface), obstacles, options), m_bodies(m_points), m_friction(m_points) {}
  ContactPotential(const ContactPotential&) = delete;
  ContactPotential& operator=(const ContactPotential&) = delete;

  const ContactPoints& points() const { return m_points; }
  // Wall time spent in search, step limits, values and blocks so far, s: for reports only.
  double seconds() const { return m_seconds; }

  void begin_step(const std::vector<ObstacleState>& states, const PointsRef& nodes);
  // All pairs that come within reach while nodes and obstacles go straight from (x0, q0) to (x1, q1).
  void find_pairs(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1);
  const std::vector<ContactPair>& pairs() const { return m_pairs; }

  // The largest part of the path from (x0, q0) to (x1, q1), at most 1, that the step limit leaves to all found
  // pairs (step_limit.h).
  double max_step(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1) const;

  // The pairs that max_step would stop, each with its own limit, in the order of the pairs.
  std::vector<ContactStop> stops(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                 const VecX& q1) const;

  // How far the found pairs would still go along their normals after the place where max_step stops each of
  // them, relative to half the inner radius of the pair's obstacles or bodies; the largest of all. Above 1 the end of
  // the path may lie behind an obstacle: an implicit step that pulls towards it may lead around the obstacle
  // instead of stopping at it, so such a step should be shortened. Planes have no behind and never count,
  // nor does what a body does to itself.
  double overshoot(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1) const;

  // For the rest of the step, raises κ where free motion from (x0, q0) to (x1, q1) in the time dt would drive
  // things into each other (impact_stiffening.h).
  void stiffen(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1,
               const VecX& node_masses, double dt);

  // Infinite when something touches or overlaps.
  double value(const PointsRef& x, const VecX& q) const;
  // The part of it that stiffen() has added: gone when the step is over, J.
  double added_by_stiffening(const PointsRef& x, const VecX& q) const;
  // Blocks of the pairs within reach, in the order of the pairs.
  std::vector<ContactBlock> blocks(const PointsRef& x, const VecX& q, Derivatives derivatives) const;
  // The smallest gap among the found pairs, m; infinity when there are none. Not positive: overlap.
  double smallest_gap(const PointsRef& x, const VecX& q) const;

  // The pair of the surface and an obstacle with the smallest gap among the found ones.
  struct Closest {
    double gap = std::numeric_limits<double>::infinity();  // m
    Vec3 away = Vec3::Zero();                              // where the surface would have to go
    int obstacle = -1;
  };
  Closest closest(const PointsRef& x, const VecX& q) const;
  // All pairs within reach at (x, q) and all contacts of friction.
  std::vector<ContactLink> links(const PointsRef& x, const VecX& q) const;

  // Fixes the normals, contact points and normal forces of friction at (x, q).
  void update_friction(const PointsRef& x, const VecX& q, double dt) {
    m_friction.update(m_pairs, x, q, m_start_nodes, dt);
  }
  const ContactFriction& friction() const { return m_friction; }
  ContactFriction& friction() { return m_friction; }

 private:
  std::vector<StepLimit> limits(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                const VecX& q1) const;

  ContactPoints m_points;
  BodySearch m_bodies;
  Points m_start_nodes;
  std::vector<ContactPair> m_pairs;
  ImpactStiffening m_stiffening;
  mutable double m_seconds = 0;
  ContactFriction m_friction;
};

}  // namespace exemplar
