// The energy of one triangle of a sheet, as a function of six numbers q = (s_0, s_1, s_2, α_0, α_1, α_2): the
// squared lengths of its edges (m²) and the angles (rad) by which its mid-plane turns towards each edge. Edge
// i is opposite vertex i. Both models have the form
//   W = ½ (p(q) − p̄)ᵀ C (p(q) − p̄)
// with a few measures p of the deformation, their rest values p̄ (the whole rest state of the triangle,
// incompatible with its neighbours' if need be) and a stiffness C that stays that of the undeformed mesh: so
// rest states are blended linearly, and W is quadratic in the weights of a blend.
//
// Physical (Grinspun et al. 2006 with the dihedral angle itself in place of its sine): constant strain,
// St. Venant–Kirchhoff in plane stress, and the second fundamental form. In the undeformed triangle with area
// A, heights h_i, edge vectors e_i and outward unit normals n_i in its plane
//   strain    ½ Σ_k (s_k − s̄_k) B_k,   B_k = −(n_i n_jᵀ + n_j n_iᵀ) l_i l_j/(8A²)   (so that e_kᵀB_k e_k = 1)
//   curvature K = Σ_i (2 α_i/h_i) n_i n_iᵀ                                          (1/m)
//   W = A [ h/4 · Q(ΣΔs B) + h³/12 · Q(ΔK) ],  Q(P) = ½ λ' tr(P)² + μ tr(P²)
//   λ' = Eν/(1−ν²), μ = E/(2(1+ν)), h thickness.  Bent to the radius R: ½ D/R² per area, D = Eh³/(12(1−ν²)).
// With `curved` the measure of edge k is s_k + b_kk²/12, b_kk = e_kᵀ K e_k: the length of the arc whose chord
// the edge is. It cures membrane locking where κ l²/h is over about 10 (heavy elastica at h/L 1e-4: −13 % →
// −0.2 %), but lets cloth that is too coarse for its wrinkles buckle inside elements. What an arc may have
// more than its chord is bounded by c l² (c = 0.1; 84 % of it at 1.1 rad over an edge): without a bound the
// chord of a sharp fold shrinks to nothing at no cost, and the triangle stays collapsed.
//   arc² = s + c l² g(b²/(12 c l²)),  g(x) = x (1 + x⁴)^(−1/4)     (b²/12 to 5e-4 up to 0.5 rad)
//
// Paper (discrete shells, Grinspun et al. 2003, as schumacher2012 §4.1.2 uses them): edge lengths, the area
// and dihedral angles θ = 2α,
//   W = Σ_i k_L/2 (l_i − l̄_i)²/l̄₀ + k_A/2 (A − Ā)²/Ā₀ + Σ_i k_B/2 (θ_i − θ̄_i)² 3 l̄₀²/Ā_h
// where an edge between two triangles counts half in each. Springs fix Poisson's ratio near 1/3 and hinges
// are right on near-equilateral meshes only: kept for what the paper shows.
#pragma once

#include <Eigen/LU>
#include <array>
#include <cmath>

#include "core/math/types.h"

namespace exemplar::shells {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Mat2 = Eigen::Matrix2d;
using Corners = Eigen::Matrix<double, 3, 3>;  // columns: the triangle's vertices

// An undeformed triangle in its own plane.
struct RestTriangle {
  explicit RestTriangle(const Corners& x) {
    const Vec3 u = x.col(1) - x.col(0), v = x.col(2) - x.col(0);
    const Vec3 first = u.normalized();
    const Vec3 second = u.cross(v).cross(u).normalized();
    corner = {Vec2::Zero(), Vec2(u.norm(), 0), Vec2(v.dot(first), v.dot(second))};
    area = 0.5 * u.cross(v).norm();
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec2 e = edge(i);
      length[static_cast<Eigen::Index>(i)] = e.norm();
      height[static_cast<Eigen::Index>(i)] = 2 * area / e.norm();
      normal[i] = Vec2(e.y(), -e.x()) / e.norm();
    }
  }
  Vec2 edge(std::size_t i) const { return corner[(i + 2) % 3] - corner[(i + 1) % 3]; }

  // ΣΔs B: twice the Green strain of a change of squared lengths.
  Mat2 stretch(const Vec3& s) const {
    Mat2 sum = Mat2::Zero();
    for (std::size_t k = 0; k < 3; ++k) sum += s[static_cast<Eigen::Index>(k)] * strain_basis(k);
    return sum;
  }
  Mat2 strain_basis(std::size_t k) const {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    const Mat2 outer = normal[i] * normal[j].transpose();
    const double scale =
        length[static_cast<Eigen::Index>(i)] * length[static_cast<Eigen::Index>(j)] / (8 * area * area);
    return -scale * (outer + outer.transpose());
  }
  Vec3 squared_lengths(const Mat2& twice_strain) const {
    Vec3 s;
    for (std::size_t k = 0; k < 3; ++k) {
      s[static_cast<Eigen::Index>(k)] = edge(k).dot(twice_strain * edge(k));
    }
    return s;
  }
  Mat2 curvature(const Vec3& alpha) const {
    Mat2 sum = Mat2::Zero();
    for (std::size_t i = 0; i < 3; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      sum += 2 * alpha[k] / height[k] * normal[i] * normal[i].transpose();
    }
    return sum;
  }
  // The inverse of curvature().
  Vec3 angles(const Mat2& k) const {
    Vec3 alpha;
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec2 a = corner[(i + 1) % 3] - corner[i], b = corner[(i + 2) % 3] - corner[i];
      alpha[static_cast<Eigen::Index>(i)] = a.dot(k * b) / (2 * height[static_cast<Eigen::Index>(i)]);
    }
    return alpha;
  }

  double area;
  std::array<Vec2, 3> corner;
  Vec3 length, height;
  std::array<Vec2, 3> normal;
};

struct PlateMaterial {
  double young = 1e6, poisson = 0.3, thickness = 1e-3;
  double flexural_rigidity() const { return young * std::pow(thickness, 3) / (12 * (1 - poisson * poisson)); }
};

// By how much the square of an arc exceeds that of its chord, with derivatives by b (m², m, 1).
struct ArcExcess {
  ArcExcess(double b, double squared_length) {
    const double bound = 0.1 * squared_length;
    const double x = b * b / (12 * bound), base = 1 + x * x * x * x, root = std::pow(base, -0.25);
    const double first_of_x = root / base, second_of_x = -5 * x * x * x * first_of_x / base;
    value = bound * x * root;
    first = first_of_x * b / 6;
    second = first_of_x / 6 + second_of_x * b * b / (36 * bound);
  }
  double value, first, second;
};

// One triangle's measures and stiffness: `measures` numbers p. Kernels of both models look the same.
struct PhysicalTriangle {
  static constexpr int measures = 6;
  using Measures = Eigen::Matrix<double, measures, 1>;
  using Jacobian = Eigen::Matrix<double, measures, 6>;
  using Stiffness = Eigen::Matrix<double, measures, measures>;

  PhysicalTriangle(const RestTriangle& rest, const PlateMaterial& material, bool curved_membrane);

  Measures measure(const Vec6& q) const {
    Measures p = q;
    for (int k = 0; curved && k < 3; ++k) p[k] += excess(q, k).value;
    return p;
  }
  Jacobian jacobian(const Vec6& q) const {
    Jacobian j = Jacobian::Identity();
    for (int k = 0; curved && k < 3; ++k) j.block<1, 3>(k, 3) = excess(q, k).first * arc_of_angle.row(k);
    return j;
  }
  // Σ f_k ∂²p_k/∂q².
  Mat6 second(const Vec6& q, const Measures& f) const {
    Mat6 h = Mat6::Zero();
    for (int k = 0; curved && k < 3; ++k)
      h.bottomRightCorner<3, 3>() +=
          f[k] * excess(q, k).second * arc_of_angle.row(k).transpose() * arc_of_angle.row(k);
    return h;
  }

  // C p: membrane and bending do not meet.
  Measures resist(const Measures& p) const {
    Measures f;
    f.head<3>().noalias() = stiffness.topLeftCorner<3, 3>() * p.head<3>();
    f.tail<3>().noalias() = stiffness.bottomRightCorner<3, 3>() * p.tail<3>();
    return f;
  }

  // False: p is linear in q.
  bool bent_measures() const { return curved; }

  Stiffness stiffness;
  Mat3 arc_of_angle;  // b_kk = Σ_i arc_of_angle(k, i) α_i, m
  Vec3 squared_length;
  bool curved;

 private:
  ArcExcess excess(const Vec6& q, int k) const {
    return {arc_of_angle.row(k).dot(q.tail<3>()), squared_length[k]};
  }
};

struct PaperStiffness {
  double stretching = 1;  // k_L, N
  double area = 1;        // k_A, N/m
  double bending = 1;     // k_B, N·m
};

struct PaperTriangle {
  static constexpr int measures = 7;  // three lengths, the area, three dihedral angles
  using Measures = Eigen::Matrix<double, measures, 1>;
  using Jacobian = Eigen::Matrix<double, measures, 6>;
  using Stiffness = Eigen::Matrix<double, measures, measures>;

  // `hinge_area`: rest area of both triangles at each edge, m²; 0: no hinge there. `border`: the edge has
  // this triangle only and counts whole.
  PaperTriangle(const RestTriangle& rest, const PaperStiffness& k, const Vec3& hinge_area,
                const std::array<bool, 3>& border);

  Measures measure(const Vec6& q) const {
    Measures p;
    p << q.head<3>().cwiseSqrt(), area(q.head<3>()), 2 * q.tail<3>();
    return p;
  }
  Jacobian jacobian(const Vec6& q) const {
    Jacobian j = Jacobian::Zero();
    const Vec3 s = q.head<3>();
    for (int i = 0; i < 3; ++i) {
      j(i, i) = 0.5 / std::sqrt(s[i]);
      j(3, i) = area_slope(s, i);
      j(4 + i, 3 + i) = 2;
    }
    return j;
  }
  Mat6 second(const Vec6& q, const Measures& f) const;
  // C p: springs that do not know each other.
  Measures resist(const Measures& p) const { return stiffness.diagonal().cwiseProduct(p); }
  bool bent_measures() const { return true; }

  // Heron's formula in squared lengths: 16 A² = 2(s₀s₁ + s₁s₂ + s₂s₀) − s₀² − s₁² − s₂².
  static double area(const Vec3& s) {
    const double sixteen = 2 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]) - s.squaredNorm();
    return 0.25 * std::sqrt(sixteen);  // NaN outside the triangle inequality
  }
  static double area_slope(const Vec3& s, int i) { return (s.sum() - 2 * s[i]) / (16 * area(s)); }

  Stiffness stiffness;
};

template <class Triangle>
double energy(const Triangle& t, const Vec6& q, const typename Triangle::Measures& rest) {
  const typename Triangle::Measures d = t.measure(q) - rest;
  return 0.5 * d.dot(t.stiffness * d);
}
// ∂W/∂p.
template <class Triangle>
typename Triangle::Measures forces(const Triangle& t, const Vec6& q,
                                   const typename Triangle::Measures& rest) {
  return t.stiffness * (t.measure(q) - rest);
}
template <class Triangle>
Vec6 gradient(const Triangle& t, const Vec6& q, const typename Triangle::Measures& rest) {
  return t.jacobian(q).transpose() * forces(t, q, rest);
}
template <class Triangle>
Mat6 hessian(const Triangle& t, const Vec6& q, const typename Triangle::Measures& rest) {
  const typename Triangle::Jacobian j = t.jacobian(q);
  return j.transpose() * t.stiffness * j + t.second(q, forces(t, q, rest));
}

}  // namespace exemplar::shells
