// Advice leads out: of each warning that names a cure, a scene that calls it forth, and the cure until it is silent.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

class Advice : public ProgramTest {
 protected:
  // What a run says with these settings.
  std::string said_with(const std::string& method, const std::string& settings) {
    const Outcome outcome =
        run("EXEMPLAR run scene.json --method " + method + " -o out --overwrite " + settings);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return outcome.errors;
  }
  void expect_said(const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << "not said: " << words << "\n" << text;
  }
  void expect_silent(const std::string& text, const std::string& words) {
    EXPECT_EQ(text.find(words), std::string::npos) << "still said: " << words << "\n" << text;
  }
};

// A bar that is let go and swings without any damping of its own.
const char* const k_swing = R"({"time": {"duration": 0.5, "fps": 30}, "gravity": [0, 0, 0],
  "bodies": [{"name": "bar", "surface": {"box": {"size": [0.1, 0.5, 0.1], "resolution": [2, 10, 2]}}, "volume": {"grid": [2, 10, 2]},
    "material": {"density": 1000, "young": 1e5, "poisson": 0.3},
    "examples": [{"name": "bent", "bend": {"axis": "z", "angle": 40}}], "initial_pose": "bent",
    "supports": [{"region": {"half_space": {"point": [0, -0.249, 0], "normal": "-y"}}}]}],
  "methods": {"fem": {"examples": {"stiffness": 0}}}})";

const char* const k_fold = R"({"time": {"duration": 1, "fps": 20}, "gravity": [0, 0, 0],
  "bodies": [{"name": "sheet", "kind": "sheet", "thickness": 0.002,
    "surface": {"sheet": {"length": 0.4, "width": 0.1, "resolution_x": 8, "resolution_z": 2}},
    "material": {"density": 500, "young": 1e6, "poisson": 0.3, "damping": 0.01},
    "supports": [{"region": {"half_space": {"point": [-0.149, 0, 0], "normal": "-x"}}},
      {"region": {"half_space": {"point": [0.149, 0, 0], "normal": "x"}},
       "keyframes": [{"time": 0}, {"time": 1, "position": [-0.2, 0.02, 0]}]}]}]})";

const char* const k_unused = R"({"time": {"duration": 0.6, "fps": 30},
  "bodies": [{"name": "bar", "surface": {"box": {"size": [0.1, 0.6, 0.1], "resolution": [2, 12, 2]}}, "volume": {"grid": [3, 12, 3]},
    "material": {"density": 1000, "young": 2e5, "poisson": 0.3, "damping": 0.01},
    "examples": [{"name": "twisted", "twist": {"axis": "y", "angle": 120, "axial_scale": 0.7}}],
    "supports": [{"region": {"half_space": {"point": [0, -0.299, 0], "normal": "-y"}}}]}],
  "obstacles": [{"name": "block", "box": {"size": [0.4, 0.1, 0.4]}, "mass": 8, "position": [0, 0.36, 0], "velocity": [0, -2, 0]}],
  "methods": {"fem": {"examples": {"stiffness": 64}}}})";

// A weight comes down on a cube that has just landed, in one step a frame.
const char* const k_hammer = R"({"time": {"duration": 0.5, "fps": 30, "steps_per_frame": 1},
  "bodies": [{"name": "cube", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [6, 6, 6]}},
    "position": [0, 0.25, 0], "velocity": [0, -6, 0], "material": {"density": 1000, "young": 3e4, "poisson": 0.3}}],
  "obstacles": [{"name": "floor", "plane": {}},
    {"name": "weight", "box": {"size": [0.4, 0.1, 0.4]}, "mass": 80, "position": [0, 0.5, 0], "velocity": [0, -6, 0]}]})";

}  // namespace

TEST_F(Advice, StepsThatFollowTheAccuracyKeepTheEnergy) {
  write_text(m_folder / "scene.json", k_swing);
  expect_said(said_with("fem", "--set time.steps_per_frame=4"), "use time.steps_per_frame \"auto\" (4 now)");
  expect_silent(said_with("fem", ""), "the time step took");
}

TEST_F(Advice, ASmallerAccuracyKeepsTheEnergy) {
  write_text(m_folder / "scene.json", k_swing);
  expect_said(said_with("fem", "--set time.accuracy=1"),
              "use a smaller time.accuracy, such as 0.062 (1 now)");
  expect_silent(said_with("fem", "--set time.accuracy=0.004"), "the time step took");
}

TEST_F(Advice, ACurvedMembraneDoesNotLock) {
  write_text(m_folder / "scene.json", k_fold);
  expect_said(said_with("shell", ""), "set methods.shell.curved_membrane");
  expect_silent(said_with("shell", "--set methods.shell.curved_membrane=true"), "may lock");
}

TEST_F(Advice, ASofterBodyTakesUpItsExample) {
  write_text(m_folder / "scene.json", k_unused);
  expect_said(said_with("fem", ""), "its example twisted is never taken up");
  expect_said(said_with("fem", ""), "lower methods.fem.internal_stiffness or methods.fem.examples.stiffness");
  expect_silent(said_with("fem", "--set methods.fem.examples.stiffness=4"), "never taken up");
}

TEST_F(Advice, MoreStepsKeepBodiesOutOfObstacles) {
  write_text(m_folder / "scene.json", k_hammer);
  expect_said(said_with("rigid-lbs", ""), "into an obstacle");
  expect_said(said_with("rigid-lbs", ""), "use more time.steps_per_frame (1 now)");
  expect_silent(said_with("rigid-lbs", "--set time.steps_per_frame=4"), "into an obstacle");
}

}  // namespace exemplar::testing
