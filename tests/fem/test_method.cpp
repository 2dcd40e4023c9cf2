// Methods fem and fem-compatible as a whole: the same bits for any number of threads and after resuming, and
// no setting that is described but changes nothing.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

// A soft box with elastic and plastic examples falls at a slant on rough ground, is struck by a ball and
// yields.
const char* k_everything = R"({
  "time": {"duration": 0.3, "fps": 50, "steps_per_frame": 2},
  "gravity": [0, -9.81, 0],
  "bodies": [{
    "name": "box",
    "surface": {"box": {"size": [0.4, 0.8, 0.4], "resolution": [1, 3, 1]}},
    "volume": {"grid": [1, 3, 1]},
    "material": {"density": 1000, "young": 4e4, "poisson": 0.3, "yield_stress": 1500, "damping": 0.002,
                 "friction": 0.3},
    "position": [0, 0.45, 0],
    "velocity": [1.5, -3, 0.2],
    "examples": [
      {"name": "bend", "use": "elastic", "bend": {"axis": "z", "along": "y", "angle": 40}},
      {"name": "short", "use": "elastic", "stretch": {"axis": "y", "factor": 0.8}},
      {"name": "twist", "use": "plastic", "twist": {"axis": "y", "angle": 60, "axial_scale": 0.75}}
    ]
  }],
  "obstacles": [
    {"name": "ground", "plane": {}},
    {"name": "ball", "sphere": {"radius": 0.1}, "mass": 8, "position": [0.05, 1.0, 0.02], "velocity": [0, -3, 0]}
  ],
  "methods": {"fem": {"plasticity": {"rate": 10}}, "fem-compatible": {"plasticity": {"rate": 10}}}
})";

constexpr int k_frames = 8;

class FemMethods : public ::testing::TestWithParam<std::string> {};

TEST_P(FemMethods, SameBitsForAnyThreadsAndAfterResuming) {
  set_thread_count(1);
  testing::FemRun once(k_everything, {}, GetParam());
  const StepReport report = once.frames(1, k_frames);
  ASSERT_EQ(report.status, Status::ok) << report.message;
  // The scene does what it is for.
  EXPECT_GT(once.method().diagnostics().plastic_measure, 1e-3);
  EXPECT_GT(once.extra("weight_box_bend") + once.extra("weight_box_short"), 1e-3);
  EXPECT_GT(once.method().obstacle_poses()[1].first.y(), 0.3);
  for (const int threads : {2, 3}) {
    set_thread_count(threads);
    testing::FemRun other(k_everything, {}, GetParam());
    other.frames(1, k_frames);
    EXPECT_TRUE(other.state() == once.state()) << threads << " threads";
    EXPECT_TRUE((other.surface().array() == once.surface().array()).all());
  }
  testing::FemRun parts(k_everything, {}, GetParam());
  for (int frame = 1; frame <= k_frames; ++frame) {
    parts.frames(frame, frame);
    parts.resume();
  }
  set_thread_count(0);
  EXPECT_TRUE(parts.state() == once.state()) << "resumed after every frame";
}

// Paths of all plain fields, e.g. examples.stiffness.
void collect_paths(const Description& type, const std::string& prefix, std::vector<std::string>& paths) {
  for (const FieldSpec& field : type.fields) {
    if (field.kind == FieldKind::object) {
      collect_paths(*field.nested, prefix + field.key + ".", paths);
    } else {
      paths.push_back(prefix + field.key);
    }
  }
}

struct Change {
  std::vector<std::string> values;   // each must change the result
  std::vector<std::string> besides;  // assignments of the scene that make it matter; ~ stands for the method
};

// What each setting is changed to. A setting that is not here fails the test below.
const std::map<std::string, Change> k_changes{
    {"model", {{"stvk", "corotated", "neo-hookean", "neo-hookean-barrier"}, {}}},
    {"element", {{"quadratic"}, {}}},
    {"mode",
     {{"quasi-static"},
      {"bodies[0].supports=[{\"region\": {\"half_space\": {\"point\": [0, 0.8, 0], \"normal\": \"y\"}}}]"}}},
    {"internal_stiffness", {{"0", "0.5"}, {}}},
    {"examples.stiffness", {{"0", "3"}, {}}},
    {"examples.affine", {{"true"}, {}}},
    {"examples.sets", {{"[{\"stiffness\": 3}]"}, {}}},
    {"plasticity.carry_examples", {{"true"}, {}}},
    {"plasticity.use_examples", {{"false"}, {}}},
    {"plasticity.rate", {{"20"}, {}}},
    {"plasticity.distance_penalty", {{"1e4"}, {}}},
    {"plasticity.yield_stress", {{"3000"}, {}}},
    {"contact.reach", {{"0.005"}, {}}},
    {"contact.stiffness", {{"1e5"}, {}}},
    {"contact.sticking_speed", {{"0.5"}, {}}},
    {"integrator", {{"bdf2"}, {}}},
    {"tolerance", {{"1e-2"}, {}}},
    {"penalty", {{"10"}, {}}},
};

TEST_P(FemMethods, EverySettingChangesTheResult) {
  std::vector<std::string> paths;
  collect_paths(*testing::registry_of<register_fem>().find(GetParam())->settings, "", paths);
  const std::string prefix = "methods." + GetParam() + ".";
  for (const std::string& path : paths) {
    // These have tests of their own, below and in test_fields.cpp: they change how a result is found or what
    // is written of it, not what it is.
    if (path == "linear_solver" || path == "max_iterations" || path == "max_halvings" || path == "all_fields")
      continue;
    if (path == "contact.between_bodies" || path == "contact.self") continue;  // test_body_contact.cpp
    const auto change = k_changes.find(path);
    ASSERT_NE(change, k_changes.end()) << path << " is described but no test uses it";
    testing::FemRun plain(k_everything, change->second.besides, GetParam());
    ASSERT_EQ(plain.frames(1, 6).status, Status::ok) << path;
    for (const std::string& value : change->second.values) {
      std::vector<std::string> assignments = change->second.besides;
      assignments.push_back(prefix + path + "=" + value);
      testing::FemRun changed(k_everything, assignments, GetParam());
      const StepReport report = changed.frames(1, 6);
      ASSERT_EQ(report.status, Status::ok) << path << " = " << value << ": " << report.message;
      const double difference = (changed.surface() - plain.surface()).rowwise().norm().maxCoeff();
      // Above what the solver's tolerance leaves open.
      EXPECT_GT(difference, path == "tolerance" ? 1e-12 : 1e-6) << path << " = " << value;
    }
  }
}

TEST_P(FemMethods, LinearSolversAgreeToTheTolerance) {
  const std::string prefix = "methods." + GetParam() + ".";
  const std::string tight = prefix + "tolerance=1e-10";
  testing::FemRun direct(k_everything, {tight, prefix + "linear_solver=direct"}, GetParam());
  testing::FemRun iterative(k_everything, {tight, prefix + "linear_solver=iterative"}, GetParam());
  testing::FemRun either(k_everything, {tight, prefix + "linear_solver=auto"}, GetParam());
  for (testing::FemRun* run : {&direct, &iterative, &either}) ASSERT_EQ(run->frames(1, 4).status, Status::ok);
  const double a = (direct.nodes() - iterative.nodes()).rowwise().norm().maxCoeff();
  const double b = (direct.nodes() - either.nodes()).rowwise().norm().maxCoeff();
  EXPECT_GT(a, 0);  // they are different solvers
  EXPECT_LT(a, 1e-6);
  EXPECT_LT(b, 1e-6);
}

TEST_P(FemMethods, TooFewIterationsHalveTheStepAndThenStop) {
  const std::string prefix = "methods." + GetParam() + ".";
  // Released from a strong bend, without contact.
  const std::vector<std::string> base{"obstacles=[]", "bodies[0].initial_pose=bend"};
  const auto run_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    testing::FemRun run(k_everything, more, GetParam());
    const StepReport report = run.frames(1, 3);
    EXPECT_TRUE(run.nodes().allFinite());
    return report;
  };
  const StepReport plain = run_with({});
  EXPECT_EQ(plain.steps, 6);
  const StepReport stopped = run_with({prefix + "max_iterations=2", prefix + "max_halvings=0"});
  EXPECT_EQ(stopped.status, Status::failed);
  EXPECT_NE(stopped.message.find("iteration limit"), std::string::npos) << stopped.message;
  // Shorter steps are closer to a quadratic function of the nodes: halving saves the run. (Not so for the
  // poses of the compatible method, which have no inertia.)
  if (GetParam() != "fem") return;
  const StepReport halved = run_with({prefix + "max_iterations=2"});
  EXPECT_EQ(halved.status, Status::ok) << halved.message;
  EXPECT_GT(halved.steps, 6);
}

// Nothing is ignored in silence: an elastic example of a part is refused by the method that cannot have it.
TEST(FemCompatible, RefusesExamplesOfAPart) {
  const std::string region = "bodies[0].examples[1].region={\"low\": [-1, -1, -1], \"high\": [1, 0.1, 1]}";
  EXPECT_NO_THROW(testing::FemRun(k_everything, {region}, "fem"));
  try {
    testing::FemRun run(k_everything, {region}, "fem-compatible");
    FAIL() << "no error";
  } catch (const InputError& error) {
    ASSERT_EQ(error.problems().size(), 1u);
    EXPECT_EQ(error.problems()[0].path, "bodies[0].examples[1].region");
  }
  // A plastic example may be of a part in both.
  const std::string plastic = "bodies[0].examples[2].region={\"low\": [-1, -1, -1], \"high\": [1, 0.1, 1]}";
  EXPECT_NO_THROW(testing::FemRun(k_everything, {plastic}, "fem-compatible"));
}

INSTANTIATE_TEST_SUITE_P(Both, FemMethods, ::testing::Values("fem", "fem-compatible"),
                         [](const auto& method) { return method.param == "fem" ? "fem" : "compatible"; });

// What one setting switches off another says.
TEST(IdleSettings, AreSaid) {
  const std::string text = R"({
    "bodies": [{
      "name": "bar", "surface": {"box": {"size": [1, 0.2, 0.2], "resolution": [2, 1, 1]}}, "volume": {"grid": [2, 1, 1]},
      "supports": [{"region": {"box": {"low": [-0.6, -1, -1], "high": [-0.4, 1, 1]}}}],
      "examples": [{"name": "bent", "use": "plastic", "bend": {"axis": "z", "angle": 20}}]
    }]
  })";
  const auto says = [&](const std::vector<std::string>& assignments, const std::string& what) {
    testing::FemRun run(text, assignments);
    for (const Note& note : run.method().notes()) {
      if (note.severity == Severity::warning && note.text.find(what) != std::string::npos) return true;
    }
    return false;
  };
  const std::string quasi_static = "methods.fem.mode=quasi-static", bdf2 = "methods.fem.integrator=bdf2";
  EXPECT_TRUE(says({quasi_static, bdf2}, "integrator has no effect"));
  EXPECT_FALSE(says({bdf2}, "integrator has no effect"));
  EXPECT_FALSE(says({quasi_static}, "has no effect"));
  EXPECT_TRUE(says({quasi_static, "bodies[0].velocity=[0, 1, 0]"}, "bar: its velocity has no effect"));
  EXPECT_TRUE(
      says({quasi_static, "bodies[0].angular_velocity=[0, 1, 0]"}, "bar: its velocity has no effect"));
  EXPECT_TRUE(says({}, "plastic examples have no effect"));
  EXPECT_FALSE(says({"bodies[0].material.yield_stress=1e4"}, "plastic examples have no effect"));
}

}  // namespace
}  // namespace exemplar::fem
