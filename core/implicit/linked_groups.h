// Which of a set of things belong together: groups that grow by links (union–find, smallest member as root).
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "core/base/index.h"

namespace exemplar {

class LinkedGroups {
 public:
  explicit LinkedGroups(int count = 0) : m_parent(to_size(count)) {
    std::iota(m_parent.begin(), m_parent.end(), 0);
  }

  int size() const { return to_int(m_parent.size()); }
  // The group's smallest member.
  int root(int i) {
    while (parent(i) != i) i = parent(i) = parent(parent(i));
    return i;
  }
  void link(int a, int b) {
    a = root(a);
    b = root(b);
    if (a > b) std::swap(a, b);
    parent(b) = a;
  }

 private:
  int& parent(int i) { return m_parent[to_size(i)]; }
  std::vector<int> m_parent;
};

}  // namespace exemplar
