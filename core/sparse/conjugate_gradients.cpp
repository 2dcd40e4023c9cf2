#include "core/sparse/conjugate_gradients.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <span>

#include "core/base/parallel.h"

namespace exemplar {

namespace {

constexpr std::size_t k_chunk_nodes = 2048;

template <int Count>
using Sums = std::array<double, Count>;

// Inverses of the diagonal blocks; false if one is not positive definite.
bool invert_diagonal(const BlockMatrix& a, const PatchMatrix* patch, std::vector<Mat3>& inverses) {
  const auto n = static_cast<std::size_t>(a.pattern().columns());
  inverses.resize(n);
  std::atomic<bool> positive = true;
  parallel_ranges(n, 512, [&](std::size_t begin, std::size_t end) {
    const std::span<const int> columns = patch == nullptr ? std::span<const int>() : patch->columns();
    auto patched = std::lower_bound(columns.begin(), columns.end(), static_cast<int>(begin));
    for (std::size_t j = begin; j < end; ++j) {
      Mat3 block = a.diagonal_block(static_cast<int>(j));
      if (patched != columns.end() && *patched == static_cast<int>(j))
        block += patch->matrix().diagonal_block(static_cast<int>(patched++ - columns.begin()));
      const Eigen::LLT<Mat3> llt(block);
      if (llt.info() != Eigen::Success) positive = false;
      inverses[j] = llt.solve(Mat3::Identity());
    }
  });
  return positive;
}

// Calls body(first node, end node, sums of the chunk) for all chunks and adds the sums in order.
template <int Count, class Body>
Sums<Count> sum_over_nodes(std::size_t nodes, const Body& body) {
  const std::size_t chunks = (nodes + k_chunk_nodes - 1) / k_chunk_nodes;
  std::vector<Sums<Count>> partial(chunks, Sums<Count>{});
  const auto run = [&](std::size_t c) {
    body(c * k_chunk_nodes, std::min((c + 1) * k_chunk_nodes, nodes), partial[c]);
  };
  if (chunks == 1) {
    run(0);
  } else {
    parallel_for(chunks, run, 1);
  }
  Sums<Count> total{};
  for (const Sums<Count>& part : partial) {
    for (std::size_t k = 0; k < Count; ++k) total[k] += part[k];
  }
  return total;
}

template <int Count>
Sums<Count> dots(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr std::size_t width = 3 * Count;
  return sum_over_nodes<Count>(a.size() / width, [&](std::size_t begin, std::size_t end, Sums<Count>& sums) {
    // Three sums per vector, one for each coordinate: shorter chains of dependent additions.
    std::array<double, width> s{};
    for (std::size_t n = begin; n < end; ++n) {
      for (std::size_t i = 0; i < width; ++i) s[i] += a[n * width + i] * b[n * width + i];
    }
    for (std::size_t k = 0; k < Count; ++k) sums[k] = s[k] + s[Count + k] + s[2 * Count + k];
  });
}

// z = M⁻¹ r of one node.
template <int Count>
void precondition_node(const Mat3& inverse, const double* r, double* z) {
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < Count; ++k) {
      z[i * Count + k] =
          inverse(i, 0) * r[k] + inverse(i, 1) * r[Count + k] + inverse(i, 2) * r[2 * Count + k];
    }
  }
}

// x += α d, r −= α A d, z = M⁻¹ r in one pass; returns r·z.
template <int Count>
Sums<Count> advance(const Sums<Count>& alpha, const std::vector<Mat3>& inverses, const std::vector<double>& d,
                    const std::vector<double>& ad, std::vector<double>& x, std::vector<double>& r,
                    std::vector<double>& z) {
  constexpr std::size_t width = 3 * Count;
  return sum_over_nodes<Count>(inverses.size(), [&](std::size_t begin, std::size_t end, Sums<Count>& sums) {
    std::array<double, width> s{};
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t at = n * width;
      for (std::size_t i = 0; i < width; ++i) {
        x[at + i] += alpha[i % Count] * d[at + i];
        r[at + i] -= alpha[i % Count] * ad[at + i];
      }
      precondition_node<Count>(inverses[n], r.data() + at, z.data() + at);
      for (std::size_t i = 0; i < width; ++i) s[i] += r[at + i] * z[at + i];
    }
    for (std::size_t k = 0; k < Count; ++k) sums[k] = s[k] + s[Count + k] + s[2 * Count + k];
  });
}

// d = z + β d.
template <int Count>
void turn(const Sums<Count>& beta, const std::vector<double>& z, std::vector<double>& d) {
  constexpr std::size_t width = 3 * Count;
  sum_over_nodes<1>(d.size() / width, [&](std::size_t begin, std::size_t end, Sums<1>&) {
    for (std::size_t n = begin; n < end; ++n) {
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t at = n * width + i;
        d[at] = z[at] + beta[i % Count] * d[at];
      }
    }
  });
}

template <int Count>
void interleave(const Eigen::Ref<const MatX>& columns, std::vector<double>& out) {
  out.resize(static_cast<std::size_t>(columns.size()));
  for (Eigen::Index k = 0; k < Count; ++k) {
    for (Eigen::Index i = 0; i < columns.rows(); ++i)
      out[static_cast<std::size_t>(i * Count + k)] = columns(i, k);
  }
}

template <int Count>
bool all_small(const Sums<Count>& rho, const Sums<Count>& target) {
  for (std::size_t k = 0; k < Count; ++k) {
    if (!(rho[k] <= target[k])) return false;
  }
  return true;
}

}  // namespace

template <int Count>
void ConjugateGradients::multiply(const BlockMatrix& a, const PatchMatrix* patch,
                                  const std::vector<double>& x, std::vector<double>& y) {
  m_product.multiply(a, x.data(), y.data(), Count);
  if (patch != nullptr) patch->add_product(x.data(), y.data(), Count);
}

template <int Count>
CgResult ConjugateGradients::solve_batch(const BlockMatrix& a, const Eigen::Ref<const MatX>& rhs,
                                         double tolerance, int max_iterations, CoarseSpace* coarse,
                                         const PatchMatrix* patch, Eigen::Ref<MatX> x) {
  // z = M⁻¹ r has been computed without the coarse space, with r·z = `norm`; returns r·z with it.
  const auto add_coarse = [&](const Sums<Count>& norm) {
    if (coarse == nullptr) return norm;
    coarse->add_correction(m_r.data(), m_z.data(), Count);
    return dots<Count>(m_r, m_z);
  };
  CgResult result;
  interleave<Count>(rhs, m_r);
  interleave<Count>(x, m_x);
  m_z.resize(m_r.size());
  m_ad.assign(m_r.size(), 0.0);
  m_d.assign(m_r.size(), 0.0);
  Sums<Count> norm = advance<Count>(Sums<Count>{}, m_inverses, m_d, m_ad, m_x, m_r, m_z);
  Sums<Count> target = norm;
  for (double& t : target) t *= tolerance * tolerance;
  if (!x.isZero(0)) {
    multiply<Count>(a, patch, m_x, m_ad);
    Sums<Count> one;
    one.fill(1.0);
    norm = advance<Count>(one, m_inverses, m_d, m_ad, m_x, m_r, m_z);
  }
  Sums<Count> rho = add_coarse(norm);
  m_d = m_z;
  while (!(result.converged = all_small<Count>(norm, target)) && result.iterations < max_iterations) {
    multiply<Count>(a, patch, m_d, m_ad);
    const Sums<Count> curvature = dots<Count>(m_d, m_ad);
    ++result.iterations;
    Sums<Count> alpha, beta;
    for (std::size_t k = 0; k < Count; ++k) {
      const bool active = norm[k] > target[k];
      if (active && !(curvature[k] > 0)) {
        result.negative_curvature = true;
        return result;
      }
      alpha[k] = active ? rho[k] / curvature[k] : 0.0;
    }
    norm = advance<Count>(alpha, m_inverses, m_d, m_ad, m_x, m_r, m_z);
    const Sums<Count> next = add_coarse(norm);
    for (std::size_t k = 0; k < Count; ++k) beta[k] = rho[k] > 0 ? next[k] / rho[k] : 0.0;
    turn<Count>(beta, m_z, m_d);
    rho = next;
  }
  for (Eigen::Index k = 0; k < Count; ++k) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) x(i, k) = m_x[static_cast<std::size_t>(i * Count + k)];
  }
  return result;
}

CgResult ConjugateGradients::solve(const BlockMatrix& a, const MatX& rhs, double tolerance,
                                   int max_iterations, CoarseSpace* coarse, MatX& x,
                                   const PatchMatrix* patch) {
  CgResult total;
  total.converged = true;
  if (!invert_diagonal(a, patch, m_inverses)) return {false, true, 0};
  for (Eigen::Index first = 0; first < rhs.cols() && total.converged; first += 4) {
    const Eigen::Index count = std::min<Eigen::Index>(4, rhs.cols() - first);
    const auto batch = [&]<int Count>() {
      return solve_batch<Count>(a, rhs.middleCols(first, count), tolerance, max_iterations, coarse, patch,
                                x.middleCols(first, count));
    };
    const CgResult result = count == 1   ? batch.operator()<1>()
                            : count == 2 ? batch.operator()<2>()
                            : count == 3 ? batch.operator()<3>()
                                         : batch.operator()<4>();
    total.iterations += result.iterations;
    total.converged = result.converged;
    total.negative_curvature = result.negative_curvature;
  }
  return total;
}

}  // namespace exemplar
