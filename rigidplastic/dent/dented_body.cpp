#include "rigidplastic/dent/dented_body.h"

#include <algorithm>

#include "core/mesh/extrude.h"

namespace exemplar::dent {

DentedBody::DentedBody(const Body& body) : m_body(&body), m_points(body.initial_surface()), m_base(m_points) {
  const Edges edges = unique_edges(triangles());
  m_neighbours = vertex_neighbours(edges, m_points.rows());
  m_edge_length = mean_edge_length(m_points, edges);
  const Points volume = body.is_sheet() ? collision_points() : m_points;
  m_smallest_extent = (volume.colwise().maxCoeff() - volume.colwise().minCoeff()).minCoeff();
}

void DentedBody::add(DentMap map, double duration) {
  ++m_count;
  m_deepest = std::max(m_deepest, map.distance);
  if (duration > 0) {
    m_growing.push_back({std::move(map), 0, duration});
    return;
  }
  map.apply(m_base);
  apply_growing();
}

void DentedBody::grow(double dt) {
  if (m_growing.empty()) return;
  for (Growing& dent : m_growing) dent.elapsed += dt;
  while (!m_growing.empty() && m_growing.front().share() >= 1) {
    m_growing.front().map.apply(m_base);
    m_growing.erase(m_growing.begin());
  }
  apply_growing();
}

void DentedBody::apply_growing() {
  m_points = m_base;
  for (const Growing& dent : m_growing) dent.map.apply(m_points, dent.share());
}

MassProperties DentedBody::mass_properties(double mass) const {
  MassProperties result = m_body->is_sheet()
                              ? sheet_mass_properties(m_points, triangles(), m_body->settings().thickness,
                                                      m_body->material().density)
                              : solid_mass_properties(m_points, triangles(), m_body->material().density);
  result.inertia *= mass / result.mass;
  result.mass = mass;
  return result;
}

Points DentedBody::collision_points() const {
  if (!m_body->is_sheet()) return m_points;
  return extruded_surface({m_points, triangles()}, m_body->settings().thickness).vertices;
}

double DentedBody::volume() const {
  if (m_body->is_sheet()) return surface_area(m_points, triangles()) * m_body->settings().thickness;
  return signed_volume(m_points, triangles());
}

namespace {

void append(std::vector<double>& out, const DepthGrid& grid) {
  out.insert(out.end(), {static_cast<double>(grid.columns), static_cast<double>(grid.rows), grid.low.x(),
                         grid.low.y(), grid.spacing});
  out.insert(out.end(), grid.depth.begin(), grid.depth.end());
}

const double* take(const double* n, DepthGrid& grid) {
  grid.columns = static_cast<int>(n[0]);
  grid.rows = static_cast<int>(n[1]);
  grid.low = Vec2(n[2], n[3]);
  grid.spacing = n[4];
  const std::ptrdiff_t cells = static_cast<std::ptrdiff_t>(grid.columns) * grid.rows;
  grid.depth.assign(n + 5, n + 5 + cells);
  return n + 5 + cells;
}

}  // namespace

void DentedBody::save(StateWriter& out, const std::string& prefix) const {
  out.write(prefix + "points", m_points);
  out.write(prefix + "base", m_base);
  std::vector<double> numbers{m_deepest, static_cast<double>(m_count)};
  for (const Growing& dent : m_growing) {
    const DentMap& map = dent.map;
    numbers.insert(numbers.end(),
                   {dent.elapsed, dent.duration, map.distance, map.widening, map.falloff.steepness,
                    static_cast<double>(map.falloff.kind), map.frame.angle});
    numbers.insert(numbers.end(), map.frame.origin.data(), map.frame.origin.data() + 3);
    numbers.insert(numbers.end(), map.frame.axes.data(), map.frame.axes.data() + 9);
    append(numbers, map.grid);
    append(numbers, map.rim);
  }
  out.write(prefix + "dents", std::span<const double>(numbers));
}

void DentedBody::load(StateReader& in, const std::string& prefix) {
  in.read(prefix + "points", m_points);
  in.read(prefix + "base", m_base);
  const std::vector<double> numbers = in.read_doubles(prefix + "dents");
  m_deepest = numbers.at(0);
  m_count = static_cast<int>(numbers.at(1));
  m_growing.clear();
  const double* end = numbers.data() + numbers.size();
  for (const double* n = numbers.data() + 2; n < end;) {
    Growing dent;
    dent.elapsed = n[0];
    dent.duration = n[1];
    dent.map.distance = n[2];
    dent.map.widening = n[3];
    dent.map.falloff = {static_cast<FalloffKind>(static_cast<int>(n[5])), n[4]};
    dent.map.frame.angle = n[6];
    dent.map.frame.origin = Eigen::Map<const Vec3>(n + 7);
    dent.map.frame.axes = Eigen::Map<const Mat3>(n + 10);
    n = take(take(n + 19, dent.map.grid), dent.map.rim);
    m_growing.push_back(std::move(dent));
  }
}

}  // namespace exemplar::dent
