// Pulls (core/world/pull.h) on a body whose surface is carried by particles: the particles that carry the pulled point take
// the spring's impulse with their weights. The impulse is that of the force at the end of the step, and like a contact's
// (particle_contact.h) it may be corrected between the passes of a method, so that a method that spreads it over the body
// within the step ends at the body's own answer: J = −h ∇E(x + h v) with the final velocity v of the point. Stable for any
// stiffness. Units: m, kg, s, N.
#pragma once

#include "core/contact/particle_contact.h"
#include "core/world/pull.h"

namespace exemplar {

class CarriedPulls {
 public:
  CarriedPulls() = default;
  // `surface` carries the vertices of the body's surface; only those that are pulled are looked at.
  CarriedPulls(const std::vector<Pull>& pulls, const std::string& body, const CarriedPoints& surface);

  bool empty() const { return m_pulls.empty(); }
  // The pulls of the step [from, from + dt]. `inverse_masses`: per coordinate; zero where it is held, 1/kg.
  void begin(double from, double dt, const Points& positions, const Points& inverse_masses);
  bool act() const { return !m_active.empty(); }  // in the step that has begun
  // Once over the pulls that act; returns the largest change of a point's velocity, m/s.
  double sweep(Points& velocities);
  // Mean forces on the particles in this step, N.
  Points forces(Eigen::Index particles) const;
  // What the springs have done to the body in this step, J: force times displacement of the point.
  double work(const Points& final_velocities) const;

 private:
  struct Active {
    PullSpring spring;
    Vec3 position;                // of the point at the start of the step
    Vec3 inverse_mass;            // what a unit impulse there adds to its velocity, per coordinate
    Vec3 impulse = Vec3::Zero();  // so far in this step, N s
  };

  PullSet m_pulls;
  CarriedPoints m_surface;
  CarriedPoints m_points;  // of the active pulls
  std::vector<Active> m_active;
  Points m_inverse_masses;
  double m_dt = 0;
};

}  // namespace exemplar
