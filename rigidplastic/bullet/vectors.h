// Between our vectors and Bullet's.
#pragma once

#include <LinearMath/btTransform.h>

#include "core/world/rigid_state.h"

namespace exemplar::rigid {

inline btVector3 to_bullet(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}
inline Vec3 from_bullet(const btVector3& v) {
  return {v.x(), v.y(), v.z()};
}
inline btQuaternion to_bullet(const Quat& q) {
  return {q.x(), q.y(), q.z(), q.w()};
}
inline btTransform to_bullet(const RigidState& state) {
  return btTransform(to_bullet(state.orientation), to_bullet(state.position));
}

}  // namespace exemplar::rigid
