// Triangles of one surface that cross each other. Signs come from Shewchuk's exact predicates (1997), as
// built into TetGen, so that touching and crossing are told apart from near misses without a tolerance.
#define TETLIBRARY  // the library as Debian builds it: failures are exceptions
#include <tetgen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/parallel.h"
#include "core/mesh/bvh.h"
#include "core/mesh/crossings.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

int sign(double value) {
  return (value > 0) - (value < 0);
}

// The predicates' error bounds are set up once; without the static filter they do not depend on the mesh.
void prepare_predicates() {
  static std::once_flag once;
  std::call_once(once, [] { exactinit(0, 0, 1, 1.0, 1.0, 1.0); });
}

int side_of_plane(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& point) {
  const auto p = [](const Vec3& v) { return const_cast<double*>(v.data()); };
  return sign(orient3d(p(a), p(b), p(c), p(point)));
}

// Which side of the line ab the point c is on, in the plane. Products of two differences fit into 113 bits
// unless their magnitudes are very far apart.
int side_of_line(const Vec2& a, const Vec2& b, const Vec2& c) {
  __extension__ using Wide = __float128;
  const Wide value =
      (Wide(b.x()) - a.x()) * (Wide(c.y()) - a.y()) - (Wide(b.y()) - a.y()) * (Wide(c.x()) - a.x());
  return (value > 0) - (value < 0);
}

bool on_segment(const Vec2& a, const Vec2& b, const Vec2& point) {
  return (a.cwiseMin(b).array() <= point.array()).all() && (point.array() <= a.cwiseMax(b).array()).all();
}

bool segments_touch(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const int c_side = side_of_line(a, b, c);
  const int d_side = side_of_line(a, b, d);
  const int a_side = side_of_line(c, d, a);
  const int b_side = side_of_line(c, d, b);
  if (c_side * d_side < 0 && a_side * b_side < 0) return true;
  return (c_side == 0 && on_segment(a, b, c)) || (d_side == 0 && on_segment(a, b, d)) ||
         (a_side == 0 && on_segment(c, d, a)) || (b_side == 0 && on_segment(c, d, b));
}

// The two coordinates left when the one along which the triangle looks largest is dropped.
struct Projection {
  int u;
  int v;
  explicit Projection(const Vec3& a, const Vec3& b, const Vec3& c) {
    int drop = 0;
    (b - a).cross(c - a).cwiseAbs().maxCoeff(&drop);
    u = (drop + 1) % 3;
    v = (drop + 2) % 3;
  }
  Vec2 operator()(const Vec3& x) const { return {x[u], x[v]}; }
};

bool coplanar_segment_touches(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Projection flat(a, b, c);
  const Vec2 corners[3] = {flat(a), flat(b), flat(c)};
  const Vec2 begin = flat(p);
  const Vec2 end = flat(q);
  int positive = 0;
  int negative = 0;
  for (int k = 0; k < 3; ++k) {
    if (segments_touch(begin, end, corners[k], corners[(k + 1) % 3])) return true;
    const int side = side_of_line(corners[k], corners[(k + 1) % 3], begin);
    positive += side > 0;
    negative += side < 0;
  }
  return positive == 0 || negative == 0;
}

// The line pq, which is not in the triangle's plane, goes through the triangle or its border.
bool line_hits(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  const int ab = side_of_plane(p, q, a, b);
  const int bc = side_of_plane(p, q, b, c);
  if (ab * bc < 0) return false;
  const int ca = side_of_plane(p, q, c, a);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

bool segment_touches(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  const int p_side = side_of_plane(a, b, c, p);
  const int q_side = side_of_plane(a, b, c, q);
  if (p_side == 0 && q_side == 0) return coplanar_segment_touches(p, q, a, b, c);
  return p_side * q_side <= 0 && line_hits(p, q, a, b, c);
}

class PairTest {
 public:
  explicit PairTest(const TriMesh& mesh) : m_mesh(mesh) { prepare_predicates(); }

  bool degenerate(int t) const {
    const auto i = m_mesh.triangles.row(t);
    if (i[0] == i[1] || i[1] == i[2] || i[2] == i[0]) return true;
    const Vec3 a = x(i[0]);
    return (x(i[1]) - a).cross(x(i[2]) - a).squaredNorm() == 0;
  }

  bool operator()(int s, int t) const {
    // Shared corners first, in the same order for both.
    int left[3], right[3];
    int shared = 0;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        if (m_mesh.triangles(s, i) != m_mesh.triangles(t, j)) continue;
        left[shared] = i;
        right[shared++] = j;
        break;
      }
    }
    if (shared == 3) return false;
    if (shared == 2) return folded(s, 3 - left[0] - left[1], t, 3 - right[0] - right[1]);
    if (shared == 1) return opposite_touches(s, left[0], t) || opposite_touches(t, right[0], s);
    for (int k = 0; k < 3; ++k) {
      if (opposite_touches(s, k, t) || opposite_touches(t, k, s)) return true;
    }
    return false;
  }

  bool crosses(int s, int t) const {
    if (on_one_side(s, t) || on_one_side(t, s) || are_apart(s, t)) return false;
    return edges_cross(s, t) || edges_cross(t, s);
  }

 private:
  // All corners of t that s does not have are on the same side of the plane of s: nothing can cross (Möller 1997). Sure, by
  // the bound of Shewchuk's first filter, but not always found; settles the two sides of a crack, which face each other.
  bool on_one_side(int s, int t) const {
    const Vec3 a = corner(s, 0), u = corner(s, 1) - a, v = corner(s, 2) - a, normal = u.cross(v);
    const double size = u.cwiseAbs().maxCoeff() * v.cwiseAbs().maxCoeff();
    int positive = 0, negative = 0;
    for (int k = 0; k < 3; ++k) {
      const int vertex = m_mesh.triangles(t, k);
      if ((m_mesh.triangles.row(s).array() == vertex).any()) continue;
      const Vec3 arm = x(vertex) - a;
      const double height = normal.dot(arm), rounding = 2e-14 * size * arm.cwiseAbs().maxCoeff();
      if (!(std::abs(height) > rounding)) return false;
      ++(height > 0 ? positive : negative);
    }
    return positive == 0 || negative == 0;
  }

  // A plane parts the corners that the triangles do not share, and goes through the one they share: nothing can cross.
  // Sure, but not always found; spares nearly all of the exact predicates, which are slow for neighbours in one plane.
  bool are_apart(int s, int t) const {
    const auto is_of = [&](int triangle, int vertex) {
      return (m_mesh.triangles.row(triangle).array() == vertex).any();
    };
    int shared = 0;
    Vec3 common = Vec3::Zero();
    for (int k = 0; k < 3; ++k) {
      if (!is_of(t, m_mesh.triangles(s, k))) continue;
      ++shared;
      common = corner(s, k);
    }
    if (shared >= 2) return true;  // every edge ends in a corner of the other
    const Vec3 s_middle = (corner(s, 0) + corner(s, 1) + corner(s, 2)) / 3;
    const Vec3 t_middle = (corner(t, 0) + corner(t, 1) + corner(t, 2)) / 3;
    const Vec3 origin = shared == 1 ? common : Vec3(0.5 * (s_middle + t_middle));
    const Vec3 normal = (s_middle - origin).normalized() - (t_middle - origin).normalized();
    double size = 0, least_s = std::numeric_limits<double>::infinity(), most_t = -least_s;
    for (int k = 0; k < 3; ++k) {
      const Vec3 a = corner(s, k) - origin, b = corner(t, k) - origin;
      size = std::max({size, a.squaredNorm(), b.squaredNorm(), corner(s, k).squaredNorm()});
      if (!is_of(t, m_mesh.triangles(s, k))) least_s = std::min(least_s, a.dot(normal));
      if (!is_of(s, m_mesh.triangles(t, k))) most_t = std::max(most_t, b.dot(normal));
    }
    const double rounding = 1e-12 * std::sqrt(size);
    return least_s > rounding && most_t < -rounding;
  }

  Vec3 x(int vertex) const { return m_mesh.vertices.row(vertex); }
  Vec3 corner(int t, int k) const { return x(m_mesh.triangles(t, k % 3)); }

  // The edge of s opposite its corner k against the triangle t.
  bool opposite_touches(int s, int k, int t) const {
    return segment_touches(corner(s, k + 1), corner(s, k + 2), corner(t, 0), corner(t, 1), corner(t, 2));
  }

  // An edge of s goes through t, from one side to the other; one that ends in a corner of t cannot.
  bool edges_cross(int s, int t) const {
    int side[3] = {};
    for (int k = 0; k < 3; ++k) {
      if ((m_mesh.triangles.row(t).array() == m_mesh.triangles(s, k)).any()) continue;
      side[k] = side_of_plane(corner(t, 0), corner(t, 1), corner(t, 2), corner(s, k));
    }
    for (int k = 0; k < 3; ++k) {
      if (side[k] * side[(k + 1) % 3] < 0 &&
          line_hits(corner(s, k), corner(s, k + 1), corner(t, 0), corner(t, 1), corner(t, 2)))
        return true;
    }
    return false;
  }

  // Two triangles on one edge overlap only when they are coplanar and on the same side of it.
  bool folded(int s, int s_apex, int t, int t_apex) const {
    const Vec3 u = corner(s, s_apex + 1);
    const Vec3 v = corner(s, s_apex + 2);
    const Vec3 a = corner(s, s_apex);
    const Vec3 b = corner(t, t_apex);
    if (side_of_plane(u, v, a, b) != 0) return false;
    const Projection flat(u, v, a);
    return side_of_line(flat(u), flat(v), flat(a)) * side_of_line(flat(u), flat(v), flat(b)) > 0;
  }

  const TriMesh& m_mesh;
};

// The group of all triangles below each node of the tree, or −1 where there are several.
std::vector<int> groups_of_nodes(const Bvh& tree, std::span<const int> group) {
  const std::vector<Bvh::Node>& nodes = tree.nodes();
  std::vector<int> out(nodes.size(), -1);
  for (std::size_t n = nodes.size(); n-- > 0;) {  // children come after their parent
    const Bvh::Node& node = nodes[n];
    const auto of = [&](int k) { return group[static_cast<std::size_t>(tree.order()[node.begin + k])]; };
    if (node.count == 0) {
      out[n] = out[n + 1] == out[node.right] ? out[n + 1] : -1;
      continue;
    }
    out[n] = of(0);
    for (int k = 1; k < node.count; ++k) out[n] = of(k) == of(0) ? out[n] : -1;
  }
  return out;
}

// Cubic cells that boxes lie in, about as large as the boxes are on average; of those that boxes of several groups lie in, the
// pairs of different groups that overlap.
class GroupGrid {
 public:
  GroupGrid(std::span<const Box> boxes, std::span<const int> group) : m_boxes(boxes), m_group(group) {
    Box all;
    double sum = 0;
    for (const Box& box : boxes) {
      all.extend(box);
      sum += (box.max - box.min).maxCoeff();
    }
    m_low = all.min;
    double side = std::max(sum / static_cast<double>(boxes.size()), 1e-300);
    const Vec3 size = all.max - all.min;
    while (((size.array() / side) + 1).prod() > 16.0 * static_cast<double>(boxes.size()) + 64) side *= 1.3;
    m_per_length = 1 / side;
    for (int k = 0; k < 3; ++k) m_count[k] = static_cast<int>(size[k] * m_per_length) + 1;
    for (const Box& box : boxes) m_ranges.push_back({cell(box.min), cell(box.max)});
  }

  // None where sizes differ so much, or so much lies in one place, that going through the cells would cost more than a tree.
  std::optional<std::vector<std::pair<int, int>>> pairs() {
    double entries = 0;
    for (const auto& [low, high] : m_ranges)
      entries += static_cast<double>(high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1);
    const auto boxes = static_cast<double>(m_boxes.size());
    if (!(entries < 27 * boxes)) return std::nullopt;
    const std::vector<Cell> mixed = mixed_cells();
    double work = 0;
    for (const Cell& c : mixed) work += static_cast<double>(c.size) * static_cast<double>(c.size);
    if (work > 300 * boxes) return std::nullopt;
    std::vector<std::pair<int, int>> found;
    for (const Cell& c : mixed) add_pairs(c, found);
    return found;
  }

 private:
  using Place = std::array<int, 3>;
  struct Range {
    Place low, high;
  };
  struct Cell {
    Place place{};
    std::size_t begin = 0, size = 0;  // in m_members
  };
  static constexpr int k_none = -1, k_mixed = -2;

  Place cell(const Vec3& p) const {
    Place at{};
    for (int k = 0; k < 3; ++k)
      at[k] = std::clamp(static_cast<int>((p[k] - m_low[k]) * m_per_length), 0, m_count[k] - 1);
    return at;
  }
  template <class Visit>
  void for_cells(const Range& range, const Visit& visit) const {
    for (int z = range.low[2]; z <= range.high[2]; ++z)
      for (int y = range.low[1]; y <= range.high[1]; ++y)
        for (int x = range.low[0]; x <= range.high[0]; ++x)
          visit((static_cast<std::size_t>(z) * static_cast<std::size_t>(m_count[1]) +
                 static_cast<std::size_t>(y)) *
                        static_cast<std::size_t>(m_count[0]) +
                    static_cast<std::size_t>(x),
                Place{x, y, z});
  }

  // With their boxes in m_members.
  std::vector<Cell> mixed_cells() {
    const auto cells = static_cast<std::size_t>(m_count[0]) * static_cast<std::size_t>(m_count[1]) *
                       static_cast<std::size_t>(m_count[2]);
    std::vector<int> first(cells, k_none);  // the first box in a cell; then the number of a mixed one
    for (std::size_t i = 0; i < m_ranges.size(); ++i)
      for_cells(m_ranges[i], [&](std::size_t c, const Place&) {
        if (first[c] == k_none) {
          first[c] = static_cast<int>(i);
        } else if (first[c] != k_mixed && m_group[static_cast<std::size_t>(first[c])] != m_group[i]) {
          first[c] = k_mixed;
        }
      });
    std::vector<Cell> mixed;
    for (int& own : first) {
      own = own == k_mixed ? static_cast<int>(mixed.size()) : k_none;
      if (own >= 0) mixed.emplace_back();
    }
    for (const Range& range : m_ranges)
      for_cells(range, [&](std::size_t c, const Place& place) {
        if (first[c] < 0) return;
        Cell& own = mixed[static_cast<std::size_t>(first[c])];
        own.place = place;
        ++own.size;
      });
    std::size_t sum = 0;
    for (Cell& own : mixed) {
      own.begin = sum;
      sum += std::exchange(own.size, 0);
    }
    m_members.resize(sum);
    for (std::size_t i = 0; i < m_ranges.size(); ++i)
      for_cells(m_ranges[i], [&](std::size_t c, const Place&) {
        if (first[c] < 0) return;
        Cell& own = mixed[static_cast<std::size_t>(first[c])];
        m_members[own.begin + own.size++] = static_cast<int>(i);
      });
    return mixed;
  }

  // Two boxes may meet in several cells: the pair belongs to the one where what they share begins.
  void add_pairs(const Cell& own, std::vector<std::pair<int, int>>& found) {
    const std::span<int> members(m_members.data() + own.begin, own.size);
    const auto group = [&](int i) { return m_group[static_cast<std::size_t>(i)]; };
    std::sort(members.begin(), members.end(), [&](int i, int j) { return group(i) < group(j); });
    for (std::size_t k = 0, others = 0; k < members.size(); ++k) {
      while (others < members.size() && group(members[others]) == group(members[k])) ++others;
      const auto i = static_cast<std::size_t>(members[k]);
      for (std::size_t l = others; l < members.size(); ++l) {
        const auto j = static_cast<std::size_t>(members[l]);
        if (!m_boxes[i].overlaps(m_boxes[j])) continue;
        const Place &a = m_ranges[i].low, &b = m_ranges[j].low;
        if (Place{std::max(a[0], b[0]), std::max(a[1], b[1]), std::max(a[2], b[2])} != own.place) continue;
        found.emplace_back(std::min(members[k], members[l]), std::max(members[k], members[l]));
      }
    }
  }

  std::span<const Box> m_boxes;
  std::span<const int> m_group;
  Vec3 m_low = Vec3::Zero();
  double m_per_length = 1;
  Place m_count{1, 1, 1};
  std::vector<Range> m_ranges;
  std::vector<int> m_members;
};

// Pairs of boxes of different groups that overlap, from cells; none where a tree is to be asked.
std::optional<std::vector<std::pair<int, int>>> pairs_in_cells(std::span<const Box> boxes,
                                                               std::span<const int> group) {
  static constexpr double far = 1e100;  // m: what has exploded so far would overflow
  const auto is_near = [](const Box& box) {
    return (box.min.array() > -far).all() && (box.max.array() < far).all();
  };
  if (group.empty() || boxes.empty() || !std::all_of(boxes.begin(), boxes.end(), is_near))
    return std::nullopt;
  return GroupGrid(boxes, group).pairs();
}

// Pairs of triangles whose boxes overlap, found by going down the tree against itself. With `group` only pairs of different
// groups; where all below two nodes is of one group, nothing is looked at.
class OverlappingPairs {
 public:
  OverlappingPairs(std::span<const Box> boxes, std::span<const int> group)
      : m_boxes(boxes), m_tree(boxes), m_group(group) {
    if (!group.empty()) m_node_group = groups_of_nodes(m_tree, group);
    if (!m_tree.empty()) m_stack.emplace_back(0, 0);
  }

  // The next pairs, smaller index first: about `wanted` of them, none when there are no more.
  std::vector<std::pair<int, int>> next(std::size_t wanted) {
    std::vector<std::pair<int, int>> found;
    while (!m_stack.empty() && found.size() < wanted) {
      const auto [a, b] = m_stack.back();
      m_stack.pop_back();
      if (a != b && !m_tree.nodes()[a].box.overlaps(m_tree.nodes()[b].box)) continue;
      if (!m_node_group.empty() && m_node_group[a] >= 0 && m_node_group[a] == m_node_group[b]) continue;
      descend(a, b, found);
    }
    return found;
  }

 private:
  void descend(int a, int b, std::vector<std::pair<int, int>>& found) {
    const Bvh::Node &left = m_tree.nodes()[a], &right = m_tree.nodes()[b];
    if (left.count > 0 && right.count > 0) {
      add_pairs(left, right, a == b, found);
    } else if (a == b) {
      m_stack.insert(m_stack.end(), {{a + 1, a + 1}, {left.right, left.right}, {a + 1, left.right}});
    } else if (right.count > 0 || (left.count == 0 && extent(left) > extent(right))) {
      m_stack.insert(m_stack.end(), {{a + 1, b}, {left.right, b}});
    } else {
      m_stack.insert(m_stack.end(), {{a, b + 1}, {a, right.right}});
    }
  }

  void add_pairs(const Bvh::Node& left, const Bvh::Node& right, bool same,
                 std::vector<std::pair<int, int>>& found) const {
    for (int i = 0; i < left.count; ++i) {
      const int s = m_tree.order()[left.begin + i];
      for (int j = same ? i + 1 : 0; j < right.count; ++j) {
        const int t = m_tree.order()[right.begin + j];
        if (!m_group.empty() && m_group[s] == m_group[t]) continue;
        if (m_boxes[s].overlaps(m_boxes[t])) found.emplace_back(std::min(s, t), std::max(s, t));
      }
    }
  }

  static double extent(const Bvh::Node& node) { return (node.box.max - node.box.min).squaredNorm(); }

  std::span<const Box> m_boxes;
  Bvh m_tree;
  std::span<const int> m_group;
  std::vector<int> m_node_group;
  std::vector<std::pair<int, int>> m_stack;
};

// Those of the pairs that meet by test(s, t).
void keep_meeting(const PairTest& pairs, const std::vector<std::pair<int, int>>& near, const auto& test,
                  std::vector<std::pair<int, int>>& out) {
  std::vector<std::uint8_t> meets(near.size());
  parallel_for(
      near.size(),
      [&](std::size_t k) {
        const auto [s, t] = near[k];
        meets[k] = test(pairs, s, t) && !pairs.degenerate(s) && !pairs.degenerate(t);
      },
      256);
  for (std::size_t k = 0; k < near.size(); ++k)
    if (meets[k]) out.push_back(near[k]);
}

// Pairs of triangles, the smaller index first and in order, that meet by test(s, t).
std::vector<std::pair<int, int>> meeting(const TriMesh& mesh, std::span<const int> group, const auto& test) {
  constexpr std::size_t at_a_time = 1 << 16;  // bounds the memory
  if (!group.empty() && std::adjacent_find(group.begin(), group.end(), std::not_equal_to<>()) == group.end())
    return {};  // all are of one
  const std::vector<Box> boxes = element_boxes(mesh.vertices, mesh.triangles);
  const PairTest pairs(mesh);
  std::vector<std::pair<int, int>> all;
  if (const auto near = pairs_in_cells(boxes, group)) {
    keep_meeting(pairs, *near, test, all);
  } else {
    OverlappingPairs tree(boxes, group);
    for (auto some = tree.next(at_a_time); !some.empty(); some = tree.next(at_a_time))
      keep_meeting(pairs, some, test, all);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::pair<int, int>> touching(const TriMesh& mesh) {
  return meeting(mesh, {}, [](const PairTest& pairs, int s, int t) { return pairs(s, t); });
}

}  // namespace

std::vector<std::pair<int, int>> crossing_pairs(const TriMesh& mesh, std::span<const int> group) {
  return meeting(mesh, group, [](const PairTest& pairs, int s, int t) { return pairs.crosses(s, t); });
}

std::vector<std::pair<int, int>> self_intersections(const TriMesh& mesh, std::size_t limit) {
  std::vector<std::pair<int, int>> pairs = touching(mesh);
  if (pairs.size() > limit) pairs.resize(limit);
  return pairs;
}

std::size_t count_self_intersections(const TriMesh& mesh) {
  return touching(mesh).size();
}

std::size_t count_crossings(const TriMesh& a, const TriMesh& b) {
  const Eigen::Index first = a.vertices.rows(), triangles = a.triangles.rows();
  TriMesh both{Points(first + b.vertices.rows(), 3), Triangles(triangles + b.triangles.rows(), 3)};
  both.vertices << a.vertices, b.vertices;
  both.triangles << a.triangles, (b.triangles.array() + static_cast<int>(first)).matrix();
  const std::vector<Box> boxes = element_boxes(both.vertices, both.triangles);
  const auto split = static_cast<std::size_t>(triangles);
  const std::span<const Box> others(boxes.begin() + triangles, boxes.end());
  const Bvh tree(others);
  const PairTest test(both);
  std::vector<std::size_t> counts(split, 0);
  parallel_for(
      split,
      [&](std::size_t i) {
        tree.for_overlaps(boxes[i], [&](int k) {
          const std::size_t t = split + static_cast<std::size_t>(k);
          if (boxes[t].overlaps(boxes[i]) && test(static_cast<int>(i), static_cast<int>(t))) ++counts[i];
        });
      },
      64);
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  return sum;
}

}  // namespace exemplar
