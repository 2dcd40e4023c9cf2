// The quadratic tetrahedron (midsides.h) seen from its integration points. There
//   F = Σ_a x_a ∂N_a/∂X = [y_1 − y_0, y_2 − y_0, y_3 − y_0] B,   y_k = Σ_a x_a ∂N_a/∂L_k,
// that of a linear tet with the corners y, which are fixed combinations of the ten nodes:
//   y_k = (4 L_k − 1) x_k + Σ_l 4 L_l x_kl.
// So every kernel of linear tets serves (tet_kernel.h); what it gives at the corners y is passed on to the nodes by the
// transposed combination. Four points L = (α, β, β, β) and its permutations, α = (5 + 3√5)/20, β = (5 − √5)/20, a quarter
// of the volume each: exact for polynomials of degree two, as in CalculiX's C3D10. S: double for one point, or Lanes for
// all four of one tet.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "core/elastic/tet_kernel.h"
#include "core/mesh/volume/midsides.h"

namespace exemplar::quadratic_tet {

inline constexpr double k_near = 0.58541019662496845, k_far = 0.13819660112501052;
// Of the mass on each corner and each midside node: the diagonal of ∫ N_a N_b, scaled to the whole mass (Hinton, Rock and
// Zienkiewicz 1976). All are positive.
inline constexpr double k_corner_mass = 1.0 / 36, k_midside_mass = 4.0 / 27;

inline double sum_of_lanes(double s) {
  return s;
}
inline double sum_of_lanes(const Lanes& s) {
  return (s.v[0] + s.v[1]) + (s.v[2] + s.v[3]);
}

// L_k at the points of a group: one point, or the four of one tet in order.
template <class S>
S coordinate(std::span<const int> group, int k) {
  if constexpr (lane_count<S> == 1) {
    return group[0] % 4 == k ? k_near : k_far;
  } else {
    Lanes l(k_far);
    l.v[k] = k_near;
    return l;
  }
}

// Shares of the nodes in y: corner[k] of corner k in y_k, across[l] of the midside node kl in y_k.
template <class S>
struct Shares {
  std::array<S, 4> corner, across;

  explicit Shares(std::span<const int> group) {
    for (int k = 0; k < 4; ++k) {
      across[to_size(k)] = 4 * coordinate<S>(group, k);
      corner[to_size(k)] = across[to_size(k)] - 1;
    }
  }
};

// Columns y_k from the tet's ten nodes.
template <class S>
Eigen::Matrix<S, 3, 4> corners(const Shares<S>& share, const Points& x, const int* nodes) {
  Eigen::Matrix<S, 3, 4> y;
  for (int c = 0; c < 3; ++c) {
    for (int k = 0; k < 4; ++k) y(c, k) = share.corner[to_size(k)] * S(x(nodes[k], c));
    for (int e = 0; e < 6; ++e) {
      const auto [k, l] = k_tet_edges[to_size(e)];
      const S at = x(nodes[4 + e], c);
      y(c, k) += share.across[to_size(l)] * at;
      y(c, l) += share.across[to_size(k)] * at;
    }
  }
  return y;
}

// From the corners y to the ten nodes (columns), summed over the points.
template <class S>
Eigen::Matrix<double, 3, 10> pulled(const Shares<S>& share, const Eigen::Matrix<S, 3, 4>& nodal) {
  Eigen::Matrix<double, 3, 10> out;
  for (int c = 0; c < 3; ++c) {
    for (int k = 0; k < 4; ++k) out(c, k) = sum_of_lanes(share.corner[to_size(k)] * nodal(c, k));
    for (int e = 0; e < 6; ++e) {
      const auto [k, l] = k_tet_edges[to_size(e)];
      out(c, 4 + e) =
          sum_of_lanes(share.across[to_size(l)] * nodal(c, k) + share.across[to_size(k)] * nodal(c, l));
    }
  }
  return out;
}

// The same for stiffness blocks; pairs a ≥ b of the ten nodes as in tet_kernel.h.
template <class S>
std::array<Mat3, 55> pulled(const Shares<S>& share, const BlocksOf<S>& blocks) {
  Matrix3<S> half[10][4];  // rows on the nodes, columns still on the corners y
  for (int l = 0; l < 4; ++l) {
    Matrix3<S> column[4];
    for (int k = 0; k < 4; ++k) {
      if (k >= l) {
        column[k] = blocks[to_size(tet_pair(k, l))];
      } else {
        column[k] = blocks[to_size(tet_pair(l, k))].transpose();
      }
      half[k][l] = share.corner[to_size(k)] * column[k];
    }
    for (int e = 0; e < 6; ++e) {
      const auto [k, m] = k_tet_edges[to_size(e)];
      half[4 + e][l] = share.across[to_size(m)] * column[k] + share.across[to_size(k)] * column[m];
    }
  }
  std::array<Mat3, 55> out;
  for (int a = 0; a < 10; ++a) {
    for (int b = 0; b <= a; ++b) {
      Matrix3<S> block;
      if (b < 4) {
        block = share.corner[to_size(b)] * half[a][b];
      } else {
        const auto [k, l] = k_tet_edges[to_size(b - 4)];
        block = share.across[to_size(l)] * half[a][k] + share.across[to_size(k)] * half[a][l];
      }
      Mat3& sum = out[to_size(tet_pair(a, b))];
      for (int i = 0; i < 9; ++i) sum(i) = sum_of_lanes(block(i));
    }
  }
  return out;
}

}  // namespace exemplar::quadratic_tet
