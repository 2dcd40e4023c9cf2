#include "rigidplastic/bend/joint_math.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/world/rotation.h"

namespace exemplar::bend {

double reduced_inertia(const Mat3& inverse_inertia_a, const Mat3& inverse_inertia_b, const Vec3& axis) {
  return 1 / axis.dot((inverse_inertia_a + inverse_inertia_b) * axis);
}

// Angular impulses ±j n and the linear impulses ±P that keep the joint together change the relative rotation by
// (A n − C K⁻¹ Cᵀ n) j with A = I_a⁻¹ + I_b⁻¹, C = I_a⁻¹[r_a]× + I_b⁻¹[r_b]×, K the joint's inverse mass.
namespace {

struct Coupling {
  Mat3 c, k;

  Coupling(const JointSide& a, const JointSide& b) {
    const Mat3 ra = cross_matrix(a.arm), rb = cross_matrix(b.arm);
    c = a.inverse_inertia * ra + b.inverse_inertia * rb;
    k = (a.inverse_mass + b.inverse_mass) * Mat3::Identity() - ra * a.inverse_inertia * ra -
        rb * b.inverse_inertia * rb;
  }
};

}  // namespace

Mat3 turning_response(const JointSide& a, const JointSide& b) {
  const Coupling joint(a, b);
  return a.inverse_inertia + b.inverse_inertia - joint.c * joint.k.ldlt().solve(joint.c.transpose());
}

double reduced_inertia(const JointSide& a, const JointSide& b, const Vec3& axis) {
  return 1 / axis.dot(turning_response(a, b) * axis);
}

Vec3 holding_impulse(const JointSide& a, const JointSide& b, const Vec3& angular) {
  const Coupling joint(a, b);
  return -joint.k.ldlt().solve(joint.c.transpose() * angular);
}

// Only the difference of the two pivots' accelerations has to be made up by the joint's force.
Vec3 turning_under(const JointSide& a, const JointSide& b, const Vec3& acceleration) {
  const Vec3 apart = (b.inverse_mass > 0 ? acceleration : Vec3::Zero().eval()) -
                     (a.inverse_mass > 0 ? acceleration : Vec3::Zero().eval());
  if (apart.isZero(0)) return Vec3::Zero();
  const Coupling joint(a, b);
  return -joint.c * joint.k.ldlt().solve(apart);
}

namespace {

// Without a spring: I ω̇ + C ω = τ.
OscillatorState advanced_free(const Oscillator& o, const OscillatorState& s, double dt) {
  if (o.damping == 0) {
    const double acceleration = o.torque / o.inertia;
    return {s.angle + dt * (s.rate + 0.5 * dt * acceleration), s.rate + dt * acceleration};
  }
  const double terminal = o.torque / o.damping, k = o.damping / o.inertia;
  const double gone = -std::expm1(-k * dt);  // 1 − e^(−k dt)
  return {s.angle + terminal * dt + (s.rate - terminal) * gone / k, s.rate + (terminal - s.rate) * gone};
}

}  // namespace

// x = θ − θ₀ − τ/κ obeys ẍ + 2β ẋ + ω₀² x = 0 with β = C/2I, ω₀² = κ/I:
//   x(t) = x c(t) + (ẋ + β x) s(t),   ẋ(t) = ẋ c(t) − (β ẋ + ω₀² x) s(t)
// where c and s are e^(−βt) times cos wt and sin(wt)/w, 1 and t, or cosh gt and sinh(gt)/g.
OscillatorState advanced(const Oscillator& o, const OscillatorState& state, double dt) {
  if (o.stiffness == 0) return advanced_free(o, state, dt);
  const double beta = 0.5 * o.damping / o.inertia, w0 = o.stiffness / o.inertia;
  const double discriminant = w0 - beta * beta;
  double c = std::exp(-beta * dt), s = c * dt;
  if (discriminant > 1e-14 * w0) {
    const double w = std::sqrt(discriminant);
    s = c * std::sin(w * dt) / w;
    c *= std::cos(w * dt);
  } else if (discriminant < -1e-14 * w0) {
    const double g = std::sqrt(-discriminant);
    const double slow = std::exp((g - beta) * dt), fast = std::exp(-(g + beta) * dt);
    c = 0.5 * (slow + fast);
    s = 0.5 * (slow - fast) / g;
  }
  const double balance = o.rest + o.torque / o.stiffness;
  const double x = state.angle - balance, v = state.rate;
  return {balance + x * c + (v + beta * x) * s, v * c - (beta * v + w0 * x) * s};
}

double spring_impulse(const Oscillator& oscillator, const OscillatorState& state, double dt) {
  const OscillatorState next = advanced(oscillator, state, dt);
  return oscillator.inertia * ((next.angle - state.angle) / dt - state.rate);
}

namespace {

// Where the plane z = 0 cuts a triangle: from the edge that goes up through it to the one that goes down, which has
// the material of an outwards oriented surface on its left.
bool cut(const std::array<Vec3, 3>& p, Eigen::Vector4d& segment) {
  int found = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 &a = p[k], &b = p[(k + 1) % 3];
    const bool up = a.z() < 0 && b.z() >= 0, down = a.z() >= 0 && b.z() < 0;
    if (!up && !down) continue;
    segment.segment<2>(up ? 2 : 0) = (a + a.z() / (a.z() - b.z()) * (b - a)).head<2>();
    ++found;
  }
  return found == 2;
}

// Over a straight segment, ∫ max(y, 0)^power dx with y going from y0 to y1 while x goes by `run`.
double positive_part(double y0, double y1, double run, int power) {
  if (y0 <= 0 && y1 <= 0) return 0;
  if (y0 < 0) run *= y1 / (y1 - y0), y0 = 0;
  if (y1 < 0) run *= y0 / (y0 - y1), y1 = 0;
  return power == 1 ? 0.5 * run * (y0 + y1) : run * (y0 * y0 + y0 * y1 + y1 * y1) / 3;
}

// Area (power 1) or twice the first moment (power 2) of the part of the section on the positive side of the line
// y = `level`, by Green's theorem: ∮ −max(y, 0)^power dx.
double beyond(const std::vector<Eigen::Vector4d>& segments, double angle, double level, double side,
              int power) {
  const Vec2 x_axis(std::cos(angle), std::sin(angle)), y_axis(-x_axis.y(), x_axis.x());
  double sum = 0;
  for (const Eigen::Vector4d& s : segments) {
    const Vec2 p = s.head<2>(), q = s.tail<2>();
    sum -= side * positive_part(side * (p.dot(y_axis) - level), side * (q.dot(y_axis) - level),
                                (q - p).dot(x_axis), power);
  }
  return sum;
}

}  // namespace

double CrossSection::area() const {
  double sum = 0;
  for (const Eigen::Vector4d& s : segments) sum += 0.5 * (s[0] * s[3] - s[1] * s[2]);
  return sum;
}

double CrossSection::plastic_modulus(double angle) const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const Vec2 y_axis(-std::sin(angle), std::cos(angle));
  for (const Eigen::Vector4d& s : segments) {
    low = std::min(low, s.head<2>().dot(y_axis));
    high = std::max(high, s.head<2>().dot(y_axis));
  }
  const double half = 0.5 * area();
  for (int pass = 0; pass < 60; ++pass) {
    const double middle = 0.5 * (low + high);
    (beyond(segments, angle, middle, 1, 1) > half ? low : high) = middle;
  }
  const double level = 0.5 * (low + high);
  return 0.5 * (beyond(segments, angle, level, 1, 2) + beyond(segments, angle, level, -1, 2));
}

CrossSection cross_section(const TriMesh& surface, const Vec3& point, const Vec3& normal) {
  CrossSection section;
  const Vec3 u = normal.unitOrthogonal();
  section.axes << u, normal.cross(u), normal;
  const Points local = (surface.vertices.rowwise() - point.transpose()) * section.axes;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    Eigen::Vector4d segment;
    if (cut({Vec3(local.row(surface.triangles(t, 0))), Vec3(local.row(surface.triangles(t, 1))),
             Vec3(local.row(surface.triangles(t, 2)))},
            segment))
      section.segments.push_back(segment);
  }
  return section;
}

YieldMoments yield_moments(const CrossSection& section, double yield_stress) {
  constexpr int k_directions = 90;
  double weakest = std::numeric_limits<double>::infinity(), angle = 0;
  for (int k = 0; k < k_directions; ++k) {
    const double tried = std::numbers::pi * k / k_directions, modulus = section.plastic_modulus(tried);
    if (modulus < weakest * (1 - 1e-9)) weakest = modulus, angle = tried;
  }
  const double across = section.plastic_modulus(angle + 0.5 * std::numbers::pi);
  const Vec3 u = section.axes.col(0), v = section.axes.col(1);
  YieldMoments result;
  result.axes.col(0) = std::cos(angle) * u + std::sin(angle) * v;
  result.axes.col(1) = -std::sin(angle) * u + std::cos(angle) * v;
  result.axes.col(2) = section.axes.col(2);
  result.moment = yield_stress * Vec3(weakest, across, std::hypot(weakest, across) / std::sqrt(3.0));
  return result;
}

double YieldMoments::along(const Vec3& direction) const {
  return 1 / (axes.transpose() * direction).cwiseQuotient(moment).norm();
}

}  // namespace exemplar::bend
