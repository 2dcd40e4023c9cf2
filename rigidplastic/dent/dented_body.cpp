#include "rigidplastic/dent/dented_body.h"

#include <algorithm>

#include "core/mesh/topology.h"
#include "core/mesh/volume/extrude.h"

namespace exemplar::dent {

namespace {

constexpr double k_least_volume = 0.25;  // that denting leaves, of the volume at the start

bool is_closed(const Body& body, const rigid::PieceSurfaces& surfaces, const rigid::PieceSurface& piece) {
  if (surfaces.pieces.size() > 1)
    return rigid::is_filled(piece, surfaces.points.middleRows(piece.begin, piece.end - piece.begin));
  if (body.is_sheet()) return true;
  const TriMesh& surface = body.surface();
  return boundary_edges(surface.triangles).rows() == 0 &&
         signed_volume(surface.vertices, surface.triangles) > 0;
}

// Along the pieces' surfaces and across the seams between them.
Edges all_edges(const rigid::PieceSurfaces& surfaces) {
  Edges edges(surfaces.edges.rows() + surfaces.seams.rows(), 2);
  edges.topRows(surfaces.edges.rows()) = surfaces.edges;
  edges.bottomRows(surfaces.seams.rows()) = surfaces.seams;
  return edges;
}

}  // namespace

DentedBody::DentedBody(const Body& body)
    : m_body(&body),
      m_cut(rigid::cut_body(body)),
      m_start(rigid::initial_points(body, m_cut.surfaces)),
      m_state{m_start, m_start, {}} {
  for (const rigid::PieceSurface& piece : surfaces().pieces)
    m_closed.push_back(is_closed(body, surfaces(), piece));
  m_neighbours = vertex_neighbours(all_edges(surfaces()), m_state.points.rows());
  m_edge_length = mean_edge_length(body.initial_surface(), unique_edges(body.surface().triangles));
  const Points volume = body.is_sheet() ? collision_points(0) : m_state.points;
  m_smallest_extent = (volume.colwise().maxCoeff() - volume.colwise().minCoeff()).minCoeff();
}

Triangles DentedBody::triangles_of(const std::vector<int>& chosen) const {
  Eigen::Index count = 0;
  for (const int p : chosen) count += surfaces().pieces[static_cast<std::size_t>(p)].triangles.rows();
  Triangles result(count, 3);
  count = 0;
  for (const int p : chosen) {
    const rigid::PieceSurface& piece = surfaces().pieces[static_cast<std::size_t>(p)];
    result.middleRows(count, piece.triangles.rows()) = piece.triangles.array() + piece.begin;
    count += piece.triangles.rows();
  }
  return result;
}

void DentedBody::apply(const DentMap& map, const std::vector<int>& chosen, double share,
                       Points& points) const {
  for (const int p : chosen) {
    const rigid::PieceSurface& piece = surfaces().pieces[static_cast<std::size_t>(p)];
    map.apply(points, share, piece.begin, piece.end);
  }
}

bool DentedBody::leaves_enough(const DentMap& map, const std::vector<int>& chosen) const {
  if (m_body->is_sheet()) return true;
  Points after = m_state.base;
  for (const GrowingDent& dent : m_state.growing) apply(dent.map, dent.pieces, 1, after);
  apply(map, chosen, 1, after);
  return std::all_of(chosen.begin(), chosen.end(), [&](int p) {
    const rigid::PieceSurface& piece = surfaces().pieces[static_cast<std::size_t>(p)];
    const auto volume = [&](const Points& points) {
      return signed_volume(points.middleRows(piece.begin, piece.end - piece.begin), piece.triangles);
    };
    return !m_closed[static_cast<std::size_t>(p)] || volume(after) >= k_least_volume * volume(m_start);
  });
}

void DentedBody::add(DentMap map, double duration, const std::vector<int>& chosen) {
  ++m_state.count;
  m_state.deepest = std::max(m_state.deepest, map.distance);
  if (duration > 0) {
    m_state.growing.push_back({std::move(map), 0, duration, chosen});
    return;
  }
  apply(map, chosen, 1, m_state.base);
  apply_growing();
}

void DentedBody::grow(double dt) {
  if (m_state.growing.empty()) return;
  for (GrowingDent& dent : m_state.growing) dent.elapsed += dt;
  while (!m_state.growing.empty() && m_state.growing.front().share() >= 1) {
    apply(m_state.growing.front().map, m_state.growing.front().pieces, 1, m_state.base);
    m_state.growing.erase(m_state.growing.begin());
  }
  apply_growing();
}

void DentedBody::apply_growing() {
  m_state.points = m_state.base;
  for (const GrowingDent& dent : m_state.growing) apply(dent.map, dent.pieces, dent.share(), m_state.points);
}

Points DentedBody::piece_points(int p) const {
  const rigid::PieceSurface& piece = surfaces().pieces[static_cast<std::size_t>(p)];
  return m_state.points.middleRows(piece.begin, piece.end - piece.begin);
}

rigid::BodyFrame DentedBody::frame(int p, double mass, const rigid::BodyFrame& now) const {
  if (!m_closed[static_cast<std::size_t>(p)]) return now;
  const Triangles& triangles = surfaces().pieces[static_cast<std::size_t>(p)].triangles;
  const Points points = piece_points(p);
  MassProperties result = m_body->is_sheet()
                              ? sheet_mass_properties(points, triangles, m_body->settings().thickness, 1)
                              : solid_mass_properties(points, triangles, 1);
  if (!(result.mass > 0)) return now;
  result.inertia *= mass / result.mass;
  return rigid::principal_frame(result, now.axes);
}

Points DentedBody::collision_points(int p) const {
  if (!m_body->is_sheet()) return piece_points(p);
  return extruded_surface({m_state.points, m_body->surface().triangles}, m_body->settings().thickness)
      .vertices;
}

double DentedBody::volume() const {
  if (m_body->is_sheet())
    return surface_area(m_state.points, m_body->surface().triangles) * m_body->settings().thickness;
  double sum = 0;
  for (int p = 0; p < pieces(); ++p)
    sum += signed_volume(piece_points(p), surfaces().pieces[static_cast<std::size_t>(p)].triangles);
  return sum;
}

VecX DentedBody::depths() const {
  return (m_state.points - m_start).rowwise().norm();
}

VecX DentedBody::depths_of_vertices() const {
  const VecX all = depths();
  VecX result(static_cast<Eigen::Index>(surfaces().carrier.size()));
  for (Eigen::Index v = 0; v < result.size(); ++v)
    result[v] = all[surfaces().carrier[static_cast<std::size_t>(v)]];
  return result;
}

}  // namespace exemplar::dent
