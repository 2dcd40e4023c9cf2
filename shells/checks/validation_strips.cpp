// Clamped strips and a slit ring under large deflection, against published numbers, and lateral-torsional
// buckling.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/base/index.h"
#include "core/sparse/cholesky.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"
#include "shells/checks/validation.h"

namespace exemplar::shells {

namespace {

struct ElasticaRow {
  double gamma, drop, reach;
};
constexpr std::array<ElasticaRow, 6> k_elastica{{{0.1, .01250, .99991},
                                                 {1, .12347, .99125},
                                                 {3, .33965, .93151},
                                                 {10, .70020, .65635},
                                                 {30, .87309, .34276},
                                                 {100, .93752, .15922}}};

struct Tip {
  double drop = 0, reach = 0, locking = 0;
  bool ok = false;
};

// A strip of length 1 clamped at one end under its own weight w = Γ EI/L³.
Tip hang(MeshKind kind, SheetModelKind model, double gamma, double thickness, int cells, bool curved) {
  const int rows = 2;
  const double width = kind == MeshKind::equilateral ? rows * 0.5 * std::sqrt(3.0) / cells : 2.0 / cells;
  const PlateMaterial material{1e6, 0.0, thickness};
  StaticSheet strip = clamped_strip(rectangle(kind, 1, width, cells, rows), material, curved);
  strip.input.model = model;
  const Sheet sheet(strip.input.mesh, false);
  const VecX weight = sheet.vertex_masses(gamma * material.flexural_rigidity());
  strip.forces = -weight * Eigen::RowVector3d::UnitY();
  const StaticAnswer answer = solve_static(strip, gamma > 20 ? 4 : 2);
  Tip tip;
  tip.ok = answer.ok;
  if (!answer.ok) return tip;
  tip.locking = answer.locking;
  const std::vector<int> end =
      vertices_where(strip.input.mesh.vertices, [](const Vec3& x) { return x.x() > 1 - 1e-9; });
  for (const int v : end) {
    tip.drop -= answer.positions(v, 1) / static_cast<double>(end.size());
    tip.reach += answer.positions(v, 0) / static_cast<double>(end.size());
  }
  return tip;
}

void add_tip(std::vector<ValidationRecord>& records, const std::string& what, const Tip& tip,
             const ElasticaRow& row, double tolerance) {
  const double error = std::hypot(tip.drop - row.drop, tip.reach - row.reach);
  const double moved = std::hypot(row.drop, 1 - row.reach);
  records.push_back(
      at_most(fmt::format("{}, Γ {}: error of the tip / its way (drop {:.5f} of {:.5f}, reach {:.5f} of "
                          "{:.5f}, κl²/h {:.2g})",
                          what, row.gamma, tip.drop, row.drop, tip.reach, row.reach, tip.locking),
              tip.ok ? error / moved : 1.0, tolerance, "heavy elastica"));
}

}  // namespace

std::vector<ValidationRecord> validate_elastica(const ValidationContext& context) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : k_mesh_kinds) {
    for (const ElasticaRow& row : k_elastica) {
      if (!context.slow && row.gamma != 1 && row.gamma != 10 && row.gamma != 100) continue;
      const Tip tip = hang(kind, SheetModelKind::physical, row.gamma, 1e-2, 20, false);
      const Tip paper = hang(kind, SheetModelKind::paper, row.gamma, 1e-2, 20, false);
      const std::string beside = paper.ok ? fmt::format(" (the paper's model: drop {:.4f})", paper.drop)
                                          : std::string(" (paper: unsolved)");
      add_tip(records, to_string(kind) + beside, tip, row, 0.01);
    }
  }
  return records;
}

std::vector<ValidationRecord> validate_curved_membrane(const ValidationContext& context) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : k_mesh_kinds) {
    for (const double thickness : {1e-2, 1e-3, 1e-4}) {
      // The hardest two of all mesh kinds and thicknesses without --slow.
      if (!context.slow && (thickness != 1e-4 || (kind != MeshKind::crossed && kind != MeshKind::irregular)))
        continue;
      const ElasticaRow& row = k_elastica[3];
      const Tip tip = hang(kind, SheetModelKind::physical, row.gamma, thickness, 20, true);
      add_tip(records, fmt::format("{}, curved membrane, h/L {:.0e}", to_string(kind), thickness), tip, row,
              0.005);
    }
  }
  return records;
}

namespace {

// P/P_max, −U, W.
constexpr std::array<std::array<double, 3>, 11> k_tip_shear{{{.05, .026, .663},
                                                             {.10, .103, 1.309},
                                                             {.20, .381, 2.493},
                                                             {.30, .763, 3.488},
                                                             {.40, 1.184, 4.292},
                                                             {.50, 1.604, 4.933},
                                                             {.60, 2.002, 5.444},
                                                             {.70, 2.370, 5.855},
                                                             {.80, 2.705, 6.190},
                                                             {.90, 3.010, 6.467},
                                                             {1.0, 3.286, 6.698}}};

// Largest error over the eleven loads, relative to the deflection; 1: not solved.
double tip_shear_error(MeshKind kind, SheetModelKind model) {
  StaticSheet strip = clamped_strip(rectangle(kind, 10, 1, 20, 2), {1.2e6, 0, 0.1}, false);
  strip.input.model = model;
  const std::vector<int> end =
      vertices_where(strip.input.mesh.vertices, [](const Vec3& x) { return x.x() > 10 - 1e-9; });
  strip.forces = edge_load(strip.input.mesh, end, Vec3(0, 4, 0));
  double worst = 0;
  const auto compare = [&](double part, const Points& x) {
    for (const auto& row : k_tip_shear) {
      if (std::abs(row[0] - part) > 1e-6) continue;
      const Vec3 tip = x.row(end[end.size() / 2]).transpose();
      worst = std::max(worst, std::hypot(10 - tip.x() - row[1], tip.y() - row[2]) / row[2]);
    }
  };
  return solve_static(strip, 20, compare).ok ? worst : 1.0;
}

}  // namespace

std::vector<ValidationRecord> validate_tip_shear(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : k_mesh_kinds) {
    records.push_back(at_most(
        fmt::format("{}: tip under end shear, largest error over eleven loads / deflection (the paper's "
                    "model: {:.3f})",
                    to_string(kind), tip_shear_error(kind, SheetModelKind::paper)),
        tip_shear_error(kind, SheetModelKind::physical), 0.01, "Sze et al. 2004"));
  }
  return records;
}

namespace {

// How far the two corners at the slit rise under the full load; 0: not solved.
struct Lift {
  double inner = 0, outer = 0;
  int iterations = 0;
};

Lift lift_slit_ring(MeshKind kind, SheetModelKind model, int around) {
  const int across = around * 8 / 60;
  StaticSheet ring;
  // A rectangle bent to a ring: x is the angle, z the radius.
  TriMesh flat = rectangle(kind, 2 * std::numbers::pi, 4, around, across), mesh = flat;
  for (Eigen::Index i = 0; i < flat.vertices.rows(); ++i) {
    const double r = 6 + flat.vertices(i, 2), a = flat.vertices(i, 0);
    mesh.vertices.row(i) << r * std::cos(a), 0, r * std::sin(a);
  }
  const std::vector<int> clamped = vertices_where(flat.vertices, [](const Vec3& x) { return x.x() < 1e-9; });
  const std::vector<int> loaded =
      vertices_where(flat.vertices, [](const Vec3& x) { return x.x() > 2 * std::numbers::pi - 1e-9; });
  ring.held = hold(mesh.vertices, clamped);
  ring.input.clamped_edges = border_among(mesh, clamped);
  ring.input.mesh = mesh;
  ring.input.model = model;
  ring.input.material = {2.1e7, 0, 0.03};
  ring.forces = edge_load(mesh, loaded, Vec3(0, 0.8, 0));
  const StaticAnswer answer = solve_static(ring, 10);
  if (!answer.ok) return {};
  return {answer.positions(loaded.front(), 1), answer.positions(loaded.back(), 1), answer.iterations};
}

}  // namespace

std::vector<ValidationRecord> validate_slit_ring(const ValidationContext& context) {
  std::vector<ValidationRecord> records;
  for (const MeshKind kind : k_mesh_kinds) {
    if (kind != MeshKind::alternating && !context.slow) continue;
    for (const int around : {30, 60}) {
      if (around == 30 && !context.slow) continue;
      const Lift lift = lift_slit_ring(kind, SheetModelKind::physical, around);
      std::string what = fmt::format("slit ring, {}, {}×{} cells", to_string(kind), around, around * 8 / 60);
      if (context.slow) {
        const Lift paper = lift_slit_ring(kind, SheetModelKind::paper, around);
        what += fmt::format(" (the paper's model: {:.2f}, {:.2f})", paper.inner, paper.outer);
      }
      const double tolerance = around == 60 ? 0.03 : 0.12;
      records.push_back(
          near_relative(what + ", inner corner", lift.inner, 13.891, tolerance, "Sze et al. 2004"));
      records.push_back(
          near_relative(what + ", outer corner", lift.outer, 17.528, tolerance, "Sze et al. 2004"));
    }
  }
  return records;
}

namespace {

// True if the flat strip standing on edge is stable under its own weight λ √(EI·GJ)/L³ per length.
bool is_stable(double lambda, int cells) {
  const double depth = 0.02, poisson = 0.3, thickness = 4e-4, young = 1e9;
  const int rows = 4;
  TriMesh flat = rectangle(MeshKind::alternating, 1, depth, cells, rows), mesh = flat;
  mesh.vertices.col(1) = -flat.vertices.col(2);  // stands upright in the xy plane
  mesh.vertices.col(2).setZero();
  const PlateMaterial material{young, poisson, thickness};
  StaticSheet strip = clamped_strip(mesh, material, false);
  const double ei = young * depth * std::pow(thickness, 3) / 12;
  const double gj = young / (2 * (1 + poisson)) * depth * std::pow(thickness, 3) / 3;
  const Sheet sheet(strip.input.mesh, false);
  const VecX weight = sheet.vertex_masses(lambda * std::sqrt(ei * gj) / depth);
  ImplicitOptions options;
  options.inertia = false;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-10;
  SheetModel model({strip.input}, options);
  StepInput step;
  step.dt = 1;
  step.held = strip.held;
  step.forces = Points::Zero(model.solver().state().positions.rows(), 3);
  step.forces.topRows(weight.size()) = -weight * Eigen::RowVector3d::UnitY();
  if (model.step(step).status != StepStatus::ok) return false;
  model.complete(step);
  VecX z;
  const auto problem = model.solver().make_problem(step, z);
  BorderedHessian hessian;
  hessian.reset(problem->pattern(), 0);
  problem->hessian(z, false, hessian);
  Cholesky factor(problem->pattern());
  return factor.factorise(hessian.a);
}

}  // namespace

std::vector<ValidationRecord> validate_buckling(const ValidationContext&) {
  double low = 8, high = 20;
  for (int k = 0; k < 12; ++k) {
    const double middle = 0.5 * (low + high);
    (is_stable(middle, 150) ? low : high) = middle;
  }
  return {near_relative("lateral-torsional buckling of a clamped strip: w L³/√(EI·GJ)", 0.5 * (low + high),
                        12.854, 0.02, "Prandtl, Michell: clamped strip under its weight; b/L 0.02")};
}

}  // namespace exemplar::shells
