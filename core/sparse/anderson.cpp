#include "core/sparse/anderson.h"

#include <Eigen/Cholesky>

namespace exemplar {

void Anderson::restart() {
  m_value.resize(0);
  m_value_changes.clear();
  m_residual_changes.clear();
  m_oldest = 0;
  m_gram.resize(0, 0);
}

void Anderson::remember(const VecX& value, const VecX& residual) {
  std::size_t slot = m_value_changes.size();
  if (static_cast<int>(slot) < m_memory) {
    m_value_changes.push_back(value - m_value);
    m_residual_changes.push_back(residual - m_residual);
    m_gram.conservativeResize(static_cast<Eigen::Index>(slot) + 1, static_cast<Eigen::Index>(slot) + 1);
  } else {
    slot = m_oldest;
    m_oldest = (m_oldest + 1) % m_value_changes.size();
    m_value_changes[slot] = value - m_value;
    m_residual_changes[slot] = residual - m_residual;
  }
  const auto row = static_cast<Eigen::Index>(slot);
  for (Eigen::Index k = 0; k < m_gram.cols(); ++k) {
    m_gram(row, k) = m_gram(k, row) =
        m_residual_changes[slot].dot(m_residual_changes[static_cast<std::size_t>(k)]);
  }
}

VecX Anderson::next(const VecX& value, const VecX& residual) {
  if (m_value.size() > 0) remember(value, residual);
  m_value = value;
  m_residual = residual;
  const Eigen::Index count = m_gram.cols();
  if (count == 0) return value;
  VecX products(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    products[k] = m_residual_changes[static_cast<std::size_t>(k)].dot(residual);
  }
  MatX gram = m_gram;
  gram.diagonal().array() += 1e-12 * gram.trace();  // changes may be nearly parallel
  const VecX factors = gram.ldlt().solve(products);
  VecX result = value;
  for (Eigen::Index k = 0; k < count; ++k)
    result -= factors[k] * m_value_changes[static_cast<std::size_t>(k)];
  return result;
}

}  // namespace exemplar
