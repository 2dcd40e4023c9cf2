// Symmetric matrix times one or several vectors from the stored lower triangle. The columns are cut into a
// fixed number of ranges with a buffer each, whose sums are taken in order: the result does not depend on the
// threads.
#pragma once

#include <vector>

#include "core/sparse/pattern.h"

namespace exemplar {

class BlockProduct {
 public:
  explicit BlockProduct(const BlockPattern& pattern);
  // x and y hold `count` vectors interleaved: entry (dof, k) at dof·count + k. count is 1 to 4.
  void multiply(const BlockMatrix& a, const double* x, double* y, int count);

 private:
  template <int Count>
  void multiply_fixed(const BlockMatrix& a, const double* x, double* y);

  std::vector<int> m_range_start;  // first column of every range
  std::vector<int> m_range_reach;  // one past the largest column index that the range writes to
  std::vector<std::vector<double>> m_buffers;
};

}  // namespace exemplar
