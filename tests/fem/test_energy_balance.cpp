// What left the bodies is where the columns say it is: damping and friction against closed forms and an exact
// identity of implicit Euler, and the sum of all energies against its first value, with a defect that falls
// with the step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/mesh/volume/tet_box.h"
#include "fem/solid_model.h"
#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

// `text` has STEPS for the steps per frame.
std::string with_steps(const std::string& text, int steps) {
  const std::size_t at = text.find("STEPS");
  return fmt::format("{}{}{}", text.substr(0, at), steps, text.substr(at + 5));
}

double sum_of_energies(testing::FemRun& run) {
  const Diagnostics d = run.method().diagnostics();
  return d.kinetic_energy + d.elastic_energy + d.gravitational_energy + run.extra("contact_energy");
}

// One step of implicit Euler loses exactly ½ Σ m |v₁ − v₀|² of kinetic energy and ∇W(x₁)·(x₁ − x₀) − ΔW of
// the elastic one; the rest of what is missing is the work of damping, which is booked as the product of the
// rate of strain and its stress: the same up to a part that falls with the step.
TEST(EnergyBalance, DampingTakesWhatImplicitEulerDoesNot) {
  SolidBody body;
  body.mesh = tet_box({0.2, 0.2, 1}, {2, 2, 6});
  body.energy = ModifiedStVK{1e5, 2e5};
  body.damping = 0.004;
  body.velocities = Points::Zero(body.mesh.vertices.rows(), 3);
  body.velocities.col(0) = 4 * body.mesh.vertices.col(2).array().square();
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-12;
  SolidModel model({body}, std::move(options));
  ImplicitSolver& solver = model.solver();
  const VecX masses = solver.masses();
  const auto kinetic = [&](const Points& v) { return 0.5 * masses.dot(v.rowwise().squaredNorm()); };
  const double first = kinetic(solver.state().velocities);
  StepInput input;
  input.dt = 0.002;
  double before = 0, missing = 0;
  for (int step = 0; step < 30; ++step) {
    const Points x0 = solver.state().positions, v0 = solver.state().velocities;
    const double w0 = solver.potential_energy();
    input.time += input.dt;
    ASSERT_EQ(model.step(input).status, StepStatus::ok);
    const Points& x1 = solver.state().positions;
    const Points& v1 = solver.state().velocities;
    const double w1 = solver.potential_energy();
    const double lost = kinetic(v1 - v0) - solver.internal_forces().cwiseProduct(x1 - x0).sum() - (w1 - w0);
    const double damping = solver.state().energies.damping - before;
    before = solver.state().energies.damping;
    EXPECT_GE(damping, 0);
    missing += kinetic(v0) + w0 - kinetic(v1) - w1 - lost;
  }
  EXPECT_NEAR(missing, before, 0.02 * before);
  EXPECT_GT(before, 0.1 * first);
  EXPECT_EQ(solver.state().energies.contact, 0);
}

const char* k_slider = R"({
  "time": {"duration": 1, "fps": 50, "steps_per_frame": STEPS},
  "bodies": [{
    "name": "box",
    "surface": {"box": {"size": [0.4, 0.1, 0.4], "resolution": [4, 1, 4]}},
    "volume": {"grid": [4, 1, 4]},
    "material": {"density": 1000, "young": 1e6, "poisson": 0.3, "damping": 0.002},
    "position": [0, 0.0506, 0],
    "velocity": [1.5, 0, 0.8]
  }],
  "obstacles": [{"name": "ground", "plane": {}, "friction": 0.4}]
})";

struct Balance {
  double defect, friction, damping;
};

// Relative to the kinetic energy at the start.
Balance balance_of(const std::string& text, int steps, double duration) {
  testing::FemRun run(with_steps(text, steps));
  const double kinetic = run.method().diagnostics().kinetic_energy, before = sum_of_energies(run);
  const StepReport report = run.advance(duration);
  EXPECT_EQ(report.status, Status::ok) << report.message;
  const Diagnostics d = run.method().diagnostics();
  const double after = sum_of_energies(run) + d.contact_dissipation + d.damping_dissipation;
  return {(before - after) / kinetic, d.contact_dissipation / kinetic, d.damping_dissipation / kinetic};
}

TEST(EnergyBalance, SlidingGivesItsEnergyToFriction) {
  testing::FemRun run(with_steps(k_slider, 8));
  const Diagnostics before = run.method().diagnostics();
  ASSERT_EQ(run.advance(0.6).status, Status::ok);
  const Diagnostics after = run.method().diagnostics();
  EXPECT_LT(after.kinetic_energy, 1e-4 * before.kinetic_energy);  // it has stopped
  EXPECT_NEAR(after.contact_dissipation, before.kinetic_energy, 0.02 * before.kinetic_energy);
  // Coulomb: μ m g times the way.
  const double way = (after.centre_of_mass - before.centre_of_mass).norm();
  EXPECT_NEAR(after.contact_dissipation, 0.4 * before.mass * 9.81 * way, 0.02 * before.kinetic_energy);
}

void expect_first_order(const char* text, int first, double duration, double smallest_share) {
  std::vector<double> defects;
  for (const int steps : {first, 2 * first, 4 * first, 8 * first}) {
    const Balance b = balance_of(text, steps, duration);
    defects.push_back(b.defect);
    EXPECT_GE(b.defect, 0);  // implicit Euler loses
    EXPECT_GT(b.friction + b.damping, smallest_share);
  }
  for (std::size_t k = 1; k < defects.size(); ++k) {
    EXPECT_GT(defects[k - 1] / defects[k], 1.5) << k;
    EXPECT_LT(defects[k - 1] / defects[k], 3) << k;
  }
}

TEST(EnergyBalance, DefectFallsWithTheStepWhenSliding) {
  expect_first_order(k_slider, 4, 0.1, 0.3);
}

// With a reach that the steps resolve: 2 m/s through the usual 0.3 mm are over in 0.2 ms, and implicit Euler
// takes what a node brings into contact.
TEST(EnergyBalance, DefectFallsWithTheStepInABounce) {
  expect_first_order(R"({
    "time": {"duration": 1, "fps": 50, "steps_per_frame": STEPS},
    "bodies": [{
      "name": "ball",
      "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [3, 3, 3]}},
      "volume": {"grid": [3, 3, 3]},
      "material": {"density": 1000, "young": 1e5, "poisson": 0.3, "damping": 0.005},
      "position": [0, 0.2, 0], "rotation": {"axis": "z", "angle": 20},
      "velocity": [1, -2, 0]
    }],
    "obstacles": [{"name": "ground", "plane": {}, "friction": 0.3}],
    "methods": {"fem": {"contact": {"reach": 0.02}}}
  })",
                     16, 0.12, 0.1);
}

// A step that is long beside the impact: contact is stiffened for it, and what it holds then is counted.
TEST(EnergyBalance, StiffenedContactIsCounted) {
  testing::FemRun run(R"({
    "time": {"duration": 1, "fps": 60, "steps_per_frame": 1}, "gravity": [0, 0, 0],
    "bodies": [{
      "name": "block",
      "surface": {"box": {"size": [0.5, 0.5, 0.5], "resolution": [3, 3, 3]}},
      "volume": {"grid": [3, 3, 3]},
      "material": {"density": 1000, "young": 1e5, "poisson": 0.3},
      "position": [0, 0.3, 0], "velocity": [0, -50, 0]
    }],
    "obstacles": [{"name": "ground", "plane": {}, "friction": 0}]
  })");
  const double before = sum_of_energies(run);
  double last = before;
  for (int frame = 1; frame <= 6; ++frame) {
    ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
    const double dissipated = run.method().diagnostics().contact_dissipation;
    EXPECT_GE(dissipated, 0);
    const double now = sum_of_energies(run) + dissipated;
    EXPECT_LE(now, last + 1e-6 * before) << frame;  // no energy from nothing
    last = now;
  }
  EXPECT_GT(run.method().diagnostics().contact_dissipation, 0);
}

// A run that was saved and resumed has the same numbers.
TEST(EnergyBalance, DissipationIsPartOfTheState) {
  testing::FemRun whole(with_steps(k_slider, 2)), parts(with_steps(k_slider, 2));
  ASSERT_EQ(whole.frames(1, 4).status, Status::ok);
  ASSERT_EQ(parts.frames(1, 2).status, Status::ok);
  parts.resume();
  ASSERT_EQ(parts.frames(3, 4).status, Status::ok);
  const Diagnostics a = whole.method().diagnostics(), b = parts.method().diagnostics();
  EXPECT_GT(a.contact_dissipation, 0);
  EXPECT_EQ(a.contact_dissipation, b.contact_dissipation);
  EXPECT_EQ(a.damping_dissipation, b.damping_dissipation);
  EXPECT_EQ(whole.extra("contact_energy"), parts.extra("contact_energy"));
}

// What moved supports give includes damping and contact at the held nodes: without them −117 of 669 J and
// −121 of 130 J were the time step's.
TEST(EnergyBalance, SupportsGiveWhatDampingAndContactTake) {
  const char* stretched =
      R"({"time": {"duration": 0.5, "fps": 10, "steps_per_frame": STEPS}, "gravity": [0, 0, 0],
    "bodies": [{"name": "bar", "surface": {"box": {"size": [0.5, 0.1, 0.1], "resolution": [5, 1, 1]}},
      "volume": {"grid": [5, 1, 1]}, "material": {"density": 1000, "young": 1e6, "poisson": 0.3, "damping": 0.05},
      "supports": [{"region": {"half_space": {"point": [-0.24, 0, 0], "normal": "-x"}}},
                   {"region": {"half_space": {"point": [0.24, 0, 0], "normal": "x"}},
                    "keyframes": [{"time": 0}, {"time": 0.5, "position": [0.2, 0, 0]}]}]}]})";
  const char* pressed =
      R"({"time": {"duration": 0.5, "fps": 10, "steps_per_frame": STEPS}, "gravity": [0, 0, 0],
    "bodies": [{"name": "plate", "surface": {"box": {"size": [0.2, 0.1, 0.2], "resolution": [2, 1, 2]}},
      "volume": {"grid": [2, 1, 2]}, "material": {"density": 1000, "young": 1e7, "poisson": 0.3}, "position": [0, 0.5, 0],
      "supports": [{"region": {"all": true}, "keyframes": [{"time": 0}, {"time": 0.4, "position": [0, -0.25, 0]},
                                                            {"time": 0.5, "position": [0, -0.25, 0]}]}]},
     {"name": "foam", "surface": {"box": {"size": [0.3, 0.3, 0.3], "resolution": [3, 3, 3]}}, "volume": {"grid": [3, 3, 3]},
      "material": {"density": 100, "young": 1e5, "poisson": 0.2}, "position": [0, 0.16, 0]}],
    "obstacles": [{"name": "floor", "plane": {}}]})";
  for (const char* scene : {stretched, pressed}) {
    double lost[2];
    for (const int steps : {10, 40}) {
      std::string text = scene;
      text.replace(text.find("STEPS"), 5, std::to_string(steps));
      testing::FemRun run(text);
      ASSERT_EQ(run.frames(1, 5).status, Status::ok);
      const Diagnostics d = run.method().diagnostics();
      lost[steps == 40] = d.numerical_dissipation / d.external_work;
    }
    EXPECT_GT(lost[1], 0) << scene;
    EXPECT_LT(lost[0], 0.1) << scene;
    EXPECT_LT(lost[1], 0.5 * lost[0]) << scene;
  }
}

}  // namespace
}  // namespace exemplar::fem
