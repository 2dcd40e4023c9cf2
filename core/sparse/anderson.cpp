#include "core/sparse/anderson.h"

#include <Eigen/Cholesky>

namespace exemplar {

void Anderson::start(const Eigen::Ref<const VecX>& value, const Eigen::Ref<const VecX>& residual) {
  m_started = true;
  m_count = m_oldest = 0;
  m_value = value;
  m_residual = residual;
  m_value_changes.resize(value.size(), m_memory);
  m_residual_changes.resize(value.size(), m_memory);
  m_gram = MatX::Zero(m_memory, m_memory);
  m_products = VecX::Zero(m_memory);
}

void Anderson::remember(const Eigen::Ref<const VecX>& value, const Eigen::Ref<const VecX>& residual) {
  const Eigen::Index slot = m_count < m_memory ? m_count++ : m_oldest++ % m_memory;
  m_value_changes.col(slot) = value - m_value;
  m_residual_changes.col(slot) = residual - m_residual;
  const VecX products = m_residual_changes.leftCols(m_count).transpose() * m_residual_changes.col(slot);
  m_gram.row(slot).head(m_count) = products.transpose();
  m_gram.col(slot).head(m_count) = products;
  m_products.head(m_count) += products;
  m_products[slot] = m_residual_changes.col(slot).dot(residual);
  m_value = value;
  m_residual = residual;
}

void Anderson::next(const Eigen::Ref<const VecX>& value, const Eigen::Ref<const VecX>& residual,
                    Eigen::Ref<VecX> x) {
  x = value;
  if (!m_started) {
    start(value, residual);
    return;
  }
  remember(value, residual);
  MatX gram = m_gram.topLeftCorner(m_count, m_count);
  gram.diagonal().array() += 1e-12 * gram.trace();  // changes may be nearly parallel
  x.noalias() -= m_value_changes.leftCols(m_count) * gram.ldlt().solve(m_products.head(m_count));
}

}  // namespace exemplar
