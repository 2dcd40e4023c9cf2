#include "core/mesh/models/implicit.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/parallel.h"

namespace exemplar {
namespace {

// Values of f on a regular grid and the surface vertices found on its edges so far.
class TetrahedraMarcher {
 public:
  TetrahedraMarcher(const ImplicitField& f, const Vec3& low, const Vec3& high, double cell);
  TriMesh run();

 private:
  using Node = std::int64_t;
  Node node(const Eigen::Vector3i& at) const {
    return (static_cast<Node>(at.z()) * m_count.y() + at.y()) * m_count.x() + at.x();
  }
  Vec3 position(Node n) const {
    const Node x = n % m_count.x();
    const Node y = n / m_count.x() % m_count.y();
    const Node z = n / m_count.x() / m_count.y();
    return m_low + m_cell * Vec3(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
  }
  int vertex(Node a, Node b);
  void cube(const Eigen::Vector3i& at);
  void tetrahedron(const std::array<Node, 4>& nodes);
  void triangle(int a, int b, int c) { m_triangles.push_back({a, b, c}); }

  Vec3 m_low;
  double m_cell;
  Eigen::Vector3i m_count;
  std::vector<double> m_values;
  std::unordered_map<std::uint64_t, int> m_vertex_of_edge;
  std::vector<Vec3> m_vertices;
  std::vector<std::array<int, 3>> m_triangles;
};

TetrahedraMarcher::TetrahedraMarcher(const ImplicitField& f, const Vec3& low, const Vec3& high, double cell)
    : m_low(low), m_cell(cell) {
  for (int k = 0; k < 3; ++k) m_count[k] = static_cast<int>(std::ceil((high[k] - low[k]) / cell)) + 1;
  m_values.resize(static_cast<std::size_t>(m_count.x()) * m_count.y() * m_count.z());
  parallel_for(
      m_values.size(), [&](std::size_t n) { m_values[n] = f(position(static_cast<Node>(n))); }, 4096);
}

// Kept away from the ends of the edge, which avoids degenerate triangles; the vertex is projected later
// anyway.
int TetrahedraMarcher::vertex(Node a, Node b) {
  if (a > b) std::swap(a, b);
  const auto [place, is_new] = m_vertex_of_edge.try_emplace(
      static_cast<std::uint64_t>(a) * m_values.size() + static_cast<std::uint64_t>(b),
      static_cast<int>(m_vertices.size()));
  if (is_new) {
    const double t = std::clamp(m_values[a] / (m_values[a] - m_values[b]), 0.1, 0.9);
    m_vertices.push_back((1 - t) * position(a) + t * position(b));
  }
  return place->second;
}

// `nodes` has positive volume. Inside nodes first, an even permutation of the others keeps the orientation.
void TetrahedraMarcher::tetrahedron(const std::array<Node, 4>& nodes) {
  std::array<int, 4> in{};
  std::array<int, 4> out{};
  int ins = 0;
  int outs = 0;
  for (int k = 0; k < 4; ++k) (m_values[nodes[k]] < 0 ? in[ins++] : out[outs++]) = k;
  if (ins == 0 || ins == 4) return;
  // Sign of the permutation (in…, out…).
  std::array<int, 4> order{};
  for (int k = 0; k < 4; ++k) order[k] = k < ins ? in[k] : out[k - ins];
  bool even = true;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j)
      if (order[i] > order[j]) even = !even;
  const auto edge = [&](int i, int j) { return vertex(nodes[order[i]], nodes[order[j]]); };
  std::vector<int> ring;
  if (ins == 1) ring = {edge(0, 1), edge(0, 2), edge(0, 3)};
  if (ins == 3) ring = {edge(0, 3), edge(1, 3), edge(2, 3)};
  if (ins == 2) ring = {edge(0, 2), edge(0, 3), edge(1, 3), edge(1, 2)};
  // Seen from inside, nodes 1, 2, 3 of a positive tet are clockwise about node 0, hence counter-clockwise
  // from outside.
  if (!even) std::reverse(ring.begin(), ring.end());
  triangle(ring[0], ring[1], ring[2]);
  if (ins == 2) triangle(ring[0], ring[2], ring[3]);
}

// Kuhn's six tetrahedra around the diagonal; the same on all cubes, so that neighbours agree on their faces.
void TetrahedraMarcher::cube(const Eigen::Vector3i& at) {
  static constexpr int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const bool first = m_values[node(at)] < 0;
  bool mixed = false;
  for (int c = 1; c < 8 && !mixed; ++c)
    mixed = (m_values[node(at + Eigen::Vector3i(c & 1, c >> 1 & 1, c >> 2))] < 0) != first;
  if (!mixed) return;
  for (int o = 0; o < 6; ++o) {
    std::array<Node, 4> nodes{};
    Eigen::Vector3i corner = at;
    nodes[0] = node(corner);
    for (int k = 0; k < 3; ++k) {
      corner[orders[o][k]] += 1;
      nodes[k + 1] = node(corner);
    }
    if (o >= 3) std::swap(nodes[2], nodes[3]);  // odd axis orders have negative volume
    tetrahedron(nodes);
  }
}

TriMesh TetrahedraMarcher::run() {
  for (int z = 0; z + 1 < m_count.z(); ++z)
    for (int y = 0; y + 1 < m_count.y(); ++y)
      for (int x = 0; x + 1 < m_count.x(); ++x) cube({x, y, z});
  TriMesh mesh;
  mesh.vertices.resize(static_cast<Eigen::Index>(m_vertices.size()), 3);
  mesh.triangles.resize(static_cast<Eigen::Index>(m_triangles.size()), 3);
  for (std::size_t i = 0; i < m_vertices.size(); ++i)
    mesh.vertices.row(static_cast<Eigen::Index>(i)) = m_vertices[i];
  for (std::size_t t = 0; t < m_triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) mesh.triangles(static_cast<Eigen::Index>(t), k) = m_triangles[t][k];
  return mesh;
}

// Second-order differences from the four corners of a tetrahedron around p.
Vec3 gradient(const ImplicitField& f, const Vec3& p, double delta) {
  static const std::array<Vec3, 4> corners = {Vec3(1, -1, -1), Vec3(-1, -1, 1), Vec3(-1, 1, -1),
                                              Vec3(1, 1, 1)};
  Vec3 g = Vec3::Zero();
  for (const Vec3& corner : corners) g += corner * f(p + delta * corner);
  return g / (4 * delta);
}

}  // namespace

TriMesh marching_tetrahedra(const ImplicitField& f, const Vec3& low, const Vec3& high, double cell) {
  return TetrahedraMarcher(f, low, high, cell).run();
}

Vec3 project_to_surface(const ImplicitField& f, const Vec3& p, double reach, double delta, Vec3& normal) {
  Vec3 x = p;
  double left = reach;
  double value = f(x);
  for (int k = 0; k < 4; ++k) {
    const Vec3 g = gradient(f, x, delta);
    const double slope = std::max(g.norm(), 1e-6);
    normal = g / slope;
    const double length = std::clamp(value / slope, -left, left);
    if (std::abs(length) < 0.05 * delta) break;
    x -= length * normal;
    left -= std::abs(length);
    value = f(x);
    if (std::abs(value) < 0.05 * delta * slope && std::abs(length) < delta) break;
  }
  return x;
}

}  // namespace exemplar
