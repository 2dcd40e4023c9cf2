#include "core/mesh/bvh.h"

#include <algorithm>
#include <numeric>

namespace exemplar {

namespace {
constexpr int leaf_size = 4;
}

Bvh::Bvh(std::span<const Box> boxes) {
  if (boxes.empty()) return;
  m_order.resize(boxes.size());
  std::iota(m_order.begin(), m_order.end(), 0);
  std::vector<Vec3> centres(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) centres[i] = boxes[i].centre();
  m_nodes.reserve(boxes.size());
  build(boxes, centres, 0, static_cast<int>(boxes.size()));
}

int Bvh::build(std::span<const Box> boxes, std::span<const Vec3> centres, int begin, int end) {
  const int index = static_cast<int>(m_nodes.size());
  m_nodes.emplace_back();
  Box box;
  Box spread;
  for (int i = begin; i < end; ++i) {
    box.extend(boxes[m_order[i]]);
    spread.extend(centres[m_order[i]]);
  }
  m_nodes[index].box = box;
  if (end - begin <= leaf_size) {
    m_nodes[index].begin = begin;
    m_nodes[index].count = end - begin;
    return index;
  }
  int axis = 0;
  (spread.max - spread.min).maxCoeff(&axis);
  const int middle = begin + (end - begin) / 2;
  std::nth_element(
      m_order.begin() + begin, m_order.begin() + middle, m_order.begin() + end, [&](int a, int b) {
        return centres[a][axis] != centres[b][axis] ? centres[a][axis] < centres[b][axis] : a < b;
      });
  build(boxes, centres, begin, middle);
  m_nodes[index].right = build(boxes, centres, middle, end);
  return index;
}

void Bvh::refit(std::span<const Box> boxes) {
  assert(boxes.size() == m_order.size());
  // Children stand behind their parents.
  for (int index = static_cast<int>(m_nodes.size()) - 1; index >= 0; --index) {
    Node& node = m_nodes[index];
    node.box = Box{};
    for (int i = 0; i < node.count; ++i) node.box.extend(boxes[m_order[node.begin + i]]);
    if (node.count == 0) {
      node.box.extend(m_nodes[index + 1].box);
      node.box.extend(m_nodes[node.right].box);
    }
  }
}

}  // namespace exemplar
