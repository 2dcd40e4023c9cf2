// Energies of sheets bent to given shapes, on five kinds of meshes and in both models.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "core/base/index.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"
#include "shells/checks/validation.h"

namespace exemplar::shells {

namespace {

// A surface over the flat sheet: where a point (x, z) goes, and the normal there.
struct Shape {
  std::string name;
  std::function<Vec3(const Vec3&)> place, normal;
  double density = 0;  // bending energy per area over D
};

// y = ½ κ_u u² + ½ κ_v v² with u, v turned by `angle`; small slopes.
Shape quadratic(const std::string& name, double k_u, double k_v, double angle, double poisson) {
  const Vec3 u(std::cos(angle), 0, std::sin(angle)), v(-std::sin(angle), 0, std::cos(angle));
  Shape shape;
  shape.name = name;
  shape.place = [=](const Vec3& x) {
    return Vec3(x + (0.5 * k_u * std::pow(x.dot(u), 2) + 0.5 * k_v * std::pow(x.dot(v), 2)) * Vec3::UnitY());
  };
  shape.normal = [=](const Vec3& x) {
    return Vec3(Vec3::UnitY() - k_u * x.dot(u) * u - k_v * x.dot(v) * v).normalized();
  };
  shape.density = 0.5 * (k_u * k_u + k_v * k_v + 2 * poisson * k_u * k_v);
  return shape;
}

// Rolled about an axis that is turned by `angle`, without stretch.
Shape cylinder(const std::string& name, double radius, double angle) {
  const Vec3 u(std::cos(angle), 0, std::sin(angle));
  Shape shape;
  shape.name = name;
  shape.place = [=](const Vec3& x) {
    const double a = x.dot(u) / radius;
    return Vec3(x + (radius * std::sin(a) - x.dot(u)) * u + radius * (1 - std::cos(a)) * Vec3::UnitY());
  };
  shape.normal = [=](const Vec3& x) {
    const double a = x.dot(u) / radius;
    return Vec3(std::cos(a) * Vec3::UnitY() - std::sin(a) * u);
  };
  shape.density = 0.5 / (radius * radius);
  return shape;
}

// The φ of every edge for which the normal at its middle is the surface's.
VecX exact_phi(const Sheet& sheet, const Points& nodes, const VecX& theta, const Shape& shape) {
  VecX phi = VecX::Zero(theta.size());
  for (std::size_t e = 0; e < sheet.edges().size(); ++e) {
    const SheetEdge& edge = sheet.edges()[e];
    const int side = edge.triangles[0] >= 0 ? 0 : 1;
    const Points& flat = sheet.mesh().vertices;
    const Vec3 normal = shape.normal(0.5 * (flat.row(edge.points[0]) + flat.row(edge.points[1])).transpose());
    const Vec3 a = nodes.row(edge.points[0]).transpose(), b = nodes.row(edge.points[1]).transpose();
    const Vec3 wing = nodes.row(edge.points[to_size(2 + side)]).transpose();
    const Vec3 along = (b - a).normalized();
    const Vec3 inward = (wing - a - (wing - a).dot(along) * along).normalized();
    const Vec3 face = side == 0 ? Vec3(along.cross(inward)) : Vec3(inward.cross(along));
    const double alpha = std::atan2(normal.dot(inward), normal.dot(face));
    const SideRule& rule = edge.rule[to_size(side)];
    phi[to_row(e)] = rule.phi == 0 ? 0.0 : (alpha - rule.theta * theta[to_row(e)]) / rule.phi;
  }
  return phi;
}

// Bending energy over its value by theory, with the angles inside relaxed and those of the border exact.
double energy_ratio(SheetInput input, const Shape& shape) {
  const Points flat = input.mesh.vertices;
  input.positions = flat;
  for (Eigen::Index i = 0; i < flat.rows(); ++i)
    input.positions.row(i) = shape.place(flat.row(i).transpose()).transpose();
  ImplicitOptions options;
  options.inertia = false;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-12;
  SheetModel model({input}, options);
  const Sheet& sheet = model.body(0).sheet();
  ImplicitState state = model.solver().state();
  sheet.set_phi(state.positions, exact_phi(sheet, state.positions, sheet.angles(state.positions, {}), shape));
  model.solver().set_state(state);
  StepInput step;
  step.dt = 1;
  for (const SheetEdge& edge : sheet.edges()) {
    if (edge.pack < 0 || (edge.triangles[0] >= 0 && edge.triangles[1] >= 0)) continue;
    SupportedNode pack = SheetModel::fixed(state.positions, {edge.pack}).front();
    pack.held = {false, false, false};
    pack.held[to_size(edge.coordinate)] = true;
    step.held.push_back(pack);
  }
  model.hold_vertices(step);
  if (sheet.pack_count() > 0 && model.step(step).status != StepStatus::ok) return 0;
  const double theory = shape.density * input.material.flexural_rigidity() * sheet.area();
  return model.body(0).bending_energy(model.solver().state().positions) / theory;
}

Vec3 centre_of(const TriMesh& mesh, Eigen::Index t) {
  Vec3 centre = Vec3::Zero();
  for (int k = 0; k < 3; ++k) centre += mesh.vertices.row(mesh.triangles(t, k)).transpose() / 3;
  return centre;
}

Eigen::Index triangle_at(const TriMesh& mesh, const Vec3& place) {
  Eigen::Index nearest = 0;
  for (Eigen::Index t = 1; t < mesh.triangles.rows(); ++t) {
    if ((centre_of(mesh, t) - place).norm() < (centre_of(mesh, nearest) - place).norm()) nearest = t;
  }
  return nearest;
}

SheetInput flat_sheet(MeshKind kind, int cells, SheetModelKind model) {
  SheetInput input;
  const double width = kind == MeshKind::equilateral ? 0.5 * std::sqrt(3.0) : 1.0;
  input.mesh = rectangle(kind, 1, width, cells, cells);
  input.mesh.vertices.rowwise() -= Eigen::RowVector3d(0.5, 0, 0.5 * width);
  input.material = {1e6, 0.3, 1e-3};
  input.model = model;
  return input;
}

}  // namespace

std::vector<ValidationRecord> validate_constant_curvature(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const double k = 1e-4, quarter = std::numbers::pi / 4;
  const std::vector<Shape> shapes{quadratic("cylinder", k, 0, 0, 0.3),
                                  quadratic("cylinder at 45°", k, 0, quarter, 0.3),
                                  quadratic("saddle", k, -k, 0, 0.3), quadratic("cap", k, k, 0, 0.3)};
  for (const MeshKind kind : k_mesh_kinds) {
    for (const Shape& shape : shapes) {
      const double physical = energy_ratio(flat_sheet(kind, 8, SheetModelKind::physical), shape);
      const double paper = energy_ratio(flat_sheet(kind, 8, SheetModelKind::paper), shape);
      records.push_back(near(fmt::format("{}, {}: bending energy / theory (the paper's model: {:.3f})",
                                         to_string(kind), shape.name, paper),
                             physical, 1, 1e-4, "½ D (κ₁² + κ₂² + 2 ν κ₁ κ₂) per area"));
    }
  }
  return records;
}

std::vector<ValidationRecord> validate_finite_bending(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : k_mesh_kinds) {
    for (const double angle : {0.0, std::numbers::pi / 4}) {
      const Shape shape = cylinder("cylinder", 1.0, angle);
      const double coarse = energy_ratio(flat_sheet(kind, 8, SheetModelKind::physical), shape);
      const double fine = energy_ratio(flat_sheet(kind, 16, SheetModelKind::physical), shape);
      const std::string what =
          fmt::format("{}, cylinder of radius 1 at {:.0f}°", to_string(kind), angle * 180 / std::numbers::pi);
      const double paper = energy_ratio(flat_sheet(kind, 16, SheetModelKind::paper), shape);
      records.push_back(
          near(fmt::format("{}, 16 cells: bending energy / theory (the paper's model: {:.3f})", what, paper),
               fine, 1, 1e-3, "½ D/R² per area"));
      // Where edges lie along the generators the energy is exact on any mesh.
      if (std::abs(coarse - 1) > 1e-9)
        records.push_back(at_most(what + ": error at 16 cells / at 8",
                                  std::abs(fine - 1) / std::abs(coarse - 1), 0.5, "falls under refinement"));
    }
  }
  return records;
}

std::vector<ValidationRecord> validate_patch(const ValidationContext&) {
  SheetInput input = flat_sheet(MeshKind::irregular, 6, SheetModelKind::physical);
  Mat3 f;
  f << 1.1, 0, 0.05, 0, 1, 0, -0.03, 0, 0.95;
  const std::vector<int> border = vertices_where(input.mesh.vertices, [](const Vec3& x) {
    return std::max(std::abs(x.x()), std::abs(x.z())) > 0.5 - 1e-9;
  });
  StaticSheet sheet;
  sheet.input = input;
  sheet.input.positions = input.mesh.vertices;
  for (const int v : border)
    sheet.input.positions.row(v) = (f * input.mesh.vertices.row(v).transpose()).transpose();
  sheet.held = hold(sheet.input.positions, border);
  sheet.tolerance = 1e-14;
  const StaticAnswer answer = solve_static(sheet, 1);
  double worst = 0;
  for (Eigen::Index i = 0; answer.ok && i < answer.positions.rows(); ++i)
    worst = std::max(
        worst, (answer.positions.row(i).transpose() - f * input.mesh.vertices.row(i).transpose()).norm());
  return {{"affine border, irregular mesh: solved", answer.ok ? 1.0 : 0.0, 1, 0, answer.ok, "patch test"},
          at_most("deviation from the affine map (m)", worst, 1e-12,
                  "an affine border gives an affine interior")};
}

// A pose given by positions only: half of a cylinder's curvature when blended half and half with the flat
// sheet.
std::vector<ValidationRecord> validate_half_cylinder(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : k_mesh_kinds) {
    SheetInput input = flat_sheet(kind, 12, SheetModelKind::physical);
    // Thick enough that chords, which do not blend like arcs, do not decide.
    input.material.thickness = 0.02;
    const Shape shape = cylinder("cylinder", 1.0, 0.3);
    SheetExamples examples;
    examples.poses = {input.mesh.vertices};
    for (Eigen::Index i = 0; i < input.mesh.vertices.rows(); ++i)
      examples.poses[0].row(i) = shape.place(input.mesh.vertices.row(i).transpose()).transpose();
    examples.initial_weights = VecX::Constant(1, 0.5);
    input.examples = {examples};
    input.internal_stiffness = 0;
    ImplicitOptions options;
    options.inertia = false;
    options.linear = LinearMethod::direct;
    options.newton.max_iterations = 200;
    SheetModel model({input}, options);
    StepInput step;
    step.dt = 1;
    step.given_weights = {VecX::Constant(1, 0.5)};
    const auto corners = input.mesh.triangles.row(triangle_at(input.mesh, Vec3(0.05, 0, 0.05)));
    step.held = SheetModel::fixed(input.mesh.vertices, {corners[0], corners[1], corners[2]});
    const bool ok = model.step(step).status == StepStatus::ok;
    const SheetFields fields = model.body(0).fields(model.solver().state().positions);
    double mean = 0, count = 0;
    for (Eigen::Index t = 0; t < input.mesh.triangles.rows(); ++t) {
      if (centre_of(input.mesh, t).cwiseAbs().maxCoeff() > 0.3) continue;
      mean += fields.curvatures(t, 0);
      ++count;
    }
    records.push_back(near(
        fmt::format("{}: curvature halfway between flat and a cylinder of radius 1 (1/m)", to_string(kind)),
        ok ? mean / count : 0.0, 0.5, 0.01, "linear blend of second fundamental forms"));
  }
  return records;
}

}  // namespace exemplar::shells
