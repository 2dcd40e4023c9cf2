#include "meshless/shape_matching/rotation.h"

#include <Eigen/SVD>

namespace exemplar::shape_matching {

using namespace lanes;

namespace {

constexpr int max_rounds = 40;
constexpr double settled = 1e-14;  // |ω|² below which the next error is at round-off (quadratic convergence)
constexpr double definite = 1e-9;  // det B over tr³ above which Newton's step is taken

struct Symmetric {
  Lane xx, xy, xz, yy, yz, zz;
};

struct Step {
  LaneVec omega;
  Mask is_maximum;  // B is positive definite there
};

// Newton's step where B is safely positive definite, Müller's elsewhere.
Step rotation_step(const LaneMat& s) {
  const Lane trace = s(0, 0) + s(1, 1) + s(2, 2);
  const LaneVec a{s(2, 1) - s(1, 2), s(0, 2) - s(2, 0), s(1, 0) - s(0, 1)};
  const Symmetric b{s(1, 1) + s(2, 2), -0.5 * (s(0, 1) + s(1, 0)), -0.5 * (s(0, 2) + s(2, 0)),
                    s(0, 0) + s(2, 2), -0.5 * (s(1, 2) + s(2, 1)), s(0, 0) + s(1, 1)};
  const Lane cxx = b.yy * b.zz - b.yz * b.yz, cxy = b.xz * b.yz - b.xy * b.zz,
             cxz = b.xy * b.yz - b.xz * b.yy;
  const Lane cyy = b.xx * b.zz - b.xz * b.xz, cyz = b.xy * b.xz - b.xx * b.yz,
             czz = b.xx * b.yy - b.xy * b.xy;
  const Lane det = b.xx * cxx + b.xy * cxy + b.xz * cxz;
  const Mask positive = (b.xx > 0.0) & (czz > 0.0) & (det > definite * trace * trace * trace) & (trace > 0.0);
  const Lane abs_trace = select(trace < 0.0, -trace, trace);
  const Lane inverse = 1.0 / select(positive, det, abs_trace + 1e-300);
  Step step;
  step.is_maximum = positive;
  step.omega.x = inverse * select(positive, cxx * a.x + cxy * a.y + cxz * a.z, a.x);
  step.omega.y = inverse * select(positive, cxy * a.x + cyy * a.y + cyz * a.z, a.y);
  step.omega.z = inverse * select(positive, cxz * a.x + cyz * a.y + czz * a.z, a.z);
  return step;
}

LaneQuat turned(const LaneQuat& q, const LaneVec& omega) {
  LaneQuat out = q * LaneQuat{splat(1.0), 0.5 * omega.x, 0.5 * omega.y, 0.5 * omega.z};
  const Lane norm2 = out.w * out.w + out.x * out.x + out.y * out.y + out.z * out.z;
  // Small turns, i.e. nearly all of them, leave the norm so near to 1 that Newton's step for 1/√ is exact.
  const Lane off = norm2 - 1.0;
  Lane scale = 1.0 - 0.5 * off;
  if (any(~(off * off < 1e-16))) scale = 1.0 / lanes::sqrt(norm2);
  return {out.w * scale, out.x * scale, out.y * scale, out.z * scale};
}

// Lanes that did not settle on a maximum: half turns, far starts, degenerate matrices. Rare, so one by one.
void repair(const LaneMat& a, LaneQuat& q, LaneMat& r, Mask bad) {
  for (int lane = 0; lane < width; ++lane) {
    if (!bad[lane]) continue;
    const Mat3 rotation = nearest_rotation(extract(a, lane), extract(r, lane));
    const Quat quat = Quat(rotation).normalized();
    q.w[lane] = quat.w(), q.x[lane] = quat.x(), q.y[lane] = quat.y(), q.z[lane] = quat.z();
    insert(r, lane, quat.toRotationMatrix());
  }
}

}  // namespace

Mat3 nearest_rotation(const Mat3& a, const Mat3& last) {
  if (!a.allFinite()) return last;
  const Eigen::JacobiSVD<Mat3> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const double sign = svd.matrixU().determinant() * svd.matrixV().determinant() < 0.0 ? -1.0 : 1.0;
  // A copy: GCC takes what a reference sees for uninitialised.
  const Vec3 sigma = svd.singularValues();  // NOLINT(performance-unnecessary-copy-initialization)
  if (sigma(1) + sign * sigma(2) <= 1e-9 * sigma(0)) return last;
  return svd.matrixU() * Vec3(1.0, 1.0, sign).asDiagonal() * svd.matrixV().transpose();
}

LaneMat extract_rotations(const LaneMat& a, LaneQuat& q) {
  const LaneQuat start = q;
  Mask bad{};
  for (int round = 0; round < max_rounds; ++round) {
    const Step step = rotation_step(transposed_times(to_matrix(q), a));
    q = turned(q, step.omega);
    const Mask moving = ~(dot(step.omega, step.omega) < settled);  // also true for NaN
    bad = moving | ~step.is_maximum;
    if (!any(moving)) break;
  }
  LaneMat r = to_matrix(q);
  if (any(bad)) {
    // A settled start of rank one (a rod, two particles) is not unique: nearest_rotation then keeps what it
    // is given. A start that was not finite begins again at the rotation of the last step.
    for (int lane = 0; lane < width; ++lane) {
      if (std::isfinite(q.w[lane] + q.x[lane] + q.y[lane] + q.z[lane])) continue;
      q.w[lane] = start.w[lane], q.x[lane] = start.x[lane], q.y[lane] = start.y[lane],
      q.z[lane] = start.z[lane];
    }
    r = to_matrix(q);
    repair(a, q, r, bad);
  }
  return r;
}

}  // namespace exemplar::shape_matching
