// Plastic flow within a time step, without delay (rate-independent): the return to the yield surface is part of what
// the step minimises, so that forces and stresses at its end obey the yield stress whatever the step.
//
// With F = F_e F_p and F_p of the step's start, Φ = F F_p⁻¹ = U diag(s) Vᵀ is the elastic deformation if nothing flows.
// The flow Δ (logarithmic stretches along V, Σ Δ_i = 0) leaves F_e = U diag(s e^{−Δ}) Vᵀ and, as in Ortiz and Stainier
// 1999 (variational updates; for logarithmic energies the radial return of Simo 1992 §5),
//   Ψ(s) = min_Δ ψ(s e^{−Δ}) + ∫_ε^{ε + √(2/3)‖Δ‖} τ_y dε'
// with ε the equivalent plastic strain and τ_y the yield stress. At the minimum the von Mises stress √(3/2)‖dev t‖ of
// t_i = s_i ∂ψ/∂s_i, at s e^{−Δ}, is τ_y; in uniaxial tension that is the tension. Ψ is an energy of the kind in energies.h:
// its slopes are those of ψ at the returned state,
//   ∂Ψ/∂s_i = e^{−Δ_i} ψ_i,   ∂²Ψ/∂s² = e^{−Δ} [ψ'' − R Q H⁻¹ Qᵀ Rᵀ] e^{−Δ},   R_ij = ψ_ij s_j e^{−Δ_j} + δ_ij ψ_i,
// Q a basis of Σ Δ_i = 0 and H the Hessian of the minimisation in it, and its Hessian is the consistent tangent. t is
// J times Cauchy's stress; the limit is J τ_y with the J at the step's start, so that what is limited is Cauchy's stress
// and J does no work on the flow. All in Pa and J/m³ of the undeformed element.
//
// The paper's rule (plasticity.h) compares ‖σ‖_F with τ. Both are the tension in a bar that is pulled; ‖σ‖_F counts
// pressure too (√3 p under pressure p alone, where nothing can flow), von Mises' stress does not.
#pragma once

#include "core/elastic/energies.h"
#include "core/elastic/yield_curve.h"

namespace exemplar::fem {

// What limits the stress of one element.
struct YieldLimit {
  const YieldCurve* curve = nullptr;
  double strain = 0;  // ε so far
  double volume = 1;  // J

  double stress(double more) const { return volume * curve->stress(strain + more); }
  double slope(double more) const { return volume * curve->slope(strain + more); }
  double work(double more) const { return volume * curve->work(strain, strain + more); }
};

// √(3/2)‖dev‖ of a symmetric tensor.
template <class S>
S squared_von_mises(const Matrix3<S>& stress) {
  const Matrix3<S> deviator = stress - (stress.trace() / S(3)) * Matrix3<S>::Identity();
  return S(1.5) * deviator.squaredNorm();
}

// An element after its flow.
struct PlasticReturn {
  Vec3 flow = Vec3::Zero();  // Δ
  Vec3 elastic;              // s e^{−Δ}
  double strain = 0;         // √(2/3)‖Δ‖, what ε grows by

  bool flowed() const { return strain > 0; }
};

// False where an element cannot flow. Most energies grow softer when they are compressed, so that a stress below the
// yield stress is no proof: Ψ is the least of all Δ, and without it a step of Newton's method that crushes an element
// would find it elastic again, with a jump of Ψ. `squared_stress` of J σ (Pa²), `squared_stretch` ‖F‖², `volume` J.
bool may_flow(double squared_stress, double squared_stretch, double volume, double mu,
              const YieldLimit& limit);

// `s`: of signed_svd().
PlasticReturn return_to_yield(const ElasticEnergy& energy, const Vec3& s, const YieldLimit& limit);

// Of Ψ, for what return_to_yield() gave.
double value_after(const ElasticEnergy& energy, const PlasticReturn& after, const YieldLimit& limit);
Vec3 slopes_after(const ElasticEnergy& energy, const PlasticReturn& after);
PrincipalHessian hessian_after(const ElasticEnergy& energy, const Vec3& s, const PlasticReturn& after,
                               const YieldLimit& limit);

}  // namespace exemplar::fem
