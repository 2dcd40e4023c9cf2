// Triangles of one surface that cross each other. Signs come from Shewchuk's exact predicates (1997), as
// built into TetGen, so that touching and crossing are told apart from near misses without a tolerance.
#define TETLIBRARY  // the library as Debian builds it: failures are exceptions
#include <tetgen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

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

bool segment_touches(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  const int p_side = side_of_plane(a, b, c, p);
  const int q_side = side_of_plane(a, b, c, q);
  if (p_side == 0 && q_side == 0) return coplanar_segment_touches(p, q, a, b, c);
  if (p_side * q_side > 0) return false;
  const int ab = side_of_plane(p, q, a, b);
  const int bc = side_of_plane(p, q, b, c);
  const int ca = side_of_plane(p, q, c, a);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

// The segment goes through the plane, from one side to the other, within the triangle.
bool segment_crosses(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  if (side_of_plane(a, b, c, p) * side_of_plane(a, b, c, q) >= 0) return false;
  const int ab = side_of_plane(p, q, a, b);
  const int bc = side_of_plane(p, q, b, c);
  const int ca = side_of_plane(p, q, c, a);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
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
    if (are_apart(s, t)) return false;
    for (int k = 0; k < 3; ++k) {
      if (opposite_crosses(s, k, t) || opposite_crosses(t, k, s)) return true;
    }
    return false;
  }

 private:
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

  // The same without touching; an edge that ends in a corner of t cannot cross it.
  bool opposite_crosses(int s, int k, int t) const {
    for (const int end : {(k + 1) % 3, (k + 2) % 3}) {
      if ((m_mesh.triangles.row(t).array() == m_mesh.triangles(s, end)).any()) return false;
    }
    return segment_crosses(corner(s, k + 1), corner(s, k + 2), corner(t, 0), corner(t, 1), corner(t, 2));
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

// For every triangle, the later ones that meet it by test(s, t).
std::vector<std::vector<int>> meeting(const TriMesh& mesh, const auto& test) {
  const std::vector<Box> boxes = element_boxes(mesh.vertices, mesh.triangles);
  const Bvh tree(boxes);
  const PairTest pairs(mesh);
  std::vector<std::vector<int>> found(boxes.size());
  parallel_for(
      boxes.size(),
      [&](std::size_t i) {
        const int s = static_cast<int>(i);
        if (pairs.degenerate(s)) return;
        tree.for_overlaps(boxes[i], [&](int t) {
          if (t > s && boxes[t].overlaps(boxes[i]) && !pairs.degenerate(t) && test(pairs, s, t))
            found[i].push_back(t);
        });
        std::sort(found[i].begin(), found[i].end());
      },
      64);
  return found;
}

std::vector<std::vector<int>> touching(const TriMesh& mesh) {
  return meeting(mesh, [](const PairTest& pairs, int s, int t) { return pairs(s, t); });
}

}  // namespace

std::vector<std::pair<int, int>> crossing_pairs(const TriMesh& mesh) {
  const auto found = meeting(mesh, [](const PairTest& pairs, int s, int t) { return pairs.crosses(s, t); });
  std::vector<std::pair<int, int>> all;
  for (std::size_t s = 0; s < found.size(); ++s) {
    for (const int t : found[s]) all.emplace_back(static_cast<int>(s), t);
  }
  return all;
}

std::vector<std::pair<int, int>> self_intersections(const TriMesh& mesh, std::size_t limit) {
  std::vector<std::pair<int, int>> pairs;
  const auto found = touching(mesh);
  for (std::size_t s = 0; s < found.size(); ++s) {
    for (const int t : found[s]) {
      if (pairs.size() == limit) return pairs;
      pairs.emplace_back(static_cast<int>(s), t);
    }
  }
  return pairs;
}

std::size_t count_self_intersections(const TriMesh& mesh) {
  std::size_t count = 0;
  for (const auto& others : touching(mesh)) count += others.size();
  return count;
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
