// Curved shells against published numbers: linear (Scordelis-Lo roof), with a limit load (hinged roof) and with
// large deflection (cylinders pulled and pinched; Sze et al. 2004). Whole shells, without use of symmetry.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/base/index.h"
#include "core/mesh/models/primitives.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"
#include "shells/checks/validation.h"

namespace exemplar::shells {

namespace {

// A rectangle (length along x, arc along z) bent about an axis below it; the crown at y = 0, z = 0.
TriMesh arch(MeshKind kind, double length, double radius, double half_angle, int cells) {
  TriMesh mesh = rectangle(kind, length, 2 * half_angle * radius, cells, cells);
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
    const double a = mesh.vertices(i, 2) / radius - half_angle;
    mesh.vertices.row(i) << mesh.vertices(i, 0) - 0.5 * length, radius * (std::cos(a) - 1),
        radius * std::sin(a);
  }
  return mesh;
}

int vertex_at(const Points& x, const Vec3& place) {
  Eigen::Index nearest = 0;
  (x.rowwise() - place.transpose()).rowwise().squaredNorm().minCoeff(&nearest);
  return to_int(nearest);
}

double scordelis_lo(MeshKind kind, int cells) {
  const double scale = 1e-4;  // of the load: small displacements
  StaticSheet roof;
  roof.input.mesh = arch(kind, 50, 25, 40 * std::numbers::pi / 180, cells);
  roof.input.material = {4.32e8, 0, 0.25};
  const Points& x = roof.input.mesh.vertices;
  roof.held = hold(x, vertices_where(x, [](const Vec3& p) { return std::abs(p.x()) > 25 - 1e-6; }), false);
  roof.held.front().held[0] = true;
  const VecX weights = Sheet(roof.input.mesh, false).vertex_masses(scale * 90);
  roof.forces = -weights * Eigen::RowVector3d::UnitY();
  const StaticAnswer answer = solve_static(roof, 1);
  if (!answer.ok) return 0;
  const double side = 40 * std::numbers::pi / 180;
  const int edge = vertex_at(x, Vec3(0, 25 * (std::cos(side) - 1), 25 * std::sin(side)));
  return (x(edge, 1) - answer.positions(edge, 1)) / scale;
}

}  // namespace

std::vector<ValidationRecord> validate_scordelis_lo(const ValidationContext& context) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : {MeshKind::alternating, MeshKind::equilateral}) {
    double before = 0;
    for (const int cells : {16, 32, 64}) {
      if (cells == 64 && !context.slow) continue;
      const double deflection = scordelis_lo(kind, cells);
      const double error = deflection / 0.3024 - 1;
      if (cells >= 32)
        records.push_back(
            near_relative(fmt::format("Scordelis-Lo roof, {}, {}² cells: free edge (error {:.2f} of that "
                                      "with half the cells)",
                                      to_string(kind), cells, error / before),
                          deflection, 0.3024, cells == 32 ? 0.05 : 0.02, "published, deep shell theory"));
      before = error;
    }
  }
  return records;
}

std::vector<ValidationRecord> validate_hinged_roof(const ValidationContext&) {
  SheetInput input;
  input.mesh = arch(MeshKind::alternating, 508, 2540, 0.1, 16);
  input.material = {3102.75, 0.3, 12.7};
  const Points& x = input.mesh.vertices;
  const int centre = vertex_at(x, Vec3::Zero());
  const std::vector<int> hinged =
      vertices_where(x, [](const Vec3& p) { return std::abs(p.z()) > 2540 * std::sin(0.1) - 1e-6; });
  ImplicitOptions options;
  options.inertia = false;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-8;
  SheetModel model({input}, options);
  double limit = 0;
  bool fell = false;
  for (int k = 1; k <= 30 && !fell; ++k) {
    StepInput step;
    step.dt = 1;
    step.held = hold(x, hinged);
    SupportedNode loaded = SheetModel::fixed(x, {centre}).front();
    loaded.held = {false, true, false};
    loaded.position.y() = -0.5 * k;
    step.held.push_back(loaded);
    if (model.step(step).status != StepStatus::ok) break;
    const double reaction = model.solver().internal_forces()(centre, 1);
    fell = reaction < limit;
    limit = std::max(limit, reaction);
  }
  return {near_relative("hinged roof, thickness 12.7, 16² cells: limit load", fell ? limit : 0.0, 2226, 0.05,
                        "Sze et al. 2004: 0.7421 of 3000")};
}

namespace {

// A whole cylinder about x with opposite forces at its middle; what holds rigid motions is on lines of symmetry.
StaticSheet loaded_cylinder(double radius, double length, int around, const PlateMaterial& material,
                            double force) {
  StaticSheet sheet;
  sheet.input.mesh = make_sleeve({radius, length, around});
  sheet.input.material = material;
  const Points& x = sheet.input.mesh.vertices;
  const int top = vertex_at(x, Vec3(0, radius, 0)), bottom = vertex_at(x, Vec3(0, -radius, 0)),
            side = vertex_at(x, Vec3(0, 0, radius));
  sheet.forces = Points::Zero(x.rows(), 3);
  sheet.forces(top, 1) = force;
  sheet.forces(bottom, 1) = -force;
  for (const int v : {top, bottom}) sheet.held.push_back(hold(x, {v}, true, false, true).front());
  sheet.held.push_back(hold(x, {side}, true, true, false).front());
  return sheet;
}

}  // namespace

std::vector<ValidationRecord> validate_pullout(const ValidationContext&) {
  const double radius = 4.953, length = 10.35;
  const StaticSheet sheet = loaded_cylinder(radius, length, 62, {10.5e6, 0.3125, 0.094}, 40000);
  const Points& x = sheet.input.mesh.vertices;
  const StaticAnswer answer = solve_static(sheet, 40);
  const auto moved = [&](const Vec3& place, int axis) {
    const int v = vertex_at(x, place);
    return answer.ok ? answer.positions(v, axis) - x(v, axis) : 0.0;
  };
  const std::string source = "Sze et al. 2004; here 62 edges around";
  return {
      near_relative("pullout of an open cylinder: at the force", moved(Vec3(0, radius, 0), 1), 2.768, 0.05,
                    source),
      near_relative("beside it, in the middle", moved(Vec3(0, 0, radius), 2), -4.551, 0.05, source),
      near_relative("beside it, at the end", moved(Vec3(0.5 * length, 0, radius), 2), -3.269, 0.05, source)};
}

std::vector<ValidationRecord> validate_pinched_cylinder(const ValidationContext&) {
  const double radius = 100, length = 200;
  StaticSheet sheet = loaded_cylinder(radius, length, 98, {3e4, 0.3, 1.0}, -12000);
  const Points& x = sheet.input.mesh.vertices;
  for (const SupportedNode& node : hold(
           x, vertices_where(x, [&](const Vec3& p) { return std::abs(p.x()) > 0.5 * length - 1e-6; }), false))
    sheet.held.push_back(node);
  const StaticAnswer answer = solve_static(sheet, 60);
  const int top = vertex_at(x, Vec3(0, radius, 0)), side = vertex_at(x, Vec3(0, 0, radius));
  const std::string source = "Sze et al. 2004; here 98 edges around";
  return {near_relative("pinched cylinder on diaphragms: at the force",
                        answer.ok ? x(top, 1) - answer.positions(top, 1) : 0, 83.102, 0.05, source),
          near_relative("beside it, in the middle", answer.ok ? answer.positions(side, 2) - x(side, 2) : 0,
                        34.272, 0.05, source)};
}

}  // namespace exemplar::shells
