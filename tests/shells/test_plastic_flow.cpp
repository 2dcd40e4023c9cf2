// Plastic flow of sheets: hardening and limit loads against closed forms, and that no flow makes energy.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"
#include "shells/checks/validation.h"

namespace exemplar::shells {
namespace {

TEST(ShellPlasticity, HardeningAndLimitLoadsAreThoseOfBars) {
  for (const ValidationRecord& r : validate_plastic_strips({}))
    EXPECT_TRUE(r.ok) << r.quantity << ": " << r.measured << ", expected " << r.expected << " ± "
                      << r.tolerance;
}

// A free sheet thrown into a random motion, with a wavy example in any role.
SheetInput thrown_sheet(SheetModelKind kind, std::uint64_t seed, bool elastic, bool plastic) {
  SheetInput input;
  input.mesh = rectangle(MeshKind::irregular, 1, 0.8, 6, 5);
  input.material = {2e6, 0.3, 1e-2};
  input.density = 500;
  input.model = kind;
  const Points& x = input.mesh.vertices;
  Points pose = x;
  for (Eigen::Index i = 0; i < pose.rows(); ++i) pose(i, 1) += 0.05 * std::sin(8 * pose(i, 0));
  pose.col(2) *= 1.1;
  if (elastic) {
    SheetExamples set;
    set.poses = {pose};
    set.membrane = set.bending = 4;
    input.examples = {set};
  }
  SheetPlasticity flow;
  flow.yield_strain = YieldCurve(2e-3, 0.01);
  if (plastic) {
    flow.poses = {pose};
    flow.takes_part = {std::vector<char>(to_size(input.mesh.triangles.rows()), 1)};
  }
  input.plastic = flow;
  Mat3 gradient;
  for (int i = 0; i < 9; ++i) gradient(i) = 5 * normal_random(seed, static_cast<std::uint64_t>(i));
  input.velocities = x * gradient.transpose();
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    input.velocities(i, 1) += 3 * std::sin(5 * x(i, 0) + 4 * x(i, 2));
  return input;
}

TEST(ShellPlasticity, DissipationNeverFallsInRandomMotions) {
  for (const SheetModelKind kind : {SheetModelKind::physical, SheetModelKind::paper}) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      for (int roles = 0; roles < 4; ++roles) {
        ImplicitOptions options;
        options.linear = LinearMethod::direct;
        options.newton.max_iterations = 400;
        SheetModel model({thrown_sheet(kind, seed, (roles & 1) != 0, (roles & 2) != 0)}, options);
        StepInput step;
        step.dt = 0.005;
        double flowed = 0;
        for (int k = 0; k < 30; ++k) {
          ASSERT_EQ(model.step(step).status, StepStatus::ok) << seed << ' ' << roles;
          const double now = model.plastic_dissipation();
          EXPECT_GE(now, flowed) << "model " << static_cast<int>(kind) << ", seed " << seed << ", roles "
                                 << roles;
          flowed = now;
        }
        if (roles < 2) {
          EXPECT_GT(flowed, 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace exemplar::shells
