// The automatic handles: thinning by closest pairs. The nearest living neighbour of a point only ever moves
// away, so a heap of (distance, point, neighbour) with stale entries renewed when they come up finds the
// closest pair; the kD-tree is built anew whenever half of its points are gone.
#include <algorithm>
#include <nanoflann.hpp>
#include <queue>
#include <tuple>

#include "core/rig/handles.h"

namespace exemplar {

namespace {

// The points that were alive when the tree was built.
struct Cloud {
  const Points* points = nullptr;
  std::vector<int> members;

  std::size_t kdtree_get_point_count() const { return members.size(); }
  double kdtree_get_pt(std::size_t i, std::size_t axis) const {
    return (*points)(members[i], static_cast<Eigen::Index>(axis));
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, 3, int>;

// Keeps the nearest living point other than `self`.
class NearestAlive {
 public:
  using DistanceType = double;
  using IndexType = int;

  NearestAlive(const Cloud& cloud, const std::vector<char>& alive, int self)
      : m_cloud(cloud), m_alive(alive), m_self(self) {}
  bool addPoint(double distance, int member) {
    const int index = m_cloud.members[static_cast<std::size_t>(member)];
    if (index == m_self || !m_alive[static_cast<std::size_t>(index)] || distance >= m_distance) return true;
    m_distance = distance;
    m_index = index;
    return true;
  }
  bool full() const { return m_index >= 0; }
  std::size_t size() const { return m_index >= 0 ? 1 : 0; }
  double worstDist() const { return m_distance; }
  int index() const { return m_index; }

 private:
  const Cloud& m_cloud;
  const std::vector<char>& m_alive;
  int m_self;
  double m_distance = std::numeric_limits<double>::max();
  int m_index = -1;
};

class Thinning {
 public:
  // The first `fixed` points are never removed.
  Thinning(Points points, int fixed)
      : m_points(std::move(points)),
        m_alive(static_cast<std::size_t>(m_points.rows()), 1),
        m_fixed(fixed),
        m_living(static_cast<int>(m_points.rows())),
        m_low(m_points.colwise().minCoeff()),
        m_high(m_points.colwise().maxCoeff()) {
    build_tree();
    for (int i = m_fixed; i < m_living; ++i) push(i);
  }

  // Removes until `count` besides the fixed ones are left.
  void run(int count) {
    while (m_living - m_fixed > count && !m_heap.empty()) {
      const auto [distance, i, j] = m_heap.top();
      m_heap.pop();
      if (!alive(i)) continue;
      if (alive(j)) remove(loser(i, j));
      if (alive(i)) push(i);
    }
  }
  bool alive(int i) const { return m_alive[static_cast<std::size_t>(i)] != 0; }

 private:
  using Entry = std::tuple<double, int, int>;

  void build_tree() {
    m_cloud.points = &m_points;
    m_cloud.members.clear();
    for (int i = 0; i < static_cast<int>(m_alive.size()); ++i) {
      if (alive(i)) m_cloud.members.push_back(i);
    }
    m_tree = std::make_unique<Tree>(3, m_cloud, nanoflann::KDTreeSingleIndexAdaptorParams(16));
    m_tree->buildIndex();
  }
  void push(int i) {
    NearestAlive nearest(m_cloud, m_alive, i);
    m_tree->findNeighbors(nearest, m_points.row(i).data(), nanoflann::SearchParams());
    if (nearest.full()) {
      m_heap.emplace((m_points.row(i) - m_points.row(nearest.index())).squaredNorm(), i, nearest.index());
    }
  }
  double to_box(int i) const {
    const Eigen::RowVector3d p = m_points.row(i);
    return std::min((p - m_low).minCoeff(), (m_high - p).minCoeff());
  }
  int loser(int i, int j) const {
    if (j < m_fixed) return i;
    const double a = to_box(i), b = to_box(j);
    return a == b ? std::max(i, j) : a > b ? i : j;
  }
  void remove(int i) {
    m_alive[static_cast<std::size_t>(i)] = 0;
    --m_living;
    if (2 * static_cast<std::size_t>(m_living) < m_cloud.members.size()) build_tree();
  }

  Points m_points;
  std::vector<char> m_alive;
  int m_fixed, m_living;
  Eigen::RowVector3d m_low, m_high;  // of all points: the bounding box
  Cloud m_cloud;
  std::unique_ptr<Tree> m_tree;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> m_heap;
};

}  // namespace

std::vector<int> thin_points(const Points& points, const std::vector<int>& candidates, const Points& kept,
                             int count) {
  const auto fixed = static_cast<int>(kept.rows());
  const auto all = static_cast<int>(candidates.size());
  Points cloud(fixed + all, 3);
  cloud.topRows(fixed) = kept;
  for (int i = 0; i < all; ++i) {
    cloud.row(fixed + i) = points.row(candidates[static_cast<std::size_t>(i)]);
  }
  Thinning thinning(std::move(cloud), fixed);
  thinning.run(count);
  std::vector<int> left;
  for (int i = 0; i < all; ++i) {
    if (thinning.alive(fixed + i)) left.push_back(candidates[static_cast<std::size_t>(i)]);
  }
  std::sort(left.begin(), left.end());
  return left;
}

}  // namespace exemplar
