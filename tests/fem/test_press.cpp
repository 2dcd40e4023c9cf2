// Keyframed obstacles that drive into bodies, slower and much faster than sound goes through the material
// (10 m/s here): nothing is passed through, the step survives the first touch, and what is squeezed flat ends
// cleanly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fem/scene_bodies.h"
#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

// A soft box that rests on the ground.
const char* k_soft_box = R"({
  "time": {"duration": 1, "fps": FPS, "steps_per_frame": 1},
  "bodies": [{
    "name": "box",
    "surface": {"box": {"size": [0.4, 0.4, 0.4], "resolution": [2, 2, 2]}},
    "volume": {"grid": [2, 2, 2]},
    "material": {"density": 1000, "young": 1e5, "poisson": 0.3},
    "position": [0, 0.201, 0]
  }],
  "obstacles": [{"name": "ground", "plane": {}}, {"name": "press", "interpolation": "linear", PRESS}]
})";

std::string press_scene(int fps, const std::string& press) {
  std::string text = k_soft_box;
  text.replace(text.find("FPS"), 3, std::to_string(fps));
  return text.replace(text.find("PRESS"), 5, press);
}

double press_gap(const testing::FemRun& run, std::size_t obstacle, double time) {
  return testing::sampled_gap(run, obstacle, run.scene().obstacles[obstacle].prescribed_state(time));
}

// Runs for `duration` and checks every frame.
void expect_no_passing(testing::FemRun& run, double duration, const std::string& what) {
  const int frames = static_cast<int>(std::ceil(duration / run.scene().frame_time(1)));
  for (int frame = 1; frame <= frames; ++frame) {
    const StepReport report = run.frames(frame, frame);
    ASSERT_EQ(report.status, Status::ok) << what << ", frame " << frame << ": " << report.message;
    ASSERT_TRUE(run.nodes().allFinite()) << what;
    for (std::size_t o = 0; o < 2; ++o)
      ASSERT_GT(press_gap(run, o, run.scene().frame_time(frame)), 0) << what << ", frame " << frame;
  }
}

struct PressCase {
  const char* name;
  const char* shape;
  double clearance;      // m, of the position above the lowest point
  const char* rotation;  // of every keyframe
};

class Press : public ::testing::TestWithParam<PressCase> {};

// Two keyframes at 0 and `arrival`.
std::string press_keyframes(const std::string& from, double arrival, const std::string& to) {
  return fmt::format(R"("keyframes": [{{"time": 0, {}}}, {{"time": {}, {}}}])", from, arrival, to);
}

// Down by a quarter of the box's height, then it stands still.
TEST_P(Press, PushesASoftBoxAtAnySpeedAndStep) {
  const PressCase& press = GetParam();
  const auto at = [&](double lowest) {
    return fmt::format(R"("position": [0.03, {}, 0.02], "rotation": {})", lowest + press.clearance,
                       press.rotation);
  };
  const double top = 0.401, start = top + 0.05, end = top - 0.1;
  for (const double speed : {0.6, 3.75, 20.0}) {
    for (const int fps : {60, 240}) {
      const double arrival = (start - end) / speed;
      testing::FemRun run(
          press_scene(fps, std::string(press.shape) + ", " + press_keyframes(at(start), arrival, at(end))));
      expect_no_passing(run, arrival + 0.05, fmt::format("{} m/s, 1/{} s", speed, fps));
    }
  }
}

const char* k_upright = R"({"axis": "z", "angle": 0})";
INSTANTIATE_TEST_SUITE_P(
    AtThreeSpeeds, Press,
    ::testing::Values(PressCase{"Plane", R"("plane": {})", 0, R"({"axis": "z", "angle": 180})"},
                      PressCase{"Box", R"("box": {"size": [1, 0.2, 1]})", 0.1, k_upright},
                      PressCase{"BoxEdge", R"("box": {"size": [0.2, 0.2, 1]})", 0.1 * std::sqrt(2.0),
                                R"({"axis": "z", "angle": 45})"},
                      PressCase{"Sphere", R"("sphere": {"radius": 0.15})", 0.15, k_upright},
                      PressCase{"Capsule", R"("capsule": {"radius": 0.08, "length": 0.6})", 0.08,
                                R"({"axis": "z", "angle": 90})"},
                      PressCase{"Cylinder", R"("cylinder": {"radius": 0.15, "height": 0.2})", 0.1, k_upright},
                      PressCase{"Mesh",
                                R"("mesh": {"box": {"size": [0.6, 0.2, 0.6], "resolution": [2, 1, 2]}})", 0.1,
                                k_upright}),
    [](const auto& press) { return press.param.name; });

// A paddle turns about an axis beside the box and strikes it, its tip at up to 20 m/s.
TEST(TurningPress, StrikesASoftBoxAtAnySpeedAndStep) {
  const double arm = 0.5, from = -105, to = -60;
  for (const double speed : {0.6, 3.75, 20.0}) {
    for (const int fps : {60, 240}) {
      const double arrival = (to - from) * M_PI / 180 * arm / speed;
      const auto at = [](double degrees) {
        return fmt::format(R"("position": [-0.3, 0.6, 0], "rotation": {{"axis": "z", "angle": {}}})",
                           degrees);
      };
      testing::FemRun run(
          press_scene(fps, R"("mesh": {"box": {"size": [1, 0.06, 0.5], "resolution": [2, 1, 2]}}, )" +
                               press_keyframes(at(from), arrival, at(to))));
      expect_no_passing(run, arrival + 0.05, fmt::format("{} m/s, 1/{} s", speed, fps));
    }
  }
}

// 50 turns a second, more than a third of a turn too many for a step to see: the blade must not be taken for
// one that turns slowly backwards.
TEST(TurningPress, WholeTurnsWithinAStepAreSeen) {
  testing::FemRun run(press_scene(60, R"("box": {"size": [1, 0.06, 0.5]}, "keyframes": [
      {"time": 0, "position": [-0.45, 0.7, 0], "rotation": {"axis": "z", "angle": 0}},
      {"time": 0.1, "position": [-0.45, 0.7, 0], "rotation": {"axis": "z", "angle": 1800}}])"),
                      {"bodies[0].material.young=1e6"});
  expect_no_passing(run, 0.05, "50 turns/s");
  // Struck from the left below the axis, by a tip at up to 150 m/s.
  EXPECT_GT(run.method().diagnostics().linear_momentum.x(), 5 * run.method().diagnostics().mass);
}

// The press strikes a ball that lies on the box.
TEST(FastPress, DrivesADynamicObstacleIntoTheBody) {
  for (const double speed : {0.6, 3.75, 20.0}) {
    const double arrival = 0.2 / speed;
    testing::FemRun run(press_scene(
        60, R"("box": {"size": [1, 0.2, 1]}, )" +
                press_keyframes(R"("position": [0, 0.65, 0])", arrival, R"("position": [0, 0.45, 0])") +
                R"(}, {"name": "ball", "sphere": {"radius": 0.04}, "mass": 2,
                                   "position": [0.03, 0.445, 0.02])"));
    expect_no_passing(run, arrival + 0.05, fmt::format("{} m/s", speed));
    const Vec3 ball = run.method().obstacle_poses()[2].first;
    EXPECT_LT(ball.y(), 0.35 - 0.04);
    EXPECT_GT(ball.y(), 0.1);
  }
}

// Held from below instead of lying on the ground; the support's nodes and the press both move.
TEST(FastPress, PushesABodyThatIsHeld) {
  for (const double speed : {3.75, 20.0}) {
    const double arrival = 0.15 / speed;
    testing::FemRun run(
        press_scene(60, R"("sphere": {"radius": 0.15}, )" +
                            press_keyframes(R"("position": [0.03, 0.6, 0.02])", arrival,
                                            R"("position": [0.03, 0.45, 0.02])")),
        {R"(bodies[0].supports=[{"region": {"box": {"low": [-1, -1, -1], "high": [1, 0.01, 1]}}, "keyframes": [
            {"time": 0}, {"time": 0.1, "position": [0, 0.02, 0]}]}])"});
    expect_no_passing(run, arrival + 0.05, fmt::format("{} m/s", speed));
  }
}

// Through the floor: the box gives way until it is flat, then the run ends with the last good state.
TEST(FastPress, SqueezesFlatBeforeItFails) {
  for (const double speed : {3.75, 20.0}) {
    const double bottom = 0.5;  // m, of the press at the start
    testing::FemRun run(press_scene(
        240, R"("box": {"size": [1, 0.2, 1]}, )" +
                 press_keyframes(R"("position": [0, 0.6, 0])", 0.6 / speed, R"("position": [0, 0, 0])")));
    StepReport report;
    int frame = 0;
    while (report.status == Status::ok && run.scene().frame_time(frame) < 0.6 / speed)
      report = run.frames(frame + 1, frame + 1), ++frame;
    EXPECT_EQ(report.status, Status::failed);
    const double face = run.method().obstacle_poses()[1].first.y() - 0.1;
    EXPECT_LT(face, 0.01 * bottom) << speed;
    const Points x = run.nodes();
    ASSERT_TRUE(x.allFinite());
    // Of the surface: a node inside may overtake it, which contact does not forbid.
    const Triangles boundary = boundary_triangles(run.scene().bodies[0].volume().mesh);
    for (const int node : boundary.reshaped()) {
      EXPECT_GT(x(node, 1), 0);
      EXPECT_LT(x(node, 1), face);
    }
  }
}

// Newton iterations of a slow press on a box of 4³ cells.
int press_iterations(const std::string& press, double friction) {
  testing::FemRun run(press_scene(60, press), {"time.steps_per_frame=4", "bodies[0].volume.grid=[4, 4, 4]",
                                               "bodies[0].surface.box.resolution=[4, 4, 4]",
                                               fmt::format("bodies[0].material.friction={}", friction)});
  const StepReport report = run.frames(1, 30);
  EXPECT_EQ(report.status, Status::ok) << report.message;
  return report.iterations;
}

// Twice is the goal, 2.23 (the ball) the worst here; it was 1.7 to 3.1 times as many before contacts that a
// step turns round were held and normal forces followed the iterations.
TEST(SlowPress, FrictionCostsAboutAsManyIterationsAgain) {
  const auto keyframes = [](double x, double start, double end) {
    return press_keyframes(fmt::format(R"("position": [{}, {}, 0.02])", x, start), 0.5,
                           fmt::format(R"("position": [{}, {}, 0.02])", x, end));
  };
  const std::string flat = R"("box": {"size": [1, 0.2, 1]}, )" + keyframes(0, 0.52, 0.4);
  const std::string round = R"("sphere": {"radius": 0.15}, )" + keyframes(0.03, 0.57, 0.4);
  for (const std::string& press : {flat, round}) {
    const double smooth = press_iterations(press, 0);
    const double most = press == flat ? 1.8 : 2.3;
    for (const double friction : {0.2, 0.5})
      EXPECT_LE(press_iterations(press, friction), most * smooth) << press << friction;
  }
}

// 0.2° below the angle of friction a block creeps no faster than the sticking speed; 0.2° above it goes
// faster and faster as Coulomb has it.
TEST(Slope, HoldsUpToTheAngleOfFriction) {
  const double mu = 0.5, g = 9.81, angle = std::atan(mu), step = 0.2 * std::numbers::pi / 180;
  struct Motion {
    double speed, acceleration;  // between 0.5 and 1.5 s
  };
  const auto on_slope = [&](double slope) {
    testing::FemRun run(fmt::format(
        R"({{"time": {{"duration": 2, "fps": 2, "steps_per_frame": 40}}, "gravity": [{}, {}, 0],
             "bodies": [{{"name": "block", "surface": {{"box": {{"size": [0.4, 0.1, 0.4], "resolution": [2, 1, 2]}}}},
                          "volume": {{"grid": [2, 1, 2]}}, "position": [0, 0.0503, 0],
                          "material": {{"density": 1000, "young": 1e7, "poisson": 0.3, "friction": {}}}}}],
             "obstacles": [{{"name": "slope", "plane": {{}}}}]}})",
        g * std::sin(slope), -g * std::cos(slope), mu));
    double x[3];
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(run.frames(k + 1, k + 1).status, Status::ok);
      x[k] = run.method().diagnostics().centre_of_mass.x();
    }
    return Motion{(x[2] - x[1]) / 0.5, (x[2] - 2 * x[1] + x[0]) / 0.25};
  };
  EXPECT_LT(on_slope(angle - step).speed, 1e-3);
  const double coulomb = g * (std::sin(angle + step) - mu * std::cos(angle + step));
  EXPECT_NEAR(on_slope(angle + step).acceleration, coulomb, 2e-3 * coulomb);
}

// The ball's lowest point lies on the middle of a triangle, where no vertex is near.
TEST(FastPress, MayTouchTheBodyAtTheStart) {
  const auto scene = [](double height) {
    return press_scene(60, fmt::format(R"("sphere": {{"radius": 0.15}}, "keyframes": [
        {{"time": 0, "position": [0.07, {}, 0.03]}}, {{"time": 0.1, "position": [0.07, 0.5, 0.03]}}])",
                                       height));
  };
  testing::FemRun run(scene(0.401 + 0.15));
  EXPECT_GT(press_gap(run, 1, 0), 0);
  expect_no_passing(run, 0.1, "touching");
  EXPECT_THROW(testing::FemRun(scene(0.401 + 0.1)), InputError);
}

}  // namespace
}  // namespace exemplar::fem
