#include <gtest/gtest.h>

#include <Eigen/LU>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/output/described_state.h"
#include "core/world/obstacle_motion.h"
#include "meshless/shape_matching/method.h"
#include "meshless/shape_matching/scene_body.h"
#include "tests/support/run.h"

namespace exemplar::shape_matching {
namespace {

// A plank on two blocks, hit by a dynamic ball.
SceneSettings plank_and_ball() {
  SceneSettings settings;
  settings.time = {0.2, 120, 4};
  BodySettings body;
  body.name = "plank";
  body.surface.box = BoxParams{};
  body.surface.box->size = Vec3(1.2, 0.05, 0.25);
  body.surface.box->resolution = {24, 1, 5};
  body.material.density = 1000;
  body.material.young = 1e8;
  body.material.yield_stress = 1e6;
  settings.bodies.push_back(body);
  for (const double x : {-0.45, 0.45}) {
    ObstacleSettings block;
    block.name = x < 0 ? "left" : "right";
    block.box = BoxSettings{Vec3(0.1, 0.2, 0.4)};
    block.position = Vec3(x, -0.126, 0);
    settings.obstacles.push_back(block);
  }
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.08};
  ball.mass = 3;
  ball.position = Vec3(0, 0.12, 0);
  ball.velocity = Vec3(0, -8, 0);
  settings.obstacles.push_back(ball);
  return settings;
}

StateArrays run(const Scene& scene, const Settings& settings, int frames, int resume_at = 0) {
  auto method = make_method(scene, settings);
  for (int frame = 1; frame <= frames; ++frame) {
    EXPECT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    if (frame != resume_at) continue;
    StateWriter saved;
    method->save(saved);
    StateReader reader(saved.arrays());
    method = make_method(scene, settings);
    method->load(reader);
  }
  StateWriter out;
  method->save(out);
  return out.arrays();
}

TEST(ShapeMatchingMethod, ResumeAndThreadsDoNotChangeABit) {
  const Scene scene = make_scene(plank_and_ball(), "");
  set_thread_count(1);
  const StateArrays once = run(scene, {}, 12);
  EXPECT_TRUE(once == run(scene, {}, 12, 5));
  for (const int threads : {2, 3}) {
    set_thread_count(threads);
    EXPECT_TRUE(once == run(scene, {}, 12)) << threads;
  }
  set_thread_count(0);
}

// The ball bends the plank beyond its yield. What stays must stay: the
// bend of a plank that had once yielded went on growing after the ball had left.
TEST(ShapeMatchingMethod, TheBallIsStoppedAndThePlankStaysBent) {
  SceneSettings settings = plank_and_ball();
  settings.bodies[0].material.yield_stress = 2e6;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  std::vector<double> bends;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    method->advance(scene.frame_time(frame), k_never);
    bends.push_back(method->diagnostics().extra[2].value);
  }
  const Diagnostics d = method->diagnostics();
  EXPECT_GT(d.plastic_measure, 0.01);
  EXPECT_GT(bends.back(), 4.0);
  EXPECT_NEAR(bends.back(), bends[bends.size() / 2], 3.0);
  EXPECT_GT(d.contact_dissipation, 0.0);
  EXPECT_GT(method->obstacle_poses().back().first.y(), -0.2);  // free fall would have left it at −1.7 m
  const Geometry surface = method->fields().front();
  EXPECT_EQ(surface.series, "surface");
  EXPECT_EQ(surface.points.rows(), scene.bodies[0].surface().vertices.rows());
}

TEST(ShapeMatchingMethod, RestsOnTheGroundWithoutSinking) {
  SceneSettings settings = plank_and_ball();
  settings.obstacles.clear();
  ObstacleSettings ground;
  ground.name = "ground";
  ground.plane = PlaneSettings{};
  ground.position = Vec3(0, -0.1, 0);
  settings.obstacles.push_back(ground);
  settings.time = {2.0, 60, 4};
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= scene.frame_count(); ++frame)
    method->advance(scene.frame_time(frame), k_never);
  EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), -0.075, 0.003);
  EXPECT_LT(method->diagnostics().kinetic_energy, 1e-3);
}

TEST(ShapeMatchingMethod, EveryKindOfCellsAndEmbeddingFallsFreely) {
  SceneSettings settings = plank_and_ball();
  settings.obstacles.clear();
  settings.time = {0.1, 60, 2};
  const Scene scene = make_scene(settings, "");
  for (const CellShape cells : {CellShape::cubes, CellShape::tets, CellShape::regions})
    for (const SurfaceEmbedding embedding : {SurfaceEmbedding::smooth, SurfaceEmbedding::owning_cell}) {
      Settings own;
      own.cells = cells;
      own.embedding = embedding;
      own.substeps = 1;
      const auto method = make_method(scene, own);
      EXPECT_LT((method->fields().front().points - scene.bodies[0].surface().vertices).cwiseAbs().maxCoeff(),
                1e-9);
      EXPECT_NEAR(method->diagnostics().mass, 1000 * 1.2 * 0.05 * 0.25, 1e-6);
      for (int frame = 1; frame <= 6; ++frame) method->advance(scene.frame_time(frame), k_never);
      const double h = scene.step(), n = 12, fall = -9.81 * h * h * n * (n + 1) / 2;
      Points expected = scene.bodies[0].surface().vertices;
      expected.col(1).array() += fall;
      EXPECT_LT((method->fields().front().points - expected).cwiseAbs().maxCoeff(), 1e-9)
          << static_cast<int>(cells) << static_cast<int>(embedding);
    }
}

// A sphere under any linear map: the normals are those of the ellipsoid (x ↦ F x, n ↦ F⁻ᵀ n), tangents lie in it.
TEST(ShapeMatchingMethod, NormalsAndTangentsFollowTheSurface) {
  SceneSettings settings = plank_and_ball();
  settings.obstacles.clear();
  settings.bodies[0].surface.box.reset();
  settings.bodies[0].surface.sphere = SphereParams{};
  settings.bodies[0].surface.sphere->radius = 0.5;
  settings.bodies[0].surface.sphere->resolution = 12;
  const Scene scene = make_scene(settings, "");
  Mat3 map;
  map << 1.3, 0.2, 0, -0.4, 0.8, 0.1, 0, 0.3, 1.1;
  for (const int subdivisions : {1, 2})
    for (const SurfaceEmbedding embedding : {SurfaceEmbedding::smooth, SurfaceEmbedding::owning_cell}) {
      Settings own;
      own.embedding = embedding;
      own.subdivisions = subdivisions;
      SceneBody body = make_scene_body(scene, scene.bodies[0], own);
      body.matched->positions = body.matched->positions * map.transpose();
      const SurfaceFrames frames = surface_frames(body);
      const Points now = surface_positions(body);
      for (Eigen::Index v = 0; v < now.rows(); ++v) {
        const Vec3 x = scene.bodies[0].surface().vertices.row(v), n = frames.normals.row(v),
                   t = frames.tangents.row(v);
        EXPECT_LT((Vec3(now.row(v)) - map * x).norm(), 1e-9);
        EXPECT_GT(n.dot((map.inverse().transpose() * x).normalized()), 0.999);
        EXPECT_NEAR(t.dot(n), 0, 1e-9);
        EXPECT_NEAR(t.norm(), 1, 1e-12);
      }
    }
}

TEST(ShapeMatchingMethod, SubdivisionsGiveMoreParticlesInTheSameCells) {
  SceneSettings settings = plank_and_ball();
  settings.obstacles.clear();
  const Scene scene = make_scene(settings, "");
  Settings own;
  own.cell_counts = {6, 1, 2};
  own.subdivisions = 2;
  const SceneBody body = make_scene_body(scene, scene.bodies[0], own);
  EXPECT_EQ(body.matched->cells().cells().count(), 12);
  EXPECT_EQ(body.matched->positions.rows(), 13 * 3 * 5);
  EXPECT_NEAR(body.matched->masses().sum(), 1000 * 1.2 * 0.05 * 0.25, 1e-9);
}

TEST(ShapeMatchingMethod, MomentumGoesFromTheBallToTheBody) {
  SceneSettings settings = plank_and_ball();
  settings.gravity = Vec3::Zero();
  settings.obstacles = {settings.obstacles.back()};
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= 6; ++frame) method->advance(scene.frame_time(frame), k_never);
  StateWriter saved;
  method->save(saved);
  ObstacleWorld world(scene.obstacles, Vec3::Zero());
  ObstacleWorld::State obstacles;
  read_state(StateReader(saved.arrays()), obstacles, "obstacles");
  world.restore(std::move(obstacles));
  const Vec3 total = method->diagnostics().linear_momentum + world.linear_momentum();
  EXPECT_LT((total - Vec3(0, -24, 0)).norm(), 1e-9);
  EXPECT_LT(method->diagnostics().linear_momentum.y(), -5.0);
}

TEST(ShapeMatchingMethod, SettingsWithoutEffectAreSaid) {
  const Scene scene = make_scene(plank_and_ball(), "");
  const auto said = [&](const Settings& settings) {
    std::string all;
    for (const Note& note : make_method(scene, settings)->notes())
      if (note.text.find("has no effect") != std::string::npos) all += note.text + "; ";
    return all;
  };
  Settings settings;
  EXPECT_EQ(said(settings), "");
  settings.regions = 5;
  settings.plasticity.yield = 0.1;
  settings.plasticity.model = PlasticityModel::none;
  EXPECT_EQ(said(settings),
            "methods.shape-matching.regions has no effect without cells: regions; "
            "methods.shape-matching.plasticity.yield has no effect with plasticity.model: none; ");
  settings = {};
  settings.cells = CellShape::tets;
  settings.cell_size = 0.1;
  EXPECT_EQ(said(settings), "methods.shape-matching.cell_size has no effect with cells: tets; ");
}

TEST(ShapeMatchingMethod, TooManyCellsAreNamedAsTheyWereGiven) {
  const Scene scene = make_scene(plank_and_ball(), "");
  Settings settings;
  settings.cell_counts = IntVec3::Constant(2000);
  try {
    make_method(scene, settings);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems()[0].path, "methods.shape-matching.cell_counts");
    EXPECT_EQ(error.problems()[0].message.find("[2000, 2000, 2000] cells would need"), 0u) << error.what();
  }
}

}  // namespace
}  // namespace exemplar::shape_matching
