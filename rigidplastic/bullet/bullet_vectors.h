// Between our vectors and Bullet's.
#pragma once

#include <LinearMath/btVector3.h>

#include "core/math/types.h"

namespace exemplar {

inline btVector3 to_bullet(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}
inline Vec3 from_bullet(const btVector3& v) {
  return {v.x(), v.y(), v.z()};
}

}  // namespace exemplar
