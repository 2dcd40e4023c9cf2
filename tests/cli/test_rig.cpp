#include <nlohmann/json.hpp>

#include "core/output/geometry_file.h"
#include "core/output/pvd_file.h"
#include "tests/cli/program.h"

namespace exemplar::testing {
namespace {

class RigProgram : public ProgramTest {};

const char* const k_small_barrel = "barrel --set barrel.resolution=24 --max-tet-volume 0.002 ";

TEST_F(RigProgram, RigsABarrelAndShowsItsWeights) {
  const Outcome rig = run(std::string("EXEMPLAR -q rig ") + k_small_barrel +
                          "-o b.rig.json --handles 8 --preview shown --json");
  ASSERT_EQ(rig.exit_code, 0) << rig.errors;
  const auto report = nlohmann::json::parse(rig.output);
  EXPECT_EQ(report["handles"], 8);
  EXPECT_GE(report["smallest_weight"].get<double>(), 0);
  EXPECT_LE(report["largest_weight"].get<double>(), 1);
  EXPECT_LE(report["row_sum_error"].get<double>(), 1e-12);
  EXPECT_LE(report["residual"].get<double>(), 1e-6);
  const auto frames = read_pvd(m_folder / "shown/surface.pvd");
  ASSERT_EQ(frames.size(), 9u);  // one per handle and the strongest
  const Geometry first = read_geometry(frames[0].file);
  EXPECT_EQ(first.arrays[0].name, "weight");
  EXPECT_EQ(read_pvd(m_folder / "shown/obstacles.pvd").size(), 9u);
  // The rig goes on to a pose.
  const Outcome pose = run(std::string("EXEMPLAR -q pose ") + k_small_barrel +
                           "--rig b.rig.json --move auto-0=0,0.1,0 -o posed.obj --preview posed --json");
  ASSERT_EQ(pose.exit_code, 0) << pose.errors;
  EXPECT_GT(nlohmann::json::parse(pose.output)["largest_displacement_m"].get<double>(), 0.09);
  // The pose is fitted back by the same bones.
  const Outcome fit =
      run(std::string("EXEMPLAR -q pose ") + k_small_barrel + "--rig b.rig.json --fit posed.obj --json");
  ASSERT_EQ(fit.exit_code, 0) << fit.errors;
  EXPECT_LT(nlohmann::json::parse(fit.output.substr(fit.output.find('{')))["fit_rms_m"].get<double>(), 1e-12);
}

TEST_F(RigProgram, AnOpenSurfaceIsRiggedThroughItsCage) {
  write_text(m_folder / "open.obj",
             "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
             "f 1 3 2\nf 1 4 3\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\n");
  const Outcome rig = run("EXEMPLAR -q rig open.obj -o open.rig.json --handles 6 --cage-cell 0.2 --json");
  ASSERT_EQ(rig.exit_code, 0) << rig.errors;
  const auto report = nlohmann::json::parse(rig.output);
  EXPECT_EQ(report["cage"], true);
  EXPECT_LE(report["row_sum_error"].get<double>(), 1e-12);
}

// The corners and triangles of a box, numbered after `first` others.
std::string box_obj(double x, double size, int first) {
  std::string text;
  for (int k = 0; k < 8; ++k) {
    const double corner[3] = {x + (k & 1 ? size : 0), k & 2 ? size : 0, k & 4 ? size : 0};
    text += "v " + std::to_string(corner[0]) + " " + std::to_string(corner[1]) + " " +
            std::to_string(corner[2]) + "\n";
  }
  const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                            {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (const auto& face : faces) {
    text += "f";
    for (const int corner : face) text += " " + std::to_string(first + corner + 1);
    text += "\n";
  }
  return text;
}

TEST_F(RigProgram, SurfacesInPartsAndThroughThemselvesAreRigged) {
  write_text(m_folder / "parts.obj", box_obj(0, 1, 0) + box_obj(1.6, 0.8, 8));
  write_text(m_folder / "crossing.obj", box_obj(0, 1, 0) + box_obj(0.6, 0.8, 8));
  for (const std::string name : {"parts", "crossing"}) {
    const Outcome rig =
        run("EXEMPLAR -q rig " + name + ".obj -o " + name + ".rig.json --handles 6 --cage-cell 0.2 --json");
    ASSERT_EQ(rig.exit_code, 0) << name << rig.errors;
    const auto report = nlohmann::json::parse(rig.output);
    EXPECT_EQ(report["cage"], name == "crossing");  // closed parts that are apart are filled as they are
    EXPECT_EQ(report["handles"], 6);
    EXPECT_GE(report["smallest_weight"].get<double>(), 0);
    EXPECT_LE(report["largest_weight"].get<double>(), 1);
    EXPECT_LE(report["row_sum_error"].get<double>(), 1e-12);
    EXPECT_LE(report["residual"].get<double>(), 1e-6);
  }
}

const char* const k_bar_with_handles =
    R"("rig": {"automatic": 6}, "initial_pose": "up",
       "examples": [{"name": "up", "handles": {"move": [{"near": [0.5, 0, 0], "by": [0, 0.12, 0]}]}}])";

double largest_displacement(const std::filesystem::path& run, std::size_t frame) {
  const Geometry surface = read_geometry(read_pvd(run / "surface.pvd")[frame].file);
  for (const FieldArray& array : surface.arrays) {
    if (array.name != "displacement") continue;
    double largest = 0;
    for (std::size_t i = 0; i + 2 < array.values.size(); i += 3)
      largest = std::max(largest, std::hypot(array.values[i], array.values[i + 1], array.values[i + 2]));
    return largest;
  }
  return -1;
}

// Every method begins in the pose that `exemplar pose` makes of the same moved handle, and goes on from
// there.
TEST_F(RigProgram, APoseByHandlesIsAnExampleInEveryMethod) {
  write_text(m_folder / "bar.json",
             std::string(R"({"title": "t", "time": {"duration": 0.02, "fps": 100}, "bodies": [{"name": "bar",
                 "surface": {"box": {"size": [1, 0.2, 0.2], "resolution": [8, 2, 2]}}, "volume": {"grid": [8, 2, 2]},
                 "material": {"density": 1000, "young": 1e6, "yield_stress": 1e5}, )") +
                 k_bar_with_handles + "}]}");
  write_text(m_folder / "sheet.json",
             std::string(R"({"title": "t", "time": {"duration": 0.02, "fps": 100}, "bodies": [{"name": "bar",
                 "kind": "sheet", "thickness": 0.02, "surface": {"sheet": {"length": 1, "width": 0.2, "resolution_x": 8, "resolution_z": 2}},
                 "material": {"density": 1000, "young": 1e6, "yield_stress": 1e5}, )") +
                 k_bar_with_handles + "}]}");
  const Outcome pose =
      run("EXEMPLAR -q pose box --set box.size=[1,0.2,0.2] --set box.resolution=[8,2,2] --handles 6 "
          "--move @0.5,0,0=0,0.12,0 --json");
  ASSERT_EQ(pose.exit_code, 0) << pose.errors;
  const auto methods = nlohmann::json::parse(run("EXEMPLAR list methods --json").output)["methods"];
  int tried = 0;
  // The same pose for all: of the bar as finite elements begin in it, of the sheet as springs do.
  ASSERT_EQ(run("EXEMPLAR -q run bar.json --method fem -o bar").exit_code, 0);
  ASSERT_EQ(run("EXEMPLAR -q run sheet.json --method mass-spring -o sheet").exit_code, 0);
  const double of_bar = largest_displacement(m_folder / "bar", 0),
               of_sheet = largest_displacement(m_folder / "sheet", 0);
  EXPECT_NEAR(of_bar, 0.12, 0.06);  // of the handle; the end beyond it turns
  EXPECT_GT(of_sheet, 0.12);
  for (const auto& method : methods) {
    const std::string name = method["name"];
    const std::string scene = name == "shell" ? "sheet.json" : "bar.json";
    const Outcome ran = run("EXEMPLAR -q run " + scene + " --method " + name + " -o out/" + name);
    ASSERT_EQ(ran.exit_code, 0) << name << ": " << ran.errors;
    // Peridynamics says that it starts at rest; shape matching carries the surface by its cells.
    const double expected = name == "peridynamics" ? 0 : name == "shell" ? of_sheet : of_bar;
    EXPECT_NEAR(largest_displacement(m_folder / "out" / name, 0), expected,
                name == "shape-matching" ? 0.01 * expected : 1e-6)
        << name;
    ++tried;
  }
  EXPECT_GE(tried, 10);
}

// A frame of another run as a pose: handles are added until the tolerance is met.
TEST_F(RigProgram, AFrameOfARunIsFittedWithAddedHandles) {
  write_text(m_folder / "bar.json",
             std::string(R"({"title": "t", "time": {"duration": 0.01, "fps": 100}, "bodies": [{"name": "bar",
                 "surface": {"box": {"size": [1, 0.2, 0.2], "resolution": [12, 3, 3]}},
                 "examples": [{"name": "twisted", "twist": {"axis": "x", "angle": 120}}], "initial_pose": "twisted"}]})"));
  ASSERT_EQ(run("EXEMPLAR -q run bar.json --method mass-spring -o twisted").exit_code, 0);
  const std::string common =
      "EXEMPLAR -q pose box --set box.size=[1,0.2,0.2] --set box.resolution=[12,3,3] --run twisted --frame 0 "
      "--body bar "
      "--handles 2 --json ";
  const Outcome two = run(common + "--tolerance 1 --max-handles 2");
  ASSERT_EQ(two.exit_code, 0) << two.errors;
  const Outcome more = run(common + "--tolerance 0.006 --max-handles 16");
  ASSERT_EQ(more.exit_code, 0) << more.errors;
  auto report = [](const Outcome& o) { return nlohmann::json::parse(o.output.substr(o.output.find('{'))); };
  EXPECT_EQ(report(two)["handles"], 2);
  EXPECT_GT(report(more)["handles"].get<int>(), 2);
  EXPECT_TRUE(report(more)["tolerance_met"].get<bool>()) << more.output;
  EXPECT_LT(report(more)["fit_rms_m"].get<double>(), 0.006);
  EXPECT_GT(report(two)["fit_rms_m"].get<double>(), 0.006);
}

TEST_F(RigProgram, BadInputIsSaidWithItsPlace) {
  const Outcome outside = run(std::string("EXEMPLAR rig ") + k_small_barrel + "--point 9,0,0");
  EXPECT_EQ(outside.exit_code, 2);
  EXPECT_NE(outside.errors.find("points[0]: (9, 0, 0) lies"), std::string::npos) << outside.errors;
  const Outcome letters = run("EXEMPLAR rig barrel --bone 0,0,zero,1,1,1");
  EXPECT_EQ(letters.exit_code, 2);
  EXPECT_NE(letters.errors.find("'zero' is not a number"), std::string::npos) << letters.errors;
  const Outcome none = run("EXEMPLAR pose barrel");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("exactly one of --move, --fit and --run"), std::string::npos) << none.errors;
  ASSERT_EQ(run("EXEMPLAR -q rig box -o box.rig.json --handles 4").exit_code, 0);
  const Outcome other =
      run(std::string("EXEMPLAR pose ") + k_small_barrel + "--rig box.rig.json --move auto-0=0,0,1");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.errors.find("rig of another mesh"), std::string::npos) << other.errors;
}

TEST_F(RigProgram, AScenesRigOfAnotherMeshIsRefusedWithItsPath) {
  ASSERT_EQ(run("EXEMPLAR -q rig sphere -o ball.rig.json --handles 4").exit_code, 0);
  write_text(m_folder / "scene.json",
             R"({"title": "t", "time": {"duration": 0.01, "fps": 100},
                 "bodies": [{"name": "bar", "surface": {"box": {"size": [1, 0.2, 0.2], "resolution": [6, 2, 2]}},
                   "rig": {"file": "ball.rig.json"},
                   "examples": [{"name": "up", "handles": {"move": [{"near": [1, 0, 0], "by": [0, 0.1, 0]}]}}]}]})");
  const Outcome refused = run("EXEMPLAR run scene.json --method fem -o out");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("bodies[0].rig.file"), std::string::npos) << refused.errors;
  const Outcome good =
      run("EXEMPLAR -q run scene.json --method fem -o out --set 'bodies[0].rig={\"automatic\": 6}'");
  EXPECT_EQ(good.exit_code, 0) << good.errors;
}

// A bar with what is wrong in `more`, run by rigid-lbs; says where and exits with 2 before anything is
// written.
class LbsBadInput : public ProgramTest {
 protected:
  void refuses(const std::string& more, const std::string& path, const std::string& what) {
    write_text(m_folder / "scene.json",
               R"({"title": "t", "time": {"duration": 0.01, "fps": 100}, "bodies": [{"name": "bar",
                   "surface": {"box": {"size": [1, 0.2, 0.2], "resolution": [6, 2, 2]}},
                   "volume": {"grid": [6, 2, 2]}, "material": {"preset": "steel"}, )" +
                   more + "}]}");
    for (const char* command : {"EXEMPLAR run scene.json --method rigid-lbs -o out",
                                "EXEMPLAR check scene.json --method rigid-lbs"}) {
      const Outcome refused = run(command);
      EXPECT_EQ(refused.exit_code, 2) << command << "\n" << refused.output << refused.errors;
      const std::string said = refused.output + refused.errors;
      EXPECT_NE(said.find(path + ": "), std::string::npos) << said;
      EXPECT_NE(said.find(what), std::string::npos) << said;
    }
    EXPECT_FALSE(std::filesystem::exists(m_folder / "out" / "frames"));
  }
  const std::string m_bent = R"("examples": [{"name": "bent", "bend": {"axis": "z", "angle": 40}}])";
};

TEST_F(LbsBadInput, HandlesOutside) {
  refuses(R"("rig": {"points": [[0, 0, 0], [4, 0, 0]]}, )" + m_bent, "bodies[0].rig.points[1]",
          "(4, 0, 0) lies");
  refuses(R"("rig": {"bones": [{"from": [0, 3, 0], "to": [0, 4, 0]}]}, )" + m_bent, "bodies[0].rig.bones[0]",
          "lies");
  refuses(R"("rig": {"cages": [{"corners": [[9, 0, 0], [9, 1, 0], [9, 0, 1]]}]}, )" + m_bent,
          "bodies[0].rig.cages[0][0]", "lies");
  refuses(R"("examples": [{"name": "up", "handles": {"move": [{"handle": "nose", "by": [0, 0.1, 0]}]}}])",
          "bodies[0].examples[0].handles.move[0].handle", "no handle called 'nose'");
}

TEST_F(LbsBadInput, FewerThanTwoExamples) {
  refuses(R"("examples": [])", "bodies[0].examples", "at least one besides the rest shape");
  refuses(R"("examples": [{"name": "bent", "use": "elastic", "bend": {"axis": "z", "angle": 40}}])",
          "bodies[0].examples", "at least one besides the rest shape");
}

TEST_F(LbsBadInput, PiecesThatDoNotFillTheBody) {
  write_text(m_folder / "few.txt", "0 0 1 1");
  refuses(R"("pieces": {"labels": "few.txt"}, )" + m_bent, "bodies[0].pieces",
          "do not fill the body: 4 labels for");
  write_text(m_folder / "letters.txt", "0 0 one");
  refuses(R"("pieces": {"labels": "letters.txt"}, )" + m_bent, "bodies[0].pieces", "not a whole number");
  refuses(R"("pieces": {"labels": "missing.txt"}, )" + m_bent, "bodies[0].pieces", "missing.txt");
  refuses(R"("pieces": {"planes": [{"point": [9, 0, 0], "normal": "x"}]}, )" + m_bent, "bodies[0].pieces",
          "leave the body in one piece");
  refuses(R"("pieces": {"voronoi": {"count": 900, "seed": 1}}, )" + m_bent, "bodies[0].pieces",
          "900 cells are more than the body has tets");
}

TEST_F(LbsBadInput, RigsOfAnotherMesh) {
  ASSERT_EQ(run("EXEMPLAR -q rig sphere -o ball.rig.json --handles 4").exit_code, 0);
  refuses(R"("rig": {"file": "ball.rig.json"}, )" + m_bent, "bodies[0].rig.file", "rig of another mesh");
  write_text(m_folder / "cut.rig.json", read_text(m_folder / "ball.rig.json").substr(0, 200));
  refuses(R"("rig": {"file": "cut.rig.json"}, )" + m_bent, "bodies[0].rig.file", "cut.rig.json");
  refuses(R"("rig": {"file": "gone.rig.json"}, )" + m_bent, "bodies[0].rig.file", "gone.rig.json");
}

}  // namespace
}  // namespace exemplar::testing
