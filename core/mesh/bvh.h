// A hierarchy of axis-aligned boxes over any primitives (triangles, tets, points), shared by distance, ray,
// winding number, embedding and intersection queries. Split at the median of the widest axis with ties broken
// by index, so that the tree, and with it every result, depends on the input alone.
#pragma once

#include <array>
#include <cassert>
#include <span>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

struct Box {
  Vec3 min = Vec3::Constant(std::numeric_limits<double>::infinity());
  Vec3 max = Vec3::Constant(-std::numeric_limits<double>::infinity());

  void extend(const Vec3& point) {
    min = min.cwiseMin(point);
    max = max.cwiseMax(point);
  }
  void extend(const Box& box) {
    min = min.cwiseMin(box.min);
    max = max.cwiseMax(box.max);
  }
  bool overlaps(const Box& box) const {
    return (min.array() <= box.max.array()).all() && (box.min.array() <= max.array()).all();
  }
  Vec3 centre() const { return 0.5 * (min + max); }
  double squared_distance(const Vec3& point) const {
    return (min - point).cwiseMax(point - max).cwiseMax(0.0).squaredNorm();
  }
};

// The box of every row of `elements` (triangles, tets).
template <class Elements>
std::vector<Box> element_boxes(const Points& points, const Elements& elements) {
  std::vector<Box> boxes(static_cast<std::size_t>(elements.rows()));
  for (Eigen::Index e = 0; e < elements.rows(); ++e) {
    for (Eigen::Index k = 0; k < elements.cols(); ++k) {
      boxes[static_cast<std::size_t>(e)].extend(Vec3(points.row(elements(e, k)).transpose()));
    }
  }
  return boxes;
}

class Bvh {
 public:
  // Inner nodes have count 0, their first child next to them and the second at `right`; leaves hold
  // order()[begin .. begin + count).
  struct Node {
    Box box;
    int right = -1;
    int begin = 0;
    int count = 0;
  };

  Bvh() = default;
  explicit Bvh(std::span<const Box> boxes);

  // New boxes for the same primitives; the tree keeps its shape.
  void refit(std::span<const Box> boxes);

  const std::vector<Node>& nodes() const { return m_nodes; }
  const std::vector<int>& order() const { return m_order; }
  bool empty() const { return m_nodes.empty(); }

  // Calls visit(primitive) for every primitive in a leaf that overlaps `box`.
  template <class Visit>
  void for_overlaps(const Box& box, const Visit& visit) const;

  // Calls visit(primitive) nearest boxes first, leaving out those farther than the square root of `limit`,
  // which `visit` lowers as it finds something.
  template <class Visit>
  void for_nearest(const Vec3& point, const double& limit, const Visit& visit) const;

  // Calls visit(primitive) for boxes hit by origin + t·direction with 0 ≤ t ≤ limit, nearest first; `visit`
  // lowers `limit`.
  template <class Visit>
  void for_ray(const Vec3& origin, const Vec3& direction, const double& limit, const Visit& visit) const;

 private:
  // Halving keeps the depth below 32 for any int count of primitives.
  static constexpr int max_depth = 64;

  int build(std::span<const Box> boxes, std::span<const Vec3> centres, int begin, int end);

  std::vector<Node> m_nodes;
  std::vector<int> m_order;
};

// Where the ray enters the box, or infinity when it misses it.
inline double ray_entry(const Box& box, const Vec3& origin, const Vec3& inverse_direction, double limit) {
  double enter = 0;
  double leave = limit;
  for (int axis = 0; axis < 3; ++axis) {
    double near = (box.min[axis] - origin[axis]) * inverse_direction[axis];
    double far = (box.max[axis] - origin[axis]) * inverse_direction[axis];
    // A ray within the slab's face gives 0·∞; such an axis cannot exclude the box.
    if (std::isnan(near) || std::isnan(far)) continue;
    if (near > far) std::swap(near, far);
    enter = std::max(enter, near);
    leave = std::min(leave, far * (1 + 1e-14));
  }
  return enter <= leave ? enter : std::numeric_limits<double>::infinity();
}

template <class Visit>
void Bvh::for_overlaps(const Box& box, const Visit& visit) const {
  if (m_nodes.empty()) return;
  std::array<int, max_depth> stack;
  int size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const int index = stack[--size];
    const Node& node = m_nodes[index];
    if (!node.box.overlaps(box)) continue;
    if (node.count > 0) {
      for (int i = 0; i < node.count; ++i) visit(m_order[node.begin + i]);
    } else {
      stack[size++] = node.right;
      stack[size++] = index + 1;
    }
  }
}

template <class Visit>
void Bvh::for_nearest(const Vec3& point, const double& limit, const Visit& visit) const {
  if (m_nodes.empty()) return;
  struct Entry {
    int node;
    double bound;
  };
  std::array<Entry, max_depth> stack;
  int size = 0;
  stack[size++] = {0, m_nodes[0].box.squared_distance(point)};
  while (size > 0) {
    const auto [index, bound] = stack[--size];
    if (bound > limit) continue;
    const Node& node = m_nodes[index];
    if (node.count > 0) {
      for (int i = 0; i < node.count; ++i) visit(m_order[node.begin + i]);
      continue;
    }
    const Entry left{index + 1, m_nodes[index + 1].box.squared_distance(point)};
    const Entry right{node.right, m_nodes[node.right].box.squared_distance(point)};
    const bool left_first = left.bound <= right.bound;
    stack[size++] = left_first ? right : left;
    stack[size++] = left_first ? left : right;
  }
}

template <class Visit>
void Bvh::for_ray(const Vec3& origin, const Vec3& direction, const double& limit, const Visit& visit) const {
  if (m_nodes.empty()) return;
  const Vec3 inverse = direction.cwiseInverse();
  struct Entry {
    int node;
    double entry;
  };
  std::array<Entry, max_depth> stack;
  int size = 0;
  stack[size++] = {0, ray_entry(m_nodes[0].box, origin, inverse, limit)};
  while (size > 0) {
    const auto [index, entry] = stack[--size];
    if (!(entry <= limit) || std::isinf(entry)) continue;
    const Node& node = m_nodes[index];
    if (node.count > 0) {
      for (int i = 0; i < node.count; ++i) visit(m_order[node.begin + i]);
      continue;
    }
    const Entry left{index + 1, ray_entry(m_nodes[index + 1].box, origin, inverse, limit)};
    const Entry right{node.right, ray_entry(m_nodes[node.right].box, origin, inverse, limit)};
    const bool left_first = left.entry <= right.entry;
    stack[size++] = left_first ? right : left;
    stack[size++] = left_first ? left : right;
  }
}

}  // namespace exemplar
