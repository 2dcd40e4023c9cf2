// Sets of examples with weights and a stiffness of their own, and plastic flow that is carried to the
// examples.
#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/mesh/volume/tet_box.h"
#include "tests/fem/fem_run.h"

namespace exemplar {
namespace {

using testing::FemRun;

// Two bars far apart; both examples of each are asked for at once.
const char* const k_bars = R"({
  "time": {"duration": 0.2, "fps": 20, "steps_per_frame": 2}, "gravity": [0, 0, 0],
  "bodies": [
    {"name": "first", "surface": {"box": {"size": [0.2, 0.8, 0.2], "resolution": [1, 4, 1]}}, "volume": {"grid": [1, 4, 1]},
     "material": {"density": 1000, "young": 1e5, "poisson": 0.3},
     "examples": [{"name": "bent", "bend": {"axis": "z", "along": "y", "angle": 40}},
                  {"name": "long", "stretch": {"axis": "y", "factor": 1.2}}],
     "controllers": [{"example": "bent", "curve": {"times": [0, 1], "weights": [0.9, 0.9]}},
                     {"example": "long", "curve": {"times": [0, 1], "weights": [0.8, 0.8]}}]},
    {"name": "second", "position": [5, 0, 0], "surface": {"box": {"size": [0.2, 0.8, 0.2], "resolution": [1, 4, 1]}},
     "volume": {"grid": [1, 4, 1]}, "material": {"density": 1000, "young": 1e5, "poisson": 0.3},
     "examples": [{"name": "wide", "stretch": {"axis": "x", "factor": 1.3}}],
     "controllers": [{"example": "wide", "curve": {"times": [0, 1], "weights": [1, 1]}}]}]})";

TEST(ExampleSets, TwoOnTheSameElementsAreIndependent) {
  FemRun together(k_bars);
  ASSERT_EQ(together.frames(1, 2).status, Status::ok);
  EXPECT_NEAR(together.extra("weight_first_bent") + together.extra("weight_first_long"), 1,
              1e-12);  // clamped
  FemRun apart(k_bars, {R"(methods.fem.examples.sets=[{"examples": ["long"]}])"});
  ASSERT_EQ(apart.frames(1, 2).status, Status::ok);
  EXPECT_EQ(apart.extra("weight_first_bent"), 0.9);
  EXPECT_EQ(apart.extra("weight_first_long"), 0.8);
}

// A set's stiffness is that of a scene in which all have it; 0 takes its examples away.
TEST(ExampleSets, StiffnessPerBodyAndPerSet) {
  const auto end = [&](const std::vector<std::string>& assignments) {
    FemRun run(k_bars, assignments);
    EXPECT_EQ(run.frames(1, 3).status, Status::ok);
    return run.nodes();
  };
  const Points all = end({"methods.fem.examples.stiffness=4"});
  const Points one = end({R"(methods.fem.examples.sets=[{"body": "second", "stiffness": 4}])"});
  const Points plain = end({});
  const Eigen::Index n = all.rows() / 2;
  const auto differ = [](const auto& a, const auto& b) { return (a - b).rowwise().norm().maxCoeff(); };
  EXPECT_LT(differ(one.bottomRows(n), all.bottomRows(n)), 1e-6);
  EXPECT_LT(differ(one.topRows(n), plain.topRows(n)), 1e-6);
  EXPECT_GT(differ(all.topRows(n), plain.topRows(n)), 1e-3);

  const Points without = end({R"(methods.fem.examples.sets=[{"examples": ["bent"], "stiffness": 0}])",
                              "bodies[0].controllers=[]", "bodies[1].controllers=[]"});
  EXPECT_LT(differ(without, FemRun(k_bars).nodes()), 1e-9);  // nothing is asked for: at rest
}

std::string complaint(const std::string& sets, const std::string& method = "fem") {
  try {
    FemRun(k_bars, {"methods." + method + ".examples.sets=" + sets}, method);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ExampleSets, WhatDoesNotFitIsRefused) {
  EXPECT_NE(complaint(R"([{"body": "third"}])").find("methods.fem.examples.sets[0].body"), std::string::npos);
  EXPECT_NE(complaint(R"([{"examples": ["wise"]}])").find("no elastic example wise"), std::string::npos);
  EXPECT_NE(complaint(R"([{"body": "second", "examples": ["bent"]}])").find("no elastic example bent"),
            std::string::npos);
  EXPECT_NE(complaint(R"([{"examples": ["bent"]}, {"examples": ["bent"]}])").find("sets[1].examples"),
            std::string::npos);
  EXPECT_NE(complaint(R"([{"examples": ["bent"]}])", "fem-compatible").find("one pose"), std::string::npos);
}

}  // namespace

namespace fem {
namespace {

// A block that flowed by F_p and then takes pose F_i is F_i F_p X: there a carried example is at rest. One
// that stays is at rest in F_i X.
TEST(CarriedExamples, AreThePoseOfTheFlownBody) {
  const TetMesh mesh = tet_box({1, 1, 1}, {3, 3, 3});
  Mat3 pose, flow;
  pose << 1.2, 0.3, 0, 0, 0.9, 0, 0.1, 0, 1.1;
  flow << 1.25, 0, 0.2, 0, 0.8, 0, 0, 0, 1;
  const auto moved = [&](const Mat3& f) -> Points { return mesh.vertices * f.transpose(); };
  for (const bool quadratic : {false, true}) {
    SolidBody body;
    body.mesh = mesh;
    if (quadratic) make_quadratic(body);
    const auto at = [&](const Mat3& f) -> Points { return body.mesh.vertices * f.transpose(); };
    ExampleTerm term(TetElements(body.mesh, 0, {}, body.midsides), {at(pose)}, ModifiedStVK{1, 2}, true);
    const std::vector<Mat3> inverse(term.element_count(), flow.inverse());
    const VecX there = VecX::Ones(1), rest = VecX::Zero(1);
    term.set_plastic(inverse, true);
    EXPECT_LT(term.value(at(pose * flow), there), 1e-24);
    EXPECT_LT(term.value(at(flow), rest), 1e-24);
    EXPECT_GT(term.value(at(pose), there), 1e-3);
    term.set_plastic(inverse, false);
    EXPECT_LT(term.value(at(pose), there), 1e-24);
    EXPECT_LT(term.value(at(flow), rest), 1e-24);
  }
  CompatibleTerm compatible(TetElements(mesh), to_int(mesh.vertices.rows()), {moved(pose)},
                            ModifiedStVK{1, 2}, 3, true);
  const std::vector<Mat3> inverse(to_size(mesh.tets.rows()), flow.inverse());
  Points x(2 * mesh.vertices.rows(), 3);
  x << moved(pose * flow), moved(pose * flow);
  compatible.set_plastic(inverse, true);
  EXPECT_LT(compatible.value(x, VecX::Ones(1)), 1e-20);
  compatible.set_plastic(inverse, false);
  EXPECT_GT(compatible.value(x, VecX::Ones(1)), 1e-3);
}

}  // namespace
}  // namespace fem
}  // namespace exemplar
