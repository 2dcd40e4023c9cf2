// Where a rigid body is and how it moves: one type for obstacles and for every method on rigid bodies, and
// the one way it becomes numbers in a saved state. Units: m, s, rad.
#pragma once

#include <span>
#include <vector>

#include "core/base/state_member.h"
#include "core/math/types.h"

namespace exemplar {

struct RigidState {
  Vec3 position = Vec3::Zero();          // m, world, of the body frame's origin
  Quat orientation = Quat::Identity();   // body frame → world
  Vec3 velocity = Vec3::Zero();          // m/s
  Vec3 angular_velocity = Vec3::Zero();  // rad/s, world axes

  Vec3 to_world(const Vec3& local) const { return position + orientation * local; }
  Vec3 to_local(const Vec3& world) const { return orientation.conjugate() * (world - position); }
  Vec3 velocity_at(const Vec3& world) const { return velocity + angular_velocity.cross(world - position); }
  bool finite() const { return position.allFinite() && velocity.allFinite(); }

  static constexpr auto described() {
    return std::tuple(
        member("position", &RigidState::position), member("orientation", &RigidState::orientation),
        member("velocity", &RigidState::velocity), member("angular_velocity", &RigidState::angular_velocity));
  }
};

// Thirteen numbers a state: position, orientation (x y z w), velocity, angular velocity.
inline constexpr std::size_t numbers_per_rigid_state = 13;
std::vector<double> pack(std::span<const RigidState> states);
// Throws InputError when the count does not fit: the numbers belong to something else.
void unpack(std::span<const double> numbers, std::span<RigidState> states);

}  // namespace exemplar
