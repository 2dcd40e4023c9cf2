// Joints between the pieces of a body that break when they carry too much (jones2016 §5).
//
// A joint's load is averaged over a window t: J ← J e^(−dt/t) + j with j the impulse of a tick, so that J/t is the
// force under a steady load and an impact counts with its whole impulse, whatever the time step. It breaks when
//
//   |J|/(A t) + |J_φ|/(A r/4 t) > strength        r = √(A/π): a round section of the joint's area
//
// Bullet's own breaking threshold would be per solver row, mix N s with N m s and depend on the step. Units: N s, m², Pa.
#pragma once

#include <vector>

#include "core/mesh/pieces.h"
#include "rigidplastic/simulation/simulation.h"

namespace exemplar::rigid {

struct BreakableJoint {
  Joint joint;
  int piece_a = 0, piece_b = 0;                                 // rigid bodies
  double area = 0;                                              // m²
  double strength = 0;                                          // Pa
  Vec3 impulse = Vec3::Zero(), angular_impulse = Vec3::Zero();  // in the window
  bool broken = false;

  double stress(double window) const;  // Pa

  static constexpr auto described() {
    return std::tuple(member("joint", &BreakableJoint::joint), member("piece_a", &BreakableJoint::piece_a),
                      member("piece_b", &BreakableJoint::piece_b), member("area", &BreakableJoint::area),
                      member("strength", &BreakableJoint::strength),
                      member("impulse", &BreakableJoint::impulse),
                      member("angular_impulse", &BreakableJoint::angular_impulse),
                      member("broken", &BreakableJoint::broken));
  }
};

class BreakableJoints {
 public:
  explicit BreakableJoints(double window = 0.004) : m_window(window) {}

  bool empty() const { return m_joints.empty(); }
  const std::vector<BreakableJoint>& joints() const { return m_joints; }
  // A joint between two bodies of the simulation as they stand now, through a point of the world.
  void add(const std::vector<RigidBody>& bodies, int a, int b, const Vec3& pivot, double area,
           double strength);
  // Those that hold, as the simulation wants them.
  std::vector<Joint> holding() const;
  // After a tick: true when something broke.
  bool update(const Simulation& simulation, double dt);
  // Connected through joints that hold: the smallest body of each body's component.
  std::vector<int> components(std::size_t body_count) const;
  // The bodies' frames changed: pivots and axes stay where they are in the world at rest.
  void follow(int body, const BodyFrame& from, const BodyFrame& to);

  // All of them as they were. Throws InputError when they belong to other pieces.
  void restore(std::vector<BreakableJoint> joints);

 private:
  double m_window;
  std::vector<BreakableJoint> m_joints;
};

}  // namespace exemplar::rigid
