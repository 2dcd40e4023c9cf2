// Which nodes are unknowns: free nodes are numbered in their order and have three coordinates each in a vector
// of unknowns; held nodes have no column. Used by every solve over nodes (statics, modes, implicit steps).
#pragma once

#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/math/types.h"

namespace exemplar {

class NodeColumns {
 public:
  NodeColumns() = default;
  NodeColumns(Eigen::Index node_count, std::span<const int> held);

  int nodes() const { return to_int(m_column.size()); }
  int count() const { return m_count; }  // free nodes
  // −1: held.
  int operator[](int node) const { return m_column[to_size(node)]; }
  std::span<const int> of_nodes() const { return m_column; }
  // Lists of nodes as lists of columns (−1 stays −1).
  std::vector<int> columns_of(std::span<const int> nodes) const;

  // Rows of free nodes to the first 3·count() entries of z, and back; what else there is stays.
  void gather(const Points& nodes, VecX& z) const;
  void scatter(const VecX& z, Points& nodes) const;
  // One row per column.
  Points free_rows(const Points& nodes) const;

 private:
  std::vector<int> m_column;
  int m_count = 0;
};

}  // namespace exemplar
