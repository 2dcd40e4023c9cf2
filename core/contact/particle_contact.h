// Contact by impulses between obstacles and a surface that particles carry, for methods with simple time
// stepping (shape matching, mass-spring): points that would be inside an obstacle at the end of the step stop at
// its surface, with the pair's friction and restitution; the particles take the impulse with the weights of
// the point, the obstacle the opposite one.
//
// Each contact keeps the impulse it has given so far in the step and may take some of it back (sequential
// impulses, Catto 2005): the method may change the velocities between two calls of resolve, as shape matching
// does after each of its passes, and the contacts still end at what is needed and no more. What is inside from
// before is moved out afterwards, without giving it a velocity: a velocity that pushes out stays, and a lying
// body then never comes to rest (observed: a steady 0.2 m/s).
//
// Friction is another matter: a pass of shape matching spreads what a contact gave to its particles over the body, and
// friction that is taken back afterwards, because other points have come to carry the weight, drives these particles
// instead of letting them go (thin sheets never stopped trembling, by 1 mm/s). So it is taken back between passes, to be spread
// too (release_friction), and not after the last one. A sliding body feels up to a hundredth more of it for that.
//
// Points are visited in order, so the result does not depend on threads. Units: m, kg, s.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/mesh/mesh.h"
#include "core/mesh/point_map.h"
#include "core/world/obstacle_motion.h"

namespace exemplar {

// Points carried by particles; those embedded in tetrahedra are carried by their corners.
using CarriedPoints = PointMap;
inline CarriedPoints carried_by_tets(const Embedding& points, const Tets& tets) {
  return PointMap::embedded(points, tets);
}

// Adds a particle itself as a point.
void add_particle(int particle, CarriedPoints& out);
// Forgets the points behind the first `count`.
void keep_first(int count, CarriedPoints& points);

// Adds a point of a triangle, a combination of what carries its corners.
void add_combination(const CarriedPoints& vertices, const std::array<int, 3>& corners,
                     const Vec3& barycentric, CarriedPoints& out);

// The surface's points, and further ones inside triangles with edges longer than `spacing`, so that a small
// obstacle does not slip between the vertices of a coarse surface.
CarriedPoints with_triangle_samples(const CarriedPoints& vertices, const TriMesh& surface, double spacing);

// The particles that lie inside the surface, or on it where it is closed, at rest, ascending.
std::vector<int> inner_particles(const TriMesh& surface, const Points& rest_particles);
// The points and these particles: a surface may fold away from an obstacle that its inside then goes through (observed:
// centre of mass 1.5 m under a plane).
CarriedPoints with_inner_particles(CarriedPoints points, const TriMesh& surface,
                                   const Points& rest_particles);

// Half the radius of the smallest obstacle; infinite without obstacles of finite size.
double contact_sample_spacing(const std::vector<ObstacleBody>& obstacles);

struct ParticleContactSummary {
  int contacts = 0;
  double deepest = 0;        // penetration before, m
  double closing_speed = 0;  // fastest approach that was stopped, m/s
};

// Sweeps over all contacts at most, and the change of a contact's velocity in one of them that ends it, m/s.
inline constexpr int k_most_contact_sweeps = 30;
inline constexpr double k_contact_settled = 1e-8;

// What a body's contacts of one step are made from.
struct ContactStep {
  const Points& positions;
  const Points& start_velocities;  // at the start of the step
  const Points& velocities;        // expected in this step; contacts are looked for where they lead
  const Points& inverse_masses;    // per coordinate; zero where it is held [1/kg]
  double dt = 0;
  double margin = 0;      // contacts are looked for so much farther away [m]
  double friction = 0.5;  // the body's, with obstacles that say none themselves
};

// The contacts of one body with obstacles in one step. Borrows the world and the points.
class ParticleContacts {
 public:
  ParticleContacts(ObstacleWorld& world, const CarriedPoints& points, const ContactStep& step);

  bool empty() const { return m_contacts.empty(); }
  bool touches() const;  // whether any of them has given an impulse in this step
  // Changes the velocities (and the obstacles') so that positions + dt · velocities stays outside.
  void resolve(Points& velocities);
  // Between two passes of a method that spreads over the body what contact gave to a few particles: friction above the
  // limit of the normal impulse that its contact ended with is taken back, to be spread by the next pass; what is left
  // then stays allowed for the rest of the step.
  void release_friction(Points& velocities);
  // Once over all contacts: a part of resolve, for contacts that other contacts change (carried_contact.h). Returns
  // the largest change of a contact's velocity, m/s.
  double sweep(Points& velocities);
  // After the move: what is still inside goes out by a fifth of its depth, at most at `push_speed` [m/s].
  void push_out(double push_speed, Points& positions) const;

  // Energy that particles and obstacles gave up to the impulses of this step: their work along the mean of the
  // velocities at its start and at its end [J]. Along the velocities between (gravity has acted, contact not
  // yet) a lying body would seem to lose ½ m (g h)² in every step (observed: 424 J in 20 s, of 67 J that it had).
  double dissipated(const Points& final_velocities) const;

  // Fastest relative velocity of a point that reaches an obstacle in this step; 0: nothing touches, m/s.
  double touching_speed() const { return m_touching_speed; }
  const ParticleContactSummary& summary() const { return m_summary; }

 private:
  struct Contact {
    std::size_t obstacle = 0;
    int point = 0;
    Vec3 position, normal;
    double gap = 0;             // m
    double bounce = 0;          // separation speed asked for, m/s
    double speed = 0;           // relative velocity as expected, m/s
    Vec3 start = Vec3::Zero();  // relative velocity at the start of the step, m/s
    Mat3 inverse_mass = Mat3::Zero();
    double normal_sum = 0;
    Vec3 friction_sum = Vec3::Zero();
    double allowed = 0;  // friction that the normal impulses of an earlier pass allow, N s
  };
  double friction_limit(const Contact& contact) const;  // of its normal impulse, N s
  double solve(Contact& contact, Points& velocities);   // returns the change of the contact's velocity
  void apply(const Contact& contact, const Vec3& impulse, Points& velocities);
  Vec3 relative_velocity(const Contact& contact, const Points& velocities) const;

  ObstacleWorld& m_world;
  const CarriedPoints& m_points;
  Points m_inverse_masses;
  double m_dt = 0, m_friction = 0, m_touching_speed = 0;
  std::vector<Contact> m_contacts;
  ParticleContactSummary m_summary;
};

// Deepest of the points inside any obstacle now, m; 0 when none is.
double deepest_point(const ObstacleWorld& world, const Points& points);

}  // namespace exemplar
