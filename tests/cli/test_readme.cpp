// The README's pictures, and the commands of docs/figures.md between <!-- figures --> and <!-- /figures -->.
// scripts/docs --check tests the tables of methods.
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "program.h"

namespace exemplar {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Readme : public testing::ProgramTest {
 protected:
  // The text between two markers; empty when there are none.
  static std::string section(const std::string& name) {
    const std::string text = testing::read_text(EXEMPLAR_SOURCE_DIR "/docs/figures.md");
    const std::string open = "<!-- " + name + " -->";
    const std::size_t begin = text.find(open);
    if (begin == std::string::npos) return "";
    std::size_t end = text.find("<!-- /" + name, begin);
    if (end == std::string::npos) end = text.find("<!--", begin + open.size());
    return text.substr(begin + open.size(), end - begin - open.size());
  }
  // The words in `backticks` of a line.
  static std::vector<std::string> code(const std::string& text) {
    std::vector<std::string> words;
    const std::regex quoted("`([^`]+)`");
    for (std::sregex_iterator it(text.begin(), text.end(), quoted), none; it != none; ++it)
      words.push_back((*it)[1]);
    return words;
  }
};

TEST_F(Readme, CommandsOfTheFigureTableExist) {
  const std::string text = section("figures");
  ASSERT_FALSE(text.empty()) << "docs/figures.md has no <!-- figures --> table";
  const std::string methods = run("EXEMPLAR list methods --json").output;
  const std::string cases = run("EXEMPLAR validate --list").output,
                    benches = run("EXEMPLAR bench --list").output;
  int commands = 0;
  for (const std::string& command : code(text)) {
    std::istringstream words(command);
    std::string program, verb, word, before;
    words >> program >> verb;
    if (fs::path(program).filename() != "exemplar") continue;
    ++commands;
    EXPECT_EQ(run("EXEMPLAR " + verb + " --help").exit_code, 0) << command;
    for (; words >> word; before = word) {
      const bool file = word.ends_with(".json") && before != "--json";
      if (file) {
        EXPECT_TRUE(fs::exists(fs::path(EXEMPLAR_SOURCE_DIR) / word)) << command;
      }
      if (before == "--method") {
        EXPECT_NE(methods.find("\"" + word + "\""), std::string::npos) << command;
      }
      const bool name = !word.starts_with("-") && !before.starts_with("-");
      if (verb == "validate" && name) {
        EXPECT_NE(cases.find(word), std::string::npos) << command;
      }
      if (verb == "bench" && name) {
        EXPECT_NE(benches.find(word), std::string::npos) << command;
      }
    }
  }
  EXPECT_GT(commands, 0);
}

// Pictures that the README shows are there, and small together.
TEST_F(Readme, PicturesExistAndAreSmall) {
  const std::string text = testing::read_text(EXEMPLAR_SOURCE_DIR "/README.md");
  const std::regex picture("\\]\\((docs/gallery/[^)]+)\\)");
  std::uintmax_t bytes = 0;
  int count = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), picture), none; it != none; ++it, ++count) {
    const fs::path path = fs::path(EXEMPLAR_SOURCE_DIR) / (*it)[1].str();
    ASSERT_TRUE(fs::exists(path)) << path;
    bytes += fs::file_size(path);
  }
  EXPECT_GT(count, 0);
  EXPECT_LT(bytes, 3u << 20);  // some have a close row
}

// scripts/gallery runs every scene with the method that the program names for it.
TEST_F(Readme, EverySceneSaysWhichMethodShowsIt) {
  std::set<std::string> known;
  const Json methods = Json::parse(run("EXEMPLAR list methods --json").output);
  for (const Json& method : methods["methods"]) known.insert(method["name"].get<std::string>());
  const Json listed = Json::parse(run("EXEMPLAR list scenes --json").output);
  for (const Json& scene : listed["scenes"])
    EXPECT_EQ(known.count(scene.value("shown_with", "")), 1u) << scene["name"];
}

}  // namespace
}  // namespace exemplar
