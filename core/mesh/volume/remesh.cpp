// Isotropic remeshing of a marched implicit surface; see implicit.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/base/parallel.h"
#include "core/mesh/models/implicit.h"

namespace exemplar {
namespace {

using Tri = std::array<int, 3>;

double smallest_angle(const Vec3& a, const Vec3& b, const Vec3& c) {
  const auto angle = [](const Vec3& u, const Vec3& v) { return std::atan2(u.cross(v).norm(), u.dot(v)); };
  return std::min({angle(b - a, c - a), angle(c - b, a - b), angle(a - c, b - c)});
}

// A surface that changes: triangles in a list (removed ones start with −1) and the triangles around each
// vertex.
class Remesher {
 public:
  Remesher(const ImplicitField& f, const ImplicitMeshing& options, const TriMesh& start);
  TriMesh run();

 private:
  Vec3 projected(const Vec3& p, double reach, Vec3& normal) const {
    return project_to_surface(m_f, p, reach, m_delta, normal);
  }
  double target(int a, int b) const { return 0.5 * (m_size[a] + m_size[b]); }
  double length(int a, int b) const { return (m_x[a] - m_x[b]).norm(); }
  bool alive(int t) const { return m_tri[t][0] >= 0; }
  bool has(int t, int v) const { return m_tri[t][0] == v || m_tri[t][1] == v || m_tri[t][2] == v; }
  int corner(int t, int v) const { return m_tri[t][0] == v ? 0 : m_tri[t][1] == v ? 1 : 2; }
  // Third vertex of the triangle that has the directed edge a → b; −1 if there is none.
  int opposite(int a, int b, int& t) const;
  std::vector<int> neighbours(int v) const;
  double angle_of(const Tri& t) const { return smallest_angle(m_x[t[0]], m_x[t[1]], m_x[t[2]]); }
  double facing(const Tri& t) const;
  double star_quality(int v) const;

  void find_sizes();
  void split_long();
  void split(int a, int b);
  void collapse_short();
  bool collapse(int a, int b, double longest, bool only_if_better);
  double collapse_quality(int a, int b, double longest) const;
  void flip_all();
  bool flip(int a, int b, bool by_valence);
  void relax();
  bool relax_vertex(int v, double amount);
  bool bad(int t, double wanted) const {
    return alive(t) && (angle_of(m_tri[t]) < wanted || facing(m_tri[t]) < 0.15);
  }
  bool has_bad(double wanted) const;
  bool repair_pass(double wanted);
  bool repair(int t, double wanted);
  bool nudge(int v);
  TriMesh result() const;

  const ImplicitField& m_f;
  ImplicitMeshing m_options;
  double m_delta;
  std::vector<Vec3> m_x;
  std::vector<Vec3> m_normal;
  std::vector<double> m_size;
  std::vector<Tri> m_tri;
  std::vector<std::vector<int>> m_around;
};

Remesher::Remesher(const ImplicitField& f, const ImplicitMeshing& options, const TriMesh& start)
    : m_f(f), m_options(options), m_delta(0.02 * options.smallest_edge) {
  const auto n = static_cast<std::size_t>(start.vertices.rows());
  m_x.resize(n);
  m_normal.resize(n);
  m_around.resize(n);
  parallel_for(n, [&](std::size_t i) {
    m_x[i] = projected(start.vertices.row(static_cast<Eigen::Index>(i)), 0.7 * options.cell, m_normal[i]);
  });
  for (Eigen::Index t = 0; t < start.triangles.rows(); ++t) {
    m_tri.push_back({start.triangles(t, 0), start.triangles(t, 1), start.triangles(t, 2)});
    for (const int v : m_tri.back()) m_around[v].push_back(static_cast<int>(t));
  }
  find_sizes();
}

int Remesher::opposite(int a, int b, int& t) const {
  for (const int candidate : m_around[a]) {
    const int k = corner(candidate, a);
    if (m_tri[candidate][(k + 1) % 3] != b) continue;
    t = candidate;
    return m_tri[candidate][(k + 2) % 3];
  }
  t = -1;
  return -1;
}

std::vector<int> Remesher::neighbours(int v) const {
  std::vector<int> result;
  for (const int t : m_around[v]) result.push_back(m_tri[t][(corner(t, v) + 1) % 3]);
  return result;
}

// How well the triangle's normal agrees with the surface normals at its vertices: 1 is best, below 0 is
// folded over.
double Remesher::facing(const Tri& t) const {
  const Vec3 n = (m_x[t[1]] - m_x[t[0]]).cross(m_x[t[2]] - m_x[t[0]]).normalized();
  double worst = 1;
  for (const int v : t) worst = std::min(worst, n.dot(m_normal[v]));
  return worst;
}

// Smallest angle (rad) around a vertex, made negative where a triangle is folded over.
double Remesher::star_quality(int v) const {
  double worst = 2;
  for (const int t : m_around[v]) {
    const double face = facing(m_tri[t]);
    worst = std::min(worst, face < 0.15 ? face - 1.2 : angle_of(m_tri[t]));
  }
  return worst;
}

// Edge lengths from how fast the normal turns between neighbours, with a bounded growth from place to place.
void Remesher::find_sizes() {
  m_size.assign(m_x.size(), m_options.edge_length);
  for (const Tri& tri : m_tri)
    for (int k = 0; k < 3; ++k) {
      const int a = tri[k];
      const int b = tri[(k + 1) % 3];
      const double span = std::max(length(a, b), 0.3 * m_options.cell);
      const double turn = std::acos(std::clamp(m_normal[a].dot(m_normal[b]), -1.0, 1.0));
      const double size =
          std::max(m_options.smallest_edge, m_options.turn_per_edge * span / std::max(turn, 1e-9));
      m_size[a] = std::min(m_size[a], size);
      m_size[b] = std::min(m_size[b], size);
    }
  const double growth = 0.35;
  bool changed = true;
  for (int sweep = 0; sweep < 40 && changed; ++sweep) {
    changed = false;
    for (const Tri& tri : m_tri)
      for (int k = 0; k < 3; ++k) {
        const int b = tri[(k + 1) % 3];
        const double limit = m_size[tri[k]] + growth * length(tri[k], b);
        if (m_size[b] <= limit * (1 + 1e-6)) continue;
        m_size[b] = limit;
        changed = true;
      }
  }
}

void Remesher::split(int a, int b) {
  int t0 = -1;
  int t1 = -1;
  const int c = opposite(a, b, t0);
  const int d = opposite(b, a, t1);
  const int m = static_cast<int>(m_x.size());
  const Vec3 middle = 0.5 * (m_x[a] + m_x[b]);
  Vec3 normal;
  const Vec3 place = projected(middle, 0.4 * length(a, b), normal);
  // An edge straight through a thin part only leads to more such edges.
  if ((place - middle).norm() > 0.3 * length(a, b)) return;
  m_x.push_back(place);
  m_normal.push_back(normal);
  m_size.push_back(target(a, b));
  const int n0 = static_cast<int>(m_tri.size());
  const int n1 = n0 + 1;
  m_tri[t0] = {a, m, c};
  m_tri[t1] = {b, m, d};
  m_tri.push_back({m, b, c});
  m_tri.push_back({m, a, d});
  m_around.push_back({t0, t1, n0, n1});
  std::replace(m_around[b].begin(), m_around[b].end(), t0, n0);
  std::replace(m_around[a].begin(), m_around[a].end(), t1, n1);
  m_around[c].push_back(n0);
  m_around[d].push_back(n1);
}

void Remesher::split_long() {
  const std::size_t most = 3 * m_tri.size();  // the rest waits for the next iteration
  for (std::size_t t = 0; t < m_tri.size() && m_tri.size() < most; ++t) {
    if (!alive(static_cast<int>(t))) continue;
    int longest = 0;
    double excess = 0;
    for (int k = 0; k < 3; ++k) {
      const int a = m_tri[t][k];
      const int b = m_tri[t][(k + 1) % 3];
      const double ratio = length(a, b) / target(a, b);
      if (ratio > excess) {
        excess = ratio;
        longest = k;
      }
    }
    if (excess > 4.0 / 3) split(m_tri[t][longest], m_tri[t][(longest + 1) % 3]);
  }
}

// Smallest angle of the triangles that would be left around the merged vertex (placed at a); −1 if not
// allowed.
double Remesher::collapse_quality(int a, int b, double longest) const {
  double worst = 2;
  for (const int v : {a, b})
    for (const int t : m_around[v]) {
      if (has(t, a) && has(t, b)) continue;
      Tri tri = m_tri[t];
      for (int& w : tri)
        if (w == b) w = a;
      if (facing(tri) < 0.25) return -1;
      worst = std::min(worst, angle_of(tri));
      for (int k = 0; k < 3; ++k)
        if (length(tri[k], tri[(k + 1) % 3]) > longest * target(tri[k], tri[(k + 1) % 3])) return -1;
    }
  return worst;
}

// Merges b into a if the surface stays manifold and well shaped.
bool Remesher::collapse(int a, int b, double longest, bool only_if_better) {
  int t0 = -1;
  int t1 = -1;
  const int c = opposite(a, b, t0);
  const int d = opposite(b, a, t1);
  const std::size_t least = only_if_better ? 4 : 5;
  if (c < 0 || d < 0 || m_around[c].size() < least || m_around[d].size() < least) return false;
  int common = 0;
  const std::vector<int> of_b = neighbours(b);
  for (const int v : neighbours(a)) common += static_cast<int>(std::count(of_b.begin(), of_b.end(), v));
  if (common != 2) return false;

  const double before = std::min(star_quality(a), star_quality(b));
  const Vec3 old_x = m_x[a];
  const Vec3 old_normal = m_normal[a];
  const std::array<Vec3, 3> places = {0.5 * (m_x[a] + m_x[b]), m_x[a], m_x[b]};
  const std::array<Vec3, 3> normals = {(m_normal[a] + m_normal[b]).normalized(), m_normal[a], m_normal[b]};
  double best = -1;
  Vec3 best_x = old_x;
  Vec3 best_normal = old_normal;
  for (int k = 0; k < 3 && best < 0.6; ++k) {
    m_x[a] = places[k];
    m_normal[a] = normals[k];
    double quality = collapse_quality(a, b, longest);
    if (k == 0 && quality > 0) {  // only the midpoint is off the surface
      m_x[a] = projected(places[0], 0.5 * (places[1] - places[2]).norm(), m_normal[a]);
      quality = collapse_quality(a, b, longest);
    }
    if (quality > best) {
      best = quality;
      best_x = m_x[a];
      best_normal = m_normal[a];
    }
    m_x[a] = old_x;
  }
  const double needed = only_if_better ? before + 1e-3 : std::min(before, 0.35);
  m_normal[a] = old_normal;
  if (best < 0 || best < needed) return false;

  m_x[a] = best_x;
  m_normal[a] = best_normal;
  m_size[a] = std::min(m_size[a], m_size[b]);
  for (const int t : {t0, t1}) {
    for (const int v : m_tri[t]) std::erase(m_around[v], t);
    m_tri[t] = {-1, -1, -1};
  }
  for (const int t : m_around[b]) {
    for (int& v : m_tri[t])
      if (v == b) v = a;
    m_around[a].push_back(t);
  }
  m_around[b].clear();
  return true;
}

void Remesher::collapse_short() {
  for (std::size_t t = 0; t < m_tri.size(); ++t)
    for (int k = 0; k < 3 && alive(static_cast<int>(t)); ++k) {
      const int a = m_tri[t][k];
      const int b = m_tri[t][(k + 1) % 3];
      if (length(a, b) < 0.8 * target(a, b)) collapse(a, b, 4.0 / 3, false);
    }
}

// Turns edge ab of triangles abc, bad into cd if that makes the smallest angle larger.
bool Remesher::flip(int a, int b, bool by_valence) {
  int t0 = -1;
  int t1 = -1;
  const int c = opposite(a, b, t0);
  const int d = opposite(b, a, t1);
  if (c < 0 || d < 0 || m_around[a].size() < 4 || m_around[b].size() < 4) return false;
  const std::vector<int> of_c = neighbours(c);
  if (std::find(of_c.begin(), of_c.end(), d) != of_c.end()) return false;
  const Tri new0 = {a, d, c};
  const Tri new1 = {d, b, c};
  const double before = std::min(angle_of(m_tri[t0]), angle_of(m_tri[t1]));
  const double after = std::min(angle_of(new0), angle_of(new1));
  const double face_before = std::min(facing(m_tri[t0]), facing(m_tri[t1]));
  const double face_after = std::min(facing(new0), facing(new1));
  const auto off = [&](int v, double wanted) {
    return std::abs(static_cast<double>(m_around[v].size()) - wanted);
  };
  const double valence_gain =
      off(a, 6) + off(b, 6) + off(c, 6) + off(d, 6) - off(a, 7) - off(b, 7) - off(c, 5) - off(d, 5);
  const bool better =
      by_valence ? valence_gain > 0.5 && after > std::min(before, 0.4) : after > before + 1e-3;
  const double drop = before < 0.3 ? 0.4 : 0.1;  // slivers are worse than a slightly wrong normal
  if (!better || face_after < std::min(0.4, face_before) || face_after < face_before - drop) return false;
  m_tri[t0] = new0;
  m_tri[t1] = new1;
  std::erase(m_around[b], t0);
  std::erase(m_around[a], t1);
  m_around[d].push_back(t0);
  m_around[c].push_back(t1);
  return true;
}

void Remesher::flip_all() {
  for (const bool by_valence : {true, false})
    for (std::size_t t = 0; t < m_tri.size(); ++t)
      for (int k = 0; k < 3; ++k)
        if (alive(static_cast<int>(t))) flip(m_tri[t][k], m_tri[t][(k + 1) % 3], by_valence);
}

// Moves a vertex within the surface towards the weighted middle of its star, unless that spoils a triangle.
bool Remesher::relax_vertex(int v, double amount) {
  Vec3 middle = Vec3::Zero();
  double weight = 0;
  for (const int t : m_around[v]) {
    const Tri& tri = m_tri[t];
    const Vec3 centre = (m_x[tri[0]] + m_x[tri[1]] + m_x[tri[2]]) / 3;
    const double size = (m_size[tri[0]] + m_size[tri[1]] + m_size[tri[2]]) / 3;
    const double area = (m_x[tri[1]] - m_x[tri[0]]).cross(m_x[tri[2]] - m_x[tri[0]]).norm() / (size * size);
    middle += area * centre;
    weight += area;
  }
  if (weight <= 0) return false;
  Vec3 move = middle / weight - m_x[v];
  move -= m_normal[v] * m_normal[v].dot(move);
  const double before = star_quality(v);
  const Vec3 old_x = m_x[v];
  const Vec3 old_normal = m_normal[v];
  m_x[v] = projected(old_x + amount * move, 0.5 * m_size[v], m_normal[v]);
  if (star_quality(v) >= std::min(before, 0.5)) return true;
  m_x[v] = old_x;
  m_normal[v] = old_normal;
  return false;
}

void Remesher::relax() {
  for (std::size_t v = 0; v < m_x.size(); ++v)
    if (!m_around[v].empty()) relax_vertex(static_cast<int>(v), 0.8);
}

// Moves a vertex to the best of some places around it within the surface; returns whether its star got
// better.
bool Remesher::nudge(int v) {
  const Vec3 x = m_x[v];
  const Vec3 normal = m_normal[v];
  const Vec3 u = normal.unitOrthogonal();
  const Vec3 w = normal.cross(u);
  double best = star_quality(v) + 1e-3;
  Vec3 best_x = x;
  Vec3 best_normal = normal;
  for (const double step : {0.35, 0.15, 0.05})
    for (int k = 0; k < 8; ++k) {
      const double angle = 0.25 * std::numbers::pi * k;
      m_x[v] = projected(x + step * m_size[v] * (std::cos(angle) * u + std::sin(angle) * w), 0.5 * m_size[v],
                         m_normal[v]);
      const double quality = star_quality(v);
      if (quality <= best) continue;
      best = quality;
      best_x = m_x[v];
      best_normal = m_normal[v];
    }
  m_x[v] = best_x;
  m_normal[v] = best_normal;
  return best_x != x;
}

// Tries, in turn, a flip, a collapse and a move to make the smallest angle of a bad triangle larger.
bool Remesher::repair(int t, double wanted) {
  for (int k = 0; k < 3 && bad(t, wanted); ++k)
    if (flip(m_tri[t][k], m_tri[t][(k + 1) % 3], false)) return true;
  for (int k = 0; k < 3 && bad(t, wanted); ++k)
    if (collapse(m_tri[t][k], m_tri[t][(k + 1) % 3], 2.5, true)) return true;
  for (int k = 0; k < 3 && bad(t, wanted); ++k)
    if (nudge(m_tri[t][k])) return true;
  return false;
}

// Returns whether something could be done about bad triangles.
bool Remesher::repair_pass(double wanted) {
  bool changed = false;
  for (std::size_t t = 0; t < m_tri.size(); ++t)
    if (bad(static_cast<int>(t), wanted)) changed |= repair(static_cast<int>(t), wanted);
  return changed;
}

bool Remesher::has_bad(double wanted) const {
  for (std::size_t t = 0; t < m_tri.size(); ++t)
    if (bad(static_cast<int>(t), wanted)) return true;
  return false;
}

TriMesh Remesher::result() const {
  std::vector<int> index(m_x.size(), -1);
  TriMesh mesh;
  mesh.vertices.resize(static_cast<Eigen::Index>(m_x.size()), 3);
  mesh.triangles.resize(static_cast<Eigen::Index>(m_tri.size()), 3);
  int vertices = 0;
  Eigen::Index triangles = 0;
  for (const Tri& tri : m_tri) {
    if (tri[0] < 0) continue;
    for (int k = 0; k < 3; ++k) {
      int& place = index[tri[k]];
      if (place < 0) {
        place = vertices++;
        mesh.vertices.row(place) = m_x[tri[k]];
      }
      mesh.triangles(triangles, k) = place;
    }
    ++triangles;
  }
  mesh.vertices.conservativeResize(vertices, 3);
  mesh.triangles.conservativeResize(triangles, 3);
  return mesh;
}

TriMesh Remesher::run() {
  for (int iteration = 0; iteration < 10; ++iteration) {
    split_long();
    collapse_short();
    flip_all();
    relax();
    if (iteration >= 4) relax();
  }
  const double wanted = 25 * std::numbers::pi / 180;
  for (int round = 0; round < 4; ++round) {
    for (int pass = 0; pass < 12 && repair_pass(wanted); ++pass) flip_all();
    if (!has_bad(wanted)) break;
    relax();
  }
  return result();
}

}  // namespace

TriMesh mesh_implicit(const ImplicitField& f, const ImplicitMeshing& options) {
  return Remesher(f, options, marching_tetrahedra(f, options.low, options.high, options.cell)).run();
}

}  // namespace exemplar
