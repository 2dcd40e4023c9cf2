// What left a sheet is where the books say: damping, plastic flow and what implicit Euler itself loses add up
// to what is missing; angular momentum, damped or not; viscosity by itself.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/index.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"

namespace exemplar::shells {
namespace {

// A sheet that swings at two corners under its weight, with an example, damping and yield.
SheetInput swinging_sheet(SheetModelKind kind) {
  SheetInput input;
  input.mesh = rectangle(MeshKind::irregular, 1, 0.8, 8, 6);
  input.material = {2e6, 0.3, 4e-3};
  input.density = 500;
  input.model = kind;
  SheetExamples set;
  set.poses = {input.mesh.vertices};
  for (Eigen::Index i = 0; i < set.poses[0].rows(); ++i)
    set.poses[0](i, 1) += 0.03 * std::sin(8 * set.poses[0](i, 0));
  set.membrane = set.bending = 0.3;
  input.examples = {set};
  SheetPlasticity plastic;
  plastic.yield_strain = 2e-3;
  input.plastic = plastic;
  input.damping = 1e-3;
  return input;
}

struct Books {
  double first = 0, missing = 0, damping = 0, plastic = 0, integrator = 0;
  double viscous = 0;  // way times what is left of the forces that moved the masses
};

// One step of implicit Euler loses exactly ½ Σ m |v₁ − v₀|² of kinetic energy and ∇W(x₁)·(x₁ − x₀) − ΔW of
// the potential: the forces that say so know nothing of the energies.
Books swing(SheetModelKind kind, int steps) {
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-9;
  options.newton.max_iterations = 200;
  SheetModel model({swinging_sheet(kind)}, options);
  ImplicitSolver& solver = model.solver();
  const VecX m = solver.masses();
  const auto kinetic = [&](const Points& v) { return 0.5 * m.dot(v.rowwise().squaredNorm()); };
  const auto weight_energy = [&] { return 9.81 * m.dot(solver.state().positions.col(1)); };
  StepInput step;
  step.dt = 0.01;
  step.forces = m * Eigen::RowVector3d(0, -9.81, 0);
  step.held = hold(model.positions(0), {0, 8});
  const double start = solver.potential_energy() + weight_energy();
  const double lowest = start - 9.81 * m.sum() * 0.8;
  Books books;
  books.first = start - lowest;
  for (int k = 0; k < steps; ++k) {
    const Points x0 = solver.state().positions, v0 = solver.state().velocities;
    const double w0 = solver.potential_energy();
    StepInput now = step;
    model.complete(now);
    EXPECT_EQ(solver.step(now).status, StepStatus::ok);
    const Points x1 = solver.state().positions, v1 = solver.state().velocities;
    const double w1 = solver.potential_energy();
    const Points inner = solver.internal_forces(), inertia = m.asDiagonal() * (v1 - v0) / step.dt;
    books.integrator += kinetic(v1 - v0) - inner.cwiseProduct(x1 - x0).sum() - (w1 - w0);
    books.viscous += (step.forces + inner - inertia).cwiseProduct(x1 - x0).sum();
    model.flow();
  }
  books.damping = solver.state().energies.damping;
  books.plastic = model.plastic_dissipation();
  books.missing = start - (kinetic(solver.state().velocities) + solver.potential_energy() + weight_energy());
  return books;
}

TEST(ShellEnergyBalance, DampingFlowAndIntegratorTakeWhatIsMissing) {
  for (const SheetModelKind kind : {SheetModelKind::physical, SheetModelKind::paper}) {
    const Books books = swing(kind, 60);
    const std::string name = kind == SheetModelKind::physical ? "physical" : "paper";
    EXPECT_GT(books.damping, 1e-3 * books.first) << name;
    EXPECT_GT(books.plastic, 1e-4 * books.first) << name;
    EXPECT_GT(books.integrator, 1e-2 * books.first) << name;
    EXPECT_NEAR(books.viscous + books.plastic + books.integrator, books.missing, 1e-4 * books.missing)
        << name;
    // Damping is booked as stress times change of strain, which is never negative; force times displacement
    // differs from it by what a step turns.
    EXPECT_NEAR(books.damping + books.plastic + books.integrator, books.missing, 0.01 * books.missing)
        << name;
  }
}

// A free sheet that spins fast enough to be stretched by it (by a fiftieth), bent a little at the start so
// that it swings as well.
SheetModel spinning_sheet(SheetModelKind kind, double damping) {
  SheetInput input;
  input.mesh = rectangle(MeshKind::irregular, 1, 0.6, 8, 5);
  input.mesh.vertices.rowwise() -= input.mesh.vertices.colwise().mean().eval();
  input.material = {1e6, 0.3, 5e-3};
  input.model = kind;
  input.damping = damping;
  input.positions = input.mesh.vertices;
  input.velocities.resize(input.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < input.positions.rows(); ++i) {
    input.positions(i, 1) += 0.05 * std::sin(5 * input.positions(i, 0));
    input.velocities.row(i) = Vec3(0.3, 9, -0.2).cross(Vec3(input.positions.row(i).transpose())).transpose();
  }
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-10;
  return SheetModel({std::move(input)}, options);
}

Vec3 angular_momentum(const SheetModel& model) {
  Vec3 sum = Vec3::Zero();
  const ImplicitState& s = model.solver().state();
  for (Eigen::Index i = 0; i < s.positions.rows(); ++i)
    sum += model.solver().masses()[i] *
           Vec3(s.positions.row(i).transpose()).cross(Vec3(s.velocities.row(i).transpose()));
  return sum;
}

struct Spin {
  double kept = 0;       // of the angular momentum, after half a second
  double deviation = 0;  // from L' = L + h Σ m v'×v, what implicit Euler lets it keep, summed over all steps
  double damping = 0;    // J, what viscosity took
};

Spin spin(SheetModelKind kind, double damping) {
  SheetModel model = spinning_sheet(kind, damping);
  const VecX m = model.solver().masses();
  const Vec3 first = angular_momentum(model);
  Vec3 allowed = first;
  StepInput step;
  step.dt = 1.0 / 480;
  for (int k = 0; k < 240; ++k) {
    const Points v = model.solver().state().velocities;
    EXPECT_EQ(model.step(step).status, StepStatus::ok);
    const Points& after = model.solver().state().velocities;
    for (Eigen::Index i = 0; i < v.rows(); ++i)
      allowed += step.dt * m[i] * Vec3(after.row(i).transpose()).cross(Vec3(v.row(i).transpose()));
  }
  const Vec3 last = angular_momentum(model);
  return {last.norm() / first.norm(), (last - allowed).norm() / first.norm(),
          model.solver().state().energies.damping};
}

TEST(ShellEnergyBalance, ASpinningSheetKeepsItsAngularMomentumDampedOrNot) {
  for (const SheetModelKind kind : {SheetModelKind::physical, SheetModelKind::paper}) {
    const Spin free = spin(kind, 0), damped = spin(kind, 5e-3);
    EXPECT_LT(free.deviation, 1e-9);
    EXPECT_LT(damped.deviation, 1e-9);
    // Steps of 9/480 rad: each loses about the square of its angle, and what vibrates its own share.
    EXPECT_GT(free.kept, 1 - 1.5 * 240 * std::pow(9.0 / 480, 2));
    EXPECT_NEAR(damped.kept, free.kept, 0.005);
    EXPECT_EQ(free.damping, 0);
    EXPECT_GT(damped.damping, 0);
  }
}

// A strip without inertia under a pull along it that begins at once: u(t) = u∞ (1 − exp(−t/β)), and half of
// the pull's work goes into viscosity; the same of a strip that is bent by a moment at its end.
TEST(ShellEnergyBalance, AStripCreepsAsAKelvinVoigtSolid) {
  for (const SheetModelKind kind : {SheetModelKind::physical, SheetModelKind::paper}) {
    for (const bool bent : {false, true}) {
      const int per_beta = 50;
      SheetInput input;
      input.mesh = rectangle(MeshKind::equilateral, 1, 0.2, 10, 2);
      input.material = {1e6, 0.0, 0.02};
      input.model = kind;
      input.damping = 0.2;
      const Points& rest = input.mesh.vertices;
      const double end = rest.col(0).maxCoeff();
      const std::vector<int> held = vertices_where(rest, [](const Vec3& x) { return x.x() < 0.15; });
      const std::vector<int> tip = vertices_where(rest, [&](const Vec3& x) { return x.x() > end - 1e-9; });
      ImplicitOptions options;
      options.inertia = false;
      options.linear = LinearMethod::direct;
      options.newton.force_tolerance = 1e-9;
      SheetModel model({input}, options);
      StepInput step;
      step.dt = input.damping / per_beta;
      step.held = hold(rest, held);
      step.forces = Points::Zero(model.solver().masses().size(), 3);
      for (const int i : tip)
        step.forces(i, bent ? 1 : 0) = (bent ? 1e-4 : 1e-1) / static_cast<double>(tip.size());
      const auto work = [&] {
        return step.forces.topRows(rest.rows()).cwiseProduct(model.positions(0) - rest).sum();
      };
      double at_beta = 0;
      for (int k = 1; k <= 10 * per_beta; ++k) {
        ASSERT_EQ(model.step(step).status, StepStatus::ok);
        if (k == per_beta) at_beta = work();
      }
      // Implicit Euler's 1 − (1 + 1/50)^-50; half a per cent beside 1 − 1/e.
      EXPECT_NEAR(at_beta / work(), 1 - std::pow(1 + 1.0 / per_beta, -per_beta), 1e-3) << bent;
      EXPECT_NEAR(model.solver().state().energies.damping / work(), 0.5, 0.01) << bent;
    }
  }
}

}  // namespace
}  // namespace exemplar::shells
