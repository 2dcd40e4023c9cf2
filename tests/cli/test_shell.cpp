// Method shell from the command line: sheets and examples that cannot be, a warning about locking, the arrays
// that are written.
#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkXMLPolyDataReader.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

class ShellProgram : public ProgramTest {
 protected:
  // A scene with one sheet from sheet.obj; `more` goes into the body.
  void write_scene(const std::string& obj, const std::string& more = "") {
    write_text(m_folder / "sheet.obj", obj);
    write_text(m_folder / "scene.json", R"({"time": {"duration": 0.1, "fps": 20}, "bodies": [{"name": "cloth",
      "kind": "sheet", "thickness": 0.001, "surface": {"file": "sheet.obj"}, "position": [0, 1, 0])" +
                                            more + "}]}");
  }
  // Both refuse, at this place, with this in their words, before anything is written.
  void expect_refused(const std::string& place, const std::string& words, const std::string& flags = "") {
    for (const std::string command :
         {"EXEMPLAR check scene.json --method shell ", "EXEMPLAR run scene.json --method shell -o out "}) {
      const Outcome outcome = run(command + flags);
      const std::string said = outcome.output + outcome.errors;
      EXPECT_EQ(outcome.exit_code, 2) << command << said;
      EXPECT_NE(said.find(place), std::string::npos) << command << said;
      EXPECT_NE(said.find(words), std::string::npos) << command << said;
      EXPECT_FALSE(std::filesystem::exists(m_folder / "out/run.json"));
    }
  }
};

const char* k_square = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 3 2\nf 1 4 3\n";

TEST_F(ShellProgram, AGoodSheetRunsAndWritesItsArrays) {
  write_scene(k_square, R"(, "examples": [{"name": "long", "stretch": {"axis": "x", "factor": 1.1}}])");
  EXPECT_EQ(run("EXEMPLAR check scene.json --method shell").exit_code, 0);
  const Outcome outcome = run("EXEMPLAR run scene.json --method shell -o out");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName((m_folder / "out/frames/surface_00002.vtp").c_str());
  reader->Update();
  vtkCellData* cells = reader->GetOutput()->GetCellData();
  const std::pair<const char*, int> arrays[] = {
      {"bending_energy", 1},    {"membrane_energy", 1}, {"principal_curvatures", 2}, {"principal_strains", 2},
      {"plastic_curvature", 1}, {"plastic_strain", 1},  {"example_weight_long", 1}};
  for (const auto& [name, components] : arrays) {
    vtkDataArray* array = cells->GetArray(name);
    ASSERT_NE(array, nullptr) << name;
    EXPECT_EQ(array->GetNumberOfTuples(), 2) << name;
    EXPECT_EQ(array->GetNumberOfComponents(), components) << name;
  }
}

TEST_F(ShellProgram, SurfacesThatAreNoSheetsAreRefused) {
  write_scene("v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0.5\nv 0 -1 0.5\nf 1 2 3\nf 2 1 4\nf 1 2 5\n");
  expect_refused("bodies[0].surface", "more than two triangles");
  // Of the scene, whatever the method: no other is tried first (peridynamics took minutes to fill such a
  // sheet).
  const Outcome any = run("EXEMPLAR check scene.json");
  EXPECT_EQ(any.exit_code, 2) << any.output;
  EXPECT_NE(any.output.find("bodies[0].surface: a sheet must be manifold"), std::string::npos) << any.output;
  EXPECT_EQ(any.output.find("cannot run it"), std::string::npos) << any.output;
  write_scene("v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 3 2\nf 1 3 4\n");
  expect_refused("bodies[0].surface", "orientation");
  write_scene("v 0 0 0\nv 1 0 0\nv 0 0 1\nv -1 0 0\nv 0 0 -1\nf 1 2 3\nf 1 4 5\n");
  expect_refused("bodies[0].surface", "manifold");
}

TEST_F(ShellProgram, AThicknessOfNothingIsRefusedAndALargeOneWarnedAbout) {
  write_scene(k_square);
  expect_refused("bodies[0].thickness", "0", "--set bodies[0].thickness=0");
  expect_refused("bodies[0].thickness", "-1", "--set bodies[0].thickness=-1");
  const Outcome thick = run("EXEMPLAR run scene.json --method shell -o out --set bodies[0].thickness=1.5");
  EXPECT_EQ(thick.exit_code, 0) << thick.errors;
  EXPECT_NE(thick.errors.find("thickness 1.5 m is above its shortest edge 1 m"), std::string::npos)
      << thick.errors;
}

TEST_F(ShellProgram, ExamplesOfAnotherSheetOrFoldedOverAreRefused) {
  write_text(m_folder / "other.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nf 1 3 2\n");
  write_scene(
      k_square,
      R"(, "examples": [{"name": "good", "stretch": {"axis": "x", "factor": 1.1}}, {"name": "other", "file": "other.obj"}])");
  expect_refused("bodies[0].examples[1]", "vertices");
  // The same vertices, other triangles.
  write_text(m_folder / "other.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 4 2\nf 2 4 3\n");
  expect_refused("bodies[0].examples[1]", "connects its vertices differently");
  // Folded along its diagonal until it lies on itself.
  write_text(m_folder / "other.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0.999 0.0001 0\nf 1 3 2\nf 1 4 3\n");
  expect_refused("bodies[0].examples[1]", "folds the sheet over");
  // Flattened.
  write_text(m_folder / "other.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0.5 0 0.5\nf 1 3 2\nf 1 4 3\n");
  expect_refused("bodies[0].examples[1]", "flattens triangle");
}

// A strip of four cells that hangs over an edge is bent more than its flat triangles can follow.
TEST_F(ShellProgram, LockingIsWarnedAboutUnlessEdgesAreCurved) {
  write_text(m_folder / "strip.json",
             R"({"time": {"duration": 1, "fps": 10, "steps_per_frame": 3}, "bodies": [{
    "name": "strip", "kind": "sheet", "thickness": 0.0005,
    "surface": {"sheet": {"length": 1, "width": 0.25, "resolution_x": 8, "resolution_z": 2}},
    "material": {"density": 300, "young": 2e6, "poisson": 0.3, "damping": 0.01},
    "supports": [{"region": {"half_space": {"point": [-0.499, 0, 0], "normal": "-x"}}, "clamped": true}]}]})");
  const Outcome plain = run("EXEMPLAR run strip.json --method shell -o out");
  ASSERT_EQ(plain.exit_code, 0) << plain.errors;
  const std::size_t told = plain.errors.find("the membrane may lock");
  EXPECT_NE(told, std::string::npos) << plain.errors;
  EXPECT_EQ(plain.errors.find("the membrane may lock", told + 1), std::string::npos) << plain.errors;  // once
  const std::string record = read_text(m_folder / "out/run.json");
  EXPECT_NE(record.find("the membrane may lock"), std::string::npos);
  const Outcome curved =
      run("EXEMPLAR run strip.json --method shell -o curved --set methods.shell.curved_membrane=true");
  EXPECT_EQ(curved.exit_code, 0) << curved.errors;
  EXPECT_EQ(curved.errors.find("may lock"), std::string::npos) << curved.errors;
}

TEST_F(ShellProgram, TheDistanceOfTwoFramesIsPrinted) {
  write_text(m_folder / "a.obj", k_square);
  // Turned about y by a right angle and lifted by 3: the same shape. One with a corner lifted by 0.3 is
  // another.
  write_text(m_folder / "moved.obj", "v 0 3 0\nv 0 3 -1\nv 1 3 -1\nv 1 3 0\nf 1 3 2\nf 1 4 3\n");
  write_text(m_folder / "bent.obj", "v 0 0 0\nv 1 0.3 0\nv 1 0 1\nv 0 0 1\nf 1 3 2\nf 1 4 3\n");
  write_text(m_folder / "other.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nf 1 3 2\n");
  const auto distances = [&](const std::string& to) {
    const Outcome outcome = run("EXEMPLAR mesh a.obj --distance-to " + to + " --json");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return nlohmann::json::parse(outcome.output)["distance"];
  };
  EXPECT_NEAR(distances("moved.obj")["rms_aligned_m"].get<double>(), 0, 1e-9);
  EXPECT_NEAR(distances("moved.obj")["max_m"].get<double>(), std::sqrt(9.0 + 4.0), 1e-9);
  // Corners weigh a third of the triangles around them, at rest ½ m² each, in the reference a little more.
  EXPECT_NEAR(distances("bent.obj")["rms_m"].get<double>(), 0.3 / std::sqrt(6.0), 0.005);
  EXPECT_NEAR(distances("bent.obj")["max_m"].get<double>(), 0.3, 1e-12);
  EXPECT_GT(distances("bent.obj")["rms_aligned_m"].get<double>(), 0.02);
  const Outcome other = run("EXEMPLAR mesh a.obj --distance-to other.obj");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.errors.find("have not the same triangles"), std::string::npos) << other.errors;
}

}  // namespace

}  // namespace exemplar::testing
