// Nodal forces and 3×3 stiffness blocks of one tetrahedron for any energy of energies.h.
//   F = [x1−x0, x2−x0, x3−x0] B,  B = inverse of the rest (or example, or plastic) edge matrix,
//   b_a = row a of B (a = 1..3; b_0 = −Σ b_a),  force on a: −vol P b_a,  K_ab = vol ∂(P b_a)/∂x_b.
// Blocks are kept for pairs a ≥ b in the order (0,0) (1,0) (1,1) (2,0) …; those of node 0 follow from Σ_a
// K_ab = 0. S: double, or Lanes for four elements at a time.
#pragma once

#include <array>
#include <cassert>

#include "core/elastic/energies.h"
#include "core/math/psd.h"

namespace exemplar {

template <class S>
using BlocksOf = std::array<Matrix3<S>, 10>;
using TetBlocks = BlocksOf<double>;

inline constexpr int tet_pair(int a, int b) {
  return a * (a + 1) / 2 + b;
}

inline Mat3 edge_matrix(const Points& x, const int* nodes) {
  Mat3 d;
  const Vec3 x0 = x.row(nodes[0]).transpose();
  for (int a = 0; a < 3; ++a) d.col(a) = x.row(nodes[a + 1]).transpose() - x0;
  return d;
}

// Fills the blocks of node 0 from those of nodes 1 to 3.
template <class S>
void complete_blocks(BlocksOf<S>& k) {
  k[0].setZero();
  for (int a = 1; a < 4; ++a) {
    Matrix3<S> sum = Matrix3<S>::Zero();  // Σ_b K_ab, b = 1..3
    for (int b = 1; b < 4; ++b) {
      if (a >= b) {
        sum += k[static_cast<std::size_t>(tet_pair(a, b))];
      } else {
        sum += k[static_cast<std::size_t>(tet_pair(b, a))].transpose();
      }
    }
    k[static_cast<std::size_t>(tet_pair(a, 0))] = -sum;
    k[0] += sum;
  }
}

// Blocks of nodes 1..3 through the principal form, projected to positive semi-definite or not.
//   In the frame of the singular vectors (b̃ = Vᵀb, K = U K̃ Uᵀ):
//   K̃_ab(i,i) = a_ii b̃_a[i] b̃_b[i] + Σ_{j≠i} d_ij b̃_a[j] b̃_b[j],   d = (flip + twist)/2
//   K̃_ab(i,j) = a_ij b̃_a[i] b̃_b[j] + o_ij b̃_a[j] b̃_b[i],            o = (flip − twist)/2
inline void principal_blocks(PrincipalHessian h, const Svd3& svd, const Mat3& rest_inverse, double volume,
                             bool project, TetBlocks& k) {
  if (project) {
    h.a = project_psd(h.a);
    h.flip = h.flip.cwiseMax(0.0);
    h.twist = h.twist.cwiseMax(0.0);
  }
  Mat3 d, o;  // off-diagonal coefficients; the diagonals hold a_ii and 0
  d.diagonal() = h.a.diagonal();
  o.diagonal().setZero();
  for (int axis = 0; axis < 3; ++axis) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    d(i, j) = d(j, i) = 0.5 * (h.flip[axis] + h.twist[axis]);
    o(i, j) = o(j, i) = 0.5 * (h.flip[axis] - h.twist[axis]);
  }
  Mat3 a_off = h.a;
  a_off.diagonal().setZero();
  const Mat3 bt = rest_inverse * svd.v;  // row a: b̃_a
  for (int a = 1; a < 4; ++a) {
    for (int b = 1; b <= a; ++b) {
      const Vec3 ba = bt.row(a - 1).transpose(), bb = bt.row(b - 1).transpose();
      const Mat3 outer = ba * bb.transpose();
      Mat3 local = a_off.cwiseProduct(outer) + o.cwiseProduct(outer.transpose());
      local.diagonal() += d * ba.cwiseProduct(bb);
      k[static_cast<std::size_t>(tet_pair(a, b))].noalias() = volume * (svd.u * local * svd.u.transpose());
    }
  }
}

template <class Energy>
requires(!k_works_in_lanes<Energy>) void exact_blocks(const Energy& energy, const Mat3& f,
                                                      const Mat3& rest_inverse, double volume, TetBlocks& k) {
  const Svd3 svd = signed_svd(f);
  principal_blocks(energy.principal(svd.s), svd, rest_inverse, volume, false, k);
}

// block − [v]_×
template <class S>
void subtract_cross(const Eigen::Matrix<S, 3, 1>& v, Matrix3<S>& block) {
  block(0, 1) += v[2];
  block(1, 0) -= v[2];
  block(0, 2) -= v[1];
  block(2, 0) += v[1];
  block(1, 2) += v[0];
  block(2, 1) -= v[0];
}

// Closed forms without a singular value decomposition, with g_a = F b_a, c_a = cof(F) b_a, S = 2μE:
//   K_ab = vol[ (b_a·S b_b) I + μ(g_b g_aᵀ + (b_a·b_b) F Fᵀ) + κ c_a c_bᵀ − κ(J−1)[F(b_a×b_b)]_× ]
template <class S>
void exact_blocks(const ModifiedStVK& energy, const Matrix3<S>& f, const Matrix3<S>& rest_inverse,
                  const S& volume, BlocksOf<S>& k) {
  const S mu = volume * energy.mu, kappa = volume * energy.kappa;
  const Matrix3<S> bt = rest_inverse.transpose();  // column a: b_a
  const Matrix3<S> cof = cofactor(f);
  const S pressure = kappa * (f.col(0).dot(cof.col(0)) - 1);
  const Matrix3<S> g = f * bt, c = cof * bt;
  const Matrix3<S> stress = bt.transpose() * (mu * (f.transpose() * f - Matrix3<S>::Identity())) * bt;
  const Matrix3<S> metric = mu * (bt.transpose() * bt);
  const Matrix3<S> left = f * f.transpose();
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b <= a; ++b) {
      Matrix3<S>& block = k[static_cast<std::size_t>(tet_pair(a + 1, b + 1))];
      block.noalias() = metric(a, b) * left;
      block.noalias() += (mu * g.col(b)) * g.col(a).transpose();
      block.noalias() += (kappa * c.col(a)) * c.col(b).transpose();
      for (int i = 0; i < 3; ++i) block(i, i) += stress(a, b);
      if (a == b) continue;
      const Eigen::Matrix<S, 3, 1> v = pressure * (f * bt.col(a).cross(bt.col(b)));
      subtract_cross(v, block);
    }
  }
}

// With R the rotation of F = R S, r_a = R b_a, and H = R (tr S I − S)⁻¹ Rᵀ, by which an infinitesimal dF turns R:
//   K_ab = vol[ 2μ (b_a·b_b) I + 2μ [r_a]_× H [r_b]_× + λ c_a c_bᵀ − λ(J−1)[F(b_a×b_b)]_× ]
// Elements that are flat or inverted go through the principal form, where the turn is bounded.
template <class S>
void exact_blocks(const FixedCorotated& energy, const Matrix3<S>& f, const Matrix3<S>& rest_inverse,
                  const S& volume, BlocksOf<S>& k) {
  const S mu2 = volume * (2 * energy.mu), lambda = volume * energy.lambda;
  const Matrix3<S> bt = rest_inverse.transpose();
  const Matrix3<S> rotation = rotation_of(f), cof = cofactor(f), c = cof * bt, r = rotation * bt;
  const S pressure = lambda * (f.col(0).dot(cof.col(0)) - 1);
  const Matrix3<S> left = f * rotation.transpose();  // R S Rᵀ
  const Matrix3<S> resistance = left.trace() * Matrix3<S>::Identity() - left;
  const Matrix3<S> adjugate = cofactor(resistance);  // symmetric
  const Matrix3<S> turn = (mu2 / resistance.col(0).dot(adjugate.col(0))) * adjugate;
  const Matrix3<S> metric = mu2 * (bt.transpose() * bt);
  for (int a = 0; a < 3; ++a) {
    Matrix3<S> turned;  // [r_a]_× H
    for (int j = 0; j < 3; ++j) turned.col(j) = r.col(a).cross(turn.col(j));
    for (int b = 0; b <= a; ++b) {
      Matrix3<S>& block = k[static_cast<std::size_t>(tet_pair(a + 1, b + 1))];
      // Row i of A [r_b]_× is (row i of A) × r_b.
      for (int i = 0; i < 3; ++i) block.row(i) = turned.row(i).transpose().cross(r.col(b)).transpose();
      block.noalias() += (lambda * c.col(a)) * c.col(b).transpose();
      for (int i = 0; i < 3; ++i) block(i, i) += metric(a, b);
      if (a == b) continue;
      const Eigen::Matrix<S, 3, 1> v = pressure * (f * bt.col(a).cross(bt.col(b)));
      subtract_cross(v, block);
    }
  }
  for_each_flat(f, [&](int l, const Mat3& one) {
    const Svd3 svd = signed_svd(one);
    TetBlocks blocks;
    principal_blocks(energy.principal(svd.s), svd, lane(rest_inverse, l), lane(volume, l), false, blocks);
    for (int a = 1; a < 4; ++a) {
      for (int b = 1; b <= a; ++b)
        set_lane(k[static_cast<std::size_t>(tet_pair(a, b))], l,
                 blocks[static_cast<std::size_t>(tet_pair(a, b))]);
    }
  });
}

//   K_ab = vol[ (b_a·S b_b) I + μ(g_b g_aᵀ + (b_a·b_b) F Fᵀ) + λ g_a g_bᵀ ]
// for a stress S (second Piola–Kirchhoff) with ∂S/∂E as in St. Venant–Kirchhoff, whatever S itself is.
template <class S>
void strain_blocks(const StVK& energy, const Matrix3<S>& f, const Matrix3<S>& second_piola,
                   const Matrix3<S>& rest_inverse, const S& volume, BlocksOf<S>& k) {
  const S mu = volume * energy.mu, lambda = volume * energy.lambda;
  const Matrix3<S> bt = rest_inverse.transpose();
  const Matrix3<S> g = f * bt;
  const Matrix3<S> stress = bt.transpose() * (volume * second_piola) * bt;
  const Matrix3<S> metric = mu * (bt.transpose() * bt);
  const Matrix3<S> left = f * f.transpose();
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b <= a; ++b) {
      Matrix3<S>& block = k[static_cast<std::size_t>(tet_pair(a + 1, b + 1))];
      block.noalias() = metric(a, b) * left;
      block.noalias() += (mu * g.col(b)) * g.col(a).transpose();
      block.noalias() += (lambda * g.col(a)) * g.col(b).transpose();
      for (int i = 0; i < 3; ++i) block(i, i) += stress(a, b);
    }
  }
}

template <class S>
void exact_blocks(const StVK& energy, const Matrix3<S>& f, const Matrix3<S>& rest_inverse, const S& volume,
                  BlocksOf<S>& k) {
  strain_blocks(energy, f, energy.stress(green_strain(f)), rest_inverse, volume, k);
}

// All ten blocks of one element, or of four (exact ones only).
template <class Energy, class S>
void tet_blocks(const Energy& energy, const Matrix3<S>& f, const Matrix3<S>& rest_inverse, const S& volume,
                bool project, BlocksOf<S>& k) {
  if constexpr (lane_count<S> == 1) {
    if (project) {
      const Svd3 svd = signed_svd(f);
      principal_blocks(energy.principal(svd.s), svd, rest_inverse, volume, true, k);
      complete_blocks<S>(k);
      return;
    }
  }
  assert(!project);
  exact_blocks(energy, f, rest_inverse, volume, k);
  complete_blocks<S>(k);
}

// K applied to a change of the edges (columns: displacements of nodes 1 to 3 against node 0): nodal forces
// there.
template <class S>
Matrix3<S> edge_forces(const BlocksOf<S>& k, const Matrix3<S>& edges) {
  Matrix3<S> forces;
  for (int a = 0; a < 3; ++a) {
    Eigen::Matrix<S, 3, 1> sum = Eigen::Matrix<S, 3, 1>::Zero();
    for (int b = 0; b < 3; ++b) {
      if (a >= b) {
        sum.noalias() += k[static_cast<std::size_t>(tet_pair(a + 1, b + 1))] * edges.col(b);
      } else {
        sum.noalias() += k[static_cast<std::size_t>(tet_pair(b + 1, a + 1))].transpose() * edges.col(b);
      }
    }
    forces.col(a) = sum;
  }
  return forces;
}

// Gradient of the energy at the four nodes (columns): vol P b_a.
template <class Energy, class S>
Eigen::Matrix<S, 3, 4> tet_gradient(const Energy& energy, const Matrix3<S>& f, const Matrix3<S>& rest_inverse,
                                    const S& volume) {
  Eigen::Matrix<S, 3, 4> g;
  const Matrix3<S> stress = volume * energy.gradient(f);
  g.template rightCols<3>().noalias() = stress * rest_inverse.transpose();
  g.col(0) = -(g.col(1) + g.col(2) + g.col(3));
  return g;
}

}  // namespace exemplar
