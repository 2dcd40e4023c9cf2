#include "core/world/shape_distance.h"

#include <algorithm>
#include <cmath>

namespace exemplar {

namespace {

// Distance |r| − radius where r = `offset` from the nearest point of a point, line or plane whose projection
// leaves the directions `free` (a diagonal of zeros and ones): Hessian (diag(free) − n nᵀ)/|r|.
SignedDistance offset_distance(const Vec3& offset, const Vec3& free, double radius) {
  const double length = offset.norm();
  SignedDistance out;
  out.value = length - radius;
  if (length < 1e-300) return out;
  out.gradient = offset / length;
  out.hessian = (Mat3(free.asDiagonal()) - out.gradient * out.gradient.transpose()) / length;
  return out;
}

}  // namespace

SignedDistance plane_distance(const Vec3& p) {
  SignedDistance out;
  out.value = p.y();
  return out;
}

SignedDistance sphere_distance(double radius, const Vec3& p) {
  return offset_distance(p, Vec3::Ones(), radius);
}

SignedDistance box_distance(const Vec3& size, const Vec3& p) {
  const Vec3 excess = p.cwiseAbs() - 0.5 * size;
  const auto sign = [&](int i) { return p[i] < 0 ? -1.0 : 1.0; };
  int widest = 0;
  const double inside = excess.maxCoeff(&widest);
  if (inside <= 0) {
    SignedDistance out;
    out.value = inside;
    out.gradient = sign(widest) * Vec3::Unit(widest);
    return out;
  }
  Vec3 offset = Vec3::Zero(), free = Vec3::Zero();
  for (int i = 0; i < 3; ++i) {
    if (excess[i] <= 0) continue;
    offset[i] = sign(i) * excess[i];
    free[i] = 1;
  }
  return offset_distance(offset, free, 0);
}

SignedDistance capsule_distance(double radius, double length, const Vec3& p) {
  const double along = std::clamp(p.y(), -0.5 * length, 0.5 * length);
  const bool beyond = along != p.y();
  SignedDistance out = offset_distance(p - along * Vec3::UnitY(), Vec3(1, beyond ? 1 : 0, 1), radius);
  if (!beyond && p.x() == 0 && p.z() == 0) out.gradient = Vec3::UnitX();
  return out;
}

SignedDistance cylinder_distance(double radius, double length, const Vec3& p) {
  const double rho = std::hypot(p.x(), p.z());
  const Vec3 radial = rho > 1e-300 ? Vec3(p.x() / rho, 0, p.z() / rho) : Vec3::UnitX();
  const Vec3 axial = p.y() < 0 ? Vec3(-Vec3::UnitY()) : Vec3::UnitY();
  const double side = rho - radius, cap = std::abs(p.y()) - 0.5 * length;
  // Curvature of circles about the axis: (I_xz − e_ρ e_ρᵀ)/ρ.
  const Mat3 around = rho > 1e-300
                          ? Mat3((Mat3(Vec3(1, 0, 1).asDiagonal()) - radial * radial.transpose()) / rho)
                          : Mat3::Zero();
  SignedDistance out;
  if (side > 0 && cap > 0) {
    out.value = std::hypot(side, cap);
    out.gradient = (side * radial + cap * axial) / out.value;
    const Mat3 half_square = radial * radial.transpose() + side * around + axial * axial.transpose();
    out.hessian = (half_square - out.gradient * out.gradient.transpose()) / out.value;
  } else if (side > cap) {
    out.value = side;
    out.gradient = radial;
    out.hessian = around;
  } else {
    out.value = cap;
    out.gradient = axial;
  }
  return out;
}

}  // namespace exemplar
