// The pages in docs/ say what the program and the sources say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;

const fs::path k_tree = EXEMPLAR_SOURCE_DIR;

class Docs : public ProgramTest {};

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), none; it != none; ++it)
    found.insert((*it)[1]);
  return found;
}

std::vector<fs::path> sources(const std::string& extension) {
  std::vector<fs::path> files;
  for (const char* folder : {"core", "fem", "shells", "rigidplastic", "meshless", "compare"}) {
    for (const auto& item : fs::recursive_directory_iterator(k_tree / folder)) {
      if (item.path().extension() == extension) files.push_back(item.path());
    }
  }
  return files;
}

}  // namespace

TEST_F(Docs, TheSettingsReferenceIsCurrent) {
  const Outcome outcome = run("EXEMPLAR list settings");
  ASSERT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(read_text(k_tree / "docs/settings.md"), outcome.output) << "run scripts/docs";
  // Every key that the schema knows has a row.
  const std::string schema = run("EXEMPLAR check --schema").output;
  for (const char* key : {"steps_per_frame", "max_tet_volume", "yield_stress", "restitution", "horizon"}) {
    EXPECT_NE(schema.find(std::string("\"") + key + "\""), std::string::npos) << key;
    EXPECT_NE(outcome.output.find(std::string("| `") + key + "` |"), std::string::npos) << key;
  }
}

// A picture is out of date when its scene does something else, not when it is described in other words.
TEST_F(Docs, TheGalleryNoticesThatASceneHasChanged) {
  if (!available("python3")) GTEST_SKIP() << "python3 is not installed";
  for (const char* folder : {"scripts", "docs", "data"}) fs::create_directories(m_folder / folder);
  fs::copy(k_tree / "scripts/gallery", m_folder / "scripts/gallery");
  fs::copy(k_tree / "docs/gallery", m_folder / "docs/gallery");
  for (const char* folder : {"data/scenes", "data/studies"}) fs::copy(k_tree / folder, m_folder / folder);
  const std::string manifest = read_text(k_tree / "docs/gallery/pictures.csv");
  std::smatch row;
  ASSERT_TRUE(
      std::regex_search(manifest, row, std::regex("\n([\\w-]+\\.png),(data/scenes/[\\w-]+\\.json),")));
  const fs::path scene = m_folder / row[2].str(), picture = m_folder / "docs/gallery" / row[1].str();
  ASSERT_EQ(run("scripts/gallery --check").exit_code, 0) << read_text(m_folder / "stderr.txt");
  const std::string text = read_text(scene);
  const auto check_with = [&](const std::string& pattern, const std::string& by) {
    write_text(scene,
               std::regex_replace(text, std::regex(pattern), by, std::regex_constants::format_first_only));
    EXPECT_NE(read_text(scene), text) << pattern;
    const Outcome outcome = run("scripts/gallery --check");
    write_text(scene, text);
    return outcome;
  };
  EXPECT_EQ(check_with("\"description\": \"", "\"description\": \"In other words: ").exit_code, 0);
  const Outcome changed = check_with("\"duration\": ", "\"duration\": 1");
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_NE(changed.errors.find("has changed since " + row[1].str()), std::string::npos) << changed.errors;
  write_text(picture, read_text(picture) + " ");
  EXPECT_EQ(run("scripts/gallery --check").exit_code, 1);
}

TEST_F(Docs, EveryKeyThatAHeaderCitesHasAReference) {
  const std::set<std::string> known = matches(read_text(k_tree / "docs/references.md"), "`([a-z]+\\d{4})`");
  EXPECT_GT(known.size(), 6u);
  int cited = 0;
  for (const fs::path& header : sources(".h")) {
    for (const std::string& key : matches(read_text(header), "\\b([a-z]+(?:19|20)\\d{2})\\b")) {
      ++cited;
      EXPECT_EQ(known.count(key), 1u) << header << " cites " << key << ", which docs/references.md has not";
    }
  }
  EXPECT_GT(cited, 10);
}

// Every method writes only columns that the page describes.
TEST_F(Docs, EveryColumnOfTheMetricsIsDescribed) {
  write_text(m_folder / "box.json", R"({"time": {"duration": 0.1, "fps": 10},
    "bodies": [{"name": "box", "surface": {"box": {"size": [0.3, 0.1, 0.1], "resolution": [3, 2, 2]}}, "volume": {"grid": [3, 1, 1]},
                "position": [0, 0.3, 0], "examples": [{"name": "longer", "stretch": {"factor": 1.2}}],
                "skeleton": {"points": [[-0.1, 0, 0], [0.1, 0, 0]], "bones": [{"from": 0, "to": 1}]}}],
    "obstacles": [{"name": "floor", "plane": {}}], "methods": {"peridynamics": {"particles": 200}}})");
  write_text(m_folder / "sheet.json", R"({"time": {"duration": 0.1, "fps": 10},
    "bodies": [{"name": "sheet", "kind": "sheet", "thickness": 0.002, "position": [0, 0.3, 0],
                "surface": {"sheet": {"length": 0.2, "width": 0.2, "resolution_x": 3, "resolution_z": 3}}}],
    "obstacles": [{"name": "floor", "plane": {}}]})");
  const std::set<std::string> described =
      matches(read_text(k_tree / "docs/metrics.md"), "`(_?[a-z][\\w-]*)`");
  const Json listed = Json::parse(run("EXEMPLAR list methods --json").output).at("methods");
  ASSERT_GE(listed.size(), 10u);
  for (const Json& listed_method : listed) {
    const std::string method = listed_method.at("name").get<std::string>();
    const std::string scene = method == "shell" ? "sheet" : "box";
    const Outcome outcome =
        run(fmt::format("EXEMPLAR -q run {}.json --method {} -o {}", scene, method, method));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    const std::string table = read_text(m_folder / method / "metrics.csv");
    const std::string titles = table.substr(0, table.find('\n')) + ",";
    for (std::string name : matches(titles, "([\\w-]+)(?: \\[[^\\]]*\\])?,")) {
      name = std::regex_replace(name, std::regex("_[yz]$"), "_x");
      name = std::regex_replace(name, std::regex("^fragments_below_.*"), "fragments_below_1e-4");
      if (name.rfind("weight_", 0) == 0) continue;
      EXPECT_EQ(described.count(name), 1u)
          << method << " writes " << name << ", which docs/metrics.md has not";
    }
  }
}

// Files and folders that the guides tell to read are there.
TEST_F(Docs, EveryFileThatTheGuidesNameIsThere) {
  int named = 0;
  for (const char* page : {"CONTRIBUTING.md", "README.md", "docs/architecture.md", "docs/tutorial.md"}) {
    for (const std::string& path : matches(read_text(k_tree / page),
                                           "[`(]((?:core|fem|shells|rigidplastic|meshless|compare|tests|"
                                           "scripts|data|docs)/[\\w./-]+)[`)]")) {
      if (path.starts_with("tests/mymethod")) continue;  // stands for the reader's own
      EXPECT_TRUE(fs::exists(k_tree / path)) << page << " names " << path;
      ++named;
    }
  }
  EXPECT_GT(named, 40);
}

// The folder map names every folder that has sources, and no other.
TEST_F(Docs, TheFolderMapIsComplete) {
  const std::string page = read_text(k_tree / "docs/architecture.md");
  const std::set<std::string> named =
      matches(page.substr(page.find("## Folders")), "`((?:core|compare)/[a-z]+)`");
  std::set<std::string> there;
  for (const char* top : {"core", "compare"}) {
    for (const auto& item : fs::directory_iterator(k_tree / top)) {
      if (item.is_directory()) there.insert(std::string(top) + "/" + item.path().filename().string());
    }
  }
  EXPECT_EQ(named, there);
}

}  // namespace exemplar::testing
