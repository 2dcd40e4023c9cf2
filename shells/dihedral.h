// The dihedral angle of two triangles that share an edge, with gradient and Hessian (Tamstorf and Grinspun
// 2013, "Discrete bending forces and their Jacobians").
//
// Points (x0, x1; x2, x3): the edge x0 → x1, x2 the wing on its left, x3 that on its right, seen against the
// normals n₂ = e × r₂ and n₃ = r₃ × e with e = x1 − x0, r_w = x_w − x0. θ = 0 when flat, positive when both
// wings lean towards the normals, in (−π, π].
//   ∂θ/∂x_w = g_w = |e| n_w/|n_w|²,  ∂θ/∂x0 = −Σ_w (1 − t_w) g_w,  ∂θ/∂x1 = −Σ_w t_w g_w
// with t_w = r_w·e/|e|², where the wing's foot divides the edge. The Hessian is the derivative of these
// lines.
#pragma once

#include <cmath>
#include <numbers>

#include "core/math/types.h"

namespace exemplar::shells {

using Vec12 = Eigen::Matrix<double, 12, 1>;
using Mat12 = Eigen::Matrix<double, 12, 12>;
using Stencil = Eigen::Matrix<double, 3, 4>;  // columns x0 … x3

struct Dihedral {
  static double value(const Stencil& x) {
    const Vec3 e = x.col(1) - x.col(0);
    const Vec3 n2 = e.cross(x.col(2) - x.col(0)), n3 = Vec3(x.col(3) - x.col(0)).cross(e);
    return std::atan2(n3.cross(n2).dot(e) / e.norm(), n2.dot(n3));
  }

  static Vec12 gradient(const Stencil& x) {
    Vec12 g = Vec12::Zero();
    for (int w = 2; w < 4; ++w) {
      const Wing wing(x, w);
      g.segment<3>(0) -= (1 - wing.t) * wing.g;
      g.segment<3>(3) -= wing.t * wing.g;
      g.segment<3>(3 * w) = wing.g;
    }
    return g;
  }

  static Mat12 hessian(const Stencil& x) {
    Mat12 h = Mat12::Zero();
    for (int w = 2; w < 4; ++w) {
      const Wing wing(x, w);
      // Derivatives of g and t with respect to e and r, then to the three points.
      const double square = wing.n.squaredNorm(), length = wing.e.norm();
      const Mat3 mirror = (length / square) * (Mat3::Identity() - (2 / square) * wing.n * wing.n.transpose());
      const Mat3 g_r = wing.sign * mirror * cross_matrix(wing.e);
      const Mat3 g_e =
          -wing.sign * mirror * cross_matrix(wing.r) + wing.n * wing.e.transpose() / (square * length);
      const Eigen::RowVector3d t_r = wing.e.transpose() / (length * length);
      const Eigen::RowVector3d t_e = (wing.r - 2 * wing.t * wing.e).transpose() / (length * length);
      add_point(h, wing, 0, w, -g_e - g_r, -t_e - t_r);
      add_point(h, wing, 1, w, g_e, t_e);
      add_point(h, wing, w, w, g_r, t_r);
    }
    return h;
  }

  // The angle that differs from `angle` by whole turns and is nearest to `reference`: continuous in time past
  // ±π as long as it turns by less than half a turn between two references.
  static double unwrapped(double angle, double reference) {
    constexpr double turn = 2 * std::numbers::pi;
    return angle + turn * std::round((reference - angle) / turn);
  }

 private:
  struct Wing {
    Wing(const Stencil& x, int w)
        : e(x.col(1) - x.col(0)), r(x.col(w) - x.col(0)), sign(w == 2 ? 1 : -1), n(sign * e.cross(r)) {
      g = e.norm() / n.squaredNorm() * n;
      t = r.dot(e) / e.squaredNorm();
    }
    Vec3 e, r;
    double sign;
    Vec3 n, g;
    double t;
  };
  static Mat3 cross_matrix(const Vec3& v) {
    Mat3 m;
    m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
    return m;
  }
  // The column of point p: derivatives of −(1 − t) g, −t g and g.
  static void add_point(Mat12& h, const Wing& wing, int p, int w, const Mat3& dg,
                        const Eigen::RowVector3d& dt) {
    h.block<3, 3>(0, 3 * p) += wing.g * dt - (1 - wing.t) * dg;
    h.block<3, 3>(3, 3 * p) -= wing.g * dt + wing.t * dg;
    h.block<3, 3>(3 * w, 3 * p) += dg;
  }
};

}  // namespace exemplar::shells
