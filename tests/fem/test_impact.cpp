// Impacts at 200 m/s with a step of 1/60 s (3.3 m of flight in one step) through the whole method: nothing is
// passed through, every number stays finite, momentum given to a dynamic obstacle is what the body lost.
#include <gtest/gtest.h>

#include "core/mesh/distance.h"
#include "fem/scene_bodies.h"
#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

const char* k_block = R"({
  "time": {"duration": 0.2, "fps": 60, "steps_per_frame": 1},
  "gravity": [0, 0, 0],
  "bodies": [{
    "name": "block",
    "surface": {"box": {"size": [0.5, 0.5, 0.5], "resolution": [3, 3, 3]}},
    "volume": {"grid": [3, 3, 3]},
    "material": {"density": 1000, "young": 1e7, "poisson": 0.3},
    "position": [0.06, 1.2, 0.03],
    "velocity": [0, -200, 0]
  }],
  "obstacles": [OBSTACLE]
})";

const char* k_plate = R"({
  "time": {"duration": 0.1, "fps": 60, "steps_per_frame": 1},
  "gravity": [0, 0, 0],
  "bodies": [{
    "name": "plate",
    "surface": {"box": {"size": [1.2, 0.1, 1.2], "resolution": [2, 1, 2]}},
    "volume": {"grid": [2, 1, 2]},
    "material": {"density": 1000, "young": 1e7, "poisson": 0.3}
  }],
  "obstacles": [OBSTACLE]
})";

std::string with_obstacle(std::string text, const std::string& obstacle) {
  return text.replace(text.find("OBSTACLE"), 8, obstacle);
}

// Position (0 … 2) and velocity (7 … 9) of the first obstacle.
ObstacleState obstacle_of(const testing::FemRun& run) {
  StateReader reader(run.state());
  std::vector<double> numbers(13);
  reader.read("solver.obstacles", std::span<double>(numbers));
  ObstacleState state;
  state.position = Eigen::Map<const Vec3>(numbers.data());
  state.orientation.coeffs() = Eigen::Map<const Vec4>(numbers.data() + 3);
  state.velocity = Eigen::Map<const Vec3>(numbers.data() + 7);
  return state;
}

double sampled_gap(const testing::FemRun& run) {
  return testing::sampled_gap(run, 0, obstacle_of(run));
}

struct ImpactCase {
  const char* name;
  const char* obstacle;
};

class Impact : public ::testing::TestWithParam<ImpactCase> {};

TEST_P(Impact, FixedObstacleIsNotPassed) {
  for (const char* young : {"1e7", "1e9"}) {
    testing::FemRun run(with_obstacle(k_block, GetParam().obstacle),
                        {std::string("bodies[0].material.young=") + young});
    const double mass = run.method().diagnostics().mass;
    bool hit = false;
    for (int frame = 1; frame <= 6; ++frame) {
      const StepReport report = run.frames(frame, frame);
      EXPECT_EQ(report.status, Status::ok) << report.message << ", Young's modulus " << young;
      ASSERT_TRUE(run.nodes().allFinite());
      EXPECT_GT(sampled_gap(run), 0) << "frame " << frame << ", Young's modulus " << young;
      if (report.status != Status::ok) break;
      const double speed = run.method().diagnostics().linear_momentum.y() / mass;
      hit = hit || speed > -100;
    }
    EXPECT_TRUE(hit) << "Young's modulus " << young;
  }
}

INSTANTIATE_TEST_SUITE_P(At200MetresPerSecond, Impact,
                         ::testing::Values(ImpactCase{"Plane", R"({"name": "o", "plane": {}})"},
                                           ImpactCase{"BoxEdge", R"({"name": "o", "box": {"size": [2, 2, 2]},
                        "position": [0, -1.5, 0], "rotation": {"axis": "z", "angle": 45}})"},
                                           ImpactCase{"Sphere", R"({"name": "o", "sphere": {"radius": 0.6},
                        "position": [0, -0.7, 0]})"}),
                         [](const auto& impact) { return impact.param.name; });

// Of the bodies and of a dynamic first obstacle.
Vec3 total_momentum(testing::FemRun& run) {
  return run.method().diagnostics().linear_momentum +
         run.scene().obstacles[0].mass() * obstacle_of(run).velocity;
}

// Whether the ball is on one side of the plate (1: above, −1: below): the first thing met from its centre
// towards the plate is that face.
bool is_on_side(const testing::FemRun& run, double side) {
  const Vec3 centre = obstacle_of(run).position;
  const TetMesh& volume = run.scene().bodies[0].volume().mesh;
  const TriMesh mesh{run.nodes(), boundary_triangles(volume)};
  const SurfaceDistance distance(mesh);
  const auto hit = distance.ray_cast(centre, -side * Vec3::UnitY());
  if (!hit || distance.inside(centre)) return false;
  const Points& rest = volume.vertices;
  const auto corners = mesh.triangles.row(hit->triangle);
  return side * (rest(corners[0], 1) + rest(corners[1], 1) + rest(corners[2], 1)) > 0.14;
}

TEST(ImpactOfSmallBall, DoesNotPassBetweenTheVerticesOfACoarsePlate) {
  for (const char* linear : {"direct", "auto"}) {
    for (const char* young : {"1e6", "1e8"}) {
      testing::FemRun run(with_obstacle(k_plate, R"({"name": "ball", "sphere": {"radius": 0.02}, "mass": 3,
                                     "position": [0.21, 1.9, 0.17], "velocity": [3, -200, -2]})"),
                          {std::string("bodies[0].material.young=") + young,
                           std::string("methods.fem.linear_solver=") + linear});
      const Vec3 before = total_momentum(run);
      for (int frame = 1; frame <= 5; ++frame) {
        const StepReport report = run.frames(frame, frame);
        ASSERT_EQ(report.status, Status::ok) << report.message;
        ASSERT_TRUE(run.nodes().allFinite());
        EXPECT_GT(sampled_gap(run), 0) << "frame " << frame;
        EXPECT_TRUE(is_on_side(run, 1)) << "frame " << frame << ", " << young;
      }
      EXPECT_GT(obstacle_of(run).velocity.y(), -150);
      EXPECT_LT((total_momentum(run) - before).norm(), 1e-12 * before.norm());
    }
  }
}

TEST(ImpactOfSmallBall, FixedBallIsNotPassedByAFastPlate) {
  testing::FemRun run(with_obstacle(k_plate, R"({"name": "ball", "sphere": {"radius": 0.02},
                                                 "position": [0.21, -1.9, 0.17]})"),
                      {"bodies[0].velocity=[0, -200, 0]"});
  for (int frame = 1; frame <= 3; ++frame) {
    const StepReport report = run.frames(frame, frame);
    ASSERT_EQ(report.status, Status::ok) << report.message;
    ASSERT_TRUE(run.nodes().allFinite());
    EXPECT_GT(sampled_gap(run), 0) << "frame " << frame;
    // Hit off its centre, the plate may later turn about the ball and slip off it.
    if (frame > 1) continue;
    EXPECT_TRUE(is_on_side(run, -1));
    EXPECT_GT(run.method().diagnostics().linear_momentum.y(), -100 * run.method().diagnostics().mass);
  }
}

// Contact depends on relative places only, and what residual the solver leaves is taken out of the momentum:
// what remains is the round-off of velocities x/h (positions of 1 m over the shortest step of 16 µs make
// 1e-11 m/s of 200 m/s, over many nodes and steps).
TEST(ImpactOfDynamicObstacles, MomentumIsExchangedToRoundOff) {
  for (const char* shape : {R"("sphere": {"radius": 0.4})", R"("box": {"size": [0.8, 0.6, 0.8]})"}) {
    testing::FemRun run(with_obstacle(k_block, std::string(R"({"name": "o", )") + shape +
                                                   R"(, "mass": 300, "position": [0, -0.5, 0],
                                                   "rotation": {"axis": [1, 0, 2], "angle": 30}})"));
    const Vec3 before = total_momentum(run);
    for (int frame = 1; frame <= 4; ++frame) {
      const StepReport report = run.frames(frame, frame);
      ASSERT_EQ(report.status, Status::ok) << report.message;
      EXPECT_GT(sampled_gap(run), 0) << "frame " << frame;
    }
    EXPECT_LT(obstacle_of(run).velocity.y(), -20);
    EXPECT_LT((total_momentum(run) - before).norm(), 1e-13 * before.norm()) << shape;
  }
}

}  // namespace
}  // namespace exemplar::fem
