#include "core/contact/primitive_distance.h"

#include <algorithm>
#include <cmath>

#include "core/mesh/triangle.h"

namespace exemplar {

namespace {

void set_offset(Nearest& nearest, const std::array<Vec3, 4>& points) {
  Vec3 r = Vec3::Zero();
  for (int i = 0; i < 4; ++i) r += nearest.weights[i] * points[i];
  nearest.value = r.norm();
  if (nearest.value > 0) nearest.normal = r / nearest.value;
}

// Parameters of the nearest points of two segments (Ericson, Real-Time Collision Detection, 5.1.9).
Vec2 segment_parameters(const std::array<Vec3, 4>& p) {
  const Vec3 u = p[1] - p[0], v = p[3] - p[2], w = p[0] - p[2];
  const double a = u.squaredNorm(), e = v.squaredNorm(), f = v.dot(w), c = u.dot(w), b = u.dot(v);
  if (a <= 0 && e <= 0) return Vec2::Zero();
  if (a <= 0) return {0, std::clamp(f / e, 0.0, 1.0)};
  if (e <= 0) return {std::clamp(-c / a, 0.0, 1.0), 0};
  const double determinant = a * e - b * b;
  double s = determinant > 1e-14 * a * e ? std::clamp((b * f - c * e) / determinant, 0.0, 1.0) : 0.0;
  double t = (b * s + f) / e;
  if (t < 0) {
    t = 0;
    s = std::clamp(-c / a, 0.0, 1.0);
  } else if (t > 1) {
    t = 1;
    s = std::clamp((b - c) / a, 0.0, 1.0);
  }
  return {s, t};
}

}  // namespace

Nearest nearest_point_triangle(const std::array<Vec3, 4>& points) {
  const Vec3 beta = nearest_on_triangle(points[0], points[1], points[2], points[3]);
  Nearest out;
  out.weights << 1, -beta;
  int first = -1;
  for (int i = 0; i < 3; ++i) {
    if (beta[i] == 0) continue;
    if (first < 0) {
      first = i;
    } else {
      out.directions(first + 1, out.parameters) = 1;
      out.directions(i + 1, out.parameters++) = -1;
    }
  }
  set_offset(out, points);
  return out;
}

Nearest nearest_edges(const std::array<Vec3, 4>& points) {
  const Vec2 st = segment_parameters(points);
  Nearest out;
  out.weights << 1 - st[0], st[0], -(1 - st[1]), -st[1];
  if (st[0] > 0 && st[0] < 1) out.directions.col(out.parameters++) << -1, 1, 0, 0;
  if (st[1] > 0 && st[1] < 1) out.directions.col(out.parameters++) << 0, 0, 1, -1;
  set_offset(out, points);
  return out;
}

Vec12 distance_gradient(const Nearest& nearest) {
  Vec12 g;
  for (int i = 0; i < 4; ++i) g.segment<3>(3 * i) = nearest.weights[i] * nearest.normal;
  return g;
}

Mat12 distance_hessian(const Nearest& nearest, const std::array<Vec3, 4>& points) {
  const Vec3 r = nearest.value * nearest.normal;
  Mat12 h = Mat12::Zero();
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j)
      h.block<3, 3>(3 * i, 3 * j).diagonal().setConstant(nearest.weights[i] * nearest.weights[j]);
  }
  if (nearest.parameters > 0) {
    Eigen::Matrix<double, 12, 2> q = Eigen::Matrix<double, 12, 2>::Zero();
    Eigen::Matrix<double, 3, 2> d = Eigen::Matrix<double, 3, 2>::Zero();
    for (int k = 0; k < nearest.parameters; ++k) {
      for (int i = 0; i < 4; ++i) d.col(k) += nearest.directions(i, k) * points[i];
      for (int i = 0; i < 4; ++i)
        q.col(k).segment<3>(3 * i) = nearest.weights[i] * d.col(k) + nearest.directions(i, k) * r;
    }
    Eigen::Matrix2d metric = d.transpose() * d;
    if (nearest.parameters == 1) metric(1, 1) = 1;
    h -= q * metric.inverse() * q.transpose();
  }
  const Vec12 g = distance_gradient(nearest);
  h = (h - g * g.transpose()) / nearest.value;
  return 0.5 * (h + h.transpose());
}

EdgeFactor parallel_edge_factor(const std::array<Vec3, 4>& points, double threshold, bool derivatives) {
  const Vec3 u = points[1] - points[0], v = points[3] - points[2];
  const double c = u.cross(v).squaredNorm();
  EdgeFactor out;
  if (c >= threshold) return out;
  const double s = c / threshold;
  out.value = s * (2 - s);
  if (!derivatives) return out;
  const double slope = (2 - 2 * s) / threshold, curvature = -2 / (threshold * threshold);
  const double uv = u.dot(v);
  Eigen::Matrix<double, 6, 1> g;
  g.head<3>() = 2 * v.squaredNorm() * u - 2 * uv * v;
  g.tail<3>() = 2 * u.squaredNorm() * v - 2 * uv * u;
  Eigen::Matrix<double, 6, 6> h;
  h.block<3, 3>(0, 0) = 2 * (v.squaredNorm() * Mat3::Identity() - v * v.transpose());
  h.block<3, 3>(3, 3) = 2 * (u.squaredNorm() * Mat3::Identity() - u * u.transpose());
  h.block<3, 3>(0, 3) = 4 * u * v.transpose() - 2 * uv * Mat3::Identity() - 2 * v * u.transpose();
  h.block<3, 3>(3, 0) = h.block<3, 3>(0, 3).transpose();
  // (u, v) = B p
  Eigen::Matrix<double, 6, 12> b = Eigen::Matrix<double, 6, 12>::Zero();
  b.block<3, 3>(0, 0) = b.block<3, 3>(3, 6) = -Mat3::Identity();
  b.block<3, 3>(0, 3) = b.block<3, 3>(3, 9) = Mat3::Identity();
  out.gradient = slope * b.transpose() * g;
  out.hessian = b.transpose() * (slope * h + curvature * g * g.transpose()) * b;
  return out;
}

}  // namespace exemplar
