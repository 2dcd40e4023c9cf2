// Four cells at a time: the few operations on vectors, 3×3 matrices and quaternions that shape matching needs.
#pragma once

#include "core/math/lanes.h"
#include "core/math/types.h"

namespace exemplar::shape_matching::lanes {

using namespace exemplar::lanes;

struct LaneVec {
  Lane x{}, y{}, z{};
};

inline Lane dot(const LaneVec& a, const LaneVec& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Four 3×3 matrices, entry (row, column).
struct LaneMat {
  Lane m[9]{};
  Lane& operator()(int r, int c) { return m[3 * r + c]; }
  const Lane& operator()(int r, int c) const { return m[3 * r + c]; }
};

inline LaneVec operator*(const LaneMat& a, const LaneVec& v) {
  return {a(0, 0) * v.x + a(0, 1) * v.y + a(0, 2) * v.z, a(1, 0) * v.x + a(1, 1) * v.y + a(1, 2) * v.z,
          a(2, 0) * v.x + a(2, 1) * v.y + a(2, 2) * v.z};
}

inline LaneMat operator*(const LaneMat& a, const LaneMat& b) {
  LaneMat out;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out(r, c) = a(r, 0) * b(0, c) + a(r, 1) * b(1, c) + a(r, 2) * b(2, c);
  return out;
}

// aᵀ b
inline LaneMat transposed_times(const LaneMat& a, const LaneMat& b) {
  LaneMat out;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out(r, c) = a(0, r) * b(0, c) + a(1, r) * b(1, c) + a(2, r) * b(2, c);
  return out;
}

inline Lane determinant(const LaneMat& a) {
  return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) -
         a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0)) +
         a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}

inline Mat3 extract(const LaneMat& a, int lane) {
  Mat3 out;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out(r, c) = a(r, c)[lane];
  return out;
}

inline void insert(LaneMat& a, int lane, const Mat3& value) {
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) a(r, c)[lane] = value(r, c);
}

// Unit quaternions w + xi + yj + zk.
struct LaneQuat {
  Lane w{}, x{}, y{}, z{};
};

inline LaneMat to_matrix(const LaneQuat& q) {
  const Lane x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  const Lane xx = q.x * x2, xy = q.x * y2, xz = q.x * z2, yy = q.y * y2, yz = q.y * z2, zz = q.z * z2;
  const Lane wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  LaneMat r;
  r(0, 0) = 1.0 - (yy + zz), r(0, 1) = xy - wz, r(0, 2) = xz + wy;
  r(1, 0) = xy + wz, r(1, 1) = 1.0 - (xx + zz), r(1, 2) = yz - wx;
  r(2, 0) = xz - wy, r(2, 1) = yz + wx, r(2, 2) = 1.0 - (xx + yy);
  return r;
}

inline LaneQuat operator*(const LaneQuat& a, const LaneQuat& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

}  // namespace exemplar::shape_matching::lanes
