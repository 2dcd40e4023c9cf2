// A method that was added as CONTRIBUTING.md says, beside those of the program: run, refused and gone on with
// by the program's own commands.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compare/cli/commands.h"
#include "compare/registered_methods.h"
#include "core/base/errors.h"
#include "core/output/metrics_file.h"
#include "core/scene/files/run_frame.h"

namespace exemplar {

void register_falling(Registry& registry);

namespace {

namespace fs = std::filesystem;

const char* const k_scene = R"({
  "time": {"duration": 0.5, "fps": 20, "steps_per_frame": 5}, "gravity": [0, -9.81, 0],
  "bodies": [{"name": "box", "surface": {"box": {"size": [1, 1, 1], "resolution": [1, 1, 1]}}, "volume": {"grid": [1, 1, 1]},
              "position": [0, 7, 0], "velocity": [2, 0, 0], "material": {"density": 3}}]})";
constexpr double k_gravity = 9.81, k_duration = 0.5, k_step = 0.01, k_mass = 3;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ToyMethod : public ::testing::Test {
 protected:
  ToyMethod() : m_registry(registered_methods()) {
    register_falling(m_registry);
    fs::create_directories(m_folder);
    std::ofstream(m_folder / "scene.json") << k_scene;
  }
  ~ToyMethod() override { fs::remove_all(m_folder); }

  int run(const std::string& output, const std::vector<std::string>& assignments = {}, int frames = -1,
          bool resume = false) const {
    RunArguments arguments;
    arguments.scene = (m_folder / "scene.json").string();
    arguments.method = "falling";
    arguments.output = (m_folder / output).string();
    arguments.assignments = assignments;
    arguments.frames = frames;
    arguments.resume = resume;
    return run_command(arguments, m_registry, Terminal(true));
  }
  double last(const std::string& output, const std::string& column) const {
    return read_metrics(m_folder / output / "metrics.csv").column(column).back();
  }

  const fs::path m_folder = fs::temp_directory_path() / ("exemplar-toy-" + std::to_string(::getpid()));
  Registry m_registry;
};

TEST_F(ToyMethod, StandsBesideTheOthers) {
  const std::vector<std::string> names = m_registry.method_names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "falling"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "fem"), 1);
}

TEST_F(ToyMethod, FallsAsGalileoSays) {
  ASSERT_EQ(run("fall"), k_exit_done);
  const double speed = k_gravity * k_duration;
  EXPECT_NEAR(last("fall", "kinetic_energy"), 0.5 * k_mass * (speed * speed + 4), 1e-12 * 50);
  const Points box = read_run_surface((m_folder / "fall").string(), std::nullopt, "box", 8);
  EXPECT_NEAR(box.col(0).mean(), 2 * k_duration, 1e-6);  // written as floats
  const double ahead = 0.5 * speed * k_step;             // of the step that takes the new velocity
  EXPECT_NEAR(box.col(1).mean(), 7 - 0.5 * speed * k_duration - ahead, 1e-6);
}

TEST_F(ToyMethod, TakesItsSetting) {
  ASSERT_EQ(run("slow", {"methods.falling.drag=40", "bodies[0].velocity=[0, 0, 0]"}), k_exit_done);
  const double limit = k_gravity / 40;  // reached within e^−20
  EXPECT_NEAR(last("slow", "kinetic_energy"), 0.5 * k_mass * limit * limit, 1e-6);
  try {
    run("refused", {"methods.falling.drag=-1"});
    FAIL() << "a negative drag was taken";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().at(0).path, "methods.falling.drag");
  }
}

TEST_F(ToyMethod, GoesOnWithTheSameBits) {
  ASSERT_EQ(run("whole"), k_exit_done);
  ASSERT_EQ(run("parts", {}, 4), k_exit_done);
  ASSERT_EQ(run("parts", {}, -1, true), k_exit_done);
  const std::string whole = read_text(m_folder / "whole" / "metrics.csv");
  EXPECT_GT(std::count(whole.begin(), whole.end(), '\n'), 10);
  EXPECT_EQ(read_text(m_folder / "parts" / "metrics.csv"), whole);
}

}  // namespace
}  // namespace exemplar
