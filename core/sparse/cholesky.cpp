#include "core/sparse/cholesky.h"

#include <cblas.h>
#include <cholmod.h>
#include <omp.h>

#include <cassert>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace exemplar {

void set_blas_threads(int threads) {
  openblas_set_num_threads(threads > 0 ? threads : 1);
}

namespace {

// Debian's libcholmod starts four OpenMP threads inside the supernodal factorisation whatever OMP_NUM_THREADS
// says, which on two processors is two to three times slower than one thread.
class NoNestedOpenMp {
 public:
  NoNestedOpenMp() : m_levels(omp_get_max_active_levels()) { omp_set_max_active_levels(0); }
  ~NoNestedOpenMp() { omp_set_max_active_levels(m_levels); }
  NoNestedOpenMp(const NoNestedOpenMp&) = delete;
  NoNestedOpenMp& operator=(const NoNestedOpenMp&) = delete;

 private:
  int m_levels;
};

constexpr int k_metis_above_dofs = 5000;
constexpr int k_supernodal_above_dofs = 1500;

}  // namespace

struct Cholesky::Implementation {
  explicit Implementation(const BlockPattern& block_pattern) : pattern(&block_pattern) {
    static const bool blas_set = (set_blas_threads(1), true);
    (void)blas_set;
    cholmod_start(&common);
    common.print = 0;
    common.final_ll = 1;
    // Below the size the factor is too thin for dense panels, unless it is nearly full (CHOLMOD looks at
    // flops per entry).
    common.supernodal = pattern->dofs() > k_supernodal_above_dofs ? CHOLMOD_SUPERNODAL : CHOLMOD_AUTO;
    analyse();
  }
  ~Implementation() {
    cholmod_free_factor(&factor, &common);
    cholmod_free_dense(&x, &common);
    cholmod_free_dense(&y, &common);
    cholmod_free_dense(&e, &common);
    cholmod_finish(&common);
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  // A view of the pattern's arrays; CHOLMOD does not write to its input.
  cholmod_sparse view(const double* values) const {
    cholmod_sparse a{};
    a.nrow = a.ncol = static_cast<std::size_t>(pattern->dofs());
    a.nzmax = pattern->value_count();
    a.p = const_cast<int*>(pattern->column_start().data());
    a.i = const_cast<int*>(pattern->row_index().data());
    a.x = const_cast<double*>(values);
    a.stype = -1;
    a.itype = CHOLMOD_INT;
    a.xtype = values != nullptr ? CHOLMOD_REAL : CHOLMOD_PATTERN;
    a.dtype = CHOLMOD_DOUBLE;
    a.sorted = 1;
    a.packed = 1;
    return a;
  }

  std::vector<int> node_ordering() {
    const int n = pattern->columns();
    std::vector<int> start{0}, rows;
    for (int j = 0; j < n; ++j) {
      const auto column = pattern->block_rows(j);
      rows.insert(rows.end(), column.begin(), column.end());
      start.push_back(static_cast<int>(rows.size()));
    }
    cholmod_sparse graph{};
    graph.nrow = graph.ncol = static_cast<std::size_t>(n);
    graph.nzmax = rows.size();
    graph.p = start.data();
    graph.i = rows.data();
    graph.stype = -1;
    graph.itype = CHOLMOD_INT;
    graph.xtype = CHOLMOD_PATTERN;
    graph.sorted = graph.packed = 1;
    std::vector<int> order(static_cast<std::size_t>(n));
    const bool metis = pattern->dofs() > k_metis_above_dofs;
    const int done = metis ? cholmod_metis(&graph, nullptr, 0, 1, order.data(), &common)
                           : cholmod_amd(&graph, nullptr, 0, order.data(), &common);
    if (done == 0) throw std::runtime_error("CHOLMOD could not order the matrix");
    return order;
  }

  void analyse() {
    std::vector<int> permutation;
    permutation.reserve(static_cast<std::size_t>(pattern->dofs()));
    if (pattern->columns() > 0) {
      for (const int node : node_ordering()) {
        for (int c = 0; c < 3; ++c) permutation.push_back(3 * node + c);
      }
    }
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    cholmod_sparse a = view(nullptr);
    factor = cholmod_analyze_p(&a, permutation.data(), nullptr, 0, &common);
    if (factor == nullptr) throw std::runtime_error("CHOLMOD could not analyse the matrix (out of memory?)");
    flops = common.fl;
    entries = common.lnz;
  }

  const BlockPattern* pattern;
  cholmod_common common{};
  cholmod_factor* factor = nullptr;
  cholmod_dense* x = nullptr;  // workspaces of cholmod_solve2, kept between calls
  cholmod_dense* y = nullptr;
  cholmod_dense* e = nullptr;
  double flops = 0;
  double entries = 0;
};

Cholesky::Cholesky(const BlockPattern& pattern) : m(std::make_unique<Implementation>(pattern)) {}
Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;

bool Cholesky::factorise(const BlockMatrix& a) {
  assert(&a.pattern() == m->pattern);
  const NoNestedOpenMp guard;
  cholmod_sparse view = m->view(a.values().data());
  cholmod_factorize(&view, m->factor, &m->common);
  return m->common.status == CHOLMOD_OK && m->factor->minor == m->factor->n;
}

MatX Cholesky::solve(const MatX& rhs) {
  const NoNestedOpenMp guard;
  cholmod_dense b{};
  b.nrow = b.d = static_cast<std::size_t>(rhs.rows());
  b.ncol = static_cast<std::size_t>(rhs.cols());
  b.nzmax = static_cast<std::size_t>(rhs.size());
  b.x = const_cast<double*>(rhs.data());
  b.xtype = CHOLMOD_REAL;
  b.dtype = CHOLMOD_DOUBLE;
  cholmod_solve2(CHOLMOD_A, m->factor, &b, nullptr, &m->x, nullptr, &m->y, &m->e, &m->common);
  MatX result(rhs.rows(), rhs.cols());
  std::memcpy(result.data(), m->x->x, sizeof(double) * static_cast<std::size_t>(rhs.size()));
  return result;
}

double Cholesky::factor_flops() const {
  return m->flops;
}
double Cholesky::factor_entries() const {
  return m->entries;
}
double Cholesky::memory_bytes() const {
  return static_cast<double>(m->common.memory_usage);
}
bool Cholesky::supernodal() const {
  return m->factor->is_super != 0;
}

}  // namespace exemplar
