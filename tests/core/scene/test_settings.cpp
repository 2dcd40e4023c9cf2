#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/scene/json.h"
#include "core/scene/scene_file.h"

namespace exemplar {

namespace {

enum class Colour { red, green };

struct Inner {
  double length = 2;
  std::optional<double> limit;
};
void describe(Describe<Inner>& d) {
  d.field("length", &Inner::length, "m", "a length", positive());
  d.field("limit", &Inner::limit, "Pa", "a limit", positive());
}

struct Outer {
  int count = 3;
  bool flag = false;
  std::string text = "a";
  Vec3 axis = Vec3::UnitX();
  Colour colour = Colour::red;
  std::vector<Inner> parts;
  std::optional<Inner> first, second;
  std::vector<double> numbers;
};
void describe(Describe<Outer>& d) {
  d.field("count", &Outer::count, "", "a count", between(1, 10)).required();
  d.field("flag", &Outer::flag, "", "a flag");
  d.field("text", &Outer::text, "", "a text");
  d.field("axis", &Outer::axis, "", "a direction").direction();
  d.choice("colour", &Outer::colour, {{"red", Colour::red}, {"green", Colour::green}}, "a colour");
  d.field("parts", &Outer::parts, "", "parts");
  d.field("first", &Outer::first, "", "one way");
  d.field("second", &Outer::second, "", "other way");
  d.field("numbers", &Outer::numbers, "", "numbers", non_negative());
  d.exactly_one({"first", "second"});
}

std::vector<std::string> problems_of(const std::string& text) {
  Outer object;
  std::vector<Problem> problems;
  read_object(parse_json(text, "test"), description_of<Outer>(), &object, "", problems);
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(to_string(problem));
  return lines;
}

}  // namespace

TEST(Settings, ReadsEveryKind) {
  Outer object;
  std::vector<Problem> problems;
  read_object(
      parse_json(R"({"count": 4, "flag": true, "text": "b", "axis": "-y", "colour": "green", // comment
                             "parts": [{"length": 1}, {"limit": 5}], "second": {}, "numbers": [1, 2.5]})",
                 "test"),
      description_of<Outer>(), &object, "", problems);
  ASSERT_TRUE(problems.empty()) << to_string(problems[0]);
  EXPECT_EQ(object.count, 4);
  EXPECT_TRUE(object.flag);
  EXPECT_EQ(object.axis, -Vec3::UnitY());
  EXPECT_EQ(object.colour, Colour::green);
  ASSERT_EQ(object.parts.size(), 2u);
  EXPECT_EQ(object.parts[0].length, 1);
  EXPECT_EQ(object.parts[1].limit, 5);
  EXPECT_TRUE(object.second.has_value());
  EXPECT_FALSE(object.first.has_value());
  EXPECT_EQ(object.numbers, (std::vector<double>{1, 2.5}));
}

TEST(Settings, SaysEveryProblemWithItsPath) {
  const auto lines = problems_of(R"({"count": 11, "flag": 1, "axis": [0,0,0], "colour": "gren", "txt": "x",
      "parts": [{"length": "2"}, 7], "first": {}, "second": {}, "numbers": [1, -1]})");
  const std::vector<std::string> expected{
      "count: expected a whole number in [1, 10], got 11 (a number)",
      "flag: expected true or false, got 1 (a number)",
      "axis: expected a direction: three numbers or x, y, z, -x, -y, -z, got [0,0,0] (an array)",
      "colour: expected one of red, green, got \"gren\" (a string) (did you mean 'green'?)",
      "txt: unknown key (did you mean 'text'?)",
      "parts[0].length: expected a number > 0, got \"2\" (a string)",
      R"(parts[1]: expected an object such as {"length":2.0}, got 7 (a number))",
      "numbers: expected a list of numbers ≥ 0, got [1,-1] (an array)",
      "only one of these may be given: first, second"};
  EXPECT_EQ(lines, expected);
}

TEST(Settings, MissingAndOneOf) {
  const auto lines = problems_of("{}");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "count: is missing: expected a whole number in [1, 10] (a count)");
  EXPECT_EQ(lines[1], "one of these is needed: first, second");
}

TEST(Settings, WritingAndReadingAgainChangesNothing) {
  Outer object;
  object.colour = Colour::green;
  object.parts.resize(2);
  object.parts[1].limit = 0.1;
  object.first.emplace();
  const Json json = write_object(description_of<Outer>(), &object);
  Outer again;
  std::vector<Problem> problems;
  read_object(json, description_of<Outer>(), &again, "", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(write_object(description_of<Outer>(), &again), json);
}

TEST(Settings, SchemaNamesRangesDefaultsAndUnits) {
  const Json schema = schema_of(description_of<Outer>());
  EXPECT_EQ(schema["properties"]["count"]["minimum"], 1);
  EXPECT_EQ(schema["properties"]["count"]["default"], 3);
  EXPECT_EQ(schema["properties"]["parts"]["items"]["properties"]["length"]["exclusiveMinimum"], 0);
  EXPECT_EQ(schema["properties"]["parts"]["items"]["properties"]["length"]["description"], "a length [m]");
  EXPECT_EQ(schema["additionalProperties"], false);
}

TEST(Json, BrokenTextSaysLineAndColumn) {
  try {
    parse_json("{\n  \"a\": 1,\n  \"b\": ]\n}", "scene.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("scene.json: line 3, column 8"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(parse_json("{\"a\": 1, \"a\": 2}", "x"), InputError);
  try {
    parse_json("{\n  \"a\": 1e999}", "scene.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().front().message, "line 2, column 12: the number 1e999 is too large");
  }
  EXPECT_THROW(parse_json("", "x"), InputError);
  EXPECT_THROW(parse_json("\xff\xfe", "x"), InputError);
  EXPECT_THROW(read_json_file("no-such-file.json"), InputError);
}

TEST(Json, AssignmentsReachIntoTheDocument) {
  Json document = parse_json(R"({"bodies": [{"material": {"young": 1}}]})", "x");
  apply_assignment(document, "bodies[0].material.young=2e6");
  apply_assignment(document, "methods.fem.examples.stiffness=0");
  apply_assignment(document, "title=plain words");
  EXPECT_EQ(document["bodies"][0]["material"]["young"], 2e6);
  EXPECT_EQ(document["methods"]["fem"]["examples"]["stiffness"], 0);
  EXPECT_EQ(document["title"], "plain words");
  EXPECT_THROW(apply_assignment(document, "bodies[3].name=x"), InputError);
  EXPECT_THROW(apply_assignment(document, "title.more=1"), InputError);
  EXPECT_THROW(apply_assignment(document, "=1"), InputError);
  EXPECT_THROW(apply_assignment(document, "bodies[x]=1"), InputError);
}

TEST(SceneFile, PresetsAreOverriddenByWhatIsGiven) {
  const SceneFile file = parse_scene(parse_json(R"({"bodies": [{"name": "a", "surface": {"box": {}},
      "material": {"young": 3, "preset": "steel"}}]})",
                                                "x"),
                                     "x", {});
  EXPECT_EQ(file.settings.bodies[0].material.young, 3);
  EXPECT_EQ(file.settings.bodies[0].material.density, 7850);
}

TEST(SceneFile, FindsReferencesToNothing) {
  try {
    parse_scene(parse_json(R"({"bodies": [{"name": "a", "surface": {"box": {}}, "initial_pose": "bent"},
                                          {"name": "a", "surface": {"box": {}}}],
                               "loads": [{"body": "b", "region": {"all": true}, "value": [1, 0, 0]}],
                               "methods": {"fme": {}}})",
                           "x"),
                "x", {{"fem", &description_of<Inner>()}});
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("bodies[0].initial_pose: there is no example called 'bent'"), std::string::npos)
        << text;
    EXPECT_NE(text.find("methods.fme: unknown method (did you mean 'fem'?)"), std::string::npos) << text;
  }
}

TEST(SceneFile, ARegionThatIsNotAllIsRefused) {
  const auto parse = [](const char* region) {
    const std::string text = std::string(R"({"bodies": [{"name": "a", "surface": {"box": {}},
      "supports": [{"region": )") +
                             region + "}]}]}";
    return parse_scene(parse_json(text, "x"), "x", {});
  };
  EXPECT_TRUE(parse(R"({"all": true})").settings.bodies[0].supports[0].region.all);
  EXPECT_NO_THROW(parse(R"({"sphere": {"centre": [0, 0, 0], "radius": 1}})"));
  try {
    parse(R"({"all": false})");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().front().path, "bodies[0].supports[0].region.all");
    EXPECT_EQ(error.problems().front().message, "expected true, or another kind of region");
  }
}

}  // namespace exemplar
