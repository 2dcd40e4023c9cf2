// How far refined runs are from their limit: on sequences whose limit is known.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/results/refinement.h"
#include "core/base/errors.h"
#include "core/scene/json.h"

namespace exemplar {
namespace {

// q(h) = 3 + h^p at h = 1, ½, ¼: what is left after the middle one is (½)^p.
TEST(Refinement, WhatIsLeftOfAPowerLawIsFound) {
  for (const double order : {0.6, 1.0, 1.5, 2.0}) {
    const double q0 = 4, q1 = 3 + std::pow(0.5, order), q2 = 3 + std::pow(0.25, order);
    const std::optional<double> left = left_after_middle(std::abs(q0 - q1), std::abs(q1 - q2), 1e-9);
    ASSERT_TRUE(left) << order;
    EXPECT_NEAR(*left, q1 - 3, 1e-12) << order;
  }
}

TEST(Refinement, ALuckyPairDoesNotPromiseMoreThanSecondOrder) {
  EXPECT_NEAR(*left_after_middle(1, 0.01, 0), 0.01 / 0.75, 1e-12);
  // An accuracy divided by four makes steps of a second-order method 4^(1/3) times shorter, its error 4^(2/3) times smaller.
  EXPECT_NEAR(*left_after_middle(1, 0.01, 0, k_fastest_of_accuracy), 0.01 / (1 - std::pow(4, -2.0 / 3)),
              1e-5);
  EXPECT_NEAR(*left_by_steps(1, 0.01, 1, k_fastest_of_accuracy), 0.01 / (1 - std::pow(4, -2.0 / 3)), 1e-5);
}

TEST(Refinement, WhatDoesNotShrinkDoesNotConverge) {
  EXPECT_FALSE(left_after_middle(1, 0.9, 1e-9));
  EXPECT_FALSE(left_after_middle(0.5, 0.6, 1e-9));
  EXPECT_FALSE(left_after_middle(1, std::nan(""), 1e-9));
  EXPECT_EQ(left_after_middle(1e-12, 2e-12, 1e-9), 2e-12);  // round-off, not divergence
}

// Steps that follow an accuracy: small differences need not fall from level to level.
TEST(Refinement, SmallDifferencesMayScatter) {
  EXPECT_EQ(left_by_steps(0.004, 0.005, 1).value_or(0), 3 * 0.005);
  EXPECT_EQ(left_by_steps(0.004, 0.02, 1).value_or(0), 3 * 0.02);
  EXPECT_FALSE(left_by_steps(0.004, 0.06, 1));
  EXPECT_EQ(left_by_steps(0.2, 0.1, 1), left_after_middle(0.2, 0.1, 1e-4));
}

std::string joined(const RefinementLevel& level) {
  std::string text;
  for (const Setting& setting : level.settings) text += setting.assignment() + " ";
  return text;
}

TEST(Refinement, TheLadderIsAListOfSettings) {
  const Json fixed =
      parse_json(R"({"time": {"steps_per_frame": 4}, "bodies": [{"volume": {"grid": [4, 12, 4]}}]})", "");
  const std::vector<RefinementLevel> levels = refinement_ladder(fixed);
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(joined(levels[0]), "");
  EXPECT_EQ(joined(levels[1]), "time.steps_per_frame=8 ");
  EXPECT_EQ(joined(levels[2]), "time.steps_per_frame=16 ");
  EXPECT_EQ(joined(levels[3]), "time.steps_per_frame=8 bodies[0].volume.grid=[6,18,6] ");
  const Json chosen = parse_json(
      R"({"time": {"steps_per_frame": "auto", "accuracy": 0.01}, "bodies": [{"volume": {"max_tet_volume": 0.008}}]})",
      "");
  EXPECT_EQ(joined(refinement_ladder(chosen)[2]), "time.accuracy=0.000625 ");
  const Json silent = parse_json(
      R"({"bodies": [{"surface": {"sheet": {"length": 1, "width": 1, "resolution_x": 8, "resolution_z": 6}}}]})",
      "");
  EXPECT_EQ(joined(refinement_ladder(silent)[1]), "time.accuracy=0.0025 ");
  EXPECT_EQ(joined(refinement_ladder(silent)[3]),
            "time.accuracy=0.0025 bodies[0].surface.sheet.resolution_x=16 "
            "bodies[0].surface.sheet.resolution_z=12 ");
  EXPECT_THROW(refinement_ladder(parse_json(R"({"bodies": [{}]})", "")), InputError);
}

}  // namespace
}  // namespace exemplar
