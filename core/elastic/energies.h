// Hyperelastic energy densities of the deformation gradient F, each a small struct with value ψ (J/m³),
// gradient P = ∂ψ/∂F (first Piola–Kirchhoff stress, Pa), differential dP = (∂P/∂F):dF, and `principal`: the
// Hessian in the basis of the singular vectors F = U diag(s) Vᵀ, from which the positive semi-definite
// projection follows.
//
// For an isotropic ψ(s) the Hessian is diagonal but for one 3×3 block (Smith, De Goes, Kim 2019):
//   a_ij    = ∂²ψ/∂s_i∂s_j                                   on u_i v_iᵀ
//   flip_k  = (ψ_i − ψ_j)/(s_i − s_j)                         on (u_i v_jᵀ + u_j v_iᵀ)/√2
//   twist_k = (ψ_i + ψ_j)/(s_i + s_j)                         on (u_i v_jᵀ − u_j v_iᵀ)/√2        {i,j,k} =
//   {0,1,2}
//
//   ModifiedStVK     μ‖E‖² + κ/2 (J−1)²                       Martin et al. 2011; schumacher2012 §4.1.1
//   StVK             μ‖E‖² + λ/2 (tr E)²                      as CalculiX *ELASTIC with NLGEOM
//   FixedCorotated   μ‖F−R‖² + λ/2 (J−1)²                     Stomakhin et al. 2012
//   StableNeoHookean μ/2 (I_C−3) + λ/2 (J−α)² − μ/2 ln(I_C+1) Smith, De Goes, Kim 2018
//   BarrierNeoHookean μ/2 (I_C−3) − μ ln J + λ/2 (ln J)²      Bonet and Wood 2008 §6.4.3; infinite for J ≤ 0: elements
//   cannot turn inside out, and a state that has inverted ones cannot be started from
//   DirichletEnergy  ½‖F−I‖²                                  smooth extension of displacements; not rotation
//   invariant
// E = ½(FᵀF − I), J = det F, I_C = ‖F‖².
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "core/math/lanes.h"
#include "core/math/polar_lanes.h"
#include "core/math/svd3.h"
#include "core/math/types.h"

namespace exemplar {

struct PrincipalHessian {
  Mat3 a;
  Vec3 flip;
  Vec3 twist;
};

inline Mat3 cofactor(const Mat3& f) {
  return cofactor<double>(f);
}

// Derivative of the cofactor matrix in direction df.
inline Mat3 cofactor_differential(const Mat3& f, const Mat3& df) {
  Mat3 c;
  c.col(0) = df.col(1).cross(f.col(2)) + f.col(1).cross(df.col(2));
  c.col(1) = df.col(2).cross(f.col(0)) + f.col(2).cross(df.col(0));
  c.col(2) = df.col(0).cross(f.col(1)) + f.col(0).cross(df.col(1));
  return c;
}

template <class S>
Matrix3<S> green_strain(const Matrix3<S>& f) {
  return S(0.5) * (f.transpose() * f - Matrix3<S>::Identity());
}
inline Mat3 green_strain(const Mat3& f) {
  return green_strain<double>(f);
}

// dP = H : dF through the principal form; for energies without a shorter expression.
Mat3 differential_from_principal(const PrincipalHessian& h, const Svd3& svd, const Mat3& df);

struct ModifiedStVK {
  double mu;
  double kappa;

  double value(const Mat3& f) const { return density<double>(f); }
  template <class S>
  S density(const Matrix3<S>& f) const {
    const S j1 = f.determinant() - S(1);
    return S(mu) * green_strain(f).squaredNorm() + S(0.5 * kappa) * j1 * j1;
  }
  template <class S>
  Matrix3<S> gradient(const Matrix3<S>& f) const {
    const Matrix3<S> cof = cofactor(f);
    const S pressure = kappa * (f.col(0).dot(cof.col(0)) - 1);
    return S(2 * mu) * f * green_strain(f) + pressure * cof;
  }
  Mat3 differential(const Mat3& f, const Mat3& df) const {
    const Mat3 cof = cofactor(f);
    const double j = f.col(0).dot(cof.col(0));
    const Mat3 mixed = df.transpose() * f;
    return 2 * mu * df * green_strain(f) + mu * f * (mixed + mixed.transpose()) +
           kappa * cof.cwiseProduct(df).sum() * cof + kappa * (j - 1) * cofactor_differential(f, df);
  }
  PrincipalHessian principal(const Vec3& s) const {
    const double j = s.prod();
    PrincipalHessian h;
    for (int i = 0; i < 3; ++i) {
      const double si = s[i], sj = s[(i + 1) % 3], sk = s[(i + 2) % 3];
      h.a(i, i) = mu * (3 * si * si - 1) + kappa * sj * sj * sk * sk;
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      h.a(a, b) = h.a(b, a) = kappa * si * (2 * j - 1);
      const double shear = mu * (s[a] * s[a] + s[b] * s[b] - 1);
      const double volume = kappa * (j - 1) * si;
      h.flip[i] = shear + mu * s[a] * s[b] - volume;
      h.twist[i] = shear - mu * s[a] * s[b] + volume;
    }
    return h;
  }
};

struct StVK {
  double mu;
  double lambda;

  template <class S>
  S value_of_strain(const Matrix3<S>& e) const {
    return S(mu) * e.squaredNorm() + S(0.5 * lambda) * e.trace() * e.trace();
  }
  double value(const Mat3& f) const { return density<double>(f); }
  template <class S>
  S density(const Matrix3<S>& f) const {
    return value_of_strain(green_strain(f));
  }
  // Second Piola–Kirchhoff stress of a strain: 2μE + λ tr(E) I.
  template <class S>
  Matrix3<S> stress(const Matrix3<S>& e) const {
    return S(2 * mu) * e + (lambda * e.trace()) * Matrix3<S>::Identity();
  }
  template <class S>
  Matrix3<S> gradient(const Matrix3<S>& f) const {
    const Matrix3<S> e = green_strain(f);
    return S(2 * mu) * f * e + (lambda * e.trace()) * f;
  }
  Mat3 differential(const Mat3& f, const Mat3& df) const {
    const Mat3 e = green_strain(f);
    const Mat3 mixed = df.transpose() * f;
    return 2 * mu * df * e + mu * f * (mixed + mixed.transpose()) +
           lambda * (mixed.trace() * f + e.trace() * df);
  }
  PrincipalHessian principal(const Vec3& s) const {
    const double pressure = 0.5 * lambda * (s.squaredNorm() - 3);
    PrincipalHessian h;
    for (int i = 0; i < 3; ++i) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      h.a(i, i) = mu * (3 * s[i] * s[i] - 1) + pressure + lambda * s[i] * s[i];
      h.a(a, b) = h.a(b, a) = lambda * s[a] * s[b];
      const double shear = mu * (s[a] * s[a] + s[b] * s[b] - 1) + pressure;
      h.flip[i] = shear + mu * s[a] * s[b];
      h.twist[i] = shear - mu * s[a] * s[b];
    }
    return h;
  }
};

struct FixedCorotated {
  double mu;
  double lambda;

  double value(const Mat3& f) const { return density<double>(f); }
  template <class S>
  S density(const Matrix3<S>& f) const {
    const S j1 = f.determinant() - S(1);
    return S(mu) * (f - rotation_of(f)).squaredNorm() + S(0.5 * lambda) * j1 * j1;
  }
  template <class S>
  Matrix3<S> gradient(const Matrix3<S>& f) const {
    const Matrix3<S> cof = cofactor(f);
    const S pressure = lambda * (f.col(0).dot(cof.col(0)) - 1);
    return S(2 * mu) * (f - rotation_of(f)) + pressure * cof;
  }
  Mat3 differential(const Mat3& f, const Mat3& df) const {
    const Svd3 svd = signed_svd(f);
    return differential_from_principal(principal(svd.s), svd, df);
  }
  PrincipalHessian principal(const Vec3& s) const {
    const double j = s.prod();
    PrincipalHessian h;
    for (int i = 0; i < 3; ++i) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      h.a(i, i) = 2 * mu + lambda * s[a] * s[a] * s[b] * s[b];
      h.a(a, b) = h.a(b, a) = lambda * s[i] * (2 * j - 1);
      // The rotation is not differentiable where s_a + s_b = 0; there the eigenvalue tends to −∞ and is cut.
      const double sum = std::max(s[a] + s[b], 1e-6);
      h.flip[i] = 2 * mu - lambda * (j - 1) * s[i];
      h.twist[i] = 2 * mu * (1 - 2 / sum) + lambda * (j - 1) * s[i];
    }
    return h;
  }
};

// μ and λ here are the paper's; stable_neo_hookean() converts from Lamé parameters (its §3.4).
struct StableNeoHookean {
  double mu;
  double lambda;

  double alpha() const { return 1 + 0.75 * mu / lambda; }
  double value(const Mat3& f) const {
    const double ic = f.squaredNorm(), j = f.determinant() - alpha();
    const double j_rest = 1 - alpha();
    // Shifted so that the rest state has no energy.
    return 0.5 * mu * (ic - 3) + 0.5 * lambda * (j * j - j_rest * j_rest) - 0.5 * mu * std::log((ic + 1) / 4);
  }
  Mat3 gradient(const Mat3& f) const {
    const Mat3 cof = cofactor(f);
    const double j = f.col(0).dot(cof.col(0));
    return mu * (1 - 1 / (f.squaredNorm() + 1)) * f + lambda * (j - alpha()) * cof;
  }
  Mat3 differential(const Mat3& f, const Mat3& df) const {
    const Mat3 cof = cofactor(f);
    const double j = f.col(0).dot(cof.col(0)), ic1 = f.squaredNorm() + 1;
    return mu * (1 - 1 / ic1) * df + (2 * mu / (ic1 * ic1)) * f.cwiseProduct(df).sum() * f +
           lambda * cof.cwiseProduct(df).sum() * cof + lambda * (j - alpha()) * cofactor_differential(f, df);
  }
  PrincipalHessian principal(const Vec3& s) const {
    const double j = s.prod(), ic1 = s.squaredNorm() + 1;
    const double shear = mu * (1 - 1 / ic1), log_term = 2 * mu / (ic1 * ic1);
    PrincipalHessian h;
    for (int i = 0; i < 3; ++i) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      h.a(i, i) = shear + log_term * s[i] * s[i] + lambda * s[a] * s[a] * s[b] * s[b];
      h.a(a, b) = h.a(b, a) = log_term * s[a] * s[b] + lambda * s[i] * (2 * j - alpha());
      h.flip[i] = shear - lambda * (j - alpha()) * s[i];
      h.twist[i] = shear + lambda * (j - alpha()) * s[i];
    }
    return h;
  }
};

struct BarrierNeoHookean {
  double mu;
  double lambda;

  double value(const Mat3& f) const {
    const double j = f.determinant();
    if (!(j > 0)) return std::numeric_limits<double>::infinity();
    const double log_j = std::log(j);
    return 0.5 * mu * (f.squaredNorm() - 3) - mu * log_j + 0.5 * lambda * log_j * log_j;
  }
  Mat3 gradient(const Mat3& f) const {
    const Mat3 cof = cofactor(f);
    const double j = f.col(0).dot(cof.col(0));
    return mu * f + (lambda * std::log(j) - mu) / j * cof;
  }
  // With G = F⁻ᵀ: μ dF + (μ − λ ln J) G dFᵀ G + λ (G:dF) G.
  Mat3 differential(const Mat3& f, const Mat3& df) const {
    const Mat3 cof = cofactor(f);
    const double j = f.col(0).dot(cof.col(0));
    const Mat3 g = cof / j;
    return mu * df + (mu - lambda * std::log(j)) * g * df.transpose() * g +
           lambda * g.cwiseProduct(df).sum() * g;
  }
  PrincipalHessian principal(const Vec3& s) const {
    const double rest = mu - lambda * std::log(s.prod());
    PrincipalHessian h;
    for (int i = 0; i < 3; ++i) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      h.a(i, i) = mu + (rest + lambda) / (s[i] * s[i]);
      h.a(a, b) = h.a(b, a) = lambda / (s[a] * s[b]);
      h.flip[i] = mu + rest / (s[a] * s[b]);
      h.twist[i] = mu - rest / (s[a] * s[b]);
    }
    return h;
  }
};

struct DirichletEnergy {
  double stiffness = 1;

  double value(const Mat3& f) const { return 0.5 * stiffness * (f - Mat3::Identity()).squaredNorm(); }
  Mat3 gradient(const Mat3& f) const { return stiffness * (f - Mat3::Identity()); }
  Mat3 differential(const Mat3&, const Mat3& df) const { return stiffness * df; }
  PrincipalHessian principal(const Vec3&) const {
    return {stiffness * Mat3::Identity(), Vec3::Constant(stiffness), Vec3::Constant(stiffness)};
  }
};

// Energies whose value (`density`), gradient and exact Hessian are written for four elements at a time (lanes.h); the others
// need a singular value decomposition of each.
template <class Energy>
inline constexpr bool k_works_in_lanes =
    std::is_same_v<Energy, ModifiedStVK> || std::is_same_v<Energy, StVK> ||
    std::is_same_v<Energy, FixedCorotated>;

using ElasticEnergy =
    std::variant<ModifiedStVK, StVK, FixedCorotated, StableNeoHookean, DirichletEnergy, BarrierNeoHookean>;

// Infinite where an element is flat or inverted.
inline bool has_barrier(const ElasticEnergy& energy) {
  return std::holds_alternative<BarrierNeoHookean>(energy);
}

enum class ElasticModel { modified_stvk, stvk, corotated, neo_hookean, barrier_neo_hookean };

struct Lame {
  double mu;
  double lambda;
};

// Young's modulus (Pa) and Poisson's ratio → Lamé parameters (Pa).
Lame lame_parameters(double young, double poisson);

// The energy whose small-strain behaviour is that of `young` and `poisson`.
ElasticEnergy make_energy(ElasticModel model, double young, double poisson);

// What an energy is for small strains: from its Hessian at rest, a_ii = 2μ + λ and a_ij = λ.
Lame small_strain_parameters(const ElasticEnergy& energy);

// The same energy with its stiffness multiplied by `factor`.
ElasticEnergy scaled(const ElasticEnergy& energy, double factor);

}  // namespace exemplar
