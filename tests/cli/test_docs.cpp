// The pages in docs/ say what the program and the sources say.
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
