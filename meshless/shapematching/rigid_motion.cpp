#include "meshless/shapematching/rigid_motion.h"

#include <Eigen/Eigenvalues>
#include <vector>

#include "core/math/parallel.h"
#include "meshless/shapematching/rotation.h"

namespace exemplar::shape_matching {

namespace {

constexpr std::size_t range_size = 1024;

// Adds up Sum-typed partial results of fixed ranges of [0, count), in order.
template <class Sum, class AddRange>
Sum ordered_sum(std::size_t count, const AddRange& add_range) {
  const std::size_t ranges = (count + range_size - 1) / range_size;
  std::vector<Sum> parts(ranges, Sum::Zero());
  parallel_for(
      ranges,
      [&](std::size_t r) { add_range(r * range_size, std::min(count, (r + 1) * range_size), parts[r]); }, 1);
  Sum total = Sum::Zero();
  for (const Sum& part : parts) total += part;
  return total;
}

using MotionSums = Eigen::Matrix<double, 16, 1>;  // m, m x (3), m v (3), m x×v (3), m xxᵀ (6)

void add_motion(const double* x, const double* v, const double* m, const Vec3& near, std::size_t begin,
                std::size_t end, MotionSums& sums) {
  double mass = 0, mx = 0, my = 0, mz = 0, mu = 0, mv = 0, mw = 0, lx = 0, ly = 0, lz = 0;
  double xx = 0, yy = 0, zz = 0, xy = 0, yz = 0, zx = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double w = m[i], px = x[3 * i] - near(0), py = x[3 * i + 1] - near(1), pz = x[3 * i + 2] - near(2);
    const double a = w * px, b = w * py, c = w * pz, vx = v[3 * i], vy = v[3 * i + 1], vz = v[3 * i + 2];
    mass += w, mx += a, my += b, mz += c;
    mu += w * vx, mv += w * vy, mw += w * vz;
    lx += b * vz - c * vy, ly += c * vx - a * vz, lz += a * vy - b * vx;
    xx += a * px, yy += b * py, zz += c * pz, xy += a * py, yz += b * pz, zx += c * px;
  }
  sums << mass, mx, my, mz, mu, mv, mw, lx, ly, lz, xx, yy, zz, xy, yz, zx;
}

}  // namespace

Vec3 solve_inertia(const Mat3& inertia, const Vec3& angular_momentum) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(inertia);
  const Vec3 values = solver.eigenvalues();
  Vec3 local = solver.eigenvectors().transpose() * angular_momentum;
  for (int i = 0; i < 3; ++i) local(i) = values(i) > 1e-10 * values(2) ? local(i) / values(i) : 0.0;
  return solver.eigenvectors() * local;
}

CloudMotion cloud_motion(const Points& positions, const Points& velocities, const VecX& masses,
                         const Vec3& near) {
  const MotionSums s = ordered_sum<MotionSums>(
      static_cast<std::size_t>(positions.rows()), [&](std::size_t begin, std::size_t end, MotionSums& sums) {
        add_motion(positions.data(), velocities.data(), masses.data(), near, begin, end, sums);
      });
  CloudMotion out;
  out.mass = s(0);
  const Vec3 offset = s.segment<3>(1) / s(0);
  out.centre = near + offset;
  out.velocity = s.segment<3>(4) / s(0);
  out.angular_momentum = s.segment<3>(7) - s(0) * offset.cross(out.velocity);
  Mat3 second;
  second << s(10), s(13), s(15), s(13), s(11), s(14), s(15), s(14), s(12);
  second -= s(0) * offset * offset.transpose();
  out.inertia = second.trace() * Mat3::Identity() - second;
  out.spin = solve_inertia(out.inertia, out.angular_momentum);
  return out;
}

MomentumSum momentum_of_change(const Points& positions, const Points& from, const Points& to,
                               const VecX& masses, const Vec3& centre) {
  using Sums = Eigen::Matrix<double, 6, 1>;
  const double *x = positions.data(), *f = from.data(), *t = to.data(), *m = masses.data();
  const Sums s = ordered_sum<Sums>(
      static_cast<std::size_t>(positions.rows()), [&](std::size_t begin, std::size_t end, Sums& sums) {
        double px = 0, py = 0, pz = 0, lx = 0, ly = 0, lz = 0;
        for (std::size_t i = begin, k = 3 * begin; i < end; ++i, k += 3) {
          const double a = x[k] - centre(0), b = x[k + 1] - centre(1), c = x[k + 2] - centre(2);
          const double u = m[i] * (t[k] - f[k]), v = m[i] * (t[k + 1] - f[k + 1]),
                       w = m[i] * (t[k + 2] - f[k + 2]);
          px += u, py += v, pz += w;
          lx += b * w - c * v, ly += c * u - a * w, lz += a * v - b * u;
        }
        sums << px, py, pz, lx, ly, lz;
      });
  return {s.head<3>(), s.tail<3>()};
}

Mat3 body_rotation(const Points& rest, const Points& positions, const VecX& masses, const Mat3& last) {
  const double mass = masses.sum();
  const Eigen::RowVector3d c0 = masses.transpose() * rest / mass, c = masses.transpose() * positions / mass;
  const Mat3 a = (positions.rowwise() - c).transpose() * masses.asDiagonal() * (rest.rowwise() - c0);
  return nearest_rotation(a, last);
}

}  // namespace exemplar::shape_matching
