#include "core/sparse/node_columns.h"

#include <cassert>

namespace exemplar {

NodeColumns::NodeColumns(Eigen::Index node_count, std::span<const int> held)
    : m_column(to_size(node_count), 0) {
  for (const int node : held) m_column[to_size(node)] = -1;
  for (int& column : m_column) {
    if (column == 0) column = m_count++;
  }
}

std::vector<int> NodeColumns::columns_of(std::span<const int> nodes) const {
  std::vector<int> columns;
  columns.reserve(nodes.size());
  for (const int node : nodes) columns.push_back(node < 0 ? -1 : (*this)[node]);
  return columns;
}

void NodeColumns::gather(const Points& nodes, VecX& z) const {
  assert(nodes.rows() == to_row(m_column.size()) && z.size() >= 3 * m_count);
  for (std::size_t i = 0; i < m_column.size(); ++i) {
    if (m_column[i] >= 0) z.segment<3>(3 * m_column[i]) = nodes.row(to_row(i)).transpose();
  }
}

void NodeColumns::scatter(const VecX& z, Points& nodes) const {
  assert(nodes.rows() == to_row(m_column.size()) && z.size() >= 3 * m_count);
  for (std::size_t i = 0; i < m_column.size(); ++i) {
    if (m_column[i] >= 0) nodes.row(to_row(i)) = z.segment<3>(3 * m_column[i]).transpose();
  }
}

Points NodeColumns::free_rows(const Points& nodes) const {
  Points rows(m_count, 3);
  for (std::size_t i = 0; i < m_column.size(); ++i) {
    if (m_column[i] >= 0) rows.row(m_column[i]) = nodes.row(to_row(i));
  }
  return rows;
}

}  // namespace exemplar
