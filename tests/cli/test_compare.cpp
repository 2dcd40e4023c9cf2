// exemplar compare: the real program on a small study.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/output/pvd_file.h"
#include "program.h"

namespace exemplar {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Compare : public testing::ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    testing::write_text(m_folder / "scene.json", R"({"title": "a box falls on a plate",
      "time": {"duration": 0.2, "fps": 20, "steps_per_frame": 4},
      "bodies": [{"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}},
                  "volume": {"grid": [1, 1, 1]}, "position": [0, 0.3, 0], "rotation": {"axis": "z", "angle": 20}}],
      "obstacles": [{"name": "ground", "plane": {}}]})");
    testing::write_text(m_folder / "study.json",
                        R"({"title": "falling", "lesson": "what one learns", "scene": "scene.json",
      "runs": ["rigid", {"name": "fast", "method": "rigid", "set": {"bodies[0].velocity": [0, -2, 0]}},
               {"name": "broken", "method": "rigid", "set": {"bodies[0].surface": {"file": "missing.obj"}, "bodies[0].volume": {}}}]})");
    testing::write_text(m_folder / "good.json", R"({"title": "falling", "scene": "scene.json",
      "runs": ["rigid", {"name": "fast", "method": "rigid", "set": {"bodies[0].velocity": [0, -2, 0]}}]})");
    testing::write_text(m_folder / "sweep.json", R"({"scene": "scene.json", "runs": ["rigid"], "sweep": {
      "bodies[0].material.density": [500, 1000, 2000, 4000], "bodies[0].rotation.angle": [0, 10, 45]}})");
  }
  Json json(const fs::path& path) const { return Json::parse(testing::read_text(m_folder / path)); }
};

TEST_F(Compare, AFailingRunIsReportedAndDoesNotStopTheOthers) {
  const testing::Outcome outcome = run("EXEMPLAR compare study.json -o out");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
  EXPECT_NE(outcome.output.find("report: out/report.html"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.errors.find("broken"), std::string::npos);
  const Json comparison = json("out/comparison.json");
  ASSERT_EQ(comparison["runs"].size(), 3u);
  EXPECT_EQ(comparison["runs"][0]["status"], "done");
  EXPECT_EQ(comparison["runs"][1]["status"], "done");
  EXPECT_EQ(comparison["runs"][2]["status"], "failed");
  EXPECT_NE(comparison["runs"][2]["message"].get<std::string>().find("missing.obj"), std::string::npos);
  EXPECT_EQ(comparison["runs"][0]["surface_distance"]["final"]["rms [m]"], 0);
  EXPECT_GT(comparison["runs"][1]["surface_distance"]["worst_rms [m]"], 1e-3);
  // A rigid body moves without a change of shape.
  EXPECT_LT(comparison["runs"][1]["shape_change"]["largest [m]"], 1e-6);
  EXPECT_TRUE(fs::exists(m_folder / "out/comparison.csv"));
  EXPECT_TRUE(fs::exists(m_folder / "out/paraview.py"));
  const std::string page = testing::read_text(m_folder / "out/report.html");
  EXPECT_NE(page.find("what one learns"), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
}

TEST_F(Compare, EveryRunFailingIsAnError) {
  EXPECT_EQ(run("EXEMPLAR compare study.json --methods broken -o out").exit_code, 3);
}

// One that ends at its first step has been at its start only, which is where the reference was too.
TEST_F(Compare, AFailedRunHasNoNumbersThatLookGood) {
  testing::write_text(m_folder / "fails.json", R"({"scene": "scene.json", "runs": ["rigid", {"name": "weak",
    "method": "fem", "set": {"methods.fem.max_iterations": 1, "methods.fem.max_halvings": 0,
    "bodies[0].position": [0, 0.15, 0], "bodies[0].velocity": [0, -50, 0]}}]})");
  const testing::Outcome outcome = run("EXEMPLAR compare fails.json -o out --no-pictures");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
  const Json comparison = json("out/comparison.json");
  const Json& weak = comparison["runs"][1];
  ASSERT_EQ(weak["status"], "failed");
  EXPECT_FALSE(weak["message"].get<std::string>().empty());
  EXPECT_LT(weak["cost"]["frames"], 4);
  EXPECT_TRUE(weak["surface_distance"]["final"]["rms [m]"].is_null());
  EXPECT_TRUE(weak["surface_distance"]["worst_rms [m]"].is_null());
  EXPECT_TRUE(weak["shape_change"]["largest [m]"].is_null());
  EXPECT_TRUE(weak["cost"]["cost_ratio"].is_null());
  // The page shows as many frames as were simulated.
  const std::string page = testing::read_text(m_folder / "out/report.html");
  const std::string frames =
      "\"frames\":" + std::to_string(weak["cost"]["frames"].get<int>() + 1) + ",\"layers\"";
  EXPECT_NE(page.find(frames), std::string::npos) << frames;
}

// What lost most of its volume is shown, and not ranked.
TEST_F(Compare, ADoubtfulRunIsToldAndNotRecommended) {
  ASSERT_EQ(run("EXEMPLAR compare good.json -o out --no-pictures").exit_code, 0);
  ASSERT_EQ(
      run("awk -F, -v OFS=, 'NR==1{for(i=1;i<=NF;i++)if($i==\"volume_ratio\")c=i} NR>2{$c=0.27} {print}' "
          "out/fast/metrics.csv > new && mv new out/fast/metrics.csv")
          .exit_code,
      0);
  const testing::Outcome outcome = run("EXEMPLAR compare good.json --collect out --no-pictures");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("its volume fell to 27 %"), std::string::npos) << outcome.output;
  const Json comparison = json("out/comparison.json");
  EXPECT_EQ(comparison["runs"][1]["doubts"], Json::array({"its volume fell to 27 %"}));
  EXPECT_TRUE(comparison["runs"][0]["doubts"].empty());
  EXPECT_NE(testing::read_text(m_folder / "out/comparison.csv").find("its volume fell to 27 %"),
            std::string::npos);
}

// A claim is checked against what came out, told, struck out on the page, and with --check a failure.
TEST_F(Compare, ClaimsAreCheckedAgainstTheResults) {
  testing::write_text(m_folder / "claims.json", R"({"title": "falling", "scene": "scene.json",
    "lesson": "The second ends {fast.wall_time / fast.wall_time:.1} time as far. It moves more.",
    "claims": [{"claim": "It falls.", "left": "rigid.centre_of_mass_y", "op": "<", "right": "rigid.centre_of_mass_y@start"},
               {"claim": "It moves more.", "left": "fast.low_y(box)@start", "op": ">", "right": 100}],
    "runs": ["rigid", {"name": "fast", "method": "rigid", "set": {"bodies[0].velocity": [0, -2, 0]}}]})");
  const testing::Outcome outcome = run("EXEMPLAR compare claims.json -o out --no-pictures");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("claims: 1 of 2 hold"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.errors.find("does not hold: It moves more."), std::string::npos) << outcome.errors;
  const Json comparison = json("out/comparison.json");
  EXPECT_EQ(comparison["lesson"], "The second ends 1 time as far. It moves more.");
  EXPECT_EQ(comparison["claims"][0]["verdict"], "holds");
  EXPECT_EQ(comparison["claims"][1]["verdict"], "fails");
  EXPECT_EQ(run("EXEMPLAR compare claims.json --collect out --no-pictures --check").exit_code, 1);
  // What was not simulated to its end is not judged.
  const testing::Outcome cut = run("EXEMPLAR compare claims.json -o cut --frames 2 --no-pictures");
  EXPECT_NE(cut.output.find("claims: 0 of 2 hold, 2 could not be checked"), std::string::npos) << cut.output;
}

TEST_F(Compare, WrongNamesInLessonsAndClaimsAreInputErrors) {
  testing::write_text(m_folder / "wrong.json", R"({"scene": "scene.json", "runs": ["rigid"],
    "lesson": "It is {rigit.surface_rms} away.", "about": ["plastisity"],
    "claims": [{"claim": "so", "left": "rigid.surface_rmss", "op": ">", "right": 1}]})");
  const testing::Outcome outcome = run("EXEMPLAR compare wrong.json -o out");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("about[0]: unknown capability 'plastisity' (did you mean 'plasticity'?)"),
            std::string::npos)
      << outcome.errors;
  testing::write_text(m_folder / "wrong.json", R"({"scene": "scene.json", "runs": ["rigid"],
    "lesson": "It is {rigit.surface_rms} away.",
    "claims": [{"claim": "so", "left": "rigid.surface_rmss", "op": ">", "right": 1}]})");
  const testing::Outcome names = run("EXEMPLAR compare wrong.json -o out");
  EXPECT_EQ(names.exit_code, 2);
  EXPECT_NE(names.errors.find(
                "lesson: 'rigit.surface_rms': there is no run called 'rigit' (did you mean 'rigid'?)"),
            std::string::npos)
      << names.errors;
  EXPECT_NE(names.errors.find("claims[0].left: "), std::string::npos) << names.errors;
  EXPECT_FALSE(fs::exists(m_folder / "out"));
  // A column that only the finished run can know about: the report is there, and the name is an error.
  testing::write_text(m_folder / "late.json", R"({"scene": "scene.json", "runs": ["rigid"],
    "claims": [{"claim": "so", "left": "rigid.of_some_method", "op": ">", "right": 1}]})");
  const testing::Outcome late = run("EXEMPLAR compare late.json -o late --no-pictures");
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_NE(late.errors.find("claims[0].left: 'rigid' has no value 'of_some_method'"), std::string::npos)
      << late.errors;
  EXPECT_TRUE(fs::exists(m_folder / "late/report.html"));
}

TEST_F(Compare, ALessonIsShort) {
  std::string words;
  for (int i = 0; i < 91; ++i) words += "word ";
  testing::write_text(m_folder / "long.json",
                      R"({"scene": "scene.json", "runs": ["rigid"], "lesson": ")" + words + "\"}");
  const testing::Outcome outcome = run("EXEMPLAR check long.json --fast");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE((outcome.output + outcome.errors).find("has 91 words: expected at most 90"), std::string::npos)
      << outcome.output << outcome.errors;
}

TEST_F(Compare, SetUpSimulationAndOutputAreToldApart) {
  ASSERT_EQ(run("EXEMPLAR compare good.json -o out --no-pictures").exit_code, 0);
  const Json cost = json("out/comparison.json")["runs"][0]["cost"];
  for (const char* part : {"setup_time [s]", "wall_time [s]", "output_time [s]"})
    EXPECT_GT(cost[part], 0) << part;
}

TEST_F(Compare, SideBySideHasEveryRunAtEveryTime) {
  ASSERT_EQ(run("EXEMPLAR compare good.json -o out --no-pictures").exit_code, 0);
  const std::vector<PvdEntry> entries = read_pvd(m_folder / "out/side_by_side.pvd");
  ASSERT_EQ(entries.size(), 5u);
  for (const PvdEntry& entry : entries) {
    const std::string text = testing::read_text(entry.file);
    EXPECT_NE(text.find("\"rigid\""), std::string::npos);
    EXPECT_NE(text.find("\"fast\""), std::string::npos);
  }
  EXPECT_NEAR(entries.back().time, 0.2, 1e-12);
}

TEST_F(Compare, ResumeRunsOnlyWhatIsMissingOrChanged) {
  ASSERT_EQ(run("EXEMPLAR compare good.json -o out --no-pictures").exit_code, 0);
  fs::remove_all(m_folder / "out/fast");
  const testing::Outcome again = run("EXEMPLAR compare good.json -o out --resume --no-pictures");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.errors.find("rigid: complete already"), std::string::npos) << again.errors;
  EXPECT_NE(again.errors.find("fast: done"), std::string::npos) << again.errors;
  const testing::Outcome changed =
      run("EXEMPLAR compare good.json -o out --resume --set time.fps=40 --no-pictures");
  EXPECT_EQ(changed.errors.find("complete already"), std::string::npos) << changed.errors;
  // Frames that are there stay, also when fewer are asked for.
  const auto frames = std::distance(fs::directory_iterator(m_folder / "out/rigid/frames"), {});
  const testing::Outcome shorter =
      run("EXEMPLAR compare good.json -o out --resume --set time.fps=40 --frames 3 --no-pictures");
  EXPECT_NE(shorter.errors.find("rigid: complete already"), std::string::npos) << shorter.errors;
  EXPECT_EQ(frames, std::distance(fs::directory_iterator(m_folder / "out/rigid/frames"), {}));
}

TEST_F(Compare, TwoJobsGiveTheSameNumbersAsOne) {
  ASSERT_EQ(run("EXEMPLAR compare good.json -o one --jobs 1 --no-pictures").exit_code, 0);
  ASSERT_EQ(run("EXEMPLAR compare good.json -o two --jobs 2 --no-pictures").exit_code, 0);
  for (const char* name : {"rigid", "fast"}) {
    EXPECT_EQ(testing::read_text(m_folder / "one" / name / "metrics.csv"),
              testing::read_text(m_folder / "two" / name / "metrics.csv"));
    const std::string last = std::string(name) + "/frames/surface_00004.vtp";
    EXPECT_EQ(testing::read_text(m_folder / "one" / last), testing::read_text(m_folder / "two" / last));
  }
  EXPECT_EQ(json("one/comparison.json")["runs"][1]["surface_distance"],
            json("two/comparison.json")["runs"][1]["surface_distance"]);
}

TEST_F(Compare, WrongStudiesAreRefusedBeforeAnythingRuns) {
  testing::write_text(m_folder / "bad.json", R"({"scene": "scene.json", "runs": ["rigit"], "sweep": 3})");
  const testing::Outcome outcome = run("EXEMPLAR compare bad.json -o out");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("bad.json: runs[0]: unknown method 'rigit'"), std::string::npos)
      << outcome.errors;
  EXPECT_NE(outcome.errors.find("bad.json: sweep: expected an object"), std::string::npos) << outcome.errors;
  EXPECT_FALSE(fs::exists(m_folder / "out"));
  EXPECT_EQ(run("EXEMPLAR check good.json").exit_code, 0);
  EXPECT_EQ(run("EXEMPLAR check study.json").exit_code, 2);  // one of its runs names a file that is missing
  EXPECT_EQ(run("EXEMPLAR check bad.json").exit_code, 2);
}

TEST_F(Compare, CommandsRunThroughGnuParallel) {
  if (!available("parallel")) GTEST_SKIP() << "GNU parallel is not installed";
  ASSERT_EQ(run("EXEMPLAR compare sweep.json -o out --dry-run > runs.txt").exit_code, 0);
  ASSERT_EQ(
      run("parallel --will-cite -j 2 < runs.txt && EXEMPLAR compare sweep.json --collect out --no-pictures")
          .exit_code,
      0)
      << testing::read_text(m_folder / "stderr.txt");
  const Json comparison = json("out/comparison.json");
  ASSERT_EQ(comparison["runs"].size(), 12u);
  for (const Json& one : comparison["runs"]) EXPECT_EQ(one["status"], "done") << one["name"];
}

TEST_F(Compare, CommandsRunThroughSnakemake) {
  if (!available("snakemake")) GTEST_SKIP() << "Snakemake is not installed";
  ASSERT_EQ(run("EXEMPLAR compare sweep.json -o out --dry-run --format snakemake > Snakefile").exit_code, 0);
  ASSERT_EQ(run("snakemake --cores 2 --quiet").exit_code, 0) << testing::read_text(m_folder / "stderr.txt");
  EXPECT_EQ(json("out/comparison.json")["runs"].size(), 12u);
  EXPECT_TRUE(fs::exists(m_folder / "out/report.html"));
}

TEST_F(Compare, TheReportWorksInABrowser) {
  ASSERT_EQ(run("EXEMPLAR compare study.json -o out --no-pictures").exit_code, 3);  // one of its runs fails
  const testing::Outcome outcome = run("'" EXEMPLAR_SOURCE_DIR "/scripts/check-report' out/report.html");
  if (outcome.exit_code == 77) GTEST_SKIP() << outcome.errors;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
}

// Values on the surface become colours of the page's 3D view, on one scale for all runs.
TEST_F(Compare, FieldsOfTheSurfaceAreColoursInTheReport) {
  testing::write_text(m_folder / "fields.json",
                      R"({"scene": "scene.json", "runs": ["fem", "mass-spring", "rigid"]})");
  ASSERT_EQ(run("EXEMPLAR compare fields.json -o out --no-pictures --set 'bodies[0].position=[0,0.15,0]'")
                .exit_code,
            0);
  const std::string page = testing::read_text(m_folder / "out/report.html");
  const std::string mark = "id=\"data\">";
  const std::size_t begin = page.find(mark) + mark.size();
  const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  const auto scale_of = [&](const std::string& name) {
    for (const Json& field : data["fields"]) {
      if (field["name"] == name) return field;
    }
    return Json();
  };
  const auto has = [&](int run, const std::string& name) {
    const Json& fields = data["runs"][run]["layers"]["surface"]["fields"];
    return std::find(fields.begin(), fields.end(), name) != fields.end();
  };
  ASSERT_FALSE(scale_of("von_mises_stress").is_null()) << data["fields"];
  EXPECT_EQ(scale_of("von_mises_stress")["unit"], "Pa");
  // At the start nothing is strained, but for round-off.
  EXPECT_LT(scale_of("von_mises_stress")["low"].get<double>(),
            1e-9 * scale_of("von_mises_stress")["high"].get<double>());
  EXPECT_TRUE(scale_of("plastic_strain").is_null());  // 0 everywhere: nothing to see
  EXPECT_TRUE(has(0, "von_mises_stress"));
  EXPECT_TRUE(has(1, "strain"));
  EXPECT_FALSE(has(2, "strain"));
  const testing::Outcome outcome = run("'" EXEMPLAR_SOURCE_DIR "/scripts/check-report' out/report.html");
  if (outcome.exit_code == 77) GTEST_SKIP() << outcome.errors;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
  EXPECT_NE(outcome.output.find("von_mises_stress"), std::string::npos) << outcome.output;
}

// Starts a watched comparison in the background; $job is its process, $address that of its page.
std::string watched(const std::string& study) {
  return "EXEMPLAR compare " + study +
         " -o out --no-pictures --watch > said.txt & job=$!; "
         "for i in $(seq 600); do grep -q '^watch: ' said.txt && break; sleep 0.05; done; "
         "address=$(sed -n 's/^watch: //p' said.txt); ";
}

// A reader gets pages while the runs go on and after they have ended, until Ctrl-C.
TEST_F(Compare, ARunningComparisonCanBeWatched) {
  if (!available("curl")) GTEST_SKIP() << "curl is not installed";
  const testing::Outcome outcome =
      run(watched("good.json") +
          "for i in $(seq 600); do grep -q 'until Ctrl-C' said.txt && break; sleep 0.1; done; sleep 1; "
          "curl -sf \"$address\" -o page.html; code=$?; kill -TERM $job; wait $job && exit $code");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(testing::read_text(m_folder / "said.txt").rfind("watch: http://127.0.0.1:", 0), 0u);
  EXPECT_NE(testing::read_text(m_folder / "page.html").find("/version"), std::string::npos);
  EXPECT_NE(testing::read_text(m_folder / "page.html").find("\"status\":\"done\""), std::string::npos);
  // The file that stays does not ask anybody.
  EXPECT_EQ(testing::read_text(m_folder / "out/report.html").find("'/version'"), std::string::npos);
}

TEST_F(Compare, ParaViewShowsOneViewARun) {
  if (!available("pvbatch") || !fs::exists(EXEMPLAR_SOURCE_DIR "/.deps/paraview-python"))
    GTEST_SKIP() << "pvbatch and its modules are not installed (scripts/setup --tests)";
  ASSERT_EQ(run("EXEMPLAR compare good.json -o out --no-pictures").exit_code, 0);
  const testing::Outcome outcome = run("'" EXEMPLAR_SOURCE_DIR "/scripts/pvbatch' out/paraview.py");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
  EXPECT_GT(fs::file_size(m_folder / "out/paraview.png"), 5000u);
}

// A certificate holds when it is made again, and a reference from a mesh that is far too coarse does not.
TEST_F(Compare, AReferenceThatIsTooCoarseIsCaught) {
  const auto scene = [](const char* grid) {
    return std::string(R"({"time": {"duration": 0.2, "fps": 20}, "bodies": [{"name": "bar",
      "surface": {"box": {"size": [0.1, 0.6, 0.1], "resolution": [1, 6, 1]}}, "volume": {"grid": )") +
           grid + R"(},
      "material": {"density": 1000, "young": 2e5, "poisson": 0.3, "damping": 0.01},
      "supports": [{"region": {"half_space": {"point": [0, -0.299, 0], "normal": "-y"}}}]}],
      "gravity": [9.81, 0, 0]})";
  };
  testing::write_text(m_folder / "coarse.json", scene("[1, 3, 1]"));
  testing::write_text(m_folder / "fine.json", scene("[4, 24, 4]"));
  EXPECT_EQ(run("EXEMPLAR certify coarse.json --method fem -o coarse.ref --directory a").exit_code, 0);
  EXPECT_EQ(run("EXEMPLAR certify fine.json --method fem -o fine.ref --directory b").exit_code, 0);
  EXPECT_EQ(run("EXEMPLAR certify fine.json --method fem --check fine.ref --directory c").exit_code, 0);
  const auto check = [&](const char* file) {
    return run(std::string("EXEMPLAR certify fine.json --method fem --directory b --check ") + file);
  };
  const testing::Outcome coarse = check("coarse.ref");
  EXPECT_EQ(coarse.exit_code, 1) << coarse.output << coarse.errors;
  EXPECT_NE(coarse.errors.find("too coarsely"), std::string::npos) << coarse.errors;
  // Of a bar that was stiffer when it was certified.
  EXPECT_EQ(run("EXEMPLAR certify fine.json --method fem -o stiff.ref --directory d "
                "--set bodies[0].material.young=2.5e5")
                .exit_code,
            0);
  const testing::Outcome other = check("stiff.ref");
  EXPECT_EQ(other.exit_code, 1) << other.output << other.errors;
  EXPECT_NE(other.errors.find("are allowed"), std::string::npos) << other.errors;
}

}  // namespace
}  // namespace exemplar
