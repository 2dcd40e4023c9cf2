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

}  // namespace
}  // namespace exemplar::testing
