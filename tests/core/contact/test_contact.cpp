// The potential as a whole: derivatives against differences, the same energy after a common motion, forces
// that cancel.
#include "core/contact/contact.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "core/world/rotation.h"
#include "tests/core/contact/contact_support.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

using namespace exemplar::testing;

class ContactOfEachShape : public ::testing::TestWithParam<ShapeKind> {};
INSTANTIATE_TEST_SUITE_P(All, ContactOfEachShape,
                         ::testing::Values(ShapeKind::sphere, ShapeKind::box, ShapeKind::capsule,
                                           ShapeKind::cylinder, ShapeKind::mesh));

TEST_P(ContactOfEachShape, DerivativesAgreeWithDifferences) {
  TouchingScene scene(GetParam());
  const System& s = scene.system;
  ASSERT_GT(scene.contact->blocks(s.x(scene.all), s.q(scene.all), Derivatives::gradient).size(), 2u);
  // Derivatives with respect to the fixed plane's increment do not exist: leave its six out.
  const auto cut = [&](const VecX& v) {
    VecX out(v.size() - 6);
    out << v.head(v.size() - 12), v.tail(6);
    return out;
  };
  const auto cut_matrix = [&](const MatX& m) {
    MatX rows(m.rows() - 6, m.cols()), out(m.rows() - 6, m.cols() - 6);
    rows << m.topRows(m.rows() - 12), m.bottomRows(6);
    out << rows.leftCols(m.cols() - 12), rows.rightCols(6);
    return out;
  };
  const VecX y = cut(scene.all);
  const auto expand = [&](const VecX& v) {
    VecX all = scene.all;
    all.head(v.size() - 6) = v.head(v.size() - 6);
    all.tail(6) = v.tail(6);
    return all;
  };
  const auto value = [&](const VecX& v) { return s.value(expand(v)); };
  const auto gradient = [&](const VecX& v) { return cut(s.gradient(expand(v))); };
  const auto hessian = [&](const VecX& v) { return cut_matrix(s.hessian(expand(v))); };
  const auto g = check_gradient(value, gradient, y, 2e-3, 1e-6);
  EXPECT_TRUE(g.ok) << g.message << " " << g.best_error << " order " << g.observed_order;
  const auto h = check_hessian(gradient, hessian, y, 2e-3, 1e-5);
  EXPECT_TRUE(h.ok) << h.message << " " << h.best_error << " order " << h.observed_order;
  const MatX projected = s.hessian(scene.all, Derivatives::projected_hessian);
  const double smallest = Eigen::SelfAdjointEigenSolver<MatX>(projected).eigenvalues()[0];
  EXPECT_GT(smallest, -1e-9 * projected.norm());

  // Friction with the same contacts.
  for (const double dt : {0.01, 100.0}) {  // sliding and sticking
    scene.contact->update_friction(s.x(scene.all), s.q(scene.all), dt);
    EXPECT_GT(scene.contact->friction().contacts(), 2u);
    const auto fv = [&](const VecX& v) { return s.friction(expand(v)); };
    const auto fg = [&](const VecX& v) { return cut(s.friction_gradient(expand(v))); };
    const auto fh = [&](const VecX& v) { return cut_matrix(s.friction_hessian(expand(v))); };
    const auto rg = check_gradient(fv, fg, y, 1e-2, 1e-6);
    EXPECT_TRUE(rg.ok) << rg.message << " " << rg.best_error;
    const auto rh = check_hessian(fg, fh, y, 1e-2, 1e-5);
    EXPECT_TRUE(rh.ok) << rh.message << " " << rh.best_error;
  }
}

// On nodes and on the two obstacles that are free, about the origin.
void expect_forces_cancel(const VecX& gradient, const Points& x,
                          const std::vector<ObstacleState>& obstacles) {
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
  double scale = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Vec3 f = gradient.segment<3>(3 * i);
    force += f;
    moment += Vec3(x.row(i)).cross(f);
    scale += f.norm();
  }
  EXPECT_GT(scale, 0);
  for (const int o : {0, 2}) {
    const Vec3 f = gradient.segment<3>(3 * x.rows() + 6 * o);
    force += f;
    moment += obstacles[static_cast<std::size_t>(o)].position.cross(f) +
              gradient.segment<3>(3 * x.rows() + 6 * o + 3);
    scale += f.norm();
  }
  EXPECT_LT(force.norm(), 1e-12 * scale);
  EXPECT_LT(moment.norm(), 1e-10 * scale);
}

TEST_P(ContactOfEachShape, EnergyIsTheSameAfterACommonMotionAndForcesCancel) {
  TouchingScene scene(GetParam());
  const System& s = scene.system;
  // Without the fixed plane's pairs the rest is free: move everything but the plane far above it.
  Points x = s.x(scene.all);
  VecX q = s.q(scene.all);
  const auto move = [&](const Mat3& r, const Vec3& t, Points& xm, VecX& qm) {
    xm = (x * r.transpose()).rowwise() + t.transpose();
    qm = q;
    for (const int o : {0, 2}) {
      const ObstacleState start = scene.bodies[o].initial_state(), here = moved(start, q.segment<6>(6 * o));
      ObstacleState there = here;
      there.position = r * here.position + t;
      there.orientation = Quat(r) * here.orientation;
      qm.segment<6>(6 * o) = increment_between(start, there);
    }
  };
  Points x0, x1;
  VecX q0, q1;
  move(Mat3::Identity(), Vec3(0, 5, 0), x0, q0);
  move(exp_rotation(Vec3(0.4, 1.1, -0.6)), Vec3(3, 7, -2), x1, q1);
  scene.contact->find_pairs(x0, q0, x0, q0);
  const double before = scene.contact->value(x0, q0);
  EXPECT_GT(before, 0);
  scene.contact->find_pairs(x1, q1, x1, q1);
  EXPECT_NEAR(scene.contact->value(x1, q1), before, 1e-9 * before);

  // Forces and moments on nodes and obstacles cancel; at θ = 0 the θ-gradient is the moment about the body's
  // centre.
  std::vector<ObstacleState> now;
  for (int o = 0; o < 3; ++o) now.push_back(moved(scene.bodies[o].initial_state(), q1.segment<6>(6 * o)));
  scene.contact->begin_step(now, x1);
  const VecX zero = VecX::Zero(18);
  const VecX g = s.gradient(s.pack(x1, zero));
  expect_forces_cancel(g, x1, now);

  scene.contact->begin_step(now, shaken(x1, 1e-3, 99));
  scene.contact->update_friction(x1, zero, 0.01);
  expect_forces_cancel(s.friction_gradient(s.pack(x1, zero)), x1, now);
}

TEST(Contact, EmbeddedPointsPassForcesToTheirNodes) {
  // Three points, each the mean of two of four nodes: forces on nodes have the same sum.
  ContactSurface s;
  for (int i = 0; i < 3; ++i) {
    const std::array<int, 2> nodes{i, 3};
    const std::array<double, 2> weights{0.7, 0.3};
    s.map.add(nodes, weights);
  }
  Points x(4, 3);
  x << 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.3, 0, 0.3;
  s.rest = s.map.apply(x);
  s.triangles.resize(1, 3);
  s.triangles << 0, 2, 1;
  const std::vector<ObstacleBody> bodies =
      make_obstacles({obstacle(ShapeKind::sphere, 0.1, Vec3(0.3, 0.055, 0.25))});
  ContactPotential contact(s, bodies, {0.01, 1e4, 1e-3});
  contact.begin_step(states_of(bodies), x);
  const VecX q = VecX::Zero(6);
  contact.find_pairs(x, q, x, q);
  const System system{&contact, 4};
  const VecX all = system.pack(x, q);
  const VecX g = system.gradient(all);
  EXPECT_GT(g.norm(), 0);
  EXPECT_LT((g.segment<3>(0) + g.segment<3>(3) + g.segment<3>(6) + g.segment<3>(9) + g.segment<3>(12)).norm(),
            1e-12 * g.norm());
  EXPECT_TRUE(check_gradient([&](const VecX& y) { return system.value(y); },
                             [&](const VecX& y) { return system.gradient(y); }, all, 1e-3, 1e-6)
                  .ok);
  EXPECT_TRUE(check_hessian([&](const VecX& y) { return system.gradient(y); },
                            [&](const VecX& y) { return system.hessian(y); }, all, 1e-3, 1e-5)
                  .ok);
}

// A sheet that slides on the floor: whoever is turned round is found, held and released.
TEST(ContactFriction, HoldsWhatAStepTurnsRound) {
  const ContactSurface s = sheet(1, 1.0);
  const std::vector<ObstacleBody> floor =
      make_obstacles({obstacle(ShapeKind::plane, 1, Vec3(0, -0.005, 0), false)});
  ContactPotential contact(s, floor, {0.01, 1e4, 1e-3});
  const auto at = [&](double way) {
    Points x = s.rest;
    x.col(0).array() += way;
    return x;
  };
  const VecX q = VecX::Zero(6);
  contact.begin_step(states_of(floor), at(0));
  contact.find_pairs(at(0), q, at(0), q);
  contact.update_friction(at(0), q, 1);  // holds up to a slip of 1 mm
  ContactFriction& friction = contact.friction();
  const std::size_t count = friction.contacts();
  ASSERT_GT(count, 0u);
  const auto turned = [&](double from, double to) {
    friction.find_reversals(at(from), q, at(to), q);
    return friction.reversals();
  };
  EXPECT_EQ(turned(0.01, 0.005), 0u);    // slower
  EXPECT_EQ(turned(0.01, -0.0005), 0u);  // comes to rest
  EXPECT_EQ(turned(0.01, -0.01), count);
  const System system{&contact, 4};
  const VecX slid = system.pack(at(0.01), q);
  const double sliding = system.friction(slid), force = system.friction_gradient(slid).norm();
  friction.hold_reversals();
  // Twice the slip over the sticking range times the limit.
  EXPECT_NEAR(system.friction_gradient(slid).norm(), 20 * force, 1e-9 * force);
  const double ahead = system.friction(system.pack(at(0.011), q)),
               behind = system.friction(system.pack(at(0.009), q));
  const double slope = system.friction_gradient(slid).dot(system.pack(at(1), q) - system.pack(at(0), q));
  EXPECT_NEAR((ahead - behind) / 0.002, slope, 1e-9 * slope);
  friction.release();
  EXPECT_EQ(system.friction(slid), sliding);
}

}  // namespace
}  // namespace exemplar
