// Sheets as people use them: lying on a floor, over an imported mesh, with holes, cut to a T, closed to a
// ball, thick and thin ones in one scene.
#include <fmt/format.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/mesh/files/files.h"
#include "core/mesh/models/primitives.h"
#include "core/mesh/topology.h"
#include "tests/shells/shell_run.h"

namespace exemplar::testing {
namespace {

const std::string k_lying = R"({
  "time": {"duration": 60, "fps": 1, "steps_per_frame": 30},
  "bodies": [{"name": "sheet", "kind": "sheet", "thickness": 0.002,
    "surface": {"sheet": {"length": 0.6, "width": 0.6, "resolution_x": 6, "resolution_z": 6}},
    "material": {"density": 500, "young": 1e6, "poisson": 0.3, "friction": 0.5, "damping": 0.002},
    "position": [0, 0.03, 0], "rotation": {"axis": "x", "angle": 2}}],
  "obstacles": [{"name": "floor", "plane": {}}]})";

TEST(ShellEveryday, ASheetOnTheFloorLiesStillForAMinute) {
  ShellRun run(k_lying);
  ASSERT_EQ(run.frames(1, 5).status, Status::ok);
  const Points landed = run.surface();
  double fastest = 0;
  for (int frame = 6; frame <= 60; ++frame) {
    ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
    fastest = std::max(fastest, run.rms_speed());
  }
  EXPECT_LT(fastest, 1e-4);
  EXPECT_LT((run.surface() - landed).rowwise().norm().maxCoeff(), 1e-3);
  const double gap = sampled_gap(run, 0, 0);
  EXPECT_GT(gap, 0.001);                                // half its thickness
  EXPECT_LT(gap, 0.001 + 1e-3 * std::hypot(0.6, 0.6));  // and the reach of contact at most
  EXPECT_EQ(run.extra("obstacle_crossings"), 0);
}

std::string edge_on(const std::string& young, bool curved) {
  return fmt::format(R"({{
  "time": {{"duration": 0.2, "fps": 100}},
  "bodies": [{{"name": "sheet", "kind": "sheet", "thickness": 0.001,
    "surface": {{"sheet": {{"length": 0.4, "width": 0.4, "resolution_x": 4, "resolution_z": 4}}}},
    "material": {{"density": 1000, "young": {}, "poisson": 0.3}}, "velocity": [0, -20, 0],
    "position": [0, 0.25, 0], "rotation": {{"axis": "x", "angle": 90}}}}],
  "obstacles": [{{"name": "floor", "plane": {{}}}}], "methods": {{"shell": {{"curved_membrane": {}}}}}}})",
                     young, curved);
}

// With arcs of any excess over their chords the folded triangles collapsed for good, and the run gained up to
// 1e5 J.
TEST(ShellEveryday, ASheetThatStrikesTheFloorEdgeOnGainsNoEnergy) {
  for (const char* young : {"1e7", "1e9"}) {
    ShellRun run(edge_on(young, true), {"time.steps_per_frame=1"});
    const double before = run.method().diagnostics().kinetic_energy;
    for (int frame = 1; frame <= 20; ++frame) {
      ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
      EXPECT_LT(run.extra("residual"), 1e-5) << young;
      const Diagnostics d = run.method().diagnostics();
      EXPECT_LT(d.kinetic_energy + d.elastic_energy, 1.05 * before) << young;
    }
  }
}

TEST(ShellEveryday, ForcesOutOfBalanceInCollapsedTrianglesAreSaid) {
  ShellRun run(edge_on("1e5", false), {"time.steps_per_frame=1"});
  ASSERT_EQ(run.frames(1, 20).status, Status::ok);
  const Notes notes = run.method().notes();
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const Note& note) {
    return note.severity == Severity::warning && note.text.find("out of balance") != std::string::npos;
  }));
}

// A folder that goes with the test.
class MeshFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder = std::filesystem::temp_directory_path() /
               fmt::format("exemplar-shell-{}-{}", ::getpid(),
                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(m_folder);
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }
  std::string write(const std::string& name, const TriMesh& mesh) const {
    const std::string path = (m_folder / name).string();
    write_surface(path, mesh);
    return path;
  }
  std::filesystem::path m_folder;
};

std::string falling_file(const std::string& file, double height) {
  return fmt::format(R"({{
    "time": {{"duration": 1, "fps": 30, "steps_per_frame": 1}},
    "bodies": [{{"name": "cloth", "kind": "sheet", "thickness": 0.004, "surface": {{"file": "{}"}},
      "material": {{"density": 200, "young": 1e5, "poisson": 0.3, "friction": 0.5, "damping": 0.002}},
      "position": [0, {}, 0]}}],
    "obstacles": [{{"name": "ball", "sphere": {{"radius": 0.15}}, "position": [0.05, 0.15, 0.02]}},
      {{"name": "floor", "plane": {{}}}}]}})",
                     file, height);
}

// The triangles of a square grid of n × n cells of size 1/n about the origin that `inside` keeps, by the
// middle of their cell; vertices that no triangle uses are left out.
TriMesh cut_square(int n, const std::function<bool(double, double)>& inside) {
  const TriMesh whole = make_sheet({1, 1, n, n, true});
  std::vector<int> number(static_cast<std::size_t>(whole.vertices.rows()), -1);
  TriMesh cut;
  std::vector<Eigen::RowVector3i> triangles;
  std::vector<Eigen::RowVector3d> vertices;
  for (Eigen::Index t = 0; t < whole.triangles.rows(); ++t) {
    Eigen::RowVector3d low = whole.vertices.row(whole.triangles(t, 0)), high = low;
    for (int k = 1; k < 3; ++k) {
      low = low.cwiseMin(whole.vertices.row(whole.triangles(t, k)));
      high = high.cwiseMax(whole.vertices.row(whole.triangles(t, k)));
    }
    if (!inside(0.5 * (low.x() + high.x()), 0.5 * (low.z() + high.z()))) continue;
    Eigen::RowVector3i corners;
    for (int k = 0; k < 3; ++k) {
      int& v = number[static_cast<std::size_t>(whole.triangles(t, k))];
      if (v < 0) {
        v = static_cast<int>(vertices.size());
        vertices.emplace_back(whole.vertices.row(whole.triangles(t, k)));
      }
      corners[k] = v;
    }
    triangles.push_back(corners);
  }
  cut.vertices.resize(static_cast<Eigen::Index>(vertices.size()), 3);
  cut.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
  for (std::size_t i = 0; i < vertices.size(); ++i)
    cut.vertices.row(static_cast<Eigen::Index>(i)) = vertices[i];
  for (std::size_t i = 0; i < triangles.size(); ++i)
    cut.triangles.row(static_cast<Eigen::Index>(i)) = triangles[i];
  return cut;
}

void expect_good_fall(ShellRun& run, int frames) {
  double crossings = 0;
  for (int frame = 1; frame <= frames; ++frame) {
    const StepReport report = run.frames(frame, frame);
    ASSERT_EQ(report.status, Status::ok) << report.message;
    crossings += run.extra("obstacle_crossings");
    ASSERT_TRUE(run.surface().allFinite());
  }
  EXPECT_EQ(crossings, 0);
  EXPECT_GT(sampled_gap(run, 0, 0), 0.0019);
  EXPECT_GT(sampled_gap(run, 0, 1), 0.0019);
  // Cloth gives way in bending, not in its length.
  double largest = 0;
  for (const double strain : run.array("principal_strains").values)
    largest = std::max(largest, std::abs(strain));
  EXPECT_LT(largest, 0.15);
}

TEST_F(MeshFiles, ASheetWithHolesDrapes) {
  const TriMesh cloth = cut_square(12, [](double x, double z) {
    return std::hypot(x - 0.25, z - 0.25) > 0.15 && std::hypot(x + 0.25, z) > 0.15;
  });
  ShellRun run(falling_file(write("holes.obj", cloth), 0.32));
  expect_good_fall(run, 20);
  EXPECT_LT(run.surface().col(1).minCoeff(), 0.15);
}

TEST_F(MeshFiles, ATShapeDrapes) {
  const TriMesh cloth = cut_square(12, [](double x, double z) { return z > 0.25 || std::abs(x) < 1.0 / 6; });
  ShellRun run(falling_file(write("t.obj", cloth), 0.32));
  expect_good_fall(run, 20);
  EXPECT_LT(run.surface().col(1).minCoeff(), 0.15);
}

TEST_F(MeshFiles, AClosedBallOfClothFallsAndKeepsItsSkin) {
  const TriMesh ball = make_sphere({0.2, 4});
  ShellRun run(falling_file(write("ball.obj", ball), 0.54));
  const double before = run.surface().col(1).maxCoeff() - run.surface().col(1).minCoeff();
  expect_good_fall(run, 20);
  // Nothing is inside it: it gives way under its weight.
  EXPECT_LT(run.surface().col(1).maxCoeff() - run.surface().col(1).minCoeff(), 0.98 * before);
}

TEST_F(MeshFiles, ClothDrapesOverAFineImportedMesh) {
  const std::string file = write("torus.obj", make_torus({0.2, 0.08, 64}));
  ShellRun run(fmt::format(R"({{
    "time": {{"duration": 1, "fps": 30, "steps_per_frame": 1}},
    "bodies": [{{"name": "cloth", "kind": "sheet", "thickness": 0.004,
      "surface": {{"sheet": {{"length": 0.8, "width": 0.8, "resolution_x": 10, "resolution_z": 10}}}},
      "material": {{"density": 200, "young": 1e5, "poisson": 0.3, "friction": 0.5, "damping": 0.002}},
      "position": [0, 0.1, 0]}}],
    "obstacles": [{{"name": "ring", "mesh": {{"file": "{}"}}}}]}})",
                           file));
  double crossings = 0;
  for (int frame = 1; frame <= 15; ++frame) {
    const StepReport report = run.frames(frame, frame);
    ASSERT_EQ(report.status, Status::ok) << report.message;
    crossings += run.extra("obstacle_crossings");
  }
  EXPECT_EQ(crossings, 0);
  const double gap = sampled_gap(run, 0, 0);
  EXPECT_GT(gap, 0.0019);
  EXPECT_LT(gap, 0.0045);
  // It hangs down outside and sags into the ring.
  EXPECT_LT(run.surface().col(1).minCoeff(), 0);
}

TEST(ShellEveryday, EverySheetTouchesAtItsOwnThickness) {
  ShellRun run(R"({
    "time": {"duration": 3, "fps": 10, "steps_per_frame": 6},
    "bodies": [
      {"name": "thin", "kind": "sheet", "thickness": 0.001,
       "surface": {"sheet": {"length": 0.4, "width": 0.4, "resolution_x": 4, "resolution_z": 4}},
       "material": {"density": 500, "young": 1e6, "poisson": 0.3, "damping": 0.005}, "position": [-0.5, 0.02, 0]},
      {"name": "thick", "kind": "sheet", "thickness": 0.03,
       "surface": {"sheet": {"length": 0.4, "width": 0.4, "resolution_x": 4, "resolution_z": 4}},
       "material": {"density": 500, "young": 1e6, "poisson": 0.3, "damping": 0.005}, "position": [0.5, 0.03, 0]}],
    "obstacles": [{"name": "floor", "plane": {}}]})");
  ASSERT_EQ(run.frames(1, 30).status, Status::ok);
  const double reach = 1e-3 * std::hypot(0.4, 0.4);
  EXPECT_GT(sampled_gap(run, 0, 0), 0.0005);
  EXPECT_LT(sampled_gap(run, 0, 0), 0.0005 + reach);
  EXPECT_GT(sampled_gap(run, 1, 0), 0.015);
  EXPECT_LT(sampled_gap(run, 1, 0), 0.015 + reach);
}

// Exporters double vertices along seams: they are one in the sheet, and all of them are written.
TEST(ShellEveryday, DoubledVerticesAreOneAndAllAreWritten) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("seam-{}.obj", ::getpid());
  std::ofstream(file)
      << "v 0 0 0\nv 0.2 0 0\nv 0.2 0 0.2\nv 0 0 0.2\nv 0.2 0 0\nv 0.4 0 0\nv 0.4 0 0.2\nv 0.2 0 0.2\n"
         "f 1 4 2\nf 2 4 3\nf 5 8 6\nf 6 8 7\nf 6 7 6\n";
  ShellRun run(
      fmt::format(R"({{"time": {{"duration": 0.4, "fps": 5, "steps_per_frame": 20}}, "bodies": [{{"name": "s",
    "kind": "sheet", "thickness": 0.004, "surface": {{"file": "{}"}}, "position": [0, 0.5, 0],
    "material": {{"density": 300, "young": 1e8, "poisson": 0.3}},
    "supports": [{{"region": {{"half_space": {{"point": [0.21, 0, 0], "normal": "-x"}}}}}}]}}]}})",
                  file.string()));
  ASSERT_EQ(run.frames(1, 2).status, Status::ok);
  const Points x = run.surface();
  ASSERT_EQ(x.rows(), 8);
  EXPECT_EQ((x.row(1) - x.row(4)).norm(), 0);
  EXPECT_EQ((x.row(2) - x.row(7)).norm(), 0);
  // A plate of 0.2 m sags by q L⁴/8D = 4 mm at its end and swings twice as far; on a loose hinge it hung by
  // 0.1 m and more.
  EXPECT_GT(x(5, 1), 0.5 - 0.02);
  EXPECT_LT(x(5, 1), 0.5);
  EXPECT_EQ(run.array("bending_energy").values.size(), 5U);
  EXPECT_EQ(run.array("bending_energy").values[4], 0);  // the triangle without area
  std::filesystem::remove(file);
}

TEST(ShellEveryday, ASheetThatLiesOnTheFloorAtTheStartDoesNotHop) {
  ShellRun run(k_lying, {"bodies[0].position=[0,0.001,0]", "bodies[0].rotation={}", "time.fps=20",
                         "time.steps_per_frame=20", "methods.shell.integrator=\"bdf2\""});
  EXPECT_EQ(run.extra("contact_energy"), 0);
  double highest = 0;
  for (int frame = 1; frame <= 4; ++frame) {
    ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
    highest = std::max(highest, run.method().diagnostics().centre_of_mass.y());
  }
  EXPECT_LT(highest, 0.001 + 1.02e-3 * std::hypot(0.6, 0.6));
}

TEST(ShellEveryday, AnObstacleThroughATriangleIsRefused) {
  const std::vector<std::string> pierced{
      R"(obstacles[0]={"name": "needle", "capsule": {"radius": 0.01, "length": 0.5},
    "position": [0.03, 0.03, 0.07]})"};
  try {
    ShellRun run(k_lying, pierced);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().front().path, "bodies[0].position");
    EXPECT_NE(error.problems().front().message.find("needle (obstacles[0])"), std::string::npos);
  }
}

TEST(ShellEveryday, WithoutAnyStiffnessItIsRefused) {
  EXPECT_THROW(ShellRun(k_lying, {"methods.shell.internal_stiffness=0"}), InputError);
}

}  // namespace
}  // namespace exemplar::testing
