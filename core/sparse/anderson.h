// Anderson acceleration of a fixed-point iteration x ← g(x) (Anderson 1965; type II in the notation of Fang
// and Saad 2009): the next point combines the last few values of g so that the combined residual g(x) − x is
// smallest. Turns the slow linear tail of ADMM into something like GMRES; the caller decides when a step was
// bad and calls restart().
#pragma once

#include <vector>

#include "core/math/types.h"

namespace exemplar {

class Anderson {
 public:
  explicit Anderson(int memory) : m_memory(memory) {}

  // `value`: g(x); `residual`: g(x) − x in the scaling in which it should become small. Returns the next x.
  VecX next(const VecX& value, const VecX& residual);
  void restart();

 private:
  void remember(const VecX& value, const VecX& residual);

  int m_memory;
  VecX m_value, m_residual;                               // of the last call; empty after restart
  std::vector<VecX> m_value_changes, m_residual_changes;  // at most m_memory, a ring
  std::size_t m_oldest = 0;
  MatX m_gram = MatX(0, 0);  // products of the residual changes
};

}  // namespace exemplar
