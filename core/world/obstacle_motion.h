// Motion of the obstacles for methods with simple time stepping (shape matching, mass-spring, peridynamics):
// keyframes are evaluated, dynamic bodies are integrated, obstacles collide with each other by impulses, and
// a method hands over the impulses of its own contacts. Deterministic and sequential: scenes have few
// obstacles.
//
// A step: forces → v += h g; ω from the angular momentum L = I ω, kept in world axes (the gyroscopic term);
// contacts between obstacles → velocity impulses; then positions (semi-implicit Euler). Contact is felt up to
// the distance that the closing speed covers in the step, so that a fast body stops at the surface; what
// depth is left is removed by a position correction that adds no velocity. Units: m, kg, s.
#pragma once

#include <span>
#include <vector>

#include "core/world/obstacle.h"

namespace exemplar {

// Orientation and angular velocity of a dynamic body after dt without torque: the angular momentum is kept
// exactly, the orientation moves with the angular velocity at the middle of the step (second order).
void spin_freely(const ObstacleBody& body, ObstacleState& state, double dt);

// Relative velocity, impulse and friction at one contact point; also for a method's own particles.
struct ContactImpulse {
  Vec3 impulse =
      Vec3::Zero();   // N s, on the body that stands outside (the particle); the obstacle gets the opposite
  double normal = 0;  // its part along the normal
};

class ObstacleWorld {
 public:
  ObstacleWorld() = default;
  ObstacleWorld(std::vector<ObstacleBody> bodies, const Vec3& gravity, double start_time = 0);

  std::size_t size() const { return m_bodies.size(); }
  const std::vector<ObstacleBody>& bodies() const { return m_bodies; }
  const ObstacleBody& body(std::size_t i) const { return m_bodies[i]; }
  const std::vector<ObstacleState>& states() const { return m_state.bodies; }
  const ObstacleState& state(std::size_t i) const { return m_state.bodies[i]; }
  // For solvers that move dynamic obstacles themselves.
  void set_state(std::size_t i, const ObstacleState& state) { m_state.bodies[i] = state; }
  double time() const { return m_state.time; }
  const Vec3& gravity() const { return m_gravity; }  // m/s²

  // Moves everything to time() + dt.
  void advance(double dt);
  // Moves fixed and keyframed obstacles only.
  void set_time(double time);

  SignedDistance distance(std::size_t i, const Vec3& world) const {
    return m_bodies[i].distance(m_state.bodies[i], world);
  }
  // Changes a dynamic obstacle's velocities at once; others take the impulse without moving.
  void apply_impulse(std::size_t i, const Vec3& world_point, const Vec3& impulse);
  // Impulse that stops a point mass with this velocity at obstacle i (normal pointing outwards): restitution
  // and Coulomb friction of the obstacle, which receives the opposite impulse. Zero when the two separate.
  ContactImpulse collide_particle(std::size_t i, const Vec3& world_point, const Vec3& normal,
                                  const Vec3& velocity, double inverse_mass);

  // Sums over the dynamic obstacles.
  Vec3 linear_momentum() const;
  Vec3 angular_momentum(const Vec3& about = Vec3::Zero()) const;
  double kinetic_energy() const;
  double potential_energy() const;  // −m g·x
  // Impulse that each obstacle has received since the start (from other obstacles and apply_impulse), N s.
  const std::vector<Vec3>& received_impulses() const { return m_state.received; }
  // Deepest overlap of two obstacles in the present state, m; 0 when none.
  double deepest_overlap() const;

  struct State {
    std::vector<ObstacleState> bodies;
    std::vector<Vec3> received;  // N s
    double time = 0;             // s

    static constexpr auto described() {
      return std::tuple(member("bodies", &State::bodies), member("received", &State::received),
                        member("time", &State::time));
    }
  };
  const State& state() const { return m_state; }
  // Throws InputError if it is another scene's.
  void restore(State state);

 private:
  struct Contact {
    std::size_t a, b;  // sample of a against the shape of b
    Vec3 point, normal;
    double gap;     // m
    double bounce;  // separation speed asked for, m/s
    double normal_sum = 0;
    Vec3 friction_sum = Vec3::Zero();
  };

  void integrate_velocities(double dt);
  void integrate_positions(double dt);
  std::vector<Contact> find_contacts(double reach_time, double margin) const;
  void add_contacts(std::size_t a, std::size_t b, double reach_time, double margin,
                    std::vector<Contact>& out) const;
  void solve_contacts(std::vector<Contact>& contacts, double dt);
  void solve_contact(Contact& contact, double dt);
  void separate();
  Mat3 inverse_mass_at(std::size_t i, const Vec3& point) const;
  void exchange(std::size_t a, std::size_t b, const Vec3& point, const Vec3& impulse);

  std::vector<ObstacleBody> m_bodies;
  State m_state;
  Vec3 m_gravity = Vec3::Zero();
};

}  // namespace exemplar
