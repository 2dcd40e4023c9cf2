// The mathematics of joints that bend (patkar2014 §4.1, §4.3), without a simulation around it. SI units; angles in
// radians, moments in N m, inertias in kg m².
#pragma once

#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar::bend {

// What two bodies oppose to a relative rotation about the unit axis n: I = 1/(nᵀ (I₁⁻¹ + I₂⁻¹) n). Exact where their
// centres do not have to move with it (no lever arms); the paper's product (I₁ + I₂)⁻¹ I₁ I₂ is not symmetric unless
// the two tensors commute, and equals this one then.
double reduced_inertia(const Mat3& inverse_inertia_a, const Mat3& inverse_inertia_b, const Vec3& axis);

// The same when the two bodies are held together at a point with these arms from their centres: a relative rotation
// then moves the centres as well, and meets more inertia. For no arms it is the one above.
struct JointSide {
  double inverse_mass = 0;              // 1/kg; 0: held
  Mat3 inverse_inertia = Mat3::Zero();  // world axes
  Vec3 arm = Vec3::Zero();              // m, from the centre of mass to the joint
};
double reduced_inertia(const JointSide& a, const JointSide& b, const Vec3& axis);
// Change of b's rotation against a per angular impulse on b (a gets the opposite), symmetric, 1/(kg m²).
Mat3 turning_response(const JointSide& a, const JointSide& b);
// The impulse at the joint, on b (a gets the opposite), that keeps both sides together when b gets the angular impulse
// `angular` and a the opposite.
Vec3 holding_impulse(const JointSide& a, const JointSide& b, const Vec3& angular);
// Angular acceleration of b against a when everything that is not held falls with `acceleration`.
Vec3 turning_under(const JointSide& a, const JointSide& b, const Vec3& acceleration);

// I θ̈ + C θ̇ + κ (θ − θ₀) = τ: the torsional spring of a joint, or with masses and forces a prismatic one.
struct Oscillator {
  double inertia = 1;    // I
  double damping = 0;    // C, N m s
  double stiffness = 0;  // κ, N m/rad
  double rest = 0;       // θ₀
  double torque = 0;     // τ, constant over the step
};
struct OscillatorState {
  double angle = 0;  // θ
  double rate = 0;   // θ̇
};
// The exact solution after `dt`, whether under-, critically or over-damped, with or without a spring.
OscillatorState advanced(const Oscillator& oscillator, const OscillatorState& state, double dt);
// The angular impulse that makes an integrator, which moves on with the new rate for dt, end at the exact angle:
// j = I ((θⁿ⁺¹ − θⁿ)/dt − θ̇ⁿ).
double spring_impulse(const Oscillator& oscillator, const OscillatorState& state, double dt);

// Cross-section of a closed surface with the plane through `point` with unit normal `normal`: boundary segments, each
// with the material on its left seen against the normal, in the coordinates (u, v) of `axes`.
struct CrossSection {
  Mat3 axes = Mat3::Identity();           // columns u, v, normal
  std::vector<Eigen::Vector4d> segments;  // u0 v0 u1 v1

  double area() const;
  // ∫ |y| dA, y the distance from the line in direction `angle` (from u) that halves the area, m³.
  double plastic_modulus(double angle) const;
};
CrossSection cross_section(const TriMesh& surface, const Vec3& point, const Vec3& normal);

// Moments at which a joint with this section yields: bending about two perpendicular axes in the section, the weakest
// and the one across it, and twisting about the normal. Columns of `axes` are their directions.
//   bending M_p = σ_y ∫ |y| dA,   twisting σ_y/√3 ∫ r dA ≈ σ_y/√3 · hypot of the two moduli
struct YieldMoments {
  Mat3 axes = Mat3::Identity();
  Vec3 moment = Vec3::Zero();  // N m

  // Along a unit direction: the ellipsoid with these half-axes.
  double along(const Vec3& direction) const;
};
YieldMoments yield_moments(const CrossSection& section, double yield_stress);

}  // namespace exemplar::bend
