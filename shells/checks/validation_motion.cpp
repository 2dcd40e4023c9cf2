// Free motion of sheets against implicit Euler's discrete formulas, and plastic bending.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/index.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"
#include "shells/checks/validation.h"

namespace exemplar::shells {

namespace {

SheetInput spinning_sheet(SheetModelKind kind) {
  SheetInput input;
  input.mesh = rectangle(MeshKind::irregular, 1, 0.6, 8, 5);
  input.material = {1e6, 0.3, 5e-3};
  input.model = kind;
  input.velocities.resize(input.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < input.mesh.vertices.rows(); ++i)
    input.velocities.row(i) =
        (Vec3(0.3, -0.2, 0.1) + Vec3(2, 3, -1).cross(Vec3(input.mesh.vertices.row(i).transpose())))
            .transpose();
  return input;
}

// How far L' − L departs from h Σ m v'×v in any of twenty steps, relative to L; and the change of Σ m v.
std::array<double, 2> momentum_errors(SheetInput input, double damping) {
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-10;
  input.damping = damping;
  SheetModel model({std::move(input)}, options);
  const VecX m = model.solver().masses();
  StepInput step;
  step.dt = 0.01;
  const Vec3 before = model.solver().state().velocities.transpose() * m;
  double worst = 0;
  for (int k = 0; k < 20; ++k) {
    const Points x = model.solver().state().positions, v = model.solver().state().velocities;
    if (model.step(step).status != StepStatus::ok) return {1, 1};
    Vec3 error = Vec3::Zero(), moment = Vec3::Zero();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const Vec3 xi = x.row(i).transpose(), vi = v.row(i).transpose(),
                 xn = model.solver().state().positions.row(i).transpose(),
                 vn = model.solver().state().velocities.row(i).transpose();
      moment += m[i] * xi.cross(vi);
      error += m[i] * (xn.cross(vn) - xi.cross(vi) - step.dt * vn.cross(vi));
    }
    worst = std::max(worst, error.norm() / moment.norm());
  }
  const Vec3 after = model.solver().state().velocities.transpose() * m;
  return {worst, (after - before).norm() / before.norm()};
}

}  // namespace

std::vector<ValidationRecord> validate_motion(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const SheetModelKind kind : {SheetModelKind::physical, SheetModelKind::paper}) {
    const std::string name = kind == SheetModelKind::physical ? "physical" : "paper";
    const auto [angular, linear] = momentum_errors(spinning_sheet(kind), 0);
    records.push_back(at_most(name + ": linear momentum of a free spinning sheet, relative change", linear,
                              1e-11, "conserved"));
    records.push_back(at_most(name + ": angular momentum, deviation from L' = L + h Σ m v'×v", angular, 1e-9,
                              "implicit Euler's discrete formula"));
    const auto [damped, damped_linear] = momentum_errors(spinning_sheet(kind), 1e-3);
    records.push_back(
        at_most(name + ", damped: linear momentum, relative change", damped_linear, 1e-11, "conserved"));
    records.push_back(at_most(name + ", damped: angular momentum, deviation from L' = L + h Σ m v'×v", damped,
                              1e-9, "viscosity exerts no moment"));
  }
  SheetModel falling({spinning_sheet(SheetModelKind::physical)}, {});
  const VecX m = falling.solver().masses();
  const auto height = [&] { return falling.solver().state().positions.col(1).dot(m) / m.sum(); };
  const auto speed = [&] { return falling.solver().state().velocities.col(1).dot(m) / m.sum(); };
  const double start = height(), first = speed();
  StepInput step;
  step.dt = 0.01;
  step.forces = m * Eigen::RowVector3d(0, -9.81, 0);
  for (int k = 0; k < 20; ++k) falling.step(step);
  records.push_back(near("free fall: height of the centre of mass", height() - start,
                         20 * step.dt * first - 9.81 * step.dt * step.dt * 20 * 21 / 2, 1e-9,
                         "x_n = n h v + h² g n(n+1)/2"));
  return records;
}

// A strip bent beyond its threshold between two held ends of triangles, and let go.
std::vector<ValidationRecord> validate_plasticity(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : {MeshKind::one_diagonal, MeshKind::irregular}) {
    SheetInput input;
    input.mesh = rectangle(kind, 1, 0.1, 20, 2);
    input.material = {1e9, 0.0, 2e-3};
    SheetPlasticity plastic;
    plastic.yield_strain = 1e-3;
    plastic.full_section = false;  // κ_y = 1 per metre
    input.plastic = plastic;
    const double bent = 3.0;  // 1/m
    input.positions = input.mesh.vertices;
    for (Eigen::Index i = 0; i < input.positions.rows(); ++i) {
      const double a = input.mesh.vertices(i, 0) * bent;
      input.positions.row(i) << std::sin(a) / bent, (1 - std::cos(a)) / bent, input.mesh.vertices(i, 2);
    }
    ImplicitOptions options;
    options.inertia = false;
    options.linear = LinearMethod::direct;
    options.newton.max_iterations = 200;
    SheetModel model({input}, options);
    StepInput step;
    step.dt = 1;
    model.hold_vertices(step);
    bool ok = model.step(step).status == StepStatus::ok;
    // A corner's triangle: no rigid motion.
    step.held = SheetModel::fixed(model.solver().state().positions, {0, 1, 21});
    ok = ok && model.step(step).status == StepStatus::ok;
    const SheetFields fields = model.body(0).fields(model.solver().state().positions);
    double mean = 0, count = 0;
    for (Eigen::Index t = 0; t < input.mesh.triangles.rows(); ++t) {
      double x = 0;
      for (int k = 0; k < 3; ++k) x += input.mesh.vertices(input.mesh.triangles(t, k), 0) / 3;
      if (x < 0.2 || x > 0.8) continue;
      mean += fields.curvatures(t, 0);
      ++count;
    }
    records.push_back(near(to_string(kind) + ": curvature left after bending to 3/m with κ_y 1/m (1/m)",
                           ok ? mean / count : 0.0, 2.0, 0.02, "κ − κ_y, elastic–ideally plastic"));
  }
  return records;
}

}  // namespace exemplar::shells
