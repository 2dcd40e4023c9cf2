// Lessons and claims of a study: expressions, their numbers in words, what holds, who is ranked; and the studies that
// ship.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/registered_methods.h"
#include "compare/results/cards.h"
#include "compare/results/claims.h"
#include "compare/results/run_values.h"
#include "compare/results/surface_values.h"
#include "compare/study/expression.h"
#include "core/base/errors.h"

namespace exemplar {
namespace {

namespace fs = std::filesystem;

const std::vector<RunName> k_runs{
    {"fem", "fem"}, {"fem, no example", "fem-no-example"}, {"γ = 0.1 m", "0.1-m"}, {"rigid", "rigid"}};

std::string error_of(const std::string& text) {
  try {
    parse_expression(text, k_runs);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

ComparedRun run_of(const std::string& name, double rms, double moved, double wall_time) {
  ComparedRun run;
  run.data.plan.name = run.data.plan.series = name;
  run.data.plan.capabilities.plasticity = true;
  run.data.record.status = RunStatus::done;
  run.data.record.frames = 2;
  run.data.record.wall_time = wall_time;
  run.reference = "fem";
  run.cost_ratio = wall_time / 8;
  run.times = {0, 0.1, 0.2};
  run.distances = {{0, 0, 0, 0}, {rms / 2, rms, rms / 4, rms}, {rms, 2 * rms, rms / 3, rms}};
  run.change_times = run.times;
  run.shape_change = {0, moved / 2, moved};
  run.displacement = {0, moved, moved};
  run.data.metrics.columns = {
      {"frame", ""}, {"time", "s"}, {"plastic_dissipation", "J"}, {"volume_ratio", ""}};
  run.data.metrics.rows = {{0, 0, 0, 1}, {1, 0.1, 30, 0.7}, {2, 0.2, 20, 0.9}};
  return run;
}

Comparison three_runs() {
  Comparison comparison;
  comparison.study.path = "study.json";
  comparison.study.about = {"plasticity"};
  comparison.runs = {run_of("fem", 0, 0.4, 8), run_of("fem, no example", 0.1, 0.3, 4),
                     run_of("rigid", 0.05, 0.02, 1)};
  rank_runs(comparison);
  return comparison;
}

Quantity value_of(const Comparison& comparison, const std::string& text) {
  return RunValues(comparison).evaluate(parse_expression(text, k_runs));
}

TEST(Expression, NamesOfRunsMayHoldDotsCommasAndSpaces) {
  const Expression one =
      parse_expression("γ = 0.1 m.surface_rms@max / fem, no example.size_y(column)@t=0.25", k_runs);
  const std::vector<RunValue> values = one.values();
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].run, "γ = 0.1 m");
  EXPECT_EQ(values[0].moment, Moment::most);
  EXPECT_EQ(values[1].run, "fem, no example");
  EXPECT_EQ(values[1].body, "column");
  EXPECT_EQ(values[1].time, 0.25);
  EXPECT_EQ(parse_expression("0.1-m.surface_rms", k_runs).values()[0].run, "γ = 0.1 m");
}

// A sweep over λ = 0, 0.8 has a folder called 0.
TEST(Expression, ANumberIsNoValueOfARunWhoseFolderIsANumber) {
  const std::vector<RunName> runs{{"λ = 0", "0"}, {"λ = 0.8", "0.8"}, {"64 cells", "64-cells"}};
  EXPECT_TRUE(parse_expression("0.01", runs).values().empty());
  EXPECT_EQ(parse_expression("0.8.surface_rms", runs).values().at(0).run, "λ = 0.8");
  EXPECT_EQ(parse_expression("0.5 * 64 cells.surface_rms", runs).values().at(0).run, "64 cells");
}

TEST(Expression, WhatIsWrongIsSaid) {
  EXPECT_NE(error_of("fen.surface_rms").find("did you mean 'fem'"), std::string::npos)
      << error_of("fen.surface_rms");
  EXPECT_NE(error_of("fem.surface_rmss").find("did you mean 'surface_rms'"), std::string::npos);
  EXPECT_NE(error_of("fem.surface_rms*2").find("before '*2'"), std::string::npos)
      << error_of("fem.surface_rms*2");
  EXPECT_NE(error_of("fem.surface_rms@late").find("@t=SECONDS"), std::string::npos);
  EXPECT_NE(error_of("fem").find("expected RUN.VALUE"), std::string::npos);
  EXPECT_NE(error_of("fem.size_x(column").find("')' is missing"), std::string::npos);
  EXPECT_FALSE(error_of("").empty());
  EXPECT_TRUE(error_of("2 * fem.any_column_of_a_method - 1e-3").empty());
  EXPECT_THROW(parse_bound_text("about {fem.surface_rms", k_runs), InputError);
}

TEST(Expression, NumbersInUnitsThatReadWell) {
  EXPECT_EQ(number_text(0.01234, "m", ""), "12.3 mm");
  EXPECT_EQ(number_text(0.01234, "m", ".2 mm"), "12 mm");
  EXPECT_EQ(number_text(0.01234, "m", ".2 cm#"), "1.2");
  EXPECT_EQ(number_text(95, "s", ""), "95 s");
  EXPECT_EQ(number_text(600, "s", ""), "10 min");
  EXPECT_EQ(number_text(0.256, "", "%"), "25.6 %");
  EXPECT_EQ(number_text(2496, "J", ".2"), "2.5 kJ");
  EXPECT_EQ(number_text(12345, "", ""), "12300");
  EXPECT_EQ(number_text(118.4, "°", ".2"), "120°");
  EXPECT_THROW(number_text(1, "J", "mm"), InputError);
  EXPECT_THROW(number_text(1, "m", "furlong"), InputError);
}

TEST(Claims, ValuesAreTakenAtTheMomentAsked) {
  const Comparison comparison = three_runs();
  EXPECT_EQ(value_of(comparison, "fem.plastic_dissipation").value, 20);
  EXPECT_EQ(value_of(comparison, "fem.plastic_dissipation@max").value, 30);
  EXPECT_EQ(value_of(comparison, "fem.volume_ratio@min").value, 0.7);
  EXPECT_EQ(value_of(comparison, "fem.plastic_dissipation@t=0.09").value, 30);
  EXPECT_EQ(value_of(comparison, "fem.plastic_dissipation@start").value, 0);
  EXPECT_EQ(value_of(comparison, "rigid.surface_max").value, 0.1);
  EXPECT_EQ(value_of(comparison, "rigid.surface_rms@t=0.1").value, 0.025);
  EXPECT_EQ(value_of(comparison, "rigid.displacement").value, 0.02);
  EXPECT_EQ(value_of(comparison, "fem.wall_time - 2 * rigid.wall_time / 4").value, 7.5);
  EXPECT_EQ(value_of(comparison, "fem.wall_time - 2 * rigid.wall_time / 4").unit, "s");
  EXPECT_EQ(value_of(comparison, "fem.wall_time / rigid.wall_time").unit, "");
  EXPECT_EQ(value_of(comparison, "fem.status").value, *status_number("done"));
  EXPECT_THROW(value_of(comparison, "fem.plastic_work_of_it"), InputError);
}

Claim claim(const std::string& text, const std::string& left, const std::string& op, const std::string& right,
            double within = 0) {
  return {parse_bound_text(text, k_runs),
          parse_expression(left, k_runs),
          parse_expression(right, k_runs),
          op,
          within,
          "claims[0]"};
}

TEST(Claims, HoldFailOrCannotBeChecked) {
  Comparison comparison = three_runs();
  comparison.runs[1].data.record.status = RunStatus::failed;
  comparison.study.lesson = parse_bound_text("It gives up {fem.plastic_dissipation:.2 J}.", k_runs);
  comparison.study.claims = {
      claim("more than ten", "fem.plastic_dissipation", ">", "10"),
      claim("{fem.volume_ratio:.2 %} is half", "fem.volume_ratio", "about", "0.5", 0.1),
      claim("it ends", "fem, no example.status", "==", "done"),
      claim("it is near", "fem, no example.surface_rms", "<", "1"),
      claim("the other is near", "γ = 0.1 m.surface_rms", "<", "1")};
  const CheckedLesson lesson = check_lesson(comparison);
  EXPECT_EQ(lesson.text, "It gives up 20 J.");
  ASSERT_EQ(lesson.claims.size(), 5u);
  EXPECT_EQ(lesson.claims[0].verdict, Verdict::holds);
  EXPECT_EQ(lesson.claims[1].verdict, Verdict::fails);
  EXPECT_EQ(lesson.claims[1].text, "90 % is half");
  EXPECT_EQ(lesson.claims[2].verdict, Verdict::fails);
  EXPECT_EQ(lesson.claims[3].verdict, Verdict::unchecked);
  EXPECT_EQ(lesson.claims[4].verdict, Verdict::unchecked);
  EXPECT_EQ(claims_line(lesson), "claims: 1 of 5 hold, 2 could not be checked");
}

TEST(Claims, UnknownColumnsAreProblemsWithTheirPlace) {
  Comparison comparison = three_runs();
  comparison.study.claims = {claim("so", "fem.of_some_method", ">", "1")};
  const CheckedLesson lesson = check_lesson(comparison);
  ASSERT_EQ(lesson.problems.size(), 1u);
  EXPECT_EQ(lesson.problems[0].path, "claims[0].left");
  EXPECT_NE(lesson.claims[0].verdict, Verdict::holds);
}

std::string name_on(const Comparison& comparison, const std::string& what) {
  for (const Card& card : cards_of(comparison)) {
    if (card.what.starts_with(what)) return comparison.runs[card.runs[0]].data.plan.name;
  }
  return {};
}

TEST(Cards, WhatHardlyMovedIsNeverClosest) {
  Comparison comparison = three_runs();
  EXPECT_EQ(comparison.runs[2].not_ranked, "hardly moved: 5 % of what the reference did");
  EXPECT_EQ(name_on(comparison, "Closest to it"), "fem, no example");
  comparison.runs[2].displacement = {0, 0.2, 0.2};
  rank_runs(comparison);
  EXPECT_EQ(name_on(comparison, "Closest to it"), "rigid");
  // It moved and kept its shape: not the closest in shape.
  EXPECT_NE(name_on(comparison, "Closest in shape"), "rigid");
}

TEST(Cards, OnlyMethodsThatModelWhatTheStudyIsAboutAreRanked) {
  Comparison comparison = three_runs();
  comparison.runs[1].data.plan.capabilities.plasticity = false;
  rank_runs(comparison);
  EXPECT_EQ(comparison.runs[1].not_ranked, "does not model plasticity");
  EXPECT_EQ(name_on(comparison, "Closest to it"), "");
  EXPECT_EQ(name_on(comparison, "Fastest"), "");
}

TEST(Cards, ADoubtfulReferenceIsAnErrorThatSaysWhatHelps) {
  Comparison comparison = three_runs();
  EXPECT_TRUE(reference_errors(comparison).empty());
  comparison.runs[0].doubts = {"the time step took 60 % of its energy"};
  comparison.runs[0].cures = {"more time.steps_per_frame"};
  rank_runs(comparison);
  ASSERT_EQ(reference_errors(comparison).size(), 1u);
  EXPECT_NE(reference_errors(comparison)[0].find("what helps: more time.steps_per_frame"), std::string::npos);
  EXPECT_EQ(comparison.runs[1].not_ranked, "the reference is doubtful");
  EXPECT_EQ(name_on(comparison, "Closest to it"), "");
}

// A unit column whose upper half is turned by 100° and then tilted and moved as a whole.
TEST(SurfaceValues, TwistIsWhatOneEndHasTurnedAgainstTheOther) {
  Geometry surface;
  Points rest(40, 3), now(40, 3);
  const Mat3 tilt = Eigen::AngleAxisd(0.4, Vec3(1, 0, 0.5).normalized()).toRotationMatrix();
  for (Eigen::Index i = 0; i < 40; ++i) {
    const double height = static_cast<double>(i / 4) / 9,
                 corner = 0.25 * M_PI + 0.5 * M_PI * static_cast<double>(i % 4);
    rest.row(i) = Vec3(std::cos(corner), 3 * height, 2 * std::sin(corner)).transpose();
    const double angle = height > 0.5 ? 100 * M_PI / 180 : 0;
    const Vec3 turned = Eigen::AngleAxisd(angle, Vec3::UnitY()) * rest.row(i).transpose();
    now.row(i) = (tilt * turned + Vec3(5, 6, 7)).transpose();
  }
  surface.points = now;
  surface.arrays.push_back(make_array("displacement", Association::point, now - rest));
  const double tilted = std::abs(surface_value(surface, "twist_y", std::nullopt)->value);
  EXPECT_NEAR(tilted, 100, 0.01);
  surface.points = rest;
  surface.arrays.clear();
  EXPECT_NEAR(surface_value(surface, "size_y", 0)->value, 3, 1e-12);
  EXPECT_NEAR(surface_value(surface, "centre_y", 0)->value, 1.5, 1e-12);
  EXPECT_NEAR(surface_value(surface, "high_z", 0)->value, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(surface_value(surface, "twist_y", 0)->value, 0, 1e-6);
  EXPECT_FALSE(surface_value(surface, "size_y", 3));
  EXPECT_FALSE(is_surface_value("size_w"));
}

// Numbers that somebody typed grow stale without a sound: only bound ones are allowed.
TEST(ShippedStudies, LessonsHaveNoNumbersTypedByHand) {
  const auto without_placeholders = [](const std::string& text) {
    std::string plain;
    bool inside = false;
    for (const char c : text) {
      inside = (inside || c == '{') && c != '}';
      if (!inside) plain += c;
    }
    return plain;
  };
  int studies = 0;
  for (const auto& entry : fs::directory_iterator(EXEMPLAR_SOURCE_DIR "/data/studies")) {
    const Json study = read_json_file(entry.path().string());
    std::vector<std::string> texts{study.value("lesson", "")};
    EXPECT_FALSE(texts[0].empty()) << entry.path();
    for (const Json& one : study.value("claims", Json::array())) texts.push_back(one["claim"]);
    for (const std::string& text : texts) {
      const std::string plain = without_placeholders(text);
      EXPECT_EQ(std::find_if(plain.begin(), plain.end(), [](unsigned char c) { return std::isdigit(c); }),
                plain.end())
          << entry.path() << ": " << plain;
    }
    ++studies;
  }
  EXPECT_GE(studies, 20);
}

// Names of runs and values, at most 90 words: what read_study() checks.
TEST(ShippedStudies, LessonsAndClaimsCanBeBound) {
  for (const auto& entry : fs::directory_iterator(EXEMPLAR_SOURCE_DIR "/data/studies")) {
    const std::string path = entry.path().string();
    EXPECT_NO_THROW(read_study(read_json_file(path), path, registered_methods())) << path;
  }
}

}  // namespace
}  // namespace exemplar
