// Lagged smooth Coulomb friction: D = μ λ f₀(|Tᵀ δ|), with the normal force λ, the tangents T and the contact
// points fixed and δ the relative displacement of the two sides since the step's start (IPC §5).
//
// Departure: an obstacle's contact point is the place of the surface's nearest point, fixed to the obstacle,
// instead of the obstacle's own nearest point; both sides then feel opposite forces at the same place, and no
// moment is made. It also lets a ball roll: the point turns with it.
#pragma once

#include <vector>

#include "core/contact/barrier.h"
#include "core/contact/contact_blocks.h"

namespace exemplar {

class ContactFriction {
 public:
  using PointsRef = ContactPoints::PointsRef;

  explicit ContactFriction(const ContactPoints& points) : m_points(&points) {}

  void clear() {
    m_contacts.clear();
    m_reversals.clear();
  }
  std::size_t contacts() const { return m_contacts.size(); }
  // Fixes the normals, contact points and normal forces of all pairs in touch at (x, q); the slip counts from
  // the nodes at the step's start.
  void update(const std::vector<ContactPair>& pairs, const PointsRef& x, const VecX& q,
              const Points& start_nodes, double dt);

  // Newton's method on f₀ is at home where slips grow, not where they end: a sliding contact has no stiffness along
  // its slip, so that a step throws it back beyond rest, and the line search then cuts the whole step short for it.
  // Counts the contacts that the path from (x0, q0) to (x1, q1) reverses and out of the sticking range, and
  // remembers them.
  void find_reversals(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1);
  std::size_t reversals() const { return m_reversals.size(); }
  // Those contacts stick without a limit, f = y²/ε (the parabola of f₀ at rest), until they are released.
  void hold_reversals();
  void release();

  double value(const PointsRef& x, const VecX& q) const;
  // Σ friction force at (x, q) times the slip since the step's start, J, never negative: what friction takes
  // from the two sides in the step.
  double work(const PointsRef& x, const VecX& q) const;
  std::vector<ContactBlock> blocks(const PointsRef& x, const VecX& q, Derivatives derivatives) const;
  void append_links(std::vector<ContactLink>& links) const;

 private:
  struct Contact {
    ContactStencil stencil;
    Vec4 weights = Vec4::Zero();  // slip = Tᵀ Σ w (p − p at the step's start)
    Eigen::Matrix<double, 3, 2> tangents;
    double limit = 0;           // μ λ, N
    Vec3 start = Vec3::Zero();  // Σ w p at the step's start
    bool held = false;
  };
  FrictionCurve curve_of(const Contact& contact, double slip) const {
    return contact.held ? held_curve(slip, m_range) : friction_curve(slip, m_range);
  }
  Contact make_contact(const ContactPair& pair, const Points& positions, const VecX& q, double limit,
                       const Points& start_nodes) const;
  Vec2 slip_of(const Contact& contact, const PointsRef& x, const VecX& q) const;
  ContactBlock block_of(const Contact& contact, const PointsRef& x, const VecX& q,
                        Derivatives derivatives) const;

  const ContactPoints* m_points;
  std::vector<Contact> m_contacts;
  std::vector<std::size_t> m_reversals;  // contacts
  double m_range = 0;                    // m: slip below which friction holds, ε_v h
};

}  // namespace exemplar
