// Method fem from the command line: hopeless loads, wrong steps, vibration modes.
#include <gtest/gtest.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkXMLPolyDataReader.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

class FemProgram : public ProgramTest {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }
  nlohmann::json record(const std::string& run_folder) const {
    return nlohmann::json::parse(read_text(m_folder / run_folder / "run.json"));
  }
  int surface_files(const std::string& run_folder) const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(m_folder / run_folder / "frames"))
      count += entry.path().filename().string().starts_with("surface_") && entry.path().extension() == ".vtp";
    return count;
  }
  vtkNew<vtkXMLPolyDataReader> m_reader;
  vtkPoints* surface_points(const std::string& run_folder, int frame) {
    char name[32];
    std::snprintf(name, sizeof name, "surface_%05d.vtp", frame);
    m_reader->SetFileName((m_folder / run_folder / "frames" / name).c_str());
    m_reader->Update();
    return m_reader->GetOutput()->GetPoints();
  }
};

// A press that goes on through the floor: its face arrives there at 0.833 s.
const char* k_press = R"({
  "time": {"duration": 1.2, "fps": 20, "steps_per_frame": 1},
  "bodies": [{
    "name": "box",
    "surface": {"box": {"size": [0.4, 0.4, 0.4], "resolution": [2, 2, 2]}},
    "volume": {"grid": [2, 2, 2]},
    "material": {"density": 1000, "young": 1e5, "poisson": 0.3},
    "position": [0, 0.21, 0]
  }],
  "obstacles": [
    {"name": "ground", "plane": {}},
    {"name": "press", "box": {"size": [1, 0.2, 1]}, "interpolation": "linear",
     "keyframes": [{"time": 0, "position": [0, 0.6, 0]}, {"time": 1, "position": [0, 0, 0]}]}
  ]
})";

}  // namespace

TEST_F(FemProgram, AHopelessLoadEndsWithTheLastGoodFrame) {
  write_text(path("press.json"), k_press);
  const Outcome outcome = run("EXEMPLAR -q run press.json --method fem -o out");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output << outcome.errors;
  EXPECT_NE((outcome.output + outcome.errors).find("failed even when halved"), std::string::npos)
      << outcome.output << outcome.errors;
  const nlohmann::json json = record("out");
  EXPECT_EQ(json["status"], "failed");
  const int frames = json["frames"];
  EXPECT_GE(frames, 14);  // squeezed almost flat
  EXPECT_LE(frames, 16);
  EXPECT_EQ(surface_files("out"), frames + 1);
  vtkPoints* points = surface_points("out", frames);
  ASSERT_GT(points->GetNumberOfPoints(), 20);
  for (vtkIdType i = 0; i < points->GetNumberOfPoints(); ++i) {
    const double* p = points->GetPoint(i);
    EXPECT_TRUE(std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]));
    EXPECT_GT(p[1], -1e-3);
  }
  EXPECT_TRUE(std::filesystem::exists(m_folder / "out" / "checkpoints"));
  // Going on from there fails in the same way and keeps the frames.
  EXPECT_EQ(run("EXEMPLAR -q run press.json --method fem -o out --resume").exit_code, 3);
  EXPECT_EQ(surface_files("out"), frames + 1);
}

TEST_F(FemProgram, AWrongStepEndsWithTheLastGoodFrame) {
  write_text(path("press.json"), k_press);
  const Outcome outcome =
      run("EXEMPLAR -q run press.json --method fem --set methods.fem.max_iterations=1 "
          "--set methods.fem.max_halvings=0 -o out");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output << outcome.errors;
  EXPECT_EQ(record("out")["status"], "failed");
  EXPECT_EQ(surface_files("out"), record("out")["frames"].get<int>() + 1);
}

TEST_F(FemProgram, ModesAreListedAndServeAsPoses) {
  const Outcome modes =
      run("EXEMPLAR -q mesh box --set box.size=[0.1,0.1,1] --set box.resolution=[2,2,16] --modes 3 --json");
  ASSERT_EQ(modes.exit_code, 0) << modes.errors;
  const nlohmann::json listed = nlohmann::json::parse(modes.output);
  ASSERT_TRUE(listed.contains("modes")) << modes.output;
  ASSERT_EQ(listed["modes"].size(), 3u);
  double previous = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(listed["modes"][i]["mode"], 7 + i);
    EXPECT_GE(listed["modes"][i]["frequency_Hz"].get<double>(), previous);
    previous = listed["modes"][i]["frequency_Hz"];
    EXPECT_GT(previous, 0);
  }

  write_text(path("mode.json"), R"({
    "time": {"duration": 0.02, "fps": 50},
    "gravity": [0, 0, 0],
    "bodies": [{
      "name": "bar",
      "surface": {"box": {"size": [0.1, 0.1, 1], "resolution": [2, 2, 12]}},
      "volume": {"grid": [2, 2, 12]},
      "examples": [{"name": "swing", "mode": {"index": 7, "amplitude": 0.05}}],
      "initial_pose": "swing"
    }]
  })");
  const Outcome outcome = run("EXEMPLAR -q run mode.json --method fem --frames 1 -o out");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const std::string plain = "--set bodies[0].initial_pose=null";
  ASSERT_EQ(run("EXEMPLAR -q run mode.json --method fem --frames 0 " + plain + " -o rest").exit_code, 0);
  std::vector<double> bent, rest;
  for (const auto& [folder, numbers] : {std::pair{"out", &bent}, std::pair{"rest", &rest}}) {
    vtkPoints* points = surface_points(folder, 0);
    for (vtkIdType i = 0; i < points->GetNumberOfPoints(); ++i)
      numbers->insert(numbers->end(), points->GetPoint(i), points->GetPoint(i) + 3);
  }
  ASSERT_EQ(bent.size(), rest.size());
  double largest = 0;
  for (std::size_t i = 0; i < bent.size(); i += 3)
    largest = std::max(largest,
                       std::hypot(bent[i] - rest[i], bent[i + 1] - rest[i + 1], bent[i + 2] - rest[i + 2]));
  EXPECT_NEAR(largest, 0.05, 0.002);
}

// Implicit Euler in free fall: v₁ = v₀ + g h and x₁ = x₀ + h v₁ lose m g² h² / 2 in every step, and nothing
// else does.
TEST_F(FemProgram, TheTimeStepsLossIsInTheBalance) {
  write_text(path("fall.json"), R"({"time": {"duration": 0.5, "fps": 20, "steps_per_frame": 2}, "bodies": [
    {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2]}}, "volume": {"grid": [2, 2, 2]},
     "material": {"density": 1000, "young": 1e6}}]})");
  ASSERT_EQ(run("EXEMPLAR -q run fall.json --method fem -o fall").exit_code, 0);
  const auto fall = record("fall")["final_metrics"];
  const double step = 1.0 / 40, loss = 20 * 0.5 * 8 * 9.81 * 9.81 * step * step;
  EXPECT_NEAR(fall["numerical_dissipation [J]"].get<double>(), loss, 1e-6 * loss);
  EXPECT_NEAR(fall["external_work [J]"].get<double>(), 0, 1e-9);
  // A force on all of it, which is too stiff for its points to part: the work is force times displacement.
  ASSERT_EQ(run("EXEMPLAR -q run fall.json --method fem -o pushed --set gravity=[0,0,0] --set "
                "bodies[0].material.young=1e9 "
                "--set 'loads=[{\"region\": {\"all\": true}, \"value\": [10, 0, 0]}]'")
                .exit_code,
            0)
      << read_text(m_folder / "stderr.txt");
  const auto pushed = record("pushed")["final_metrics"];
  const double way = pushed["centre_of_mass_x [m]"];
  EXPECT_GT(way, 0.1);
  EXPECT_NEAR(pushed["external_work [J]"].get<double>(), 10 * way, 1e-6 * 10 * way);
}

TEST_F(FemProgram, MuchEnergyLostToTheTimeStepIsWarnedOf) {
  write_text(path("bounce.json"), R"({"time": {"duration": 0.4, "fps": 10, "steps_per_frame": 1}, "bodies": [
    {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2]}}, "volume": {"grid": [2, 2, 2]}, "position": [0, 0.2, 0],
     "velocity": [0, -5, 0], "material": {"density": 1000, "young": 1e6}}], "obstacles": [{"name": "floor", "plane": {}}]})");
  const Outcome coarse = run("EXEMPLAR run bounce.json --method fem -o coarse");
  ASSERT_EQ(coarse.exit_code, 0) << coarse.errors;
  EXPECT_NE(coarse.errors.find("warning: the time step took"), std::string::npos) << coarse.errors;
  EXPECT_NE(coarse.errors.find("steps_per_frame"), std::string::npos);
  EXPECT_NE(read_text(m_folder / "coarse/run.json").find("the time step took"), std::string::npos);
}

TEST_F(FemProgram, OverlappingBodiesAreRefusedWithThePlaceAndTheTriangles) {
  write_text(path("overlap.json"), R"({
    "time": {"duration": 0.1, "fps": 50},
    "bodies": [
      {"name": "one", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]}},
      {"name": "two", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]},
       "position": [0.13, 0.05, 0.02]}]
  })");
  const Outcome outcome = run("EXEMPLAR -q run overlap.json --method fem -o out");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output << outcome.errors;
  // The left face of two lies 0.07 m inside the right face of one; its triangles' middles that far from the
  // other faces.
  EXPECT_NE(outcome.errors.find(
                "bodies[1].position: bodies two and one overlap at the start: by 0.07 m at (0.03, "),
            std::string::npos)
      << outcome.errors;
  m_reader->SetFileName((m_folder / "out" / "overlap.vtp").c_str());
  m_reader->Update();
  EXPECT_GT(m_reader->GetOutput()->GetNumberOfCells(), 3);
  const std::string apart = "--set bodies[1].position=[0.2,0.05,0.02]";
  EXPECT_EQ(run("EXEMPLAR -q run overlap.json --method fem --frames 1 -o apart " + apart).exit_code, 0);
}

}  // namespace exemplar::testing
