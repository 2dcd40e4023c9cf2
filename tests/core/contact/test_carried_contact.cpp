// Impulses between bodies of particles: what would go through stops, both sides take the same impulse,
// friction follows Coulomb, sheets have two sides, and what overlaps is moved apart without a speed.
#include <gtest/gtest.h>

#include "core/contact/carried_contact.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

CarriedBody body_of(const TriMesh& mesh, double thickness = 0, double friction = 0.5) {
  return {PointMap::identity(to_int(mesh.vertices.rows())), mesh, thickness, friction};
}

// Two bodies whose particles are the vertices of their surfaces.
struct Pair {
  CarriedContacts contacts;
  std::array<Points, 2> x, v, inverse;

  Pair(const TriMesh& a, const TriMesh& b, double thickness = 0, double friction = 0.5)
      : contacts({body_of(a, thickness, friction), body_of(b, thickness, friction)}) {
    x = {a.vertices, b.vertices};
    for (std::size_t k = 0; k < 2; ++k) {
      v[k] = Points::Zero(x[k].rows(), 3);
      inverse[k] = Points::Constant(x[k].rows(), 3, k == 0 ? 2.0 : 0.5);
    }
  }
  void find(double dt) {
    std::array<CarriedStep, 2> steps;
    for (std::size_t k = 0; k < 2; ++k) steps[k] = {&x[k], &v[k], &v[k], &inverse[k], 0};
    contacts.find(steps, dt);
  }
  void resolve() {
    const std::array<Points*, 2> velocities{&v[0], &v[1]};
    for (int k = 0; k < 500 && contacts.sweep(velocities) > 1e-12; ++k) {
    }
  }
  Vec3 momentum() const {
    return (v[0].cwiseQuotient(inverse[0]).colwise().sum() + v[1].cwiseQuotient(inverse[1]).colwise().sum())
        .transpose();
  }
};

TriMesh box_at(const Vec3& centre, double size) {
  TriMesh mesh = make_box({Vec3::Constant(size), {2, 2, 2}});
  mesh.vertices.rowwise() += centre.transpose();
  return mesh;
}

TEST(CarriedContact, WhatWouldGoThroughStopsAtTheSurfaceAndMomentumIsKept) {
  Pair pair(box_at({0, 0.51, 0}, 0.5), box_at({0, 0, 0}, 0.5));
  pair.v[0].col(1).setConstant(-4);
  const Vec3 before = pair.momentum();
  pair.find(0.01);
  ASSERT_FALSE(pair.contacts.empty());
  pair.resolve();
  EXPECT_LT((pair.momentum() - before).norm(), 1e-12 * before.norm());
  // The lowest points of the upper box approach by no more than the gap of 1 cm.
  for (Eigen::Index i = 0; i < pair.x[0].rows(); ++i) {
    if (pair.x[0](i, 1) > 0.3) continue;
    const double below = pair.x[0](i, 1) + 0.01 * pair.v[0](i, 1);
    EXPECT_GT(below, 0.25 + 0.01 * pair.v[1].col(1).minCoeff() - 1e-9);
  }
  const std::array<Points*, 2> velocities{&pair.v[0], &pair.v[1]};
  EXPECT_GT(pair.contacts.dissipated(velocities), 0);
}

TEST(CarriedContact, BodiesThatPartOrAreFarGetNothing) {
  Pair pair(box_at({0, 0.51, 0}, 0.5), box_at({0, 0, 0}, 0.5));
  pair.v[0].col(1).setConstant(4);
  pair.find(0.01);
  pair.resolve();
  EXPECT_EQ(pair.v[0].col(1).minCoeff(), 4);
  EXPECT_TRUE(pair.v[1].isZero(0));
  pair.x[0].col(1).array() += 1;
  pair.find(0.01);
  EXPECT_TRUE(pair.contacts.empty());
}

TEST(CarriedContact, FrictionIsTheGeometricMeanTimesTheNormalImpulse) {
  // In the middle of a larger one: the points of its top beside the upper box do not stand in the way.
  Pair pair(box_at({0.03, 1.25, 0.02}, 0.5), box_at({0, 0, 0}, 2), 0, 0.3);
  pair.inverse[1].setZero();  // held
  pair.v[0].col(1).setConstant(-1);
  pair.v[0].col(0).setConstant(10);
  pair.find(0.001);
  pair.resolve();
  const Vec3 change = (pair.v[0].colwise().sum() / pair.inverse[0](0, 0)).transpose() -
                      Vec3(10, -1, 0) * (static_cast<double>(pair.x[0].rows()) / pair.inverse[0](0, 0));
  EXPECT_GT(change.y(), 0);
  EXPECT_NEAR(-change.x(), 0.3 * change.y(), 1e-9);
}

TEST(CarriedContact, OverlapIsTakenAwayWithoutASpeed) {
  Pair pair(box_at({0, 0.49, 0}, 0.5), box_at({0, 0, 0}, 0.5));
  const std::array<const Points*, 2> places{&pair.x[0], &pair.x[1]};
  EXPECT_NEAR(pair.contacts.deepest(places), 0.01, 1e-12);
  for (int k = 0; k < 60; ++k) {
    pair.find(0.01);
    pair.resolve();
    EXPECT_TRUE(pair.v[0].isZero(0) && pair.v[1].isZero(0));
    const std::array<Points*, 2> positions{&pair.x[0], &pair.x[1]};
    pair.contacts.push_out(1, positions);
  }
  EXPECT_LT(pair.contacts.deepest(places), 1e-4);
}

TEST(CarriedContact, ASheetHasTwoSidesAndItsThickness) {
  for (const double side : {1.0, -1.0}) {
    TriMesh low = make_sheet({1, 1, 8, 8}), high = make_sheet({0.4, 0.4, 4, 4});
    high.vertices.col(1).array() += side * 0.03;
    Pair pair(high, low, 0.02);
    pair.inverse[1].setZero();
    pair.v[0].col(1).setConstant(-side * 5);
    pair.find(0.01);
    pair.resolve();
    // 0.03 apart, 0.02 thick: 0.01 to go in 0.01 s.
    EXPECT_NEAR(side * pair.v[0].col(1).mean(), -1, 1e-6);
  }
}

}  // namespace
}  // namespace exemplar
