// Plastic flow of sheets beside closed forms: a strip that is pulled, with hardening, and a strip at its limit load.
#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"
#include "shells/checks/validation.h"

namespace exemplar::shells {

namespace {

constexpr double k_young = 1e9;

// Force (N) on the moved end of a strip of 1 × 0.1 m, in direction c, whose end goes `way` in equal steps.
double end_force(StaticSheet strip, const YieldCurve& yield, int c, double way, int steps) {
  SheetPlasticity plastic;
  plastic.yield_strain = yield.as_strains(k_young);
  strip.input.plastic = plastic;
  const TriMesh mesh = strip.input.mesh;
  const auto end = vertices_where(mesh.vertices, [](const Vec3& x) { return x.x() > 1 - 1e-9; });
  ImplicitOptions options;
  options.inertia = false;
  options.linear = LinearMethod::direct;
  options.newton.max_iterations = 200;
  SheetModel model({strip.input}, options);
  double force = 0;
  for (int k = 1; k <= steps; ++k) {
    StepInput step;
    step.dt = 1;
    step.held = strip.held;
    for (SupportedNode node : hold(mesh.vertices, end, c == 0, c == 1, false)) {
      node.position[c] += way * k / steps;
      step.held.push_back(node);
    }
    if (model.step(step).status != StepStatus::ok) return 0;
    force = 0;
    for (const Reaction& r : model.solver().reactions()) {
      if (std::find(end.begin(), end.end(), r.node) != end.end()) force += r.force[c];
    }
  }
  return force;
}

}  // namespace

std::vector<ValidationRecord> validate_plastic_strips(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const double thickness = 0.01, width = 0.1, yield = 1e6;
  const auto strip = [&](MeshKind kind) {
    return clamped_strip(rectangle(kind, 1, width, 40, 4), {k_young, 0.0, thickness}, false);
  };
  const double section = width * thickness, slope = 1e8, way = 0.02;
  for (const MeshKind kind : {MeshKind::one_diagonal, MeshKind::irregular}) {
    const double pulled = end_force(strip(kind), YieldCurve(yield, slope), 0, way, 100);
    records.push_back(near_relative(to_string(kind) + ": force that pulls a strip that hardens, N", pulled,
                                    section * (yield + slope * way) / (1 + slope / k_young), 0.05,
                                    "σ = (σ_y + H ε)/(1 + H/E)"));
    // The deflection at which an elastic strip would reach the full plastic moment, five times.
    const double bent = -end_force(strip(kind), yield, 1, -5 * yield / (k_young * thickness), 400);
    records.push_back(near_relative(to_string(kind) + ": cantilever at its limit, moment at the clamp, N·m",
                                    bent * 1, yield * width * thickness * thickness / 4, 0.1,
                                    "M_p = σ_y b h²/4"));
  }
  return records;
}

}  // namespace exemplar::shells
