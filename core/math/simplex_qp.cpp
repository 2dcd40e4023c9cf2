#include "core/math/simplex_qp.h"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <vector>

namespace exemplar {

namespace {

// One inequality  normal·w ≥ bound: either w_i ≥ 0 or −Σ_group w ≥ −total.
struct Inequality {
  VecX normal;
  double bound;
};

std::vector<Inequality> make_inequalities(Eigen::Index size, std::span<const SimplexGroup> groups) {
  std::vector<Inequality> result;
  for (const SimplexGroup& group : groups) {
    for (int i = group.begin; i < group.begin + group.count; ++i)
      result.push_back({VecX::Unit(size, i), 0.0});
    VecX sum = VecX::Zero(size);
    sum.segment(group.begin, group.count).setConstant(-1);
    result.push_back({std::move(sum), -group.total});
  }
  return result;
}

// Step p that minimises the quadratic on the active faces, and their multipliers.
struct EqualityStep {
  VecX p;
  VecX multipliers;
};

EqualityStep equality_step(const MatX& a, const VecX& gradient, const std::vector<Inequality>& inequalities,
                           const std::vector<int>& active) {
  const Eigen::Index n = a.rows();
  const Eigen::Index k = static_cast<Eigen::Index>(active.size());
  MatX kkt = MatX::Zero(n + k, n + k);
  kkt.topLeftCorner(n, n) = a;
  for (Eigen::Index i = 0; i < k; ++i) {
    kkt.col(n + i).head(n) =
        -inequalities[static_cast<std::size_t>(active[static_cast<std::size_t>(i)])].normal;
    kkt.row(n + i).head(n) = kkt.col(n + i).head(n).transpose();
  }
  VecX rhs = VecX::Zero(n + k);
  rhs.head(n) = -gradient;
  const VecX solution = kkt.fullPivLu().solve(rhs);
  return {solution.head(n), solution.tail(k)};
}

// Puts round-off back on the constraints.
void snap(VecX& w, std::span<const SimplexGroup> groups) {
  for (const SimplexGroup& group : groups) {
    auto part = w.segment(group.begin, group.count);
    part = part.cwiseMax(0.0);
    for (double& value : part) {
      if (value < 1e-15) value = 0;
    }
    if (part.sum() > group.total) part *= group.total / part.sum();
  }
}

}  // namespace

VecX minimise_on_simplices(const MatX& a, const VecX& b, const VecX& start,
                           std::span<const SimplexGroup> groups) {
  assert(a.rows() == b.size() && b.size() == start.size());
  const double scale = a.cwiseAbs().maxCoeff();
  if (!(scale > 0)) return start;
  const MatX a_scaled = a / scale;
  const VecX b_scaled = b / scale;
  const std::vector<Inequality> inequalities = make_inequalities(b.size(), groups);
  VecX w = start;
  std::vector<int> active;
  for (int iteration = 0; iteration < 50 * (static_cast<int>(b.size()) + 1); ++iteration) {
    const EqualityStep step = equality_step(a_scaled, a_scaled * w + b_scaled, inequalities, active);
    double length = 1;
    int blocking = -1;
    for (int i = 0; i < static_cast<int>(inequalities.size()); ++i) {
      if (std::find(active.begin(), active.end(), i) != active.end()) continue;
      const Inequality& inequality = inequalities[static_cast<std::size_t>(i)];
      const double slope = inequality.normal.dot(step.p);
      if (slope >= -1e-14) continue;
      const double allowed = std::max(0.0, (inequality.bound - inequality.normal.dot(w)) / slope);
      if (allowed < length) {
        length = allowed;
        blocking = i;
      }
    }
    w += length * step.p;
    if (blocking >= 0) {
      active.push_back(blocking);
      continue;
    }
    Eigen::Index worst = -1;
    if (step.multipliers.size() == 0 || step.multipliers.minCoeff(&worst) >= -1e-13) break;
    active.erase(active.begin() + worst);
  }
  snap(w, groups);
  return w;
}

VecX project_on_simplex_hull(const MatX& columns, const VecX& target) {
  const Eigen::Index m = columns.cols();
  if (m == 1) {
    const double square = columns.col(0).squaredNorm();
    return VecX::Constant(1, square > 0 ? std::clamp(columns.col(0).dot(target) / square, 0.0, 1.0) : 0.0);
  }
  MatX gram = columns.transpose() * columns;
  // Dependent examples: the tiny shift picks the solution of smallest norm and moves the others by round-off
  // only.
  gram.diagonal().array() += 1e-13 * std::max(gram.trace(), 1e-300);
  const SimplexGroup group{0, static_cast<int>(m)};
  return minimise_on_simplices(gram, -columns.transpose() * target, VecX::Zero(m), {&group, 1});
}

VecX clamp_to_simplex(const VecX& w) {
  const Eigen::Index m = w.size();
  const SimplexGroup group{0, static_cast<int>(m)};
  return minimise_on_simplices(MatX::Identity(m, m), -w, VecX::Zero(m), {&group, 1});
}

}  // namespace exemplar
