#include "rigidplastic/simulation/pushes.h"

#include "core/world/rotation.h"

namespace exemplar::rigid {

// Where the spring is soft against the step its force is taken at the start of the tick, as all others are: it swings
// without damping then. A stiffer one is taken at the end of the tick, which is stable for any stiffness.
Vec3 pull_impulse(const PullSpring& spring, const Vec3& x, const RigidBodyState& body, const Push& others,
                  const Vec3& gravity, double dt) {
  constexpr double k_soft = 0.25;  // (ω dt)²
  const Mat3 axes = body.state.orientation.toRotationMatrix();
  const Mat3 turning = axes * body.frame.inertia.cwiseInverse().asDiagonal() * axes.transpose();
  const Vec3 arm = x - body.state.position;
  const Mat3 cross = cross_matrix(arm);
  const Mat3 inverse_mass = Mat3::Identity() / body.mass - cross * turning * cross;
  if (spring.stiffness * inverse_mass.trace() * dt * dt < k_soft) return -dt * spring.gradient(x);
  const Vec3 v = body.state.velocity_at(x) +
                 dt * (gravity + others.force / body.mass + (turning * others.torque).cross(arm));
  return spring.impulse(x, v, inverse_mass, dt);
}

}  // namespace exemplar::rigid
