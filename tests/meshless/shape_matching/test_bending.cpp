// Bending against beams: deflection, frequency and damping at default settings, and what is said where they cannot be reached.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "meshless/shape_matching/bending.h"
#include "meshless/shape_matching/method.h"
#include "meshless/shape_matching/stiffness.h"
#include "tests/support/run.h"

namespace exemplar::shape_matching {
namespace {

constexpr double k_length = 0.4, k_height = 0.04, k_density = 1000;

// A bar held at its left end; its weight is applied at once.
SceneSettings cantilever(double young, double gravity, int steps_per_second, double duration) {
  SceneSettings settings;
  settings.time = {duration, 60, steps_per_second / 60};
  settings.gravity = Vec3(0, -gravity, 0);
  BodySettings body;
  body.name = "bar";
  body.surface.box = BoxParams{};
  body.surface.box->size = Vec3(k_length, k_height, k_height);
  body.surface.box->resolution = {20, 2, 2};
  body.material.density = k_density;
  body.material.young = young;
  body.material.poisson = 0;
  SupportSettings wall;
  wall.region.half_space = RegionHalfSpace{Vec3(-0.499 * k_length, 0, 0), Vec3(-1, 0, 0)};
  body.supports.push_back(wall);
  settings.bodies.push_back(body);
  return settings;
}

Settings cells_through_the_height(int count) {
  Settings own;
  own.cell_size = 1.0001 * k_height / count;
  return own;
}

double tip(const Method& method) {
  const Points points = method.fields().front().points;
  double sum = 0;
  int count = 0;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    if (points(i, 0) < 0.48 * k_length) continue;
    sum += points(i, 1);
    ++count;
  }
  return sum / count;
}

// Euler and Bernoulli: ρ A g L⁴/(8 E I), Timoshenko's shear beside it with G = E/2.
double static_sag(double young, double gravity) {
  const double second = k_height * k_height / 12, load = k_density * gravity;
  return load * std::pow(k_length, 4) / (8 * young * second) +
         load * k_length * k_length / (2 * (5.0 / 6.0) * 0.5 * young);
}

double frequency(double young) {
  return 3.51602 / (2 * EIGEN_PI) * std::sqrt(young / k_density * k_height * k_height / 12) /
         (k_length * k_length);
}

struct Swing {
  double sag = 0, frequency = 0;  // half of the first trough; from its time
};

Swing first_swing(const SceneSettings& settings, const Settings& own) {
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, own);
  std::vector<double> path{0.0};
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    EXPECT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    path.push_back(tip(*method));
  }
  const std::size_t k =
      static_cast<std::size_t>(std::min_element(path.begin(), path.end() - 1) - path.begin());
  const double slope = 0.5 * (path[k + 1] - path[k - 1]), curve = path[k + 1] - 2 * path[k] + path[k - 1];
  const double time = (static_cast<double>(k) - slope / curve) / 60;
  return {-0.5 * (path[k] - 0.5 * slope * slope / curve), 0.5 / time};
}

// 0.62, 1.2 and 1.6 or more times the sag at 1, 2 and 4 cells: bends of single cells were three times too stiff, and steps
// were taken for half of the stiffness.
TEST(Bending, SagAndFrequencyAreThoseOfABeamAtAnyCellsAndSteps) {
  for (const int count : {1, 2, 4})
    for (const int rate : {60, 240, 960}) {
      const Swing swing = first_swing(cantilever(1e6, 0.5, rate, 0.6), cells_through_the_height(count));
      EXPECT_NEAR(swing.sag / static_sag(1e6, 0.5), 1, 0.04) << count << " cells, 1/" << rate << " s";
      EXPECT_NEAR(swing.frequency / frequency(1e6), 1, 0.04) << count << " cells, 1/" << rate << " s";
    }
}

// Cells that are longer than they are high, and the other way round.
TEST(Bending, LongAndFlatCellsBendLikeABeam) {
  for (const IntVec3& counts : {IntVec3(5, 1, 1), IntVec3(20, 1, 1), IntVec3(10, 2, 1)}) {
    Settings own;
    own.cell_counts = counts;
    const Swing swing = first_swing(cantilever(1e6, 0.5, 240, 0.6), own);
    EXPECT_NEAR(swing.sag / static_sag(1e6, 0.5), 1, 0.1) << counts.transpose();
    EXPECT_NEAR(swing.frequency / frequency(1e6), 1, 0.06) << counts.transpose();
  }
}

// Damping in proportion to stiffness takes β ω/2 of the first swing's frequency.
TEST(Bending, TheFirstSwingIsDampedAsTheMaterialSays) {
  SceneSettings settings = cantilever(1e6, 0.5, 960, 1.8);
  settings.bodies[0].material.damping = 0.01;
  const Scene scene = make_scene(settings, "");
  Settings own = cells_through_the_height(2);
  own.substeps = 80;  // what is stable at those that the stiffness asks for is less
  const auto method = make_method(scene, own);
  std::vector<double> path{0.0};
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    path.push_back(tip(*method));
  }
  std::vector<double> turns{0.0};
  for (std::size_t k = 1; k + 1 < path.size(); ++k)
    if ((path[k] - path[k - 1]) * (path[k + 1] - path[k]) < 0) turns.push_back(path[k]);
  ASSERT_GE(turns.size(), 4u);
  const double ratio = (turns[0] - turns[1]) / (turns[2] - turns[3]);
  EXPECT_NEAR(std::log(ratio) / (2 * EIGEN_PI) / (0.5 * 0.01 * 2 * EIGEN_PI * frequency(1e6)), 1, 0.1);
}

// What is too stiff for the steps is said with the number by which it is off, and the number is right.
TEST(Bending, WhatIsTooStiffSaysByHowMuchItIsOff) {
  const Scene scene = make_scene(cantilever(1e8, 1, 60, 0.6), "");
  const auto method = make_method(scene, cells_through_the_height(2));
  const auto share = [&] {
    for (const Metric& extra : method->diagnostics().extra)
      if (extra.name == "stiffness_share") return extra.value;
    return 0.0;
  }();
  const Swing swing = first_swing(cantilever(1e8, 1, 60, 0.6), cells_through_the_height(2));
  EXPECT_LT(share, 0.5);
  EXPECT_NEAR(swing.sag / static_sag(1e8, 1) * share, 1, 0.05);
  std::string said;
  for (const Note& note : method->notes())
    if (note.severity == Severity::warning) said += note.text;
  const std::size_t at = said.find("deforms ");
  ASSERT_NE(at, std::string::npos) << said;
  EXPECT_NEAR(std::stod(said.substr(at + 8)) * share, 1, 0.02) << said;
}

// Corners that are not followed in their bends: 1 + 2/n² for n layers. With η they are solids.
TEST(Bending, LayersOfCellsBendLikeASolid) {
  for (const int count : {1, 2, 4}) {
    const Vec3 half(5, 0.5, 0.5);
    const CellModel model = make_block(-half, half, {10 * count, count, count}, 1000.0).model;
    MassProperties solid;
    solid.mass = 1e4;
    solid.inertia.diagonal() << 1e4 / 6, 1e4 * 101 / 12, 1e4 * 101 / 12;
    const double radius = cube_square_radius(model);
    EXPECT_NEAR(radius, 0.25 / (count * count), 1e-9);
    EXPECT_NEAR(bending_factor(model, {}, radius, solid), 1 + 2.0 / (count * count), 1e-3);
    MatchOptions followed;
    followed.bend_share = 1.0 / 3;
    EXPECT_NEAR(bending_factor(model, followed, radius, solid), 1, 1e-3);
    followed.beta = 0.6;
    EXPECT_NEAR(bending_factor(model, followed, radius, solid), 1, 1e-3);
  }
}

}  // namespace
}  // namespace exemplar::shape_matching
