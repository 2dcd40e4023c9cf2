// What left a sheet is where the books say: damping, plastic flow and what implicit Euler itself loses add up to
// what is missing; angular momentum.
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
  return input;
}

struct Books {
  double first = 0, missing = 0, damping = 0, plastic = 0, integrator = 0;
};

// One step of implicit Euler loses exactly ½ Σ m |v₁ − v₀|² of kinetic energy and ∇W(x₁)·(x₁ − x₀) − ΔW of the
// potential: the forces that say so know nothing of the energies.
Books swing(SheetModelKind kind, int steps) {
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-9;
  options.newton.max_iterations = 200;
  options.damping = 1e-3;
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
    books.integrator += kinetic(v1 - v0) - solver.internal_forces().cwiseProduct(x1 - x0).sum() - (w1 - w0);
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
    EXPECT_NEAR(books.damping + books.plastic + books.integrator, books.missing, 1e-4 * books.missing)
        << name;
  }
}

// A free sheet that spins and bends keeps what implicit Euler lets it keep, L' = L + h Σ m v'×v, summed over a turn.
TEST(ShellEnergyBalance, ASpinningSheetKeepsItsAngularMomentum) {
  SheetInput input;
  input.mesh = rectangle(MeshKind::irregular, 1, 0.6, 8, 5);
  input.mesh.vertices.rowwise() -= input.mesh.vertices.colwise().mean().eval();
  input.material = {1e6, 0.3, 5e-3};
  input.velocities.resize(input.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < input.mesh.vertices.rows(); ++i)
    input.velocities.row(i) =
        Vec3(0.3, 3, -0.2).cross(Vec3(input.mesh.vertices.row(i).transpose())).transpose();
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-10;
  SheetModel model({input}, options);
  const VecX m = model.solver().masses();
  const auto moment = [&] {
    Vec3 sum = Vec3::Zero();
    const ImplicitState& s = model.solver().state();
    for (Eigen::Index i = 0; i < s.positions.rows(); ++i)
      sum += m[i] * Vec3(s.positions.row(i).transpose()).cross(Vec3(s.velocities.row(i).transpose()));
    return sum;
  };
  const Vec3 first = moment();
  Vec3 allowed = first;
  StepInput step;
  step.dt = 1.0 / 240;
  for (int k = 0; k < 480; ++k) {  // about a turn
    const Points v = model.solver().state().velocities;
    ASSERT_EQ(model.step(step).status, StepStatus::ok);
    const Points& after = model.solver().state().velocities;
    for (Eigen::Index i = 0; i < v.rows(); ++i)
      allowed += step.dt * m[i] * Vec3(after.row(i).transpose()).cross(Vec3(v.row(i).transpose()));
  }
  EXPECT_LT((moment() - allowed).norm(), 1e-9 * first.norm());
  // Steps of 1/80 rad: each loses about the square of its angle.
  EXPECT_GT(moment().norm(), (1 - 480 * std::pow(3.0 / 240, 2)) * first.norm());
}

}  // namespace
}  // namespace exemplar::shells
