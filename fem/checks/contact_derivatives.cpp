// Derivatives of contact between deformable features beside differences of its energy.
#include <fmt/format.h>

#include <algorithm>

#include "core/contact/barrier.h"
#include "core/contact/contact.h"
#include "core/contact/primitive_distance.h"
#include "fem/checks/contact_cases.h"

namespace exemplar::fem {

namespace {

struct PairCase {
  const char* name;
  ContactPairKind kind;
  std::array<Vec3, 4> corners;  // within reach, 0.1
};

// One point against the three features of a triangle that can be nearest, and two edges: across, parallel,
// almost parallel, end against end.
std::vector<PairCase> pair_cases() {
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0.2, 0, 0.9);
  const auto point = [&](const char* name, const Vec3& p) {
    return PairCase{name, ContactPairKind::point_triangle, {p, a, b, c}};
  };
  const auto edges = [&](const char* name, const Vec3& from, const Vec3& to) {
    return PairCase{name, ContactPairKind::edge_edge, {a, b, from, to}};
  };
  return {point("a point over a triangle", {0.4, 0.05, 0.3}),
          point("a point beside an edge", {0.5, 0.03, -0.04}),
          point("a point beside a corner", {-0.03, 0.02, -0.04}),
          edges("edges that cross", {0.4, 0.06, -0.3}, {0.5, 0.05, 0.5}),
          edges("parallel edges", {0.1, 0.05, 0}, {0.9, 0.05, 0}),
          edges("edges that are almost parallel", {0.1, 0.05, 1e-3}, {0.9, 0.0501, -2e-3}),
          edges("ends of edges", {1.03, 0.02, 0.04}, {1.5, 0.4, 0.3})};
}

struct Errors {
  double gradient = 0, hessian = 0;
};

Errors compare_with_differences(const PairCase& sample) {
  ContactSurface surface;
  surface.map = PointMap::identity(4);
  surface.rest.resize(4, 3);
  for (int k = 0; k < 4; ++k) surface.rest.row(k) = sample.corners[to_size(k)].transpose();
  surface.triangles.resize(0, 3);
  surface.bodies = {{0.1, 1e5, 0.3}};
  const std::vector<ObstacleBody> none;
  const ContactPoints points(surface, none, {0.1, 1e5, 1e-3});
  const VecX q;
  const double parallel = 1e-3 * (sample.corners[1] - sample.corners[0]).squaredNorm() *
                          (sample.corners[3] - sample.corners[2]).squaredNorm();
  const ContactPair pair{sample.kind, {0, 1, 2, 3}, -1, 0, 0.02, parallel, 0.1, 1e5};
  const auto at = [&](int coordinate, double shift) {
    Points x = surface.rest;
    x(coordinate / 3, coordinate % 3) += shift;
    return x;
  };
  const ContactBlock block = pair_block(points, pair, surface.rest, q, Derivatives::hessian);
  // Of exactly parallel edges the nearest points jump: differences of the forces are off by a part of the
  // step.
  const double step = 1e-6, force_step = 1e-8;
  Vec12 gradient;
  Mat12 hessian;
  for (int k = 0; k < 12; ++k) {
    gradient[k] = (pair_value(points, pair, points.placed(at(k, step), q)) -
                   pair_value(points, pair, points.placed(at(k, -step), q))) /
                  (2 * step);
    hessian.col(k) = (pair_block(points, pair, at(k, force_step), q, Derivatives::gradient).gradient -
                      pair_block(points, pair, at(k, -force_step), q, Derivatives::gradient).gradient) /
                     (2 * force_step);
  }
  // Beside the force and the stiffness of the plain barrier at this gap: those of exactly parallel edges are
  // zero.
  const Barrier scale = contact_barrier(points.gap(pair, points.placed(surface.rest, q)), pair.reach,
                                        pair.stiffness * pair.area);
  return {(block.gradient - gradient).norm() / -scale.slope,
          (block.hessian - hessian).norm() / scale.curvature};
}

}  // namespace

std::vector<ValidationRecord> validate_contact_derivatives(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const PairCase& sample : pair_cases()) {
    const Errors errors = compare_with_differences(sample);
    records.push_back(at_most(fmt::format("{}: relative error of the forces", sample.name), errors.gradient,
                              1e-6, "central differences of the energy"));
    records.push_back(at_most(fmt::format("{}: relative error of the stiffness", sample.name), errors.hessian,
                              1e-5, "central differences of the forces"));
  }
  return records;
}

}  // namespace exemplar::fem
