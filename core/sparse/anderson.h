// Anderson acceleration of a fixed-point iteration x ← g(x) (Anderson 1965; type II in the notation of Fang
// and Saad 2009): the next point combines the last few values of g so that the combined residual g(x) − x is
// smallest. Turns the slow linear tail of ADMM into something like GMRES; the caller decides when a step was
// bad and calls restart().
//
// Every product with the remembered changes is one pass over them: R_k·r comes from R_k·(r − r') and R_k·r' of the last
// call, r' the residual before.
#pragma once

#include "core/math/types.h"

namespace exemplar {

class Anderson {
 public:
  explicit Anderson(int memory) : m_memory(memory) {}

  // `value`: g(x); `residual`: g(x) − x in the scaling in which it should become small. Fills the next x.
  void next(const Eigen::Ref<const VecX>& value, const Eigen::Ref<const VecX>& residual, Eigen::Ref<VecX> x);
  void restart() { m_started = false; }

 private:
  void start(const Eigen::Ref<const VecX>& value, const Eigen::Ref<const VecX>& residual);
  void remember(const Eigen::Ref<const VecX>& value, const Eigen::Ref<const VecX>& residual);

  int m_memory;
  bool m_started = false;
  VecX m_value, m_residual;                  // of the last call
  MatX m_value_changes, m_residual_changes;  // columns: at most m_memory, a ring
  Eigen::Index m_count = 0, m_oldest = 0;
  MatX m_gram;      // products of the residual changes with each other
  VecX m_products;  // and with the last residual
};

}  // namespace exemplar
