#include "meshless/shape_matching/stiffness.h"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/base/parallel.h"
#include "core/math/types.h"
#include "meshless/shape_matching/rigid_motion.h"

namespace exemplar::shape_matching {

namespace {

constexpr double k_settling_ratio = 0.35, k_stable_damping = 1.4;
constexpr double k_stable_stiffness = 3.0;  // bound of α (1 + 2 θ), which is unstable at 4

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
  if (phase <= 0.0) return {0.0, 0.0};
  const double alpha = phase * phase;
  return {alpha, std::min(0.5 * (k_stable_stiffness - alpha) / alpha, 2.0 * zeta / phase)};
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
  const double asked = request.damping_ratio + 0.5 * request.damping_time * omega;
  const double zeta = request.is_single_cell ? std::max(request.damping_ratio, std::min(1.0, asked)) : asked;
  StiffnessPlan plan;
  const Oscillator finest_cell =
      request.is_single_cell ? sampled_oscillator(omega, zeta, dt) : wave_carrier(omega, zeta, dt);
  plan.lookahead = finest_cell.lookahead;
  if (request.damping_time > 0.0 && !request.is_single_cell)
    plan.damped = std::min(1.0, plan.lookahead * dt / request.damping_time);
  plan.alphas.assign(request.mean_square_radii.size(), 0.0);
  plan.alphas[0] = finest_cell.alpha;
  const double one_pass = rigid_share * finest / (dt * dt);
  const double passes = one_pass > 0.0 ? std::ceil(std::min(1e6, wanted / one_pass) - 1e-9) : 1.0;
  plan.iterations = request.iterations > 0 ? request.iterations
                                           : std::clamp(static_cast<int>(passes), 1, request.max_iterations);
  if (request.trims_passes && request.iterations == 0 && plan.iterations > 1)
    plan.last_pass = std::min(1.0, wanted / one_pass - (plan.iterations - 1));
  double have = plan.alphas[0] * one_pass * (plan.iterations - 1 + plan.last_pass);
  // A single cell's motion is the same at any step until α is 1.
  const bool is_exact = wanted <= 0.0 || (request.is_single_cell && plan.alphas[0] < 1.0);
  plan.by_finest = is_exact ? 1.0 : std::min(1.0, have / wanted);
  for (std::size_t level = 1; level < plan.alphas.size() && have < (1.0 - 1e-9) * wanted; ++level) {
    const double full = rigid_share * request.mean_square_radii[level] / (request.softness * dt * dt);
    if (full <= 0.0) continue;
    plan.alphas[level] = std::min(1.0, (wanted - have) / full);
    have += plan.alphas[level] * full;
  }
  plan.reached = is_exact ? 1.0 : std::min(1.0, have / wanted);
  plan.settling = plan.lookahead;
  if (request.extent > 0.0 && have > 0.0) {
    plan.slowest = 0.5 * EIGEN_PI * std::sqrt(std::min(have, wanted)) / request.extent;
    const double stable = k_stable_damping / std::max(plan.alphas[0], 1e-12);
    plan.settling = std::max(plan.lookahead, std::min(stable, 2.0 * k_settling_ratio / (plan.slowest * dt)));
    const double missing = std::max(0.0, k_settling_ratio - 0.5 * plan.settling * dt * plan.slowest);
    plan.calming = 2.0 * missing * plan.slowest * request.thinness;
  }
  return plan;
}

double cube_square_radius(const CellModel& model) {
  VecX counts = VecX::Zero(model.masses.size());
  for (const int p : model.cells.particles) counts(p) += 1.0;
  const Points& x = model.rest_positions;
  Eigen::RowVector3d sums = Eigen::RowVector3d::Zero();
  for (int c = 0; c < model.cells.count(); ++c) {
    double weight = 0.0;
    Eigen::RowVector3d centre = Eigen::RowVector3d::Zero();
    for (const int p : model.cells.of(c)) {
      weight += model.masses(p) / counts(p);
      centre += model.masses(p) / counts(p) * x.row(p);
    }
    centre /= weight;
    for (const int p : model.cells.of(c))
      sums += model.masses(p) / counts(p) * (x.row(p) - centre).cwiseAbs2();
  }
  const Eigen::RowVector3d along = (x.colwise().maxCoeff() - x.colwise().minCoeff()).cwiseAbs2();
  double compliance = 0.0;
  for (int axis = 0; axis < 3; ++axis)
    if (sums(axis) > 0.0) compliance += along(axis) / along.sum() * model.masses.sum() / sums(axis);
  return compliance > 0.0 ? 1.0 / compliance : 0.0;
}

namespace {

constexpr double k_enough_gain = 1e-4;  // a step that adds less than this share is the last
constexpr int k_most_steps = 200;

using Corners = Eigen::Matrix<double, 4, 3, Eigen::RowMajor>;

struct RestTet {
  Corners q;              // relative to the centre of mass [m]
  Eigen::RowVector4d mu;  // kg
  Mat3 inverse_inertia;   // 1/(kg m²)
  Corners pull;           // f of its corners for a stress of 1 along all axes at once, an axis a column [m²]
};

Corners corners_of(std::span<const int> particles, const Points& points) {
  Corners out;
  for (int i = 0; i < 4; ++i) out.row(i) = points.row(particles[static_cast<std::size_t>(i)]);
  return out;
}

// V ∇N_i: a third of the area of the face that does not hold i, inwards. Scaled to the filled part of the volume.
Corners pull_of(const Corners& x, double volume) {
  Mat3 edges = (x.bottomRows<3>().rowwise() - x.row(0)).transpose();
  const double full = edges.determinant() / 6.0;
  Corners out;
  for (int i = 0; i < 3; ++i)
    out.row(i + 1) = edges.col((i + 1) % 3).cross(edges.col((i + 2) % 3)).transpose() / 6.0;
  out.row(0) = -out.bottomRows<3>().colwise().sum();
  return full != 0.0 ? Corners(volume / full * out) : Corners::Zero();
}

RestTet rest_tet(const Corners& x, const Eigen::RowVector4d& mu, double volume) {
  RestTet out;
  out.mu = mu;
  out.q = x.rowwise() - Eigen::RowVector3d(mu * x / mu.sum());
  const Mat3 second = out.q.transpose() * mu.asDiagonal() * out.q;
  const Mat3 inertia = second.trace() * Mat3::Identity() - second;
  for (int axis = 0; axis < 3; ++axis)
    out.inverse_inertia.col(axis) = solve_inertia(inertia, Vec3::Unit(axis));
  out.pull = pull_of(x, volume);
  return out;
}

class TetBody {
 public:
  TetBody(const CellModel& model, const VecX& volumes) : m_model(model), m_slots(model.cells.count()) {
    VecX counts = VecX::Zero(model.masses.size());
    for (const int p : model.cells.particles) counts(p) += 1.0;
    for (int c = 0; c < model.cells.count(); ++c) {
      Eigen::RowVector4d mu;
      for (int i = 0; i < 4; ++i) {
        const int p = model.cells.of(c)[static_cast<std::size_t>(i)];
        mu(i) = model.masses(p) / counts(p);
      }
      if (mu.sum() > 0.0) {
        m_tets.push_back(rest_tet(corners_of(model.cells.of(c), model.rest_positions), mu, volumes(c)));
      } else {
        m_tets.push_back({Corners::Zero(), mu, Mat3::Zero(), Corners::Zero()});
      }
    }
  }

  // K u
  Points answer(const Points& u) {
    parallel_for(
        m_tets.size(),
        [&](std::size_t c) {
          const RestTet& tet = m_tets[c];
          Corners w = corners_of(m_model.cells.of(static_cast<int>(c)), u);
          const double mass = tet.mu.sum();
          if (mass > 0.0) w.rowwise() -= Eigen::RowVector3d(tet.mu * w / mass);
          Vec3 momentum = Vec3::Zero();
          for (int i = 0; i < 4; ++i) momentum += tet.mu(i) * Vec3(tet.q.row(i)).cross(Vec3(w.row(i)));
          const Vec3 turn = tet.inverse_inertia * momentum;
          for (int i = 0; i < 4; ++i) w.row(i) -= turn.cross(Vec3(tet.q.row(i))).transpose();
          m_slots[c] = tet.mu.asDiagonal() * w;
        },
        256);
    return gathered();
  }

  Points pull(int axis) {
    for (std::size_t c = 0; c < m_tets.size(); ++c) {
      m_slots[c].setZero();
      m_slots[c].col(axis) = m_tets[c].pull.col(axis);
    }
    return gathered();
  }

 private:
  Points gathered() const {
    Points out = Points::Zero(m_model.rest_positions.rows(), 3);
    for (std::size_t c = 0; c < m_slots.size(); ++c)
      for (int i = 0; i < 4; ++i)
        out.row(m_model.cells.of(static_cast<int>(c))[static_cast<std::size_t>(i)]) += m_slots[c].row(i);
    return out;
  }

  const CellModel& m_model;
  std::vector<RestTet> m_tets;
  std::vector<Corners> m_slots;
};

double product(const Points& a, const Points& b) {
  return a.cwiseProduct(b).sum();
}

// fᵀ K⁻¹ f. What has no mass has no forces either.
double compliance(TetBody& body, const CellModel& model, int axis) {
  const VecX inverse_masses =
      model.masses.unaryExpr([](double mass) { return mass > 0.0 ? 1.0 / mass : 0.0; });
  Points residual = body.pull(axis), direction = Points::Zero(residual.rows(), 3);
  direction.col(axis) = model.rest_positions.col(axis).array() - model.rest_positions.col(axis).mean();
  double sum = 0.0, weighted = 0.0;
  for (int step = 0; step < k_most_steps; ++step) {
    const Points answer = body.answer(direction);
    const double slope = product(residual, direction), curvature = product(direction, answer);
    if (!(curvature > 0.0) || !(slope > 0.0)) break;
    const double length = slope / curvature, gain = length * slope;
    residual -= length * answer;
    sum += gain;
    if (gain < k_enough_gain * sum) break;
    const Points preconditioned = inverse_masses.asDiagonal() * residual;
    const double next = product(residual, preconditioned);
    // The uniform strain at the start is no gradient: the second step begins anew.
    direction = step == 0 ? preconditioned : Points(preconditioned + next / weighted * direction);
    weighted = next;
  }
  return sum;
}

}  // namespace

double tet_square_radius(const CellModel& model, const VecX& volumes) {
  assert(volumes.size() == model.cells.count());
  TetBody body(model, volumes);
  const Points& x = model.rest_positions;
  const Eigen::RowVector3d extent = x.colwise().maxCoeff() - x.colwise().minCoeff();
  double sum = 0.0;
  for (int axis = 0; axis < 3; ++axis)
    sum += extent(axis) * extent(axis) / extent.squaredNorm() * compliance(body, model, axis);
  const double volume = volumes.sum(), mass = model.masses.sum();
  return sum > 0.0 && mass > 0.0 ? volume * volume / (mass * sum) : 0.0;
}

}  // namespace exemplar::shape_matching
