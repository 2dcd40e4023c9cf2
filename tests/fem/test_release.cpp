// A body released from its examples: W_p alone holds it in any of them, W_i brings it back to rest.
#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/math/rigid_fit.h"
#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

const char* k_three_examples = R"({
  "time": {"duration": 4, "fps": 30, "steps_per_frame": 1},
  "gravity": [0, 0, 0],
  "bodies": [{
    "name": "box",
    "surface": {"box": {"size": [1, 2, 1], "resolution": [2, 4, 2]}},
    "volume": {"grid": [2, 4, 2]},
    "material": {"density": 1000, "young": 3e4, "poisson": 0.3, "damping": 0.05},
    "examples": [
      {"name": "bend", "bend": {"axis": "z", "along": "y", "angle": 60}},
      {"name": "shear", "shear": {"direction": "z", "normal": "y", "amount": 0.4}},
      {"name": "twist", "twist": {"axis": "y", "angle": 70, "axial_scale": 0.8}}
    ]
  }]
})";

const std::vector<std::string> k_examples{"bend", "shear", "twist"};

double distance_up_to_rigid_motion(const Points& a, const Points& b) {
  return (transform(fit_rigid(a, b), a) - b).rowwise().norm().maxCoeff();
}

class Released : public ::testing::TestWithParam<std::string> {};

TEST_P(Released, StaysInEveryExampleWithoutTheConventionalPotential) {
  for (const std::string& example : k_examples) {
    testing::FemRun run(
        k_three_examples,
        {"bodies[0].initial_pose=" + example, "methods." + GetParam() + ".internal_stiffness=0"}, GetParam());
    const Points start = run.nodes();
    ASSERT_GT(distance_up_to_rigid_motion(start, run.scene().bodies[0].volume().mesh.vertices), 0.05);
    ASSERT_EQ(run.frames(1, 30).status, Status::ok);
    EXPECT_LT((run.nodes() - start).rowwise().norm().maxCoeff(), 1e-6) << example;
    EXPECT_NEAR(run.extra("weight_box_" + example), 1, 1e-6);
  }
}

TEST_P(Released, ComesBackToRestWithBoth) {
  for (const std::string& example : k_examples) {
    testing::FemRun run(k_three_examples, {"bodies[0].initial_pose=" + example}, GetParam());
    const StepReport report = run.frames(1, 120);
    ASSERT_EQ(report.status, Status::ok) << report.message;
    const Points& rest = run.scene().bodies[0].volume().mesh.vertices;
    EXPECT_LT(distance_up_to_rigid_motion(run.nodes(), rest), 2e-3) << example;
    for (const std::string& other : k_examples) EXPECT_LT(run.extra("weight_box_" + other), 5e-3) << example;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Released, ::testing::Values("fem", "fem-compatible"),
                         [](const auto& method) { return method.param == "fem" ? "fem" : "compatible"; });

TEST(InternalStiffness, OffNeedsExamplesEverywhere) {
  const std::string off = "methods.fem.internal_stiffness=0";
  EXPECT_THROW(testing::FemRun(k_three_examples, {off, "methods.fem.examples.stiffness=0"}), InputError);
  EXPECT_THROW(testing::FemRun(k_three_examples, {off, "bodies[0].examples=[]"}), InputError);
  const std::string half = R"(.region={"low": [-1, 0, -1], "high": [1, 1, 1]})";
  EXPECT_THROW(
      testing::FemRun(k_three_examples, {off, "bodies[0].examples[0]" + half, "bodies[0].examples[1]" + half,
                                         "bodies[0].examples[2]" + half}),
      InputError);
  // One of them everywhere is enough.
  EXPECT_NO_THROW(testing::FemRun(k_three_examples, {off, "bodies[0].examples[0]" + half}));
}

}  // namespace
}  // namespace exemplar::fem
