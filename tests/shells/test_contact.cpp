// Sheets thrown at obstacles: nothing passes through at any speed and step, and contact is at the sheet's
// thickness.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/mesh/topology.h"
#include "tests/shells/shell_run.h"

namespace exemplar::testing {
namespace {

struct Target {
  const char* name;
  const char* json;
  double height;  // of its surface below the sheet's middle, m
};

// The box is narrower than the sheet, the last one stands on an edge. The capsule leans: its surface is at
// −0.1 + 0.05/cos 10° where the sheet's middle comes down.
constexpr std::array<Target, 5> k_targets{
    {{"plane", R"("plane": {})", 0},
     {"sphere", R"("sphere": {"radius": 0.1}, "position": [0, -0.1, 0])", 0},
     {"box", R"("box": {"size": [0.25, 0.2, 0.25]}, "position": [0, -0.1, 0])", 0},
     {"capsule",
      R"("capsule": {"radius": 0.05, "length": 0.5}, "rotation": {"axis": "z", "angle": 80}, "position": [0, -0.1, 0])",
      -0.049},
     {"edge of a box",
      R"("box": {"size": [0.3, 0.3, 1]}, "rotation": {"axis": "z", "angle": 45}, "position": [0, -0.2121320344, 0])",
      0}}};

std::string thrown_at(const Target& target, double speed, double step) {
  // One step of free flight away, so that the first steps see the obstacle at full speed.
  const double height = 0.02 + 1.3 * speed * step;
  return fmt::format(R"({{
    "time": {{"duration": 1, "fps": {}, "steps_per_frame": 1}},
    "bodies": [{{"name": "sheet", "kind": "sheet", "thickness": 0.004,
      "surface": {{"sheet": {{"length": 0.5, "width": 0.5, "resolution_x": 6, "resolution_z": 6}}}},
      "material": {{"density": 500, "young": 5e6, "poisson": 0.3, "friction": 0.3, "damping": 0.0005}},
      "position": [0.013, {}, 0.007], "rotation": {{"axis": [1, 0, 0.4], "angle": 3}},
      "velocity": [0, {}, 0]}}],
    "obstacles": [{{"name": "target", {}}}]}})",
                     std::lround(1 / step), height, -speed, target.json);
}

// Until the impact and a few steps after it: crossings, and the middle of the sheet has not got past the
// target.
void expect_stopped(const Target& target, double speed, double step) {
  SCOPED_TRACE(fmt::format("{}, {} m/s, step 1/{:.0f} s", target.name, speed, 1 / step));
  ShellRun run(thrown_at(target, speed, step));
  const Eigen::Index middle = 24;  // of 7 × 7 vertices
  const double arrival = 0.02 / speed + 1.3 * step;
  const int frames = static_cast<int>(std::ceil(arrival / step)) + 2;
  double smallest = 1;
  for (int frame = 1; frame <= frames; ++frame) {
    const StepReport report = run.frames(frame, frame);
    ASSERT_EQ(report.status, Status::ok) << report.message;
    ASSERT_EQ(run.extra("obstacle_crossings"), 0) << "frame " << frame;
    smallest = std::min(smallest, sampled_gap(run, 0, 0));
  }
  EXPECT_GT(smallest, 0.002 * (1 - 1e-6));  // half the thickness
  // It has touched: within the reach of contact, a thousandth of the sheet's size, seen at samples that are
  // an eighth of a triangle's longest side apart.
  const double reach = 1e-3 * std::hypot(0.5, 0.5), spacing = std::hypot(0.5, 0.5) / 6 / 8;
  EXPECT_LT(smallest, 0.002 + reach + 0.5 * spacing);
  EXPECT_GT(run.surface()(middle, 1), target.height - 0.02);  // it may slip, no obstacle is below 0.1 m deep
  EXPECT_LT(run.rms_speed(), 1.02 * speed + 9.81 * frames * step);
}

TEST(ShellContact, NothingPassesThroughAtAnySpeed) {
  for (const Target& target : k_targets) {
    for (const double speed : {1.0, 10.0, 100.0}) expect_stopped(target, speed, 1.0 / 60);
  }
}

TEST(ShellContact, NorWithShorterSteps) {
  for (const Target& target : k_targets) {
    for (const double speed : {30.0, 100.0}) expect_stopped(target, speed, 1.0 / 600);
  }
}

// The count that the checks above rely on: a sheet put across an obstacle is seen to cross it, exactly where
// its triangles do.
TEST(ShellContact, CrossingsAreCounted) {
  const TriMesh sheet{(Points(3, 3) << -1, 0.1, -1, 1, 0.1, -1, 0, 0.1, 2).finished(),
                      (Triangles(1, 3) << 0, 2, 1).finished()};
  TriMesh other{(Points(3, 3) << 0, -1, 0, 0.2, -1, 0, 0.1, 1, 0).finished(),
                (Triangles(1, 3) << 0, 1, 2).finished()};
  EXPECT_EQ(count_crossings(sheet, other), 1u);
  other.vertices.col(1).array() -= 0.9 + 1e-9;  // its tip ends just below the sheet
  EXPECT_EQ(count_crossings(sheet, other), 0u);
}

}  // namespace
}  // namespace exemplar::testing
