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
// A step begins with the impulses of the one before it (`keep_impulses`): tens of points share the few particles of
// two faces that lie on each other, and sweeps from nothing do not settle them within a step. What was left over let
// the faces sink into each other in every step and be pushed out again: a steady 0.7 mm/s in a block that lay on
// another one.
//
// A point only meets a surface that faces its own: beside a sliding block the points of its support would otherwise
// stand in its way, their nearest place on the block being its lower edge.
//
// Samples between the vertices make up for edges, which are not looked for: two edges may overlap by a part of the
// samples' distance. Points are visited in order: results do not depend on threads. Units: m, kg, s.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "core/base/state_member.h"
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
  // Pairs of bodies that do not meet, both ways, from the next find on.
  void leave_out(std::set<std::pair<std::size_t, std::size_t>> pairs) { m_left_out = std::move(pairs); }
  // The first sweep of a step starts from the last step's impulses.
  void keep_impulses() { m_keeps = true; }
  // What a later step depends on: the last one's impulses over its length, by body, other body and point.
  struct Kept {
    std::array<std::size_t, 3> key{};
    double normal = 0;             // N
    Vec3 friction = Vec3::Zero();  // N

    static constexpr auto described() {
      return std::tuple(member("key", &Kept::key), member("normal", &Kept::normal),
                        member("friction", &Kept::friction));
    }
  };
  using State = std::vector<Kept>;
  State state() const;
  void set_state(const State& state);
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
    std::size_t first = 0, middle = 0, last = 0;  // its carriers: of a, then of b
  };
  struct Carrier {
    int node = 0;
    double weight = 0;  // with its sign
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
  void collect(Contact& c);
  Vec3 carried_velocity(const Contact& c, const Points& of_a, const Points& of_b) const;
  void begin(std::span<Points* const> velocities);
  void apply(const Contact& c, const Vec3& impulse, Points& of_a, Points& of_b) const;
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
  std::vector<Carrier> m_nodes;
  std::vector<char> m_involved;
  std::vector<double> m_touching;
  std::set<std::pair<std::size_t, std::size_t>> m_neighbours;  // that reach each other, both ways
  std::set<std::pair<std::size_t, std::size_t>> m_left_out;
  double m_dt = 0;
  using KeptImpulses = std::map<std::array<std::size_t, 3>, Kept>;
  KeptImpulses kept_by_now() const;
  KeptImpulses m_kept;
  bool m_keeps = false, m_has_begun = false;
};

// Sequential impulses of all bodies in a step, with obstacles (one list of contacts per body) and with each other.
// Bodies without velocities (null) are left out; contacts between bodies may have none of them.
void resolve_together(std::span<ParticleContacts> with_obstacles, CarriedContacts& between,
                      std::span<Points* const> velocities);

}  // namespace exemplar
