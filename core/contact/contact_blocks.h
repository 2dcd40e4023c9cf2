// Derivatives of one contact: distances → barrier → positions of at most four points → surface points and
// increments of dynamic obstacles. Everything has a fixed largest size: three numbers for each of at most four
// surface points or, where obstacles are involved, six for each of at most two of them instead.
#pragma once

#include <array>

#include "core/contact/contact_points.h"

namespace exemplar {

enum class Derivatives { gradient, hessian, projected_hessian };  // projected: positive semi-definite

inline constexpr int k_contact_size = 15;  // three surface points and an obstacle
using ContactVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, k_contact_size, 1>;
using ContactMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, k_contact_size, k_contact_size>;

// One contact's share, ready to be spread to nodes (contact_scatter.h): three numbers for every surface point,
// then six for every obstacle.
struct ContactBlock {
  // Not defaulted: a defaulted one would let vectors of blocks fill two kilobytes each with zeros.
  ContactBlock() {}  // NOLINT

  std::array<int, 4> points{-1, -1, -1, -1};  // of the surface
  int point_count = 0;
  std::array<int, 2> obstacles{-1, -1};  // dynamic ones; −1: none
  bool between = false;                  // both sides are of the surface: not in the fixed pattern
  double value = 0;                      // J
  ContactVector gradient;
  ContactMatrix hessian;  // empty unless asked for

  int obstacle_count() const { return (obstacles[0] >= 0) + (obstacles[1] >= 0); }
  // The first coordinate of obstacle k of the block.
  int obstacle_first(int k) const { return 3 * point_count + 6 * k; }
};

// A point that moves with the unknowns: of the surface, or fixed to an obstacle.
struct ContactPointRef {
  int point = -1;  // surface point
  int obstacle = -1;
  Vec3 local = Vec3::Zero();
};

// What a contact hangs on: points and, for signed distances, a shape (its six increments come last among the
// inputs).
struct ContactStencil {
  std::array<ContactPointRef, 4> points;
  int count = 0;
  int shape = -1;

  void add(const ContactPointRef& ref) { points[to_size(count++)] = ref; }
};

ContactPointRef reference(const ContactPoints& points, int point);
Vec3 place(const ContactPoints& points, const ContactPointRef& ref, const ContactPoints::PointsRef& x,
           const VecX& q);

// From derivatives with respect to the stencil's inputs (`hessian` may be empty when only gradients are asked
// for) to the block. The value is left for the caller.
ContactBlock make_block(const ContactPoints& points, const ContactStencil& stencil,
                        const ContactVector& gradient, const ContactMatrix& hessian, const VecX& q,
                        Derivatives derivatives);

// The barrier of a pair.
double pair_value(const ContactPoints& points, const ContactPair& pair, const ContactPoints::Placed& at);
ContactBlock pair_block(const ContactPoints& points, const ContactPair& pair, const Points& positions,
                        const VecX& q, Derivatives derivatives);

}  // namespace exemplar
