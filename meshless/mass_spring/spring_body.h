// A spring network in time. Two ways of holding its lengths:
//   forces       f = −k (l − l₀) n − c (v·n) n per spring, Verlet integration (bugbear2009 eq. 2.3–2.4)
//                    x' = 2x − x⁰ + a h²
//                written with v = (x − x⁰)/h, the velocity half a step back: v ← v + h a, x ← x + h v is the
//                same sequence, and lets contact and changes of h in
//   constraints  Verlet without spring forces, then `iterations` passes in which every spring moves its ends to its
//                rest length, half each (eq. 2.7–2.8; held ends do not move)
// Springs strained beyond a limit are removed. Steps beyond the stability limit of the forces are divided.
// Departure, constraints: lengths that were wrong before a step are put right by moving the ends, and in the paper this move
// becomes velocity, the more of it the shorter the step. A block pressed by another one sprang back with seven times the
// energy that had pressed it, which no constraint had held. So what the passes add to the kinetic energy stays in the
// places and is taken out of the velocities, as a share of all that is not rigid motion.
// Damping c = 2 ζ k/ω_max is proportional to stiffness: ratio ζ at the highest frequency. The material's own damping
// c = β k (β in s) may be far stronger than an explicit step can bear: its dampers act one after the other as impulses
// along their springs, v_rel ← v_rel/(1 + c h (1/m_a + 1/m_b)), stable for any step and without effect on either momentum.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/base/state_member.h"
#include "core/contact/settling.h"
#include "core/math/rigid_velocity.h"
#include "meshless/mass_spring/network.h"

namespace exemplar::mass_spring {

enum class Integration { forces, constraints };

struct SpringOptions {
  Integration integration = Integration::forces;
  double damping_ratio = 0.1;  // ζ, of the fastest oscillation, forces only
  double damping_time = 0.0;   // β, of the material [s]
  double air_drag = 0.0;       // rate of decay of all velocities [1/s]
  double strain_limit = 0.0;   // springs longer than (1 + limit) l₀ are removed; 0: none
  int iterations = 10;         // constraints only
};

// Velocity of a supported node, coordinate by coordinate.
struct HeldNode {
  int node = 0;
  std::array<bool, 3> held{true, true, true};
  Vec3 velocity = Vec3::Zero();  // m/s
};

class SpringBody {
 public:
  SpringBody(Network network, const SpringOptions& options, double gravity = 0);

  // Largest step that forces allow, with damping and a margin; infinite for constraints [s].
  double stable_step() const { return m_stable_step; }

  // The two halves of a step: velocities, which contact may change, and the move. `forces` in newtons, may be
  // empty.
  void update_velocities(double dt, const Vec3& gravity, const Points& forces = {});
  // Constraints only: `passes` over the springs at the positions where the velocities lead. A part of
  // update_velocities in the paper; apart here, so that contact can be resolved between passes.
  void relax(double dt, int passes);
  bool is_damped() const { return m_options.damping_time > 0.0; }
  // The material's damping, after contact: before it, dampers would pass on what contact is about to hold, and a body at
  // rest would sink into what it lies on.
  void damp_springs(double dt);
  // Of a body that touches something (core/contact/settling.h); returns whether it changed a velocity.
  bool settle(double dt);
  void move(double dt);
  void step(double dt, const Vec3& gravity) {
    update_velocities(dt, gravity);
    if (m_options.integration == Integration::constraints) relax(dt, m_options.iterations);
    damp_springs(dt);
    move(dt);
  }
  // Nodes whose coordinates are held one by one: they keep the velocity they are given.
  void set_held(std::vector<HeldNode> nodes);

  Points positions, velocities;
  const Network& network() const { return m_network; }
  bool is_broken(Eigen::Index spring) const { return m_is_broken[spring] != 0; }
  int broken_springs() const;
  double whole() const;                  // share of the springs that are not broken
  std::vector<int> loose_nodes() const;  // of tets that have lost an edge, ascending
  int inverted_tets() const;             // inside out, of those that no spring has left
  double elastic_energy() const;         // Σ ½ k (l − l₀)² and the guard's; constraints hold none [J]
  double kinetic_energy() const;
  double damped_energy() const { return m_damped_energy; }      // what dampers and air have taken so far [J]
  double released_energy() const { return m_released_energy; }  // what removed springs held [J]
  Points spring_forces() const;                                 // without damping [N]

  struct State {
    Points positions, velocities;
    std::vector<char> is_broken;
    double damped_energy = 0, released_energy = 0;  // J

    static constexpr auto described() {
      return std::tuple(member("positions", &State::positions), member("velocities", &State::velocities),
                        member("is_broken", &State::is_broken),
                        member("damped_energy", &State::damped_energy),
                        member("released_energy", &State::released_energy));
    }
  };
  State state() const { return {positions, velocities, m_is_broken, m_damped_energy, m_released_energy}; }
  // Throws InputError if it is another network's.
  void set_state(State state);

 private:
  void add_spring_forces(bool is_damped, Points& forces) const;
  void remove_overstretched(double dt);
  double length_rate(Eigen::Index spring, const Points& at) const;  // m/s
  RigidVelocity motion() const;
  void take_out_gain();
  void begin_booking(double dt);
  void book_damping();
  void damp_spring(Eigen::Index s, double dt);
  double spring_energy(Eigen::Index spring, double back = 0.0) const;  // as long as it was that time ago [J]
  void leave_broken_tets();
  void hold(Points& values) const;

  Network m_network;
  SpringOptions m_options;
  double m_damping_time = 0.0;  // c = k · this [s]
  double m_stable_step = 0.0;
  double m_damped_energy = 0.0, m_released_energy = 0.0;
  // Of the step under way: velocities at its start, what dampers have given each spring since [N s], what settling has
  // taken from them, the air's factor.
  Points m_start_velocities, m_calmed;
  VecX m_damper_impulses;
  double m_kept = 1.0;
  double m_relax_gain = 0.0;  // J, of constraints
  Settling m_settling;
  std::vector<char> m_is_broken, m_is_unguarded;
  std::vector<HeldNode> m_held;
  VecX m_inverse_masses;  // 0 where all three coordinates are held
  std::vector<int> m_node_start,
      m_node_springs;              // springs of each node; −1 − s where the node is the second end
  mutable Points m_spring_forces;  // one row a spring
};

}  // namespace exemplar::mass_spring
