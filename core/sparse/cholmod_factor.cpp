#include "core/sparse/cholmod_factor.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "core/base/parallel.h"
#include "core/sparse/cholesky.h"

namespace exemplar {

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

constexpr int k_metis_above_unknowns = 5000;
constexpr int k_supernodal_above_unknowns = 1500;

}  // namespace

cholmod_sparse lower_triangle(int size, std::span<const int> column_start, std::span<const int> row_index,
                              const double* values) {
  cholmod_sparse a{};
  a.nrow = a.ncol = static_cast<std::size_t>(size);
  a.nzmax = row_index.size();
  a.p = const_cast<int*>(column_start.data());
  a.i = const_cast<int*>(row_index.data());
  a.x = const_cast<double*>(values);
  a.stype = -1;
  a.itype = CHOLMOD_INT;
  a.xtype = values != nullptr ? CHOLMOD_REAL : CHOLMOD_PATTERN;
  a.dtype = CHOLMOD_DOUBLE;
  a.sorted = 1;
  a.packed = 1;
  return a;
}

CholmodFactor::Workspace::Workspace() {
  cholmod_start(&common);
  common.print = 0;
}

CholmodFactor::Workspace::~Workspace() {
  cholmod_free_dense(&x, &common);
  cholmod_free_dense(&y, &common);
  cholmod_free_dense(&e, &common);
  cholmod_finish(&common);
}

CholmodFactor::CholmodFactor(int unknowns) : m_unknowns(unknowns) {
  static const bool blas_set = (set_blas_threads(1), true);
  (void)blas_set;
  cholmod_common& common = m_own.common;
  common.final_ll = 1;
  // Below the size the factor is too thin for dense panels, unless it is nearly full (CHOLMOD looks at
  // flops per entry).
  common.supernodal = unknowns > k_supernodal_above_unknowns ? CHOLMOD_SUPERNODAL : CHOLMOD_AUTO;
  // Three unknowns a node: CHOLMOD's limits of 4, 16 and 48 columns join hardly any supernodes, and each costs some calls of
  // BLAS and, through OpenMP, of the system. A third less time at 1 k unknowns, none at 4 k, 4 % at 30 k.
  std::copy_n(std::begin({std::size_t{24}, std::size_t{48}, std::size_t{96}}), 3, common.nrelax);
  std::copy_n(std::begin({0.8, 0.2, 0.05}), 3, common.zrelax);
}

CholmodFactor::~CholmodFactor() {
  cholmod_free_factor(&m_factor, &m_own.common);
}

std::vector<int> CholmodFactor::ordering(cholmod_sparse& graph) {
  std::vector<int> order(graph.nrow);
  if (graph.nrow == 0) return order;
  const bool metis = m_unknowns > k_metis_above_unknowns;
  const int done = metis ? cholmod_metis(&graph, nullptr, 0, 1, order.data(), &m_own.common)
                         : cholmod_amd(&graph, nullptr, 0, order.data(), &m_own.common);
  if (done == 0) throw std::runtime_error("CHOLMOD could not order the matrix");
  return order;
}

void CholmodFactor::analyse(cholmod_sparse& pattern, std::vector<int>& permutation) {
  m_own.common.nmethods = 1;
  m_own.common.method[0].ordering = CHOLMOD_GIVEN;
  m_factor = cholmod_analyze_p(&pattern, permutation.data(), nullptr, 0, &m_own.common);
  if (m_factor == nullptr) throw std::runtime_error("CHOLMOD could not analyse the matrix (out of memory?)");
  m_flops = m_own.common.fl;
  m_entries = m_own.common.lnz;
}

bool CholmodFactor::factorise(cholmod_sparse& matrix) {
  const NoNestedOpenMp guard;
  cholmod_factorize(&matrix, m_factor, &m_own.common);
  return m_own.common.status == CHOLMOD_OK && m_factor->minor == m_factor->n;
}

MatX CholmodFactor::solve(const MatX& rhs) {
  const NoNestedOpenMp guard;
  const auto rows = static_cast<std::size_t>(rhs.rows()), columns = static_cast<std::size_t>(rhs.cols());
  cholmod_dense b{};
  b.nrow = b.d = rows;
  b.ncol = columns;
  b.nzmax = rows * columns;
  b.x = const_cast<double*>(rhs.data());
  b.xtype = CHOLMOD_REAL;
  b.dtype = CHOLMOD_DOUBLE;
  cholmod_solve2(CHOLMOD_A, m_factor, &b, nullptr, &m_own.x, nullptr, &m_own.y, &m_own.e, &m_own.common);
  MatX result(rhs.rows(), rhs.cols());
  std::memcpy(result.data(), m_own.x->x, sizeof(double) * rows * columns);
  return result;
}

TriangularBlocks CholmodFactor::triangular_blocks() {
  cholmod_factor* simple = cholmod_copy_factor(m_factor, &m_own.common);
  if (simple == nullptr || cholmod_change_factor(CHOLMOD_REAL, 1, 0, 1, 1, simple, &m_own.common) == 0) {
    cholmod_free_factor(&simple, &m_own.common);
    throw std::runtime_error("CHOLMOD could not copy its factor (out of memory?)");
  }
  const std::size_t size = simple->n;
  const auto* start = static_cast<const int*>(simple->p);
  const auto entries = static_cast<std::size_t>(start[size]);
  TriangularBlocks blocks({start, size}, {static_cast<const int*>(simple->nz), size},
                          {static_cast<const int*>(simple->i), entries},
                          {static_cast<const double*>(simple->x), entries});
  cholmod_free_factor(&simple, &m_own.common);
  return blocks;
}

}  // namespace exemplar
