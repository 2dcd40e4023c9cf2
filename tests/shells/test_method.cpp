// Method shell on scenes: contact at the sheet's thickness, supports and clamps, examples, plasticity,
// resuming, bad input.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/mesh/files/files.h"
#include "tests/shells/shell_run.h"

namespace exemplar {

namespace testing {
namespace {

const std::string k_cloth = R"({
  "time": {"duration": 1, "fps": 30, "steps_per_frame": 1},
  "bodies": [{"name": "cloth", "kind": "sheet", "thickness": 0.01,
    "surface": {"sheet": {"length": 1, "width": 1, "resolution_x": 10, "resolution_z": 10}},
    "material": {"density": 100, "young": 2e4, "poisson": 0.3, "friction": 0.5}, "position": [0, 0.25, 0]}],
  "obstacles": [{"name": "ball", "sphere": {"radius": 0.2}}]})";

TEST(Shell, ClothDrapesOverABallAtItsThickness) {
  ShellRun run(k_cloth);
  const StepReport report = run.frames(1, 20);
  ASSERT_EQ(report.status, Status::ok) << report.message;
  const double gap = sampled_gap(run, 0, 0);
  EXPECT_GT(gap, 0.0049);                            // half the thickness
  EXPECT_LT(gap, 0.0075);                            // and it does touch
  EXPECT_LT(run.surface().col(1).minCoeff(), 0.05);  // hangs down
}

TEST(Shell, ResumingAfterEveryFrameChangesNothing) {
  ShellRun whole(k_cloth, {"bodies[0].material.yield_stress=200"}),
      pieces(k_cloth, {"bodies[0].material.yield_stress=200"});
  ASSERT_EQ(whole.frames(1, 8).status, Status::ok);
  for (int frame = 1; frame <= 8; ++frame) {
    ASSERT_EQ(pieces.frames(frame, frame).status, Status::ok);
    pieces.resume();
  }
  EXPECT_GT(whole.method().diagnostics().plastic_measure, 0);
  EXPECT_EQ(whole.state(), pieces.state());
}

TEST(Shell, AStripWithAClampedBorderBendsAsBeamTheorySays) {
  const std::string strip = R"({
    "time": {"duration": 1, "fps": 10},
    "bodies": [{"name": "strip", "kind": "sheet", "thickness": 0.01,
      "surface": {"sheet": {"length": 1, "width": 0.1, "resolution_x": 20, "resolution_z": 2}},
      "material": {"density": 1000, "young": 1e11, "poisson": 0},
      "supports": [{"region": {"half_space": {"point": [-0.499, 0, 0], "normal": "-x"}}, "clamped": true}]}],
    "methods": {"shell": {"mode": "quasi-static"}}})";
  ShellRun clamped(strip);
  ASSERT_EQ(clamped.frames(1, 1).status, Status::ok);
  // ρ g h L⁴/(8 D) with D = E h³/12: a seven-hundredth of the length.
  const double theory = 1000 * 9.81 * 0.01 / (8 * 1e11 * 1e-6 / 12);
  EXPECT_NEAR(-clamped.surface().col(1).minCoeff() / theory, 1, 0.005);
}

TEST(Shell, AClampThatTurnsTurnsTheSheet) {
  ShellRun run(R"({
    "time": {"duration": 1, "fps": 10, "steps_per_frame": 4}, "gravity": [0, 0, 0],
    "bodies": [{"name": "strip", "kind": "sheet", "thickness": 0.01,
      "surface": {"sheet": {"length": 1, "width": 0.1, "resolution_x": 10, "resolution_z": 1}},
      "material": {"density": 10, "young": 1e9, "poisson": 0},
      "supports": [{"region": {"half_space": {"point": [-0.499, 0, 0], "normal": "-x"}}, "clamped": true,
        "centre": [-0.5, 0, 0], "keyframes": [{"time": 0}, {"time": 1, "rotation": {"axis": "z", "angle": 60}}]}]}],
    "methods": {"shell": {"mode": "quasi-static"}}})");
  ASSERT_EQ(run.frames(1, 10).status, Status::ok);
  const Points x = run.surface();
  Eigen::Index tip;
  run.scene().bodies[0].surface().vertices.col(0).maxCoeff(&tip);
  EXPECT_NEAR(x(tip, 0), -0.5 + std::cos(std::numbers::pi / 3), 1e-6);
  EXPECT_NEAR(x(tip, 1), std::sin(std::numbers::pi / 3), 1e-6);
}

const std::string k_pulled = R"({
  "time": {"duration": 1, "fps": 10}, "gravity": [0, 0, 0],
  "bodies": [{"name": "sheet", "kind": "sheet", "thickness": 0.01,
    "surface": {"sheet": {"length": 1, "width": 1, "resolution_x": 8, "resolution_z": 8}},
    "material": {"density": 1000, "young": 1e6, "poisson": 0.3, "yield_stress": 1e4},
    "examples": [{"name": "long", "stretch": {"axis": "x", "factor": 1.1}},
                 {"name": "wide", "stretch": {"axis": "z", "factor": 1.1}}],
    "supports": [{"region": {"half_space": {"point": [-0.499, 0, 0], "normal": "-x"}}},
      {"region": {"half_space": {"point": [0.499, 0, 0], "normal": "x"}},
       "keyframes": [{"time": 0}, {"time": 1, "position": [0.08, 0, 0]}]}]}],
  "methods": {"shell": {"mode": "quasi-static"}}})";

TEST(Shell, PullingActivatesTheExampleThatIsStretchedThatWay) {
  ShellRun run(k_pulled, {"bodies[0].material.yield_stress=1e9"});
  ASSERT_EQ(run.frames(1, 10).status, Status::ok);
  EXPECT_GT(run.extra("weight_sheet_long"), 0.5);
  EXPECT_LT(run.extra("weight_sheet_wide"), 0.2);
  const FieldArray weights = run.array("example_weight_long");
  EXPECT_EQ(weights.values.size(), 128u);
  EXPECT_EQ(weights.values.front(), run.extra("weight_sheet_long"));
}

TEST(Shell, PlasticRestStatesStayBetweenTheExamplesInEveryStep) {
  for (const std::string model : {"physical", "paper"}) {
    ShellRun run(k_pulled, {"methods.shell.model=\"" + model + "\"", "methods.shell.examples.stiffness=0"});
    double largest = 0;
    for (int frame = 1; frame <= 10; ++frame) {
      ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
      for (const double strain : run.array("plastic_strain").values) largest = std::max(largest, strain);
      for (const double curvature : run.array("plastic_curvature").values) ASSERT_LT(curvature, 1e-9);
    }
    EXPECT_GT(largest, 0.02) << model;                          // it does flow
    EXPECT_LT(largest, 0.5 * (1.1 * 1.1 - 1) + 1e-9) << model;  // Green strain of the examples
  }
}

TEST(Shell, SameBitsForAnyNumberOfThreads) {
  std::vector<StateArrays> states;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    ShellRun run(k_cloth);
    EXPECT_EQ(run.frames(1, 4).status, Status::ok);
    states.push_back(run.state());
  }
  set_thread_count(0);
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0], states[2]);
}

TEST(Shell, AnExampleSetByACurveIsFollowed) {
  ShellRun run(
      k_pulled,
      {"bodies[0].supports=[]", "bodies[0].material.yield_stress=1e9",
       "bodies[0].controllers=[{\"example\":\"long\",\"curve\":{\"times\":[0,1],\"weights\":[0,1]}}]",
       "methods.shell.internal_stiffness=0", "methods.shell.mode=\"dynamic\""});
  ASSERT_EQ(run.frames(1, 10).status, Status::ok);
  EXPECT_NEAR(run.extra("weight_sheet_long"), 1, 1e-12);
  const Points x = run.surface();
  EXPECT_NEAR(x.col(0).maxCoeff() - x.col(0).minCoeff(), 1.1, 0.02);
}

// A strip held whole in a pose: stretched by a tenth, or bent to an arc of 60° over its length of 1 m.
const std::string k_posed = R"({
  "time": {"duration": 1, "fps": 10}, "gravity": [0, 0, 0],
  "bodies": [{"name": "strip", "kind": "sheet", "thickness": 0.01, "initial_pose": "bent",
    "surface": {"sheet": {"length": 1, "width": 0.3, "resolution_x": 20, "resolution_z": 6}},
    "material": {"density": 1000, "young": 1e6, "poisson": 0, "yield_stress": 1333.3333},
    "examples": [{"name": "long", "use": "elastic", "stretch": {"axis": "x", "factor": 1.1}},
                 {"name": "bent", "use": "elastic", "bend": {"axis": "z", "along": "x", "angle": 60}}],
    "supports": [{"region": {"half_space": {"point": [0, -9, 0], "normal": "y"}}}]}],
  "methods": {"shell": {"examples": {"stiffness": 0}}}})";

// The largest deviation of an array's component from `expected` over the triangles well inside the strip.
double deviation(const ShellRun& run, const std::string& name, std::size_t component, double expected) {
  const FieldArray array = run.array(name);
  const TriMesh& mesh = run.scene().bodies[0].surface();
  double largest = 0;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const double x = mesh.vertices(mesh.triangles.row(t).transpose(), 0).mean(),
                 z = mesh.vertices(mesh.triangles.row(t).transpose(), 2).mean();
    if (std::abs(x) > 0.3 || std::abs(z) > 0.1) continue;
    const std::size_t at = to_size(array.components) * to_size(t) + component;
    largest = std::max(largest, std::abs(std::abs(array.values[at]) - expected));
  }
  return largest;
}

TEST(Shell, ArraysShowWhatTheirNamesSay) {
  const double kappa = std::numbers::pi / 3;
  ShellRun bent(k_posed);
  const FieldArray curvatures = bent.array("principal_curvatures");
  const std::size_t large = std::abs(curvatures.values[200]) > std::abs(curvatures.values[201]) ? 0 : 1;
  EXPECT_LT(deviation(bent, "principal_curvatures", large, kappa), 0.01 * kappa);
  EXPECT_LT(deviation(bent, "principal_curvatures", 1 - large, 0), 0.01 * kappa);
  // ½ D κ² with D = E h³/12.
  EXPECT_LT(deviation(bent, "bending_energy", 0, 0.5 / 12 * kappa * kappa), 0.01);
  EXPECT_LT(deviation(bent, "plastic_curvature", 0, 0), 1e-12);
  ASSERT_EQ(bent.frames(1, 1).status, Status::ok);
  // κ_y = 3 σ_y/(E h) = 0.4 per metre for the whole section.
  EXPECT_LT(deviation(bent, "plastic_curvature", 0, kappa - 0.4), 0.01 * kappa);
  EXPECT_LT(deviation(bent, "plastic_strain", 0, 0), 1e-3);

  ShellRun stretched(k_posed, {"bodies[0].initial_pose=\"long\"", "bodies[0].material.yield_stress=50000"});
  const double strain = 0.5 * (1.1 * 1.1 - 1);  // Green
  EXPECT_LT(deviation(stretched, "principal_strains", 0, strain), 1e-9);
  EXPECT_LT(deviation(stretched, "principal_strains", 1, 0), 1e-9);
  EXPECT_LT(deviation(stretched, "membrane_energy", 0, 0.5 * 1e6 * 0.01 * strain * strain), 1e-6);
  ASSERT_EQ(stretched.frames(1, 1).status, Status::ok);
  EXPECT_LT(deviation(stretched, "plastic_strain", 0, strain - 0.05), 1e-9);
}

std::string message_of(const std::string& text, const std::vector<std::string>& assignments) {
  try {
    ShellRun run(text, assignments);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Shell, BadInputIsNamedWithItsPlace) {
  EXPECT_NE(message_of(k_cloth, {"bodies[0].thickness=0"}).find("bodies[0].thickness"), std::string::npos);
  const std::string folded = message_of(
      k_cloth,
      {R"(bodies[0].examples=[{"name":"over","bend":{"axis":"z","angle":180,"hinge":[0,0,0],"hinge_length":0.001}}])"});
  EXPECT_NE(folded.find("bodies[0].examples[0]"), std::string::npos) << folded;
  EXPECT_NE(folded.find("folds the sheet over"), std::string::npos) << folded;
  const std::string solid =
      message_of(k_cloth, {R"(bodies[0].surface={"box":{}})", R"(bodies[0].kind="solid")"});
  EXPECT_NE(solid.find("bodies[0].kind"), std::string::npos) << solid;
}

bool warns(const std::vector<std::string>& assignments, const std::string& words) {
  ShellRun run(k_cloth, assignments);
  for (const Note& note : run.method().notes()) {
    if (note.severity == Severity::warning && note.text.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(Shell, SettingsThatDoNothingAreWarnedAbout) {
  EXPECT_TRUE(warns({"methods.shell.model=\"paper\"", "methods.shell.curved_membrane=true"},
                    "curved_membrane has no effect"));
  EXPECT_FALSE(warns({"methods.shell.curved_membrane=true"}, "has no effect"));
  EXPECT_TRUE(warns({"methods.shell.paper.bending=3"}, "methods.shell.paper has no effect"));
  EXPECT_FALSE(warns({"methods.shell.model=\"paper\"", "methods.shell.paper.bending=3"}, "has no effect"));
  const std::string example =
      R"(bodies[0].examples=[{"name":"long","use":"plastic","stretch":{"axis":"x","factor":1.1}}])";
  EXPECT_TRUE(warns({example}, "no yield stress"));
  EXPECT_FALSE(warns({example, "bodies[0].material.yield_stress=200"}, "no yield stress"));
}

TEST(Shell, ATooThickSheetIsWarnedAbout) {
  EXPECT_TRUE(warns({"bodies[0].thickness=0.15", "bodies[0].position=[0,0.6,0]"}, "thickness"));
}

}  // namespace
}  // namespace testing
}  // namespace exemplar
