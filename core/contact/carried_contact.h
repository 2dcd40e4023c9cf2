// Contact by impulses between bodies whose surfaces are carried by particles (shape matching, mass-spring): points
// of one surface against the other surface, both ways. A body does not meet itself.
//
// Points that would be inside another body at the end of the step stop at its surface, with the pair's friction
// (the geometric mean); the particles of both sides take opposite impulses with their weights, so that momentum is
// kept. Inside is what a closed surface encloses; an open one (a sheet) has two sides and half its thickness on each
// of them. As with obstacles (particle_contact.h) each contact keeps the impulse it has given in the step and may
// take some of it back between the passes of a method, and what is inside from before is moved out afterwards
// without a velocity.
//
// A point only meets a surface that faces its own: beside a sliding block the points of its support would otherwise
// stand in its way, their nearest place on the block being its lower edge.
//
// Samples between the vertices make up for edges, which are not looked for: two edges may overlap by a part of the
// samples' distance. Points are visited in order: results do not depend on threads. Units: m, kg, s.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <vector>

#include "core/contact/particle_contact.h"
#include "core/mesh/distance.h"

namespace exemplar {

// What does not change in a run.
struct CarriedBody {
  CarriedPoints vertices;  // of the surface
  TriMesh surface;         // at rest
  double thickness = 0;    // of a sheet, m
  double friction = 0.5;
};

// One body in the step that is to come; borrowed.
struct CarriedStep {
  const Points* positions = nullptr;         // of the particles
  const Points* start_velocities = nullptr;  // at the start of the step
  const Points* velocities = nullptr;        // expected in this step: contacts are looked for where they lead
  const Points* inverse_masses = nullptr;    // per coordinate; zero where it is held, 1/kg
  double margin = 0;                         // m: contacts are looked for so much farther away
};

class CarriedContacts {
 public:
  CarriedContacts() = default;
  explicit CarriedContacts(std::vector<CarriedBody> bodies);

  // The contacts of a step of `dt`. `steps`: as many as bodies, to stay until the step is over.
  void find(std::span<const CarriedStep> steps, double dt);
  bool empty() const { return m_contacts.empty(); }
  bool involves(std::size_t body) const { return !m_involved.empty() && m_involved[body] != 0; }
  // Fastest relative velocity of points of this body that reach another one in this step; 0: none does, m/s.
  double touching_speed(std::size_t body) const { return m_touching.empty() ? 0 : m_touching[body]; }
  // Whether it reaches another body for which `is_wanted` holds.
  bool touches_any(std::size_t body, const std::function<bool(std::size_t)>& is_wanted) const;

  // Once over all contacts; returns the largest change of a contact's velocity, m/s.
  double sweep(std::span<Points* const> velocities);
  // Energy that the bodies gave up to the impulses (ParticleContacts::dissipated), J.
  double dissipated(std::span<Points* const> final_velocities) const;
  // After the move: what is still inside goes out by a fifth of its depth, at most at `push_speed`, m/s.
  void push_out(double push_speed, std::span<Points* const> positions) const;

  // Steps that keep every point from crossing a quarter of another body's width (half_width) at these speeds.
  int substeps(double dt, std::span<const Points* const> velocities) const;
  // Deepest point of a body inside another one now, m.
  double deepest(std::span<const Points* const> positions) const;

 private:
  struct Contact {
    std::size_t a = 0, b = 0;      // the point's body, the surface's
    int point = 0;                 // of a's points
    std::array<int, 3> corners{};  // surface vertices of b
    Vec3 barycentric, normal;      // of the nearest point; away from b
    double gap = 0;                // m
    Vec3 start = Vec3::Zero();     // relative velocity at the start of the step, m/s
    Vec3 inverse_mass = Vec3::Zero();
    double normal_sum = 0;  // N s
    Vec3 friction_sum = Vec3::Zero();
  };
  // Mean velocity of a body's particles and how much faster than it the fastest is, m/s.
  struct Speed {
    Vec3 mean = Vec3::Zero();
    double most = 0;
  };
  static Speed speed_of(const Points& velocities);
  static double closing(const Speed& a, const Speed& b) { return (a.mean - b.mean).norm() + a.most + b.most; }
  void place(std::size_t body, const Points& positions) const;
  double gap_of(std::size_t a, std::size_t b, SurfacePoint& nearest) const;
  void find(std::span<const CarriedStep> steps, std::size_t a, std::size_t b);
  void add(std::span<const CarriedStep> steps, Contact contact);
  template <class Visit>
  void for_nodes(const Contact& c, const Visit& visit) const;
  Vec3 relative_velocity(const Contact& c, const Points& of_a, const Points& of_b) const;
  double solve(Contact& c, Points& of_a, Points& of_b) const;

  std::vector<CarriedBody> m_bodies;
  std::vector<CarriedPoints> m_points;              // vertices, then four samples in every triangle
  std::vector<double> m_widths;                     // half of what the surface encloses is wide, m
  mutable std::vector<SurfaceDistance> m_surfaces;  // where they were placed last
  mutable std::vector<Points> m_places, m_normals;  // and the points, with the surface's normals there
  std::vector<Speed> m_speeds;
  std::vector<const Points*> m_inverse;  // of this step
  std::vector<Contact> m_contacts;
  std::vector<char> m_involved;
  std::vector<double> m_touching;
  std::set<std::pair<std::size_t, std::size_t>> m_neighbours;  // that reach each other, both ways
  double m_dt = 0;
};

// Sequential impulses of all bodies in a step, with obstacles (one list of contacts a body) and with each other.
// Bodies without velocities (null) are left out; contacts between bodies may have none of them.
void resolve_together(std::span<ParticleContacts> with_obstacles, CarriedContacts& between,
                      std::span<Points* const> velocities);

}  // namespace exemplar
