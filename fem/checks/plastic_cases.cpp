// Plastic flow beside closed forms: a bar that is pulled, a beam at its limit load, Taylor's rod.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/mesh/volume/tet_box.h"
#include "fem/checks/validation.h"
#include "fem/element_fields.h"
#include "fem/solid_model.h"

namespace exemplar::fem {

namespace {

constexpr double k_metal_young = 1e8, k_metal_poisson = 0.3, k_metal_yield = 1e6, k_metal_density = 1000;

SolidBody plastic_body(TetMesh mesh, const YieldCurve& yield) {
  SolidBody body;
  body.mesh = std::move(mesh);
  body.density = k_metal_density;
  body.energy = make_energy(ElasticModel::modified_stvk, k_metal_young, k_metal_poisson);
  PlasticBody plastic;
  plastic.parameters.yield = yield;
  body.plastic = plastic;
  return body;
}

// Holds coordinate c of the nodes on the lower (−1) or upper (1) face of the box across c, `shift` away from there.
void hold_face(const Points& rest, int c, int side, double shift, std::vector<SupportedNode>& held) {
  const double face = side < 0 ? rest.col(c).minCoeff() : rest.col(c).maxCoeff();
  for (int i = 0; i < to_int(rest.rows()); ++i) {
    if (std::abs(rest(i, c) - face) > 1e-9) continue;
    auto same = std::find_if(held.begin(), held.end(), [&](const SupportedNode& n) { return n.node == i; });
    if (same == held.end()) same = held.insert(held.end(), {i, {false, false, false}, rest.row(i)});
    same->held[to_size(c)] = true;
    same->position[c] = face + shift;
  }
}

struct PulledBar {
  double true_stress = 0;  // force on the end over the section's area, Pa
  double written = 0;      // mean von Mises stress as it is written, Pa
  double spread = 0;       // of the latter over the elements, relative
  double dissipation = 0;  // per volume, J/m³
  double iterations = 0;   // of Newton's method, per step
  bool ok = true;
};

// A bar of 0.1 × 0.02 × 0.02 m is pulled to `stretch` at a rate of strain (1/s; of the length at rest) in `steps`. It
// starts in the motion of uniform strain: no waves run.
PulledBar pull(const YieldCurve& yield, double stretch, double rate, int steps) {
  const double length = 0.1;
  SolidBody body = plastic_body(tet_box({length, 0.02, 0.02}, {6, 3, 3}), yield);
  const Points rest = body.mesh.vertices;
  body.velocities = rate * rest;
  body.velocities.rightCols<2>() *= -0.5;
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-9;
  SolidModel model({body}, options);
  StepInput input;
  input.dt = (stretch - 1) / rate / steps;
  PulledBar bar;
  for (int k = 1; k <= steps; ++k) {
    const double shift = 0.5 * length * (stretch - 1) * k / steps;
    input.time = k * input.dt;
    input.held.clear();
    hold_face(rest, 0, -1, -shift, input.held);
    hold_face(rest, 0, 1, shift, input.held);
    for (const int c : {1, 2}) hold_face(rest, c, -1, 0, input.held);
    const StepOutcome outcome = model.step(input);
    bar.ok = bar.ok && outcome.status == StepStatus::ok;
    bar.iterations += static_cast<double>(outcome.newton.iterations) / steps;
  }
  const Points x = model.body_positions(0);
  const auto width = [&](int c) { return x.col(c).maxCoeff() - x.col(c).minCoeff(); };
  double force = 0;
  for (const Reaction& r : model.solver().reactions()) force += rest(r.node, 0) > 0 ? r.force.x() : 0;
  bar.true_stress = force / (width(1) * width(2));
  const MatX written = element_fields(model, 0).von_mises;
  bar.written = written.mean();
  bar.spread = (written.maxCoeff() - written.minCoeff()) / bar.written;
  bar.dissipation = model.plastic_dissipation() / (length * 0.02 * 0.02);
  return bar;
}

}  // namespace

// Stress σ with σ = τ_y(ln λ − σ/E): the elastic part of the logarithmic strain is σ/E up to its square.
std::vector<ValidationRecord> validate_plastic_bar(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const double stretch = 1.2;
  for (const double rate : {0.02, 2.0, 20.0}) {
    const PulledBar bar = pull(k_metal_yield, stretch, rate, 40);
    const std::string at = fmt::format("bar pulled to {} at {}/s: ", stretch, rate);
    records.push_back(near_relative(at + "force over section, Pa", bar.ok ? bar.true_stress : 0,
                                    k_metal_yield, 0.01, "the yield stress"));
    records.push_back(near_relative(at + "von Mises stress as written, Pa", bar.written, k_metal_yield, 0.002,
                                    "the yield stress"));
    records.push_back(near_relative(at + "dissipation, J/m³", bar.dissipation,
                                    k_metal_yield * (std::log(stretch) - k_metal_yield / k_metal_young), 0.01,
                                    "σ_y (ln λ − σ_y/E)"));
  }
  const double slope = 2e6;
  const PulledBar line = pull(YieldCurve(k_metal_yield, slope), stretch, 2, 40);
  const double hardened =
      (k_metal_yield + slope * std::log(stretch)) / (1 + slope / k_metal_young);  // σ = σ_y + H (ln λ − σ/E)
  records.push_back(near_relative("linear hardening: force over section, Pa", line.ok ? line.true_stress : 0,
                                  hardened, 0.005, "σ = (σ_y + H ln λ)/(1 + H/E)"));
  const PulledBar curve = pull(YieldCurve({{0, 1e6}, {0.05, 1.3e6}, {0.1, 1.4e6}}), stretch, 2, 40);
  records.push_back(near_relative("yield curve, beyond its last point: force over section, Pa",
                                  curve.ok ? curve.true_stress : 0, 1.4e6, 0.005, "its last stress"));
  const PulledBar once = pull(k_metal_yield, stretch, 2, 1);
  records.push_back(near_relative("in one step: von Mises stress as written, Pa", once.ok ? once.written : 0,
                                  k_metal_yield, 0.005, "the yield stress, whatever the step"));
  return records;
}

// A clamped beam (1 × 0.1 × 0.1 m, quadratic tets) whose end is moved down to five times the deflection of first yield.
std::vector<ValidationRecord> validate_limit_load(const ValidationContext&) {
  const double length = 1, height = 0.1, yield = 1e-3 * k_metal_young;
  SolidBody body = plastic_body(tet_box({length, height, height}, {17, 5, 3}), yield);
  make_quadratic(body);
  const Points rest = body.mesh.vertices;
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.inertia = false;
  SolidModel model({body}, options);
  const double first_yield = 2 * yield * length * length / (3 * k_metal_young * height);
  StepInput input;
  input.dt = 1;
  double force = 0;
  bool ok = true;
  const int steps = 25;
  for (int k = 1; k <= steps && ok; ++k) {
    input.held.clear();
    for (int i = 0; i < to_int(rest.rows()); ++i) {
      // The section at the clamp is free to widen: held in all directions it would yield in plane strain, 2/√3 later.
      if (rest(i, 0) < -0.5 * length + 1e-9) {
        const bool is_middle = std::abs(rest(i, 1)) < 1e-9, is_centre = std::abs(rest(i, 2)) < 1e-9;
        input.held.push_back({i, {true, is_middle, is_centre}, rest.row(i)});
      }
      if (rest(i, 0) < 0.5 * length - 1e-9) continue;
      input.held.push_back({i, {false, true, false}, rest.row(i)});
      input.held.back().position.y() -= 5 * first_yield * k / steps;
    }
    ok = model.step(input).status == StepStatus::ok;
    force = 0;
    for (const Reaction& r : model.solver().reactions()) force -= rest(r.node, 0) > 0 ? r.force.y() : 0;
  }
  const double plastic_moment = yield * std::pow(height, 3) / 4;
  return {near_relative("cantilever at five times its deflection of first yield: moment at the clamp, N·m",
                        ok ? force * length : 0, plastic_moment, 0.1, "M_p = σ_y b h²/4")};
}

// Taylor's rod: one end stops dead at 30 m/s. Taylor 1948 with the plastic front of Wilkins and Guinan 1973:
// (L_f − s)/(L − s) = exp(−ρ v²/(2 σ_y)), s = 0.12 L.
std::vector<ValidationRecord> validate_taylor_rod(const ValidationContext&) {
  const double length = 0.1, speed = 30, time = 6e-3;
  std::vector<ValidationRecord> records;
  const double exponent = k_metal_density * speed * speed / (2 * k_metal_yield);
  const double expected = 0.12 + 0.88 * std::exp(-exponent);
  for (const int cells : {3, 6}) {
    SolidBody body = plastic_body(tet_box({length, 0.03, 0.03}, {10 * cells / 3 + 1, cells + 1, cells + 1}),
                                  k_metal_yield);
    const Points rest = body.mesh.vertices;
    body.velocities = Points::Zero(rest.rows(), 3);
    body.velocities.col(0).setConstant(-speed);
    ImplicitOptions options;
    options.linear = LinearMethod::direct;
    options.integrator = Integrator::tr_bdf2;
    SolidModel model({body}, options);
    StepInput input;
    hold_face(rest, 0, -1, 0, input.held);
    bool ok = true;
    while (input.time < time && ok) {
      for (const StepStage& stage : stages_of(Integrator::tr_bdf2, 5e-5)) {
        input.dt = stage.dt;
        input.rule = stage.rule;
        input.time += input.dt;
        ok = ok && model.step(input).status == StepStatus::ok;
      }
    }
    const Points x = model.body_positions(0);
    records.push_back(near(fmt::format("Taylor's rod, {} cells across: length left", cells),
                           ok ? (x.col(0).maxCoeff() - x.col(0).minCoeff()) / length : 0, expected, 0.05,
                           "Taylor 1948, Wilkins and Guinan 1973"));
  }
  return records;
}

}  // namespace exemplar::fem
