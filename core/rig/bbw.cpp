#include "core/rig/bbw.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "core/base/parallel.h"
#include "core/rig/laplacian.h"
#include "core/sparse/anderson.h"

namespace exemplar {

namespace {

// Rows are vertices: projections and products of a row touch one stretch of memory.
using Rows = RowMatrix;
using RowSparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

constexpr int k_memory = 8;  // of the acceleration: 6 takes a tenth more iterations, 24 no fewer

constexpr std::size_t k_rows_at_once =
    2048;  // of one thread: a smaller share is done before another thread is awake

std::span<double> row(Rows& m, Eigen::Index i) {
  return {m.data() + i * m.cols(), static_cast<std::size_t>(m.cols())};
}
std::span<const double> row(const Rows& m, Eigen::Index i) {
  return {m.data() + i * m.cols(), static_cast<std::size_t>(m.cols())};
}

// Euclidean projection on {x ≥ 0, Σx = 1}: the largest set of entries that stay positive is found by dropping those
// below the common shift until none is (Michelot 1986); rows are short and few passes are enough.
void project_on_simplex(std::span<double> x) {
  double sum = 0;
  for (const double value : x) sum += value;
  auto count = static_cast<double>(x.size());
  double shift = (sum - 1) / count;
  while (true) {
    double kept = 0, kept_count = 0;
    for (const double value : x) {
      const double stays = value > shift ? 1.0 : 0.0;
      kept += stays * value;
      kept_count += stays;
    }
    if (!(kept_count < count)) break;  // by rounding it may even grow
    count = kept_count;
    shift = (kept - 1) / count;
  }
  sum = 0;
  for (double& value : x) sum += value = std::max(0.0, value - shift);
  for (double& value : x) value /= sum;  // round-off
}

Rows multiply(const RowSparse& a, const Rows& x) {
  Rows y = Rows::Zero(a.rows(), x.cols());
  parallel_for(
      static_cast<std::size_t>(a.rows()),
      [&](std::size_t i) {
        const auto r = static_cast<Eigen::Index>(i);
        for (RowSparse::InnerIterator it(a, r); it; ++it) y.row(r) += it.value() * x.row(it.col());
      },
      k_rows_at_once);
  return y;
}

// The part of the gradient g of one row that no multiplier balances.
double unbalanced(std::span<const double> w, std::span<const double> g, bool partition_of_unity) {
  double level = 0;  // the multiplier of the row's sum
  if (partition_of_unity) {
    int free = 0;
    for (std::size_t h = 0; h < w.size(); ++h) {
      if (w[h] > 0) level += g[h], ++free;
    }
    level /= free;
  }
  double worst = 0;
  for (std::size_t h = 0; h < w.size(); ++h) {
    const double slope = g[h] - level;
    const bool low = w[h] <= 0, high = !partition_of_unity && w[h] >= 1;
    worst = std::max(worst, low ? -slope : high ? slope : std::abs(slope));
  }
  return worst;
}

// Q and M. A vertex of no tet has no volume; it must be fixed, and its row of Q stays empty.
SparseMatrix biharmonic(const TetMesh& mesh, VecX& mass) {
  const TetGradients gradients = tet_gradients(mesh);
  const SparseMatrix l = laplacian(mesh.tets, gradients, mesh.vertices.rows());
  mass = lumped_volumes(mesh.tets, gradients.volume, mesh.vertices.rows());
  const VecX inverse = (mass.array() > 0).select(mass.cwiseInverse(), 0.0);
  return l * inverse.asDiagonal() * l;
}

// The problem on the vertices that are not fixed: ½ wᵀQw + cᵀw.
struct FreeProblem {
  std::vector<int> vertices;  // free ones, ascending
  SparseMatrix q;
  RowSparse q_rows;
  Rows c;
  VecX mass;
  RowSparse q_fixed;  // rows of the fixed vertices: with c_fixed the handles' reactions
  Rows c_fixed;
};

FreeProblem free_problem(const SparseMatrix& q, const VecX& mass, const FixedRows& fixed) {
  std::vector<int> fixed_at(static_cast<std::size_t>(q.rows()), -1), free_at(fixed_at);
  for (std::size_t k = 0; k < fixed.vertices.size(); ++k) {
    fixed_at[static_cast<std::size_t>(fixed.vertices[k])] = static_cast<int>(k);
  }
  FreeProblem p;
  for (std::size_t v = 0; v < fixed_at.size(); ++v) {
    if (fixed_at[v] >= 0) continue;
    free_at[v] = static_cast<int>(p.vertices.size());
    p.vertices.push_back(static_cast<int>(v));
  }
  const auto n = static_cast<Eigen::Index>(p.vertices.size());
  p.c = Rows::Zero(n, fixed.values.cols());
  p.c_fixed = Rows::Zero(fixed.values.rows(), fixed.values.cols());
  p.mass.resize(n);
  std::vector<Eigen::Triplet<double>> inner, outer;
  for (Eigen::Index v = 0; v < q.cols(); ++v) {
    const int free = free_at[static_cast<std::size_t>(v)], held = fixed_at[static_cast<std::size_t>(v)];
    if (free >= 0) p.mass[free] = mass[v];
    for (SparseMatrix::InnerIterator it(q, v); it; ++it) {
      const int other = free_at[static_cast<std::size_t>(it.row())];
      const int other_held = fixed_at[static_cast<std::size_t>(it.row())];
      if (free >= 0 && other >= 0) inner.emplace_back(other, free, it.value());
      if (free >= 0 && other < 0) outer.emplace_back(other_held, free, it.value());
      if (free < 0 && other >= 0) p.c.row(other) += it.value() * fixed.values.row(held);
      if (free < 0 && other < 0) p.c_fixed.row(other_held) += it.value() * fixed.values.row(held);
    }
  }
  p.q.resize(n, n);
  p.q.setFromTriplets(inner.begin(), inner.end());
  p.q_fixed.resize(fixed.values.rows(), n);
  p.q_fixed.setFromTriplets(outer.begin(), outer.end());
  p.q_rows = p.q;
  return p;
}

double kkt_of(const FreeProblem& p, const Rows& w, bool partition_of_unity) {
  const Rows gradient = multiply(p.q_rows, w) + p.c;
  double worst = 0;
  for (Eigen::Index i = 0; i < w.rows(); ++i) {
    worst = std::max(worst, unbalanced(row(w, i), row(gradient, i), partition_of_unity));
  }
  const Rows reactions = multiply(p.q_fixed, w) + p.c_fixed;
  const double scale = std::max(gradient.cwiseAbs().maxCoeff(), reactions.cwiseAbs().maxCoeff());
  return scale > 0 ? worst / scale : 0.0;
}

// The diagonal of the penalty at every vertex: √(softest · stiffest) there. The softest free mode is about as wide as
// the handles are apart, (π/spacing)⁴ per volume; the stiffest one is local, Q_ii. One number for all vertices instead
// of Q_ii took half more iterations on graded meshes (TetGen's barrel and car).
VecX penalty_of(const FreeProblem& p) {
  const double spacing = std::cbrt(p.mass.sum() / static_cast<double>(p.c.cols()));
  const double softest = std::pow(std::numbers::pi / spacing, 4);
  return 0.7 * (softest * p.mass.array() * VecX(p.q.diagonal()).array()).sqrt();
}

class Admm {
 public:
  Admm(const FreeProblem& problem, const BbwOptions& options)
      : m_problem(problem),
        m_options(options),
        m_penalty(penalty_of(problem)),
        m_scale(m_penalty.cwiseSqrt()),
        m_factor(shifted(problem.q, m_penalty)) {
    assert(m_factor.positive_definite());
  }

  // Fills z (feasible), iterations and residual.
  bool solve(Rows& z, int& iterations, double& residual) {
    Rows s =
        Rows::Constant(m_problem.c.rows(), m_problem.c.cols(), 1.0 / static_cast<double>(m_problem.c.cols()));
    Anderson acceleration(k_memory);
    double last_change = std::numeric_limits<double>::infinity();
    Rows value = s, change = s, safe = s;
    z = s;
    for (iterations = 0; iterations < m_options.max_iterations; ++iterations) {
      step(s, z, value, change);
      const double size = change.norm();
      if (iterations % 10 == 9 && (residual = kkt(z)) <= m_options.tolerance) return true;
      if (size > 2 * last_change) {  // the accelerated step was a bad one: go on from the plain one
        s = safe;
        acceleration.restart();
        last_change = std::numeric_limits<double>::infinity();
        continue;
      }
      last_change = size;
      Eigen::Map<VecX>(s.data(), s.size()) =
          acceleration.next(Eigen::Map<const VecX>(value.data(), value.size()),
                            Eigen::Map<const VecX>(change.data(), change.size()));
      safe.swap(value);
    }
    return (residual = kkt(z)) <= m_options.tolerance;
  }

 private:
  static SparseMatrix shifted(SparseMatrix a, const VecX& diagonal) {
    for (Eigen::Index i = 0; i < a.cols(); ++i) a.coeffRef(i, i) += diagonal[i];
    return a;
  }
  double kkt(const Rows& z) const { return kkt_of(m_problem, z, m_options.partition_of_unity); }

  // value = s + z − w and √P (value − s), row by row after the solve.
  void step(const Rows& s, Rows& z, Rows& value, Rows& change) {
    m_w.resize(s.rows(), s.cols());
    for (Eigen::Index i = 0; i < s.rows(); ++i) m_w.row(i) = m_penalty[i] * s.row(i) - m_problem.c.row(i);
    m_factor.solve_rows(m_w);
    parallel_ranges(static_cast<std::size_t>(s.rows()), k_rows_at_once,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t k = begin; k < end; ++k) {
                        const auto i = static_cast<Eigen::Index>(k);
                        z.row(i) = 2 * m_w.row(i) - s.row(i);
                        if (m_options.partition_of_unity) {
                          project_on_simplex(row(z, i));
                        } else {
                          z.row(i) = z.row(i).cwiseMax(0.0).cwiseMin(1.0);
                        }
                        change.row(i) = z.row(i) - m_w.row(i);
                        value.row(i) = s.row(i) + change.row(i);
                        change.row(i) *= m_scale[i];
                      }
                    });
  }

  const FreeProblem& m_problem;
  BbwOptions m_options;
  VecX m_penalty, m_scale;  // the diagonal of P and its root
  Rows m_w;
  ScalarCholesky m_factor;
};

MatX with_fixed_rows(const FreeProblem& p, const Rows& z, const FixedRows& fixed, Eigen::Index vertices) {
  MatX weights(vertices, fixed.values.cols());
  for (std::size_t k = 0; k < fixed.vertices.size(); ++k) {
    weights.row(fixed.vertices[k]) = fixed.values.row(static_cast<Eigen::Index>(k));
  }
  for (std::size_t k = 0; k < p.vertices.size(); ++k) {
    weights.row(p.vertices[k]) = z.row(static_cast<Eigen::Index>(k));
  }
  return weights;
}

}  // namespace

SparseMatrix biharmonic_matrix(const TetMesh& mesh) {
  VecX mass;
  return biharmonic(mesh, mass);
}

double biharmonic_energy(const SparseMatrix& q, const MatX& weights) {
  return 0.5 * (q * weights).cwiseProduct(weights).sum();
}

double kkt_residual(const SparseMatrix& q, const MatX& weights, const FixedRows& fixed,
                    bool partition_of_unity) {
  const FreeProblem p = free_problem(q, VecX::Ones(q.rows()), fixed);
  Rows w(static_cast<Eigen::Index>(p.vertices.size()), weights.cols());
  for (std::size_t k = 0; k < p.vertices.size(); ++k) {
    w.row(static_cast<Eigen::Index>(k)) = weights.row(p.vertices[k]);
  }
  return w.rows() == 0 ? 0.0 : kkt_of(p, w, partition_of_unity);
}

BbwResult bounded_biharmonic_weights(const TetMesh& mesh, const FixedRows& fixed, const BbwOptions& options) {
  assert(!fixed.vertices.empty() && fixed.values.cols() > 0);
  VecX mass;
  const SparseMatrix q = biharmonic(mesh, mass);
  const FreeProblem problem = free_problem(q, mass, fixed);
  BbwResult result;
  Rows z(0, fixed.values.cols());
  if (problem.vertices.empty()) {
    result.converged = true;
  } else {
    result.converged = Admm(problem, options).solve(z, result.iterations, result.residual);
  }
  result.weights = with_fixed_rows(problem, z, fixed, mesh.vertices.rows());
  result.objective = biharmonic_energy(q, result.weights);
  return result;
}

}  // namespace exemplar
