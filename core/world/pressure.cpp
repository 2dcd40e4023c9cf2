#include "core/world/pressure.h"

#include <utility>

#include "core/base/index.h"

namespace exemplar {

std::vector<int> triangles_among(const std::vector<int>& nodes, const Triangles& surface) {
  std::vector<char> is_in(surface.size() > 0 ? to_size(surface.maxCoeff()) + 1 : 0, 0);
  for (const int node : nodes) {
    if (to_size(node) < is_in.size()) is_in[to_size(node)] = 1;
  }
  std::vector<int> triangles;
  for (Eigen::Index t = 0; t < surface.rows(); ++t) {
    if (is_in[to_size(surface(t, 0))] && is_in[to_size(surface(t, 1))] && is_in[to_size(surface(t, 2))])
      triangles.push_back(to_int(t));
  }
  return triangles;
}

void add_pressure_forces(std::span<const PressedTriangle> triangles, const Points& positions,
                         Points& forces) {
  for (const PressedTriangle& t : triangles) {
    const Vec3 a = positions.row(t.nodes[0]), b = positions.row(t.nodes[1]), c = positions.row(t.nodes[2]);
    const Vec3 share = -t.pressure / 6 * (b - a).cross(c - a);
    for (const int v : t.nodes) forces.row(v) += share.transpose();
  }
}

// Simpson's rule: along a straight way the power is a polynomial of second order.
double pressure_work(std::span<const PressedTriangle> triangles, const Points& from, const Points& to) {
  if (triangles.empty()) return 0;
  Points sum = Points::Zero(from.rows(), 3), middle = sum;
  add_pressure_forces(triangles, from, sum);
  add_pressure_forces(triangles, 0.5 * (from + to), middle);
  add_pressure_forces(triangles, to, sum);
  return (sum + 4 * middle).cwiseProduct(to - from).sum() / 6;
}

PressureSet::PressureSet(const std::vector<Load>& loads, const std::string& body,
                         const Points& start_positions, Triangles surface)
    : m_surface(std::move(surface)) {
  for (const Load& load : loads) {
    if (!is_pressure(load) || (!load.body.empty() && load.body != body)) continue;
    m_loads.push_back({load, triangles_among(select_nodes(load.region, start_positions), m_surface)});
  }
}

void PressureSet::append(double from, double to, int first_node, std::vector<PressedTriangle>& out) const {
  for (const Prepared& p : m_loads) {
    const double mean = p.load.window().mean(from, to) * p.load.magnitude;
    if (mean == 0) continue;
    for (const int t : p.triangles) {
      const auto row = m_surface.row(t);
      out.push_back({{first_node + row[0], first_node + row[1], first_node + row[2]}, mean});
    }
  }
}

bool is_pressure(const Load& load) {
  return load.kind == LoadKind::pressure;
}

std::vector<Load> without_pressures(std::vector<Load> loads) {
  std::erase_if(loads, is_pressure);
  return loads;
}

}  // namespace exemplar
