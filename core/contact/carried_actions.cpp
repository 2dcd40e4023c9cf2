#include "core/contact/carried_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/errors.h"

namespace exemplar {

namespace {

constexpr int k_most_cuts = 8;

// Points of a triangle cut n times along each edge, row by row, and the n² triangles over them.
void add_cut_triangle(const CarriedPoints& vertices, const std::array<int, 3>& corners, int n,
                      CarriedPoints& points, std::vector<std::array<int, 3>>& triangles) {
  const int first = points.size();
  const auto at = [&](int i, int j) { return first + i * (2 * n + 3 - i) / 2 + j; };
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n - i; ++j) add_combination(vertices, corners, Vec3(n - i - j, j, i) / n, points);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n - i; ++j) {
      triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j)});
      if (j + 1 < n - i) triangles.push_back({at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)});
    }
}

bool acts_on_surface(const Load& load, const CarriedSurface& surface, const Points& start,
                     const Points& particles) {
  if (load.kind == LoadKind::traction || load.kind == LoadKind::pressure) return true;
  if (select_nodes(load.region, particles).empty()) return true;
  if (load.kind != LoadKind::force) return false;
  if (load.region.kind == RegionKind::nearest) return true;
  std::vector<char> is_in(static_cast<std::size_t>(start.rows()), 0);
  for (const int i : select_nodes(load.region, start)) is_in[static_cast<std::size_t>(i)] = 1;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t)
    if (is_in[surface.triangles(t, 0)] && is_in[surface.triangles(t, 1)] && is_in[surface.triangles(t, 2)])
      return true;
  return false;
}

}  // namespace

Points CarriedSurface::at(const Points& particles) const {
  Points out = points.apply(particles);
  if (arms.rows() > 0) out += arms;
  return out;
}

CarriedSurface refine_surface(const CarriedPoints& vertices, const TriMesh& surface, double longest_edge) {
  CarriedSurface out;
  std::vector<std::array<int, 3>> triangles;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    const std::array<int, 3> c{surface.triangles(t, 0), surface.triangles(t, 1), surface.triangles(t, 2)};
    double longest = 0.0;
    for (int k = 0; k < 3; ++k)
      longest = std::max(longest, (surface.vertices.row(c[k]) - surface.vertices.row(c[(k + 1) % 3])).norm());
    const double cuts = std::clamp<double>(std::ceil(longest / longest_edge - 1e-9), 1, k_most_cuts);
    add_cut_triangle(vertices, c, static_cast<int>(cuts), out.points, triangles);
  }
  out.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    out.triangles.row(static_cast<Eigen::Index>(t)) << triangles[t][0], triangles[t][1], triangles[t][2];
  return out;
}

namespace {

// Makes one action alone, so that what is wrong with it is reported with its place.
template <class Make>
void check_at(const std::string& path, const Make& make) {
  try {
    make();
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) problem.path = path;
    throw InputError(std::move(problems));
  }
}

}  // namespace

SupportSet carried_supports(const std::vector<Support>& supports, const std::string& body,
                            const std::string& path, const CarriedSurface& surface, const Points& particles) {
  std::vector<Support> adapted = supports;
  const Points start = supports.empty() ? Points() : surface.at(particles);
  for (Support& support : adapted) {
    if (!support.body.empty() && support.body != body) continue;
    if (!select_nodes(support.region, particles).empty()) continue;
    std::vector<int> carriers;
    for (const int point : select_nodes(support.region, start))
      for (int k = surface.points.offsets[point]; k < surface.points.offsets[point + 1]; ++k)
        if (surface.points.weights[k] > 0.1) carriers.push_back(surface.points.nodes[k]);
    if (carriers.empty()) continue;
    std::sort(carriers.begin(), carriers.end());
    carriers.erase(std::unique(carriers.begin(), carriers.end()), carriers.end());
    support.region = Region{};
    support.region.kind = RegionKind::nearest;
    for (const int node : carriers) support.region.points.push_back(particles.row(node).transpose());
  }
  for (std::size_t k = 0; k < adapted.size(); ++k)
    check_at(fmt::format("{}.supports[{}]", path, k), [&] { SupportSet({adapted[k]}, body, particles); });
  return {adapted, body, particles};
}

CarriedLoads::CarriedLoads(const std::vector<Load>& loads, const std::string& body, CarriedSurface surface,
                           const Points& particles, const VecX& masses)
    : m_surface(std::move(surface)) {
  std::vector<Load> on_surface, on_particles;
  const Points start = loads.empty() ? Points() : m_surface.at(particles);
  const auto set_on_surface = [&](const std::vector<Load>& some) {
    return LoadSet(some, body, start, VecX::Constant(start.rows(), masses.sum()), m_surface.triangles);
  };
  const auto set_on_particles = [&](const std::vector<Load>& some) {
    return LoadSet(some, body, particles, masses, Triangles());
  };
  for (std::size_t k = 0; k < loads.size(); ++k) {
    const Load& load = loads[k];
    if (!load.body.empty() && load.body != body) continue;
    const bool is_on_surface = acts_on_surface(load, m_surface, start, particles);
    check_at(fmt::format("loads[{}]", k),
             [&] { is_on_surface ? set_on_surface({load}) : set_on_particles({load}); });
    (is_on_surface ? on_surface : on_particles).push_back(load);
  }
  m_on_surface = set_on_surface(on_surface);
  m_on_particles = set_on_particles(on_particles);
}

Points CarriedLoads::forces(const Points& particles, double from, double to) const {
  Points out = forces_on_particles(particles, from, to);
  if (!m_on_surface.empty())
    out += m_surface.points.spread(forces_on_surface(m_surface.at(particles), from, to), particles.rows());
  return out;
}

Points CarriedLoads::forces_on_particles(const Points& particles, double from, double to) const {
  Points out = Points::Zero(particles.rows(), 3);
  if (!m_on_particles.empty()) out += m_on_particles.forces(particles, from, to);
  return out;
}

Points CarriedLoads::forces_on_surface(const Points& surface_points, double from, double to) const {
  return m_on_surface.forces(surface_points, from, to);
}

}  // namespace exemplar
