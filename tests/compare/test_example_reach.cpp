#include "compare/results/example_reach.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compare/registered_methods.h"
#include "core/run/live_run.h"
#include "core/scene/files/json_file.h"

namespace exemplar {
namespace {

SceneFile bar(const Registry& registry, double stiffness, const std::string& example) {
  const std::string text = R"({"time": {"duration": 0.5, "fps": 10}, "bodies": [{"name": "bar",
    "surface": {"box": {"size": [0.1, 0.4, 0.1], "resolution": [2, 8, 2]}}, "volume": {"grid": [2, 8, 2]},
    "material": {"density": 1000, "young": 1e5, "poisson": 0.3, "yield_stress": 1e3},
    "examples": [{"name": "shown", )" +
                           example + R"(}]}], "methods": {"fem": {"examples": {"stiffness": )" +
                           std::to_string(stiffness) + "}}}}";
  return parse_scene(parse_json(text, ""), "bar.json", registry.descriptions());
}

// The stiffer the examples beside the rest of the material, the more of the pose is taken up; where it wins, runs with a
// little more and a little less of it lie on either side.
TEST(ExampleReach, AStifferExampleIsTakenUpMore) {
  const Registry registry = registered_methods();
  const std::string twist = R"("twist": {"axis": "y", "angle": 60, "axial_scale": 0.8})";
  const auto reach_at = [&](double stiffness) {
    const std::vector<ExampleReach> all = find_reach(bar(registry, stiffness, twist), registry, "fem");
    EXPECT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].problem, "");
    return all[0];
  };
  const ExampleReach soft = reach_at(0.1), stiff = reach_at(20);
  EXPECT_DOUBLE_EQ(soft.ratio, 0.1);
  EXPECT_LT(soft.weight, stiff.weight);
  EXPECT_GT(stiff.weight, 0.9);
  EXPECT_GT(soft.share, 0.8);
  ASSERT_TRUE(stiff.wins_at);
  EXPECT_LT(*stiff.wins_at, 20);
}

TEST(ExampleReach, CopiesOfABodyAreAskedOnce) {
  const Registry registry = registered_methods();
  const SceneFile file = bar(registry, 1, R"("twist": {"axis": "y", "angle": 40})");
  Json document = parse_json(file.document, "bar.json");
  document["bodies"][0]["repeat"] = Json::parse(R"({"count": [2, 1, 1], "spacing": [0.5, 1, 1]})");
  const std::vector<ExampleReach> all =
      find_reach(parse_scene(document, "bar.json", registry.descriptions()), registry, "fem");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].problem, "");
  EXPECT_DOUBLE_EQ(all[0].weight, find_reach(file, registry, "fem")[0].weight);
}

TEST(ExampleReach, APoseThatIsTheBodyAtRestIsNotMeasured) {
  const Registry registry = registered_methods();
  const std::vector<ExampleReach> all =
      find_reach(bar(registry, 1, R"("stretch": {"axis": "y", "factor": 1})"), registry, "fem");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NE(all[0].problem, "");
  EXPECT_THROW(find_reach(bar(registry, 1, R"("stretch": {"axis": "y", "factor": 0.9})"), registry, "rigid"),
               InputError);
}

}  // namespace
}  // namespace exemplar
