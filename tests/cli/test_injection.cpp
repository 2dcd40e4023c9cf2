// Names and paths that are code elsewhere: what the program writes for shells, Snakemake and Python is executed here.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string k_scene = R"({"time": {"duration": 0.05, "fps": 20}, "bodies": [
  {"name": "box", "surface": {"box": {"resolution": [1, 1, 1]}}, "position": [0, 1, 0]}]})";

// Would leave a file PWNED behind in a shell, in Python or in Snakemake; each of it may stand in a name.
const std::string k_hostile =
    "a'b\"c $(touch PWNED) `touch PWNED` ; touch PWNED & {wildcards} {x!r} \\ \\\" ''' \"\"\" # </script> Ω "
    "🙂";

class Injection : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_text(m_folder / "scene.json", k_scene);
  }
  void TearDown() override {
    for (const auto& file : fs::recursive_directory_iterator(m_folder))
      EXPECT_EQ(file.path().string().find("PWNED", file.path().string().size() - 5), std::string::npos)
          << file.path();
    ProgramTest::TearDown();
  }
  // The word of a shell.
  static std::string word(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
  }
  Outcome refused(const Json& study, const std::string& format) const {
    write_text(m_folder / "study.json", study.dump());
    const Outcome outcome = run("EXEMPLAR compare study.json -o out --dry-run --format " + format);
    EXPECT_EQ(outcome.exit_code, 2) << study << outcome.output;
    EXPECT_EQ(outcome.output, "") << study;
    EXPECT_EQ(outcome.errors.find("\ntouch"), std::string::npos) << outcome.errors;
    return outcome;
  }
};

}  // namespace

TEST_F(Injection, PathsOfSettingsAreCheckedAsPaths) {
  for (const std::string path : {"$schema.x\ntouch PWNED\n#", "$schema", "$schema.x", "title\n",
                                 "bodies[0]name", "[0]", "a=b", "time..fps", "time.", "bodies[x]", "\x7f"}) {
    for (const std::string format : {"lines", "snakemake"}) {
      const Json set{{"method", "rigid"}, {"set", {{path, 1}}}};
      const Json sweep{{"method", "rigid"}, {"sweep", {{path, {1, 2}}}}};
      const Json named{{"method", "rigid"}, {"name", "fine"}};
      EXPECT_NE(refused({{"scene", "scene.json"}, {"runs", {set}}}, format).errors.find("runs[0].set"),
                std::string::npos);
      refused({{"scene", "scene.json"}, {"runs", {sweep}}}, format);
      refused({{"scene", "scene.json"}, {"runs", {named}}, {"sweep", {{path, {1, 2}}}}}, format);
      refused({{"scene", "scene.json"},
               {"runs", {named}},
               {"reference", {{"method", "rigid"}, {"set", {{path, 1}}}}}},
              format);
    }
  }
}

TEST_F(Injection, ControlCharactersPassInNoText) {
  for (const std::string bad :
       {"x\ntouch PWNED\n#", "x\ttouch", "x\x1b[2J", "x\xc2\x9b", "x\u2028y", "x\u202ey"}) {
    refused({{"scene", "scene.json"}, {"title", bad}, {"runs", {"rigid"}}}, "snakemake");
    refused({{"scene", "scene.json"}, {"runs", {{{"method", "rigid"}, {"name", bad}}}}}, "snakemake");
    refused({{"scene", bad}, {"runs", {"rigid"}}}, "snakemake");
    refused({{"scene", "scene.json"}, {"$schema", bad}, {"runs", {"rigid"}}}, "snakemake");
    write_text(m_folder / "bad.json", Json{{"title", bad}, {"bodies", Json::array()}}.dump());
    EXPECT_EQ(run("EXEMPLAR check bad.json").exit_code, 2);
    EXPECT_EQ(run("EXEMPLAR run scene.json -o " + word(bad)).exit_code, 2);
  }
}

TEST_F(Injection, NamesOfAnyLengthFit) {
  const std::string name(3000, 'n');
  Json scene = Json::parse(k_scene);
  scene["title"] = name;
  scene["bodies"][0]["name"] = name;
  scene["bodies"][0]["examples"] = Json::parse(R"([{"twist": {"axis": "y", "angle": 20}}])");
  scene["bodies"][0]["examples"][0]["name"] = name;
  scene["bodies"][0]["volume"] = {{"grid", {1, 1, 1}}};
  write_text(m_folder / "scene.json", scene.dump());
  const Json first{{"method", "fem"}, {"name", name + "1"}},
      second{{"method", "rigid"}, {"name", name + "2"}};
  write_text(m_folder / "study.json", Json{{"scene", "scene.json"}, {"runs", {first, second}}}.dump());
  const Outcome outcome = run("EXEMPLAR compare study.json -o out --no-pictures");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors.substr(0, 2000);
  int folders = 0;
  for (const auto& entry : fs::directory_iterator(m_folder / "out")) {
    EXPECT_LE(entry.path().filename().string().size(), 100u);
    folders += fs::is_directory(entry.path() / "frames");
  }
  EXPECT_EQ(folders, 2);
  EXPECT_EQ(run("EXEMPLAR export out -o a.glb && EXEMPLAR export out -o a.usda").exit_code, 0);
}

TEST_F(Injection, APathThatLooksLikeAnOptionIsAPath) {
  write_text(m_folder / "--help.json", k_scene);
  write_text(m_folder / "study.json", R"({"scene": "--help.json", "runs": ["rigid"]})");
  const Outcome outcome = run("EXEMPLAR compare study.json --output=-out --no-pictures");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(fs::exists(m_folder / "-out/rigid/surface.pvd"));
}

namespace {

class InjectionFiles : public Injection {
 protected:
  // A study with hostile texts wherever one may stand, in a folder with such a name.
  void SetUp() override {
    Injection::SetUp();
    m_inside = k_hostile;
    m_inside.replace(m_inside.find('/'), 1, "|");
    write_text(m_folder / m_inside / "scene.json", Json::parse(k_scene).dump());
    Json scene = Json::parse(k_scene);
    scene["title"] = k_hostile;
    scene["description"] = k_hostile + "\ntouch PWNED\n";
    write_text(m_folder / m_inside / (m_inside + ".json"), scene.dump());
    const Json first{{"method", "rigid"},
                     {"name", k_hostile},
                     {"set", {{"title", k_hostile}, {"description", "\ntouch PWNED\n#"}}}};
    const Json second{{"method", "rigid"}, {"sweep", {{"bodies[0].name", {k_hostile, "\"); import os #"}}}}};
    write_text(m_folder / m_inside / "study.json",
               Json{{"scene", m_inside + ".json"},
                    {"title", k_hostile},
                    {"lesson", "$(touch PWNED) `touch PWNED` <script>\n# touch PWNED"},
                    {"runs", {first, second}}}
                   .dump());
    m_compare = "EXEMPLAR compare " + word(m_inside + "/study.json");
    m_output = m_inside + "/out";
  }
  void expect_results() const {
    const Outcome collected = run(m_compare + " --collect " + word(m_output) + " --no-pictures");
    ASSERT_EQ(collected.exit_code, 0) << collected.errors;
    const Json comparison = Json::parse(read_text(m_folder / m_output / "comparison.json"));
    ASSERT_EQ(comparison["runs"].size(), 3u);
    EXPECT_EQ(comparison["runs"][0]["name"], k_hostile);
    for (const Json& one : comparison["runs"]) EXPECT_EQ(one["status"], "done");
  }

  std::string m_inside, m_compare, m_output;
};

}  // namespace

TEST_F(InjectionFiles, TheLinesRunInAShell) {
  ASSERT_EQ(run(m_compare + " -o " + word(m_output) + " --dry-run > lines.sh").exit_code, 0)
      << read_text(m_folder / "stderr.txt");
  ASSERT_EQ(run("sh -e lines.sh").exit_code, 0) << read_text(m_folder / "stderr.txt");
  expect_results();
}

TEST_F(InjectionFiles, TheSnakefileRuns) {
  if (!available("snakemake")) GTEST_SKIP() << "Snakemake is not installed";
  ASSERT_EQ(run(m_compare + " -o " + word(m_output) + " --dry-run --format snakemake > Snakefile").exit_code,
            0)
      << read_text(m_folder / "stderr.txt");
  ASSERT_EQ(run("snakemake -n --quiet").exit_code, 0) << read_text(m_folder / "stderr.txt");
  ASSERT_EQ(run("snakemake --cores 1 --quiet").exit_code, 0) << read_text(m_folder / "stderr.txt");
  EXPECT_TRUE(fs::exists(m_folder / m_output / "report.html"));
  expect_results();
}

TEST_F(InjectionFiles, TheParaViewScriptIsPythonWithTheSameNames) {
  ASSERT_EQ(run(m_compare + " -o " + word(m_output) + " --no-pictures").exit_code, 0)
      << read_text(m_folder / "stderr.txt");
  // What stands before the package is needed: RUNS, LOW and HIGH.
  write_text(m_folder / "names.py", R"(
import ast, sys
tree = ast.parse(open(sys.argv[1]).read())
runs = next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == 'RUNS')
sys.stdout.buffer.write(runs[0]['name'].encode())
)");
  const Outcome names = run("python3 names.py " + word(m_output + "/paraview.py"));
  EXPECT_EQ(names.exit_code, 0) << names.errors;
  EXPECT_EQ(names.output, k_hostile);
}

TEST_F(InjectionFiles, ThePageHoldsTextsAsTexts) {
  ASSERT_EQ(run(m_compare + " -o " + word(m_output) + " --no-pictures").exit_code, 0)
      << read_text(m_folder / "stderr.txt");
  const std::string page = read_text(m_folder / m_output / "report.html");
  EXPECT_EQ(page.find("# </script>"), std::string::npos);
  EXPECT_NE(page.find("touch PWNED"), std::string::npos);  // it is there, as a text
}

}  // namespace exemplar::testing
