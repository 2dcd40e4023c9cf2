#include "core/scene/scene.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/elastic/modes.h"
#include "core/mesh/files/files.h"
#include "core/mesh/quality.h"
#include "core/mesh/volume/extrude.h"
#include "core/scene/checks/start_check.h"
#include "core/scene/json.h"
#include "core/scene/poses.h"

namespace exemplar {

namespace {

BodySettings box_body() {
  BodySettings body;
  body.name = "bar";
  body.surface.box = BoxParams{{0.4, 0.2, 1.0}, {4, 2, 10}};
  body.volume.grid = IntVec3(4, 2, 10);
  return body;
}

ExampleSettings twist_example() {
  ExampleSettings example;
  example.name = "twisted";
  example.twist = TwistMap{Vec3::UnitZ(), 60, 1};
  return example;
}

}  // namespace

TEST(Scene, PlacementMovesSurfaceVolumeAndExamplesTogether) {
  BodySettings settings = box_body();
  settings.examples.push_back(twist_example());
  const Body plain(settings, "", "bodies[0]");
  settings.position = Vec3(1, 2, 3);
  settings.rotation = {Vec3::UnitX(), 90};
  const Body placed(settings, "", "bodies[0]");
  const Eigen::Isometry3d motion = placed.placement();
  for (Eigen::Index i = 0; i < plain.surface().vertices.rows(); ++i) {
    EXPECT_LT(
        (motion * Vec3(plain.surface().vertices.row(i)) - Vec3(placed.surface().vertices.row(i))).norm(),
        1e-14);
  }
  const Points& a = plain.volume_examples()[0].nodes;
  const Points& b = placed.volume_examples()[0].nodes;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    EXPECT_LT((motion * Vec3(a.row(i)) - Vec3(b.row(i))).norm(), 1e-13);
  }
  EXPECT_NEAR(placed.mass_properties().measure, 0.08, 1e-14);
  EXPECT_LT((placed.mass_properties().centre - Vec3(1, 2, 3)).norm(), 1e-14);
}

TEST(Scene, SurfacePosesAreExtendedToTheVolume) {
  BodySettings settings = box_body();
  settings.examples.push_back(twist_example());
  const Body body(settings, "", "bodies[0]");
  const std::string file = (std::filesystem::temp_directory_path() / "exemplar_pose_test.obj").string();
  write_surface(file, {body.examples()[0].surface, body.surface().triangles});

  BodySettings with_file = box_body();
  ExampleSettings from_file;
  from_file.name = "twisted";
  from_file.file = file;
  with_file.examples.push_back(from_file);
  const Body other(with_file, "", "bodies[0]");
  const Points& exact = body.volume_examples()[0].nodes;
  const Points& extended = other.volume_examples()[0].nodes;
  EXPECT_LT((exact - extended).rowwise().norm().maxCoeff(), 0.02);  // interior nodes settle elastically
  EXPECT_EQ(count_inversions(other.volume().mesh, extended).count, 0);
  EXPECT_LT((other.examples()[0].surface - body.examples()[0].surface).norm(), 1e-5);
  std::filesystem::remove(file);
}

// What a body says about an example from this file; nothing: it is good.
std::string complaint(const std::string& file) {
  BodySettings settings = box_body();
  ExampleSettings example;
  example.name = "pose";
  example.file = file;
  settings.examples.push_back(example);
  const Body body(settings, "", "bodies[0]");
  try {
    body.examples();
    body.volume_examples();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Scene, PosesFromFilesMustConnectTheSameVertices) {
  const Body body(box_body(), "", "bodies[0]");
  const auto path = [](const char* name) { return (std::filesystem::temp_directory_path() / name).string(); };
  const std::string surface_file = path("exemplar_other_pose.obj"),
                    volume_file = path("exemplar_other_pose.vtu");
  TriMesh surface = body.surface();
  TetMesh volume = body.volume().mesh;
  // Cells in another order, their corners too: the same mesh.
  surface.triangles.colwise().reverseInPlace();
  surface.triangles.col(0).swap(surface.triangles.col(1));
  write_surface(surface_file, surface);
  write_tets(volume_file, volume);
  EXPECT_EQ(complaint(surface_file), "");
  EXPECT_EQ(complaint(volume_file), "");
  // As many vertices, connected in another way.
  surface = body.surface();
  surface.triangles(0, 0) = surface.triangles(surface.triangles.rows() - 1, 0);
  write_surface(surface_file, surface);
  EXPECT_NE(complaint(surface_file).find("differently"), std::string::npos) << complaint(surface_file);
  // Shuffled vertices: not "use a milder pose".
  const int n = static_cast<int>(volume.vertices.rows());
  const Points kept = volume.vertices;
  for (int v = 0; v < n; ++v) volume.vertices.row((v + 1) % n) = kept.row(v);
  for (int& v : volume.tets.reshaped()) v = (v + 1) % n;
  write_tets(volume_file, volume);
  EXPECT_NE(complaint(volume_file).find("order of vertices"), std::string::npos) << complaint(volume_file);
  EXPECT_EQ(complaint(volume_file).find("milder"), std::string::npos);
  std::filesystem::remove(surface_file);
  std::filesystem::remove(volume_file);
}

TEST(Scene, ASurfacePoseThatCannotBeExtendedIsRefused) {
  const Body body(box_body(), "", "bodies[0]");
  TriMesh surface = body.surface();
  // Every other vertex far on the other side: nothing elastic fills that.
  for (Eigen::Index i = 0; i < surface.vertices.rows(); i += 2) surface.vertices.row(i) *= -40;
  const std::string file = (std::filesystem::temp_directory_path() / "exemplar_folded_pose.obj").string();
  write_surface(file, surface);
  EXPECT_NE(complaint(file), "");
  std::filesystem::remove(file);
}

TEST(Scene, ModesArePosesWithTheAskedAmplitude) {
  BodySettings settings = box_body();
  ExampleSettings example;
  example.name = "mode";
  example.mode = ModePose{7, 0.05};
  settings.examples.push_back(example);
  const Body body(settings, "", "bodies[0]");
  const Points moved = body.volume_examples()[0].nodes - body.volume().mesh.vertices;
  EXPECT_NEAR(moved.rowwise().norm().maxCoeff(), 0.05, 1e-12);
  // A vibration mode moves no momentum: the mass-weighted mean displacement of a uniform grid is near zero.
  const VecX mass = lumped_masses(body.volume().mesh.vertices, body.volume().mesh.tets, 1.0);
  EXPECT_LT((moved.transpose() * mass).norm() / mass.sum(), 2e-3);
}

TEST(Scene, AModeMayBeGivenByItsNumberAlone) {
  ModePose mode;
  std::vector<Problem> problems;
  read_object(Json(9), description_of<ModePose>(), &mode, "mode", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(mode.index, 9);
  EXPECT_FALSE(mode.amplitude.has_value());
  read_object(Json(3), description_of<ModePose>(), &mode, "mode", problems);
  ASSERT_EQ(problems.size(), 1u);  // a rigid mode is out of range
  EXPECT_EQ(problems[0].path, "mode");
  const Json schema = schema_of(description_of<ExampleSettings>());
  EXPECT_NE(schema.dump().find("a vibration mode of the body"), std::string::npos);
}

TEST(Scene, InvertedExamplesAreRefusedUnlessAllowed) {
  BodySettings settings = box_body();
  ExampleSettings example;
  example.name = "folded";
  example.bend = BendMap{Vec3::UnitX(), Vec3::UnitZ(), 900, std::nullopt, 0.1};
  settings.examples.push_back(example);
  const Body body(settings, "", "bodies[2]");
  try {
    body.volume_examples();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("bodies[2].examples[0]: turns"), std::string::npos)
        << error.what();
  }
  settings.examples[0].allow_inverted = true;
  EXPECT_EQ(Body(settings, "", "bodies[2]").volume_examples().size(), 1u);
}

TEST(Scene, ExamplesOfASheetNeedNoVolume) {
  BodySettings settings;
  settings.name = "sheet";
  settings.kind = BodyKind::sheet;
  settings.thickness = 0.5;  // bent to a radius of 0.19 m the extruded solid would be inside out
  settings.surface.sheet = SheetParams{1.0, 0.5, 10, 5, true};
  ExampleSettings example;
  example.name = "folded";
  example.bend = BendMap{Vec3::UnitZ(), Vec3::UnitX(), 300, std::nullopt, 0.1};
  example.region = RegionBox{Vec3(0, -1, -1), Vec3(1, 1, 1)};
  settings.examples.push_back(example);
  const Body body(settings, "", "bodies[0]");
  ASSERT_EQ(body.examples().size(), 1u);
  EXPECT_EQ(body.examples()[0].surface.rows(), body.surface().vertices.rows());
  int inside = 0;
  for (const char in : body.examples()[0].triangles) inside += in;
  EXPECT_EQ(inside, 50);  // half of 100
  EXPECT_THROW(body.volume_examples(), InputError);
}

TEST(Scene, SheetsBecomeSolidsOfTheirThickness) {
  const TriMesh sheet = make_sheet({1.0, 0.5, 10, 5, true});
  const Volume volume = extrude_sheet(sheet, 0.02);
  const TetReport report = inspect(volume.mesh);
  EXPECT_EQ(report.inverted, 0);
  EXPECT_NEAR(report.volume, 1.0 * 0.5 * 0.02, 1e-14);
  const SurfaceReport border = inspect(extruded_surface(sheet, 0.02));
  EXPECT_TRUE(border.closed);
  EXPECT_TRUE(border.manifold);
  EXPECT_NEAR(border.volume, 0.01, 1e-14);
  EXPECT_LT((apply(volume.surface, volume.mesh.tets, volume.mesh.vertices) - sheet.vertices).norm(), 1e-12);
}

TEST(Scene, AllProblemsOfAllBodiesAtOnce) {
  SceneSettings settings;
  settings.bodies = {box_body(), box_body()};
  settings.bodies[0].surface = {};
  settings.bodies[0].surface.file = "missing.obj";
  settings.bodies[0].volume.grid.reset();
  settings.bodies[1].surface.box.reset();
  settings.bodies[1].volume.grid.reset();
  settings.bodies[1].surface.torus = TorusParams{0.1, 0.5, 48};
  try {
    make_scene(settings, "");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().size(), 2u) << error.what();
  }
}

// Methods read what they need only: files that are there and no use were passed over.
TEST(Scene, FilesThatAreNoFilesAreRefusedForEveryMethod) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "scene_bad_files";
  fs::create_directories(folder / "a_folder");
  const auto write = [&](const char* name, const char* text) { std::ofstream(folder / name) << text; };
  write("empty", "");
  write("blank", " \n\n");
  write("cut.json", R"({"format": "exemplar rig 1", "handles": [)");
  write("other.json", R"({"format": 3})");
  write("rig.json", R"({"format": "exemplar rig 1"})");
  using Name = void (*)(BodySettings&, const std::string&);
  const auto as_example = [](BodySettings& body, const std::string& file) {
    body.examples.resize(1);
    body.examples[0].file = file;
  };
  const auto as_labels = [](BodySettings& body, const std::string& file) {
    body.pieces.emplace();
    body.pieces->labels = file;
  };
  const auto as_volume = [](BodySettings& body, const std::string& file) {
    body.volume = {};
    body.volume.file = file;
  };
  const auto as_rig = [](BodySettings& body, const std::string& file) {
    body.rig.emplace();
    body.rig->file = file;
  };
  const auto problem = [&](Name name, const std::string& file) {
    SceneSettings settings;
    settings.bodies.push_back(box_body());
    name(settings.bodies[0], file);
    const std::vector<Problem> found = start_problems(make_scene(settings, folder.string()));
    return found.empty() ? std::string() : found[0].path + ": " + found[0].message;
  };
  for (const auto& [name, path] : {std::pair<Name, std::string>{as_example, "bodies[0].examples[0]"},
                                   {as_labels, "bodies[0].pieces"},
                                   {as_volume, "bodies[0].volume"},
                                   {as_rig, "bodies[0].rig.file"}}) {
    EXPECT_EQ(problem(name, "none"), path + ": there is no such file");
    EXPECT_EQ(problem(name, "a_folder"), path + ": is a folder, not a file");
    EXPECT_EQ(problem(name, "empty"), path + ": is empty");
    EXPECT_EQ(problem(name, "blank"), path + ": is empty");
  }
  EXPECT_EQ(problem(as_rig, "cut.json").find("bodies[0].rig.file: "), 0u) << problem(as_rig, "cut.json");
  EXPECT_EQ(problem(as_rig, "other.json"), "bodies[0].rig.file: is not \"exemplar rig 1\": not a rig");
  EXPECT_EQ(problem(as_rig, "rig.json"), "");
}

}  // namespace exemplar
