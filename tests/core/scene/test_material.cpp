// Yield stress, hardening and yield curves of a material, and what is no yield curve.
#include "core/scene/material.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/scene/json.h"

namespace exemplar {
namespace {

std::vector<std::string> problems_of(const std::string& text, Material& material) {
  std::vector<Problem> problems;
  read_object(parse_json(text, "test"), description_of<Material>(), &material, "material", problems);
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(to_string(problem));
  return lines;
}

TEST(Material, HardensAlongALineOrACurve) {
  Material material;
  EXPECT_FALSE(yield_curve(material));
  ASSERT_TRUE(problems_of(R"({"yield_stress": 100, "hardening": 50})", material).empty());
  EXPECT_EQ(yield_curve(material)->stress(2), 200);
  EXPECT_EQ(yield_curve(material)->work(0, 2), 300);
  EXPECT_EQ(yield_curve(material, 10)->stress(2), 110);
  Material curved;
  ASSERT_TRUE(
      problems_of(R"({"yield_stress": 100, "yield_curve": [[0, 100], [1, 200], [3, 220]]})", curved).empty());
  const YieldCurve curve = *yield_curve(curved);
  EXPECT_EQ(curve.stress(0.5), 150);
  EXPECT_EQ(curve.stress(2), 210);
  EXPECT_EQ(curve.stress(9), 220);
  EXPECT_EQ(curve.slope(1), 10);
  EXPECT_EQ(curve.work(0, 4), 150 + 420 + 220);
  EXPECT_EQ(yield_curve(curved, 90)->stress(2), 200);
  EXPECT_NEAR(curve.as_strains(1000).stress(2), 0.21, 1e-15);
}

TEST(Material, WhatIsNoYieldCurveIsRefusedWithItsPlace) {
  const auto says = [](const std::string& text, const std::string& what) {
    Material material;
    for (const std::string& line : problems_of(text, material)) {
      if (line.find(what) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(says(R"({"yield_curve": [[0.1, 5]]})", "material.yield_curve: needs a yield_stress"));
  EXPECT_TRUE(says(R"({"hardening": 5})", "material.hardening: needs a yield_stress"));
  EXPECT_TRUE(
      says(R"({"yield_stress": 9, "yield_curve": [[0, 8]]})", "material.yield_curve: starts at 8 Pa"));
  EXPECT_TRUE(says(R"({"yield_stress": 9, "yield_curve": [[0.2, 10], [0.1, 11]]})", "must rise"));
  EXPECT_TRUE(says(R"({"yield_stress": 9, "yield_curve": [[0.2, 8]]})", "must not fall"));
  EXPECT_TRUE(says(R"({"yield_stress": 9, "yield_curve": [[0.2, 8, 3]]})", "expected a list of pairs"));
  EXPECT_TRUE(
      says(R"({"yield_stress": 9, "hardening": 1, "yield_curve": [[1, 10]]})", "leave one of the two out"));
}

}  // namespace
}  // namespace exemplar
