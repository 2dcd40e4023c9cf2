// Pressure on sheets against the elastica under a load that stays normal to it.
#include <fmt/format.h>

#include <cmath>

#include "tests/shells/shell_run.h"

namespace exemplar::testing {
namespace {

// Height of the middle of mass of a clamped strip under the normal load q per length, beside its length and
// stiffness EI:
//   EI θ' = M,  M' = −t × F,  F' = −q n,  from the free end, where all are zero, back to the clamp, and turned there.
double height_of_elastica(double q, double length, double stiffness) {
  constexpr int steps = 4000;
  const double ds = length / steps;
  double theta = 0, moment = 0;
  Eigen::Vector2d force = Eigen::Vector2d::Zero(), place = force, sum = force;  // of places, from the tip
  for (int k = 0; k < steps; ++k) {
    const double middle = theta - 0.5 * ds * moment / stiffness;
    const Eigen::Vector2d t(std::cos(middle), std::sin(middle)), n(-t.y(), t.x());
    const Eigen::Vector2d here = force + 0.5 * ds * q * n;
    const double before = moment;
    moment += ds * (t.x() * here.y() - t.y() * here.x());
    force += ds * q * n;
    theta -= ds * 0.5 * (before + moment) / stiffness;
    sum += ds / length * (place - 0.5 * ds * t);
    place -= ds * t;
  }
  const Eigen::Vector2d from_clamp = sum - place;
  return -std::sin(theta) * from_clamp.x() + std::cos(theta) * from_clamp.y();
}

std::string strip(double pressure, int steps, int cells) {
  return fmt::format(R"({{"time": {{"duration": 1, "fps": 1, "steps_per_frame": {}}}, "gravity": [0, 0, 0],
    "bodies": [{{"name": "strip", "kind": "sheet", "thickness": 0.01,
      "surface": {{"sheet": {{"length": 0.5, "width": 0.1, "resolution_x": {}, "resolution_z": {}}}}},
      "material": {{"density": 1000, "young": 1e7, "poisson": 0}},
      "supports": [{{"region": {{"half_space": {{"point": [-0.249, 0, 0], "normal": [-1, 0, 0]}}}}, "clamped": true}}]}}],
    "loads": [{{"region": {{"all": true}}, "kind": "pressure", "magnitude": {}}}],
    "methods": {{"shell": {{"mode": "quasi-static"}}}}}})",
                     steps, cells, cells / 8, -pressure);
}

// With the pressure of the step's start "equilibria" cycled for ever and hung on the number of steps (0.19,
// 0.15, −0.2 m).
TEST(ShellPressure, BendsAStripAsTheElasticaUnderAFollowingLoad) {
  const double stiffness = 1e7 * 0.1 * std::pow(0.01, 3) / 12;
  for (const double pressure : {30.0, 60.0, 150.0}) {
    const double expected = height_of_elastica(0.1 * pressure, 0.5, stiffness);
    const auto height = [&](int steps, int cells) {
      ShellRun run(strip(pressure, steps, cells));
      EXPECT_EQ(run.frames(1, 1).status, Status::ok);
      return run.method().diagnostics().centre_of_mass.y();
    };
    const double coarse = height(1, 16), fine = height(1, 64);
    EXPECT_NEAR(coarse, expected, 0.02 * expected) << pressure;
    EXPECT_NEAR(fine, expected, 1e-3 * expected) << pressure;
    EXPECT_NEAR(height(5, 16), coarse, 1e-5 * expected) << pressure;
  }
}

}  // namespace
}  // namespace exemplar::testing
