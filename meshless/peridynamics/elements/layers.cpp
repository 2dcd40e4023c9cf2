#include "meshless/peridynamics/elements/layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/base/errors.h"
#include "core/base/random.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/models/implicit.h"
#include "core/mesh/topology.h"
#include "core/mesh/volume/tetgen_process.h"

namespace exemplar::peridynamics {

namespace {

constexpr double k_layer_samples = 3e6;      // of the distance, at most
constexpr double k_candidate_cell = 0.35;    // of the sampling grid over the distance between points
constexpr double k_regular_height = 0.95;    // layers of darts at this spacing make nearly regular tets
constexpr double k_sharp = 0.866;            // cosine of 30° between two triangles
constexpr double k_near_the_surface = 0.05;  // of the layers' distance
constexpr int k_layer_tries = 4;
constexpr double k_close_count = 1.1;  // of the asked number of tets

// The distance to the surface on a grid, interpolated: level sets at every depth come from the same samples.
class DistanceGrid {
 public:
  DistanceGrid(const SurfaceDistance& distance, double cell) {
    const Points& x = distance.mesh().vertices;
    const Vec3 low = x.colwise().minCoeff(), high = x.colwise().maxCoeff();
    m_cell = std::max(cell, std::cbrt((high - low).prod() / k_layer_samples));
    m_low = low - Vec3::Constant(2.5 * m_cell);
    for (int k = 0; k < 3; ++k) m_count[k] = static_cast<int>(std::ceil((high[k] - low[k]) / m_cell)) + 6;
    Points nodes(static_cast<Eigen::Index>(m_count[0]) * m_count[1] * m_count[2], 3);
    for (Eigen::Index n = 0; n < nodes.rows(); ++n) nodes.row(n) = place(n).transpose();
    m_values = distance.signed_distances(nodes);
  }
  double cell() const { return m_cell; }
  Vec3 low() const { return m_low; }
  Vec3 high() const { return m_low + m_cell * Vec3(m_count[0] - 1, m_count[1] - 1, m_count[2] - 1); }
  double deepest() const { return -m_values.minCoeff(); }
  double at(const Vec3& p) const {
    std::array<int, 3> from{};
    Vec3 t;
    for (int k = 0; k < 3; ++k) {
      const double u = (p[k] - m_low[k]) / m_cell;
      from[k] = std::clamp(static_cast<int>(u), 0, m_count[k] - 2);
      t[k] = std::clamp(u - from[k], 0.0, 1.0);
    }
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1;
      Eigen::Index index = 0;
      for (int k = 2; k >= 0; --k) {
        const int bit = (corner >> k) & 1;
        weight *= bit ? t[k] : 1 - t[k];
        index = index * m_count[k] + from[k] + bit;
      }
      sum += weight * m_values[index];
    }
    return sum;
  }

 private:
  Vec3 place(Eigen::Index n) const {
    const Eigen::Index x = n % m_count[0], y = n / m_count[0] % m_count[1], z = n / m_count[0] / m_count[1];
    return m_low + m_cell * Vec3(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
  }
  Vec3 m_low;
  double m_cell = 0;
  std::array<int, 3> m_count{};
  VecX m_values;
};

// Points that keep a distance from each other.
class SparsePoints {
 public:
  explicit SparsePoints(double distance) : m_distance(distance) {}
  // Whether it was taken: nothing is nearer than `share` of the distance.
  bool add(const Vec3& p, double share) {
    const double least = share * m_distance;
    const std::array<std::int64_t, 3> c = cell(p);
    for (std::int64_t z = c[2] - 1; z <= c[2] + 1; ++z)
      for (std::int64_t y = c[1] - 1; y <= c[1] + 1; ++y)
        for (std::int64_t x = c[0] - 1; x <= c[0] + 1; ++x) {
          const auto found = m_cells.find(key({x, y, z}));
          if (found == m_cells.end()) continue;
          for (const int other : found->second)
            if ((points[static_cast<std::size_t>(other)] - p).squaredNorm() < least * least) return false;
        }
    m_cells[key(c)].push_back(static_cast<int>(points.size()));
    points.push_back(p);
    return true;
  }
  std::vector<Vec3> points;

 private:
  std::array<std::int64_t, 3> cell(const Vec3& p) const {
    return {static_cast<std::int64_t>(std::floor(p.x() / m_distance)),
            static_cast<std::int64_t>(std::floor(p.y() / m_distance)),
            static_cast<std::int64_t>(std::floor(p.z() / m_distance))};
  }
  static std::uint64_t key(const std::array<std::int64_t, 3>& c) {
    const auto part = [](std::int64_t v) { return static_cast<std::uint64_t>(v + (1 << 20)) & 0x1fffff; };
    return part(c[0]) | part(c[1]) << 21 | part(c[2]) << 42;
  }
  double m_distance;
  std::unordered_map<std::uint64_t, std::vector<int>> m_cells;
};

// Corners and edges between triangles that meet at more than 30°.
void add_sharp_edges(const TriMesh& surface, double edge, SparsePoints& out) {
  const SurfaceEdges edges = surface_edges(surface.triangles);
  const auto normal = [&](int t) {
    const auto corner = [&](int k) { return Vec3(surface.vertices.row(surface.triangles(t, k))); };
    return (corner(1) - corner(0)).cross(corner(2) - corner(0)).normalized().eval();
  };
  std::vector<std::pair<Vec3, Vec3>> sharp;
  for (Eigen::Index e = 0; e < edges.edges.rows(); ++e) {
    const auto both = edges.triangles[e];
    if (both.size() == 2 && normal(both[0]).dot(normal(both[1])) < k_sharp)
      sharp.emplace_back(surface.vertices.row(edges.edges(e, 0)), surface.vertices.row(edges.edges(e, 1)));
  }
  for (const auto& [a, b] : sharp) {
    out.add(a, 0.7);
    out.add(b, 0.7);
  }
  for (const auto& [a, b] : sharp) {
    const int n = static_cast<int>(std::ceil((b - a).norm() / edge));
    for (int k = 1; k < n; ++k) out.add(a + (b - a) * k / n, 0.7);
  }
}

// Candidates: where a fine grid meets the level set, then moved onto it.
Points level_candidates(const SurfaceDistance& distance, const DistanceGrid& grid, double depth,
                        double tolerance) {
  Points x = marching_tetrahedra([&](const Vec3& p) { return grid.at(p) + depth; }, grid.low(), grid.high(),
                                 grid.cell())
                 .vertices;
  std::vector<SurfacePoint> nearest;
  for (int round = 0; round < 3 && x.rows() > 0; ++round) {
    nearest = distance.signed_nearest_all(x);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const SurfacePoint& s = nearest[static_cast<std::size_t>(i)];
      x.row(i) -= ((s.distance + depth) * s.normal).transpose();
    }
  }
  const VecX now = x.rows() > 0 ? distance.signed_distances(x) : VecX();
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    if (std::abs(now[i] + depth) < tolerance) kept.push_back(i);
  return x(kept, Eigen::all);
}

std::vector<Vec3> sample_layer(const SurfaceDistance& distance, const DistanceGrid& grid, double depth,
                               double edge, std::uint64_t seed) {
  SparsePoints out(edge);
  if (depth == 0) add_sharp_edges(distance.mesh(), edge, out);
  const Points candidates = level_candidates(distance, grid, depth, 0.02 * edge);
  std::vector<std::pair<std::uint64_t, Eigen::Index>> order;
  for (Eigen::Index i = 0; i < candidates.rows(); ++i)
    order.emplace_back(mix_bits(mix_bits(seed) ^ mix_bits(static_cast<std::uint64_t>(i))), i);
  std::sort(order.begin(), order.end());
  for (const auto& [key, i] : order) out.add(candidates.row(i), 1);
  return std::move(out.points);
}

struct Layers {
  std::vector<Vec3> points;
  std::vector<int> of;
  int count = 0;
};

Layers sample_layers(const SurfaceDistance& distance, const DistanceGrid& grid, const LayerOptions& options,
                     double apart, double edge) {
  Layers out;
  for (int layer = 0; layer < options.layers; ++layer) {
    const std::vector<Vec3> some =
        sample_layer(distance, grid, layer * apart, edge, options.seed + static_cast<std::uint64_t>(layer));
    if (some.empty()) break;
    out.points.insert(out.points.end(), some.begin(), some.end());
    out.of.insert(out.of.end(), some.size(), layer);
    out.count = layer + 1;
  }
  return out;
}

// Whether all corners are of this layer.
bool is_within(const Tets& tets, Eigen::Index t, const std::vector<int>& layer_of, int layer) {
  for (int k = 0; k < 4; ++k)
    if (layer_of[static_cast<std::size_t>(tets(t, k))] != layer) return false;
  return true;
}

void leave_out(const SurfaceDistance& distance, LayeredTets& out) {
  Tets& tets = out.mesh.tets;
  Points centres = Points::Zero(tets.rows(), 3);
  for (Eigen::Index t = 0; t < tets.rows(); ++t)
    for (int k = 0; k < 4; ++k) centres.row(t) += 0.25 * out.mesh.vertices.row(tets(t, k));
  const VecX depth = distance.signed_distances(centres);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    const bool is_outer = is_within(tets, t, out.layer_of, 0),
               is_inner = out.is_hollow && is_within(tets, t, out.layer_of, out.layers - 1);
    const double highest = is_outer ? -k_near_the_surface * out.distance : 0.0;
    if (!is_inner && depth[t] < highest) kept.push_back(t);
  }
  tets = Tets(tets(kept, Eigen::all));
}

LayeredTets try_edge(const SurfaceDistance& distance, const DistanceGrid& grid, const LayerOptions& options,
                     double edge) {
  LayeredTets out;
  out.edge = edge;
  out.distance = options.distance > 0 ? options.distance : k_regular_height * edge;
  const Layers layers = sample_layers(distance, grid, options, out.distance, edge);
  out.layers = layers.count;
  out.is_hollow = layers.count == options.layers && grid.deepest() > layers.count * out.distance;
  Points points(static_cast<Eigen::Index>(layers.points.size()), 3);
  for (std::size_t i = 0; i < layers.points.size(); ++i)
    points.row(static_cast<Eigen::Index>(i)) = layers.points[i].transpose();
  if (points.rows() < 5) throw InputError("too few points fit on the layers: use more particles");
  TetgenRun run = run_delaunay(points, options.time_limit);
  if (!run.failure.empty()) throw InputError("the layers' points have no triangulation: " + run.failure);
  out.mesh = std::move(run.mesh);
  out.layer_of = layers.of;
  leave_out(distance, out);
  return out;
}

}  // namespace

Points layer_points(const TriMesh& surface, double depth, double edge, std::uint64_t seed) {
  const SurfaceDistance distance(surface);
  const std::vector<Vec3> found =
      sample_layer(distance, DistanceGrid(distance, k_candidate_cell * edge), depth, edge, seed);
  Points out(static_cast<Eigen::Index>(found.size()), 3);
  for (std::size_t i = 0; i < found.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = found[i].transpose();
  return out;
}

LayeredTets make_layered_tets(const TriMesh& surface, const LayerOptions& options) {
  const SurfaceDistance distance(surface);
  const double volume = std::abs(signed_volume(surface.vertices, surface.triangles));
  // Regular tets of edge a fill 0.118 a³ each; darts lie some 1.2 of their least distance apart.
  double edge = std::cbrt(volume / (0.118 * options.wanted)) / 1.2;
  const DistanceGrid grid(distance, k_candidate_cell * edge);
  LayeredTets best;
  double best_miss = std::numeric_limits<double>::infinity();
  for (int k = 0; k < k_layer_tries; ++k) {
    LayeredTets tried = try_edge(distance, grid, options, edge);
    if (tried.mesh.tets.rows() == 0)
      throw InputError("no tet is left between the layers: use more particles");
    const double ratio = static_cast<double>(tried.mesh.tets.rows()) / options.wanted;
    const double miss = std::abs(std::log(ratio));
    if (miss < best_miss) {
      best = std::move(tried);
      best_miss = miss;
    }
    if (miss < std::log(k_close_count)) break;
    edge *= std::cbrt(std::clamp(ratio, 0.1, 10.0));
  }
  return best;
}

}  // namespace exemplar::peridynamics
