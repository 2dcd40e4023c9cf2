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
using Lanes = Eigen::Array4d;
constexpr Eigen::Index k_lanes = 4;
constexpr double k_never = -1e300;  // what stands in the padding of a row before its projection

constexpr int k_memory = 8;  // of the acceleration: 6 takes a tenth more iterations, 24 no fewer

constexpr std::size_t k_rows_at_once =
    2048;  // of one thread: a smaller share is done before another thread is awake

Eigen::Index padded(Eigen::Index columns) {
  return (columns + k_lanes - 1) / k_lanes * k_lanes;
}

// y = Aᵀ x, of a symmetric matrix A x: columns are what can be read one by one.
Rows multiply(const SparseMatrix& a, const Rows& x) {
  Rows y(a.cols(), x.cols());
  parallel_for(
      static_cast<std::size_t>(a.cols()),
      [&](std::size_t i) {
        const auto r = static_cast<Eigen::Index>(i);
        y.row(r).setZero();
        for (SparseMatrix::InnerIterator it(a, r); it; ++it) y.row(r) += it.value() * x.row(it.row());
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

// The problem on the vertices that are not fixed: ½ wᵀQw + cᵀw. Rows of c and w are padded with zeros to a multiple of
// four numbers.
struct FreeProblem {
  std::vector<int> vertices;  // free ones, ascending
  Eigen::Index handles = 0;
  SparseMatrix q;
  Rows c;
  VecX mass;
  SparseMatrix q_fixed;  // columns of the fixed vertices: with c_fixed the handles' reactions
  Rows c_fixed;
};

// The rows of some columns that `place` gives a new number ≥ 0, which must ascend.
SparseMatrix part_of(const SparseMatrix& q, const std::vector<int>& columns, const std::vector<int>& place,
                     Eigen::Index rows) {
  SparseMatrix part(rows, static_cast<Eigen::Index>(columns.size()));
  part.reserve(q.nonZeros());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    part.startVec(static_cast<Eigen::Index>(k));
    for (SparseMatrix::InnerIterator it(q, columns[k]); it; ++it) {
      const int at = place[static_cast<std::size_t>(it.row())];
      if (at >= 0) part.insertBack(at, static_cast<Eigen::Index>(k)) = it.value();
    }
  }
  part.finalize();
  return part;
}

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
  p.handles = fixed.values.cols();
  p.q = part_of(q, p.vertices, free_at, n);
  p.q_fixed = part_of(q, fixed.vertices, free_at, n);
  p.c = Rows::Zero(n, padded(p.handles));
  p.c_fixed = Rows::Zero(fixed.values.rows(), padded(p.handles));
  p.mass.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) p.mass[i] = mass[p.vertices[static_cast<std::size_t>(i)]];
  for (std::size_t k = 0; k < fixed.vertices.size(); ++k) {
    const auto value = fixed.values.row(static_cast<Eigen::Index>(k));
    for (SparseMatrix::InnerIterator it(q, fixed.vertices[k]); it; ++it) {
      const int free = free_at[static_cast<std::size_t>(it.row())],
                held = fixed_at[static_cast<std::size_t>(it.row())];
      auto to = free >= 0 ? p.c.row(free) : p.c_fixed.row(held);
      to.head(p.handles) += it.value() * value;
    }
  }
  return p;
}

double kkt_of(const FreeProblem& p, const Rows& w, bool partition_of_unity) {
  const Rows gradient = multiply(p.q, w) + p.c;
  const auto handles = static_cast<std::size_t>(p.handles);
  double worst = 0;
  for (Eigen::Index i = 0; i < w.rows(); ++i) {
    worst = std::max(worst, unbalanced({&w(i, 0), handles}, {&gradient(i, 0), handles}, partition_of_unity));
  }
  const Rows reactions = multiply(p.q_fixed, w) + p.c_fixed;
  const double scale = std::max(gradient.cwiseAbs().maxCoeff(), reactions.cwiseAbs().maxCoeff());
  return scale > 0 ? worst / scale : 0.0;
}

// The diagonal of the penalty at every vertex: √(softest · stiffest) there. The softest free mode is about as wide as
// the handles are apart, (π/spacing)⁴ per volume; the stiffest one is local, Q_ii. One number for all vertices instead
// of Q_ii took half more iterations on graded meshes (TetGen's barrel and car). The factor 0.45 instead of 0.7: 99 and 179
// instead of 109 and 239 iterations on boxes of 1 k and 2.5 k vertices, 214 instead of 189 on the barrel.
VecX penalty_of(const FreeProblem& p) {
  const double spacing = std::cbrt(p.mass.sum() / static_cast<double>(p.handles));
  const double softest = std::pow(std::numbers::pi / spacing, 4);
  return 0.45 * (softest * p.mass.array() * VecX(p.q.diagonal()).array()).sqrt();
}

// Euclidean projections of a row of `width` numbers, four at a time, in place.

// On {x ≥ 0, Σx = 1}: the common shift is found from below, from that at which only the largest entry stays, by dropping
// what lies under it until nothing does (Michelot 1986); rows are short and few passes are enough.
void project_on_simplex(double* x, Eigen::Index width) {
  Lanes largest = Eigen::Map<Lanes>(x);
  for (Eigen::Index k = k_lanes; k < width; k += k_lanes) largest = largest.max(Eigen::Map<Lanes>(x + k));
  double shift = largest.maxCoeff() - 1, count = std::numeric_limits<double>::infinity();
  while (true) {
    Lanes kept = Lanes::Zero(), kept_count = Lanes::Zero();
    for (Eigen::Index k = 0; k < width; k += k_lanes) {
      const Eigen::Map<Lanes> values(x + k);
      kept += (values > shift).select(values, 0.0);
      kept_count += (values > shift).select(Lanes::Ones(), Lanes::Zero());
    }
    const double left = kept_count.sum();
    if (!(left < count)) break;  // by rounding it may even grow
    count = left;
    shift = (kept.sum() - 1) / count;
  }
  Lanes sum = Lanes::Zero();
  for (Eigen::Index k = 0; k < width; k += k_lanes) {
    Eigen::Map<Lanes> values(x + k);
    values = (values - shift).max(0.0);
    sum += values;
  }
  const double scale = 1 / sum.sum();  // round-off
  for (Eigen::Index k = 0; k < width; k += k_lanes) Eigen::Map<Lanes>(x + k) *= scale;
}

// On 0 ≤ x ≤ 1.
void project_on_box(double* x, Eigen::Index width) {
  for (Eigen::Index k = 0; k < width; k += k_lanes)
    Eigen::Map<Lanes>(x + k) = Eigen::Map<Lanes>(x + k).max(0.0).min(1.0);
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
    Rows s = Rows::Zero(m_problem.c.rows(), m_problem.c.cols());
    s.leftCols(m_problem.handles).setConstant(1.0 / static_cast<double>(m_problem.handles));
    Anderson acceleration(k_memory);
    double last_change = std::numeric_limits<double>::infinity();
    Rows value = s, change = s, safe = s;
    z = s;
    for (iterations = 0; iterations < m_options.max_iterations; ++iterations) {
      step(s, z, value, change);
      const double size = change.norm();
      if (iterations % 5 == 4 && (residual = kkt(z)) <= m_options.tolerance) return true;
      if (size > 2 * last_change) {  // the accelerated step was a bad one: go on from the plain one
        s = safe;
        acceleration.restart();
        last_change = std::numeric_limits<double>::infinity();
        continue;
      }
      last_change = size;
      acceleration.next(Eigen::Map<const VecX>(value.data(), value.size()),
                        Eigen::Map<const VecX>(change.data(), change.size()),
                        Eigen::Map<VecX>(s.data(), s.size()));
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
    m_w = m_penalty.asDiagonal() * s - m_problem.c;
    m_factor.solve_rows(m_w);
    const Eigen::Index width = s.cols();
    VecX padding = VecX::Zero(width);
    padding.tail(width - m_problem.handles).setConstant(k_never);
    parallel_ranges(
        static_cast<std::size_t>(s.rows()), k_rows_at_once, [&](std::size_t begin, std::size_t end) {
          for (std::size_t r = begin; r < end; ++r) {
            const auto i = static_cast<Eigen::Index>(r);
            for (Eigen::Index k = 0; k < width; k += k_lanes)
              lanes(z, i, k) = 2 * lanes(m_w, i, k) - lanes(s, i, k) + Eigen::Map<const Lanes>(&padding[k]);
            if (m_options.partition_of_unity) {
              project_on_simplex(&z(i, 0), width);
            } else {
              project_on_box(&z(i, 0), width);
            }
            for (Eigen::Index k = 0; k < width; k += k_lanes) {
              const Lanes moved = lanes(z, i, k) - lanes(m_w, i, k);
              lanes(value, i, k) = lanes(s, i, k) + moved;
              lanes(change, i, k) = m_scale[i] * moved;
            }
          }
        });
  }
  static Eigen::Map<Lanes> lanes(Rows& m, Eigen::Index i, Eigen::Index k) {
    return Eigen::Map<Lanes>(&m(i, k));
  }
  static Eigen::Map<const Lanes> lanes(const Rows& m, Eigen::Index i, Eigen::Index k) {
    return Eigen::Map<const Lanes>(&m(i, k));
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
    weights.row(p.vertices[k]) = z.row(static_cast<Eigen::Index>(k)).head(p.handles);
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
  Rows w = Rows::Zero(static_cast<Eigen::Index>(p.vertices.size()), p.c.cols());
  for (std::size_t k = 0; k < p.vertices.size(); ++k) {
    w.row(static_cast<Eigen::Index>(k)).head(p.handles) = weights.row(p.vertices[k]);
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
