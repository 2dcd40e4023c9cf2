// Loads that change with time in the implicit methods: momentum and motion of a rigid mass in closed form, with nothing
// set about steps and with few fixed ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

// 8 kg, so stiff that it moves as one.
std::string cube(const std::string& time, const std::string& load) {
  return fmt::format(R"({{"time": {{"duration": 1, "fps": 20{}}}, "gravity": [0, 0, 0],
  "bodies": [{{"name": "cube", "surface": {{"box": {{"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}}}},
    "volume": {{"grid": [2, 2, 2]}}, "material": {{"density": 1000, "young": 1e8, "poisson": 0.3}}}}],
  "loads": [{{"region": {{"all": true}}, "value": [80, 0, 0], {}}}]}})",
                     time, load);
}

std::string sine(double frequency) {
  std::string times, factors;
  for (int i = 0; i <= 1600; ++i) {
    const double t = i / 1600.0;
    times += fmt::format("{}{}", i ? "," : "", t);
    factors += fmt::format("{}{}", i ? "," : "", std::sin(2 * std::numbers::pi * frequency * t));
  }
  return fmt::format(R"("curve": {{"times": [{}], "factors": [{}]}})", times, factors);
}

// The impulse of a load that ends in mid-frame is its whole impulse, whatever the step.
TEST(ChangingLoads, ABlowGivesItsImpulse) {
  for (const char* time : {"", R"(, "steps_per_frame": 1)", R"(, "steps_per_frame": 7)"}) {
    for (const char* until : {"0.1", "0.13"}) {
      testing::FemRun run(cube(time, fmt::format(R"("until": {})", until)),
                          {"methods.fem.integrator=tr-bdf2"});
      ASSERT_EQ(run.frames(1, 10).status, Status::ok);
      const double impulse = 80 * std::stod(until);
      EXPECT_NEAR(run.method().diagnostics().linear_momentum.x(), impulse, 1e-6 * impulse) << time << until;
    }
  }
}

// x = F/(m ω) (t − sin(ωt)/ω).
TEST(ChangingLoads, AForceThatSwingsMovesAMassAsItShould) {
  for (const double frequency : {1.0, 20.0}) {
    testing::FemRun run(cube("", sine(frequency)));
    ASSERT_EQ(run.frames(1, 20).status, Status::ok);
    const double expected = 10 / (2 * std::numbers::pi * frequency);
    const Diagnostics d = run.method().diagnostics();
    EXPECT_NEAR(d.centre_of_mass.x(), expected, 0.01 * expected) << frequency;
    EXPECT_NEAR(d.linear_momentum.x(), 0, 2e-3 * 80 / frequency) << frequency;
    EXPECT_LT(std::abs(d.numerical_dissipation), 0.01 * 80 * expected) << frequency;
  }
}

}  // namespace
}  // namespace exemplar::fem
