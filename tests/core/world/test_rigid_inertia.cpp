#include "core/world/rigid_inertia.h"

#include <gtest/gtest.h>

#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

using testing::check_gradient;
using testing::check_hessian;

TEST(RigidInertia, DerivativesAndFreeMotion) {
  Obstacle box;
  box.kind = ObstacleKind::dynamic;
  box.mass = 2;
  box.shape.kind = ShapeKind::box;
  box.shape.size = Vec3(0.3, 0.24, 0.39);
  box.position = Vec3(1, 2, 3);
  box.rotation = Vec3(0.3, -0.5, 0.7);
  const ObstacleBody body(box);
  ObstacleState state = body.initial_state();
  state.velocity = Vec3(1, -2, 0.5);
  state.angular_velocity = Vec3(6, -3, 9);
  const RigidInertia inertia(body, state, Vec3(0, -9.81, 0), 0.02);
  Vec6 q = inertia.free_increment();
  EXPECT_LT(inertia.gradient(q).norm(), 1e-9);
  EXPECT_LT((inertia.finish(q).velocity - (state.velocity + 0.02 * Vec3(0, -9.81, 0))).norm(), 1e-12);
  const Vec3 l0 = body.world_inertia(state) * state.angular_velocity;
  const ObstacleState end = inertia.finish(q);
  EXPECT_LT((body.world_inertia(end) * end.angular_velocity - l0).norm(), 1e-10);
  q += (Vec6() << 0.01, -0.02, 0.03, 0.2, -0.1, 0.15).finished();
  const auto g = check_gradient([&](const VecX& y) { return inertia.value(y); },
                                [&](const VecX& y) { return VecX(inertia.gradient(y)); }, q, 0.1);
  const auto h = check_hessian([&](const VecX& y) { return VecX(inertia.gradient(y)); },
                               [&](const VecX& y) { return MatX(inertia.hessian(y)); }, q, 0.1);
  EXPECT_TRUE(g.ok) << g.message;
  EXPECT_TRUE(h.ok) << h.message;
}

}  // namespace
}  // namespace exemplar
