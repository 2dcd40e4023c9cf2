#include "meshless/shape_matching/stiffness.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/math/types.h"

namespace exemplar::shape_matching {

namespace {

constexpr double k_settling_ratio = 0.35, k_stable_damping = 1.4;

struct Oscillator {
  double alpha = 1.0, lookahead = 1.0;
};

// α and θ of one oscillator; past ω h = π/3 (undamped) α stays at 1.
Oscillator sampled_oscillator(double omega, double zeta, double dt) {
  const double damped = omega * std::sqrt(std::max(0.0, 1.0 - zeta * zeta));
  const double decay = std::exp(-zeta * omega * dt);
  Oscillator out;
  out.alpha = 1.0 + decay * decay - 2.0 * decay * std::cos(std::min(damped * dt, 1.0471975511965976));
  out.alpha = damped * dt > 1.0471975511965976 ? 1.0 : std::min(1.0, out.alpha);
  out.lookahead = out.alpha > 0.0 ? (1.0 - decay * decay) / out.alpha : 0.0;
  // A saturated cell cannot swing slower than its step: a look-ahead beyond one step would only throw it
  // further.
  if (out.alpha >= 1.0) out.lookahead = std::min(out.lookahead, 1.0);
  return out;
}

// The limit of small steps, for the slow modes of many cells; saturates at ω h = 1.
Oscillator wave_carrier(double omega, double zeta, double dt) {
  const double phase = omega * dt;
  if (phase >= 1.0) return {1.0, std::min(1.0, 2.0 * zeta * phase)};
  return {phase * phase, phase > 0.0 ? 2.0 * zeta / phase : 0.0};
}

}  // namespace

StiffnessPlan plan_stiffness(const StiffnessRequest& request) {
  assert(!request.mean_square_radii.empty() && request.dt > 0.0);
  const double dt = request.dt, rigid_share = std::max(1e-6, 1.0 - request.beta);
  const double finest = request.mean_square_radii.front() / request.softness;
  const double omega = request.frequency > 0.0 ? request.frequency * std::sqrt(request.softness)
                       : finest > 0.0          ? request.wave_speed / std::sqrt(finest * rigid_share)
                                               : 0.0;
  const double wanted = omega * omega * finest * rigid_share;  // c²
  const double zeta = std::max(request.damping_ratio,
                               std::min(1.0, request.damping_ratio + 0.5 * request.damping_time * omega));
  StiffnessPlan plan;
  const Oscillator finest_cell =
      request.is_single_cell ? sampled_oscillator(omega, zeta, dt) : wave_carrier(omega, zeta, dt);
  plan.lookahead = finest_cell.lookahead;
  plan.alphas.assign(request.mean_square_radii.size(), 0.0);
  plan.alphas[0] = finest_cell.alpha;
  const double one_pass = rigid_share * finest / (dt * dt);
  const double passes = one_pass > 0.0 ? std::ceil(std::min(1e6, wanted / one_pass) - 1e-9) : 1.0;
  plan.iterations = request.iterations > 0 ? request.iterations
                                           : std::clamp(static_cast<int>(passes), 1, request.max_iterations);
  double have = plan.alphas[0] * one_pass * plan.iterations;
  for (std::size_t level = 1; level < plan.alphas.size() && have < wanted; ++level) {
    const double full = rigid_share * request.mean_square_radii[level] / (request.softness * dt * dt);
    if (full <= 0.0) continue;
    plan.alphas[level] = std::min(1.0, (wanted - have) / full);
    have += plan.alphas[level] * full;
  }
  plan.reached = wanted > 0.0 ? std::min(1.0, have / wanted) : 1.0;
  plan.settling = plan.lookahead;
  if (request.extent > 0.0 && have > 0.0) {
    plan.slowest = 0.5 * EIGEN_PI * std::sqrt(std::min(have, wanted)) / request.extent;
    const double stable = k_stable_damping / std::max(plan.alphas[0], 1e-12);
    plan.settling = std::max(plan.lookahead, std::min(stable, 2.0 * k_settling_ratio / (plan.slowest * dt)));
  }
  return plan;
}

}  // namespace exemplar::shape_matching
