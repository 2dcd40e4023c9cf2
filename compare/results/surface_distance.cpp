#include "compare/results/surface_distance.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/base/errors.h"
#include "core/math/rigid_fit.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"

namespace exemplar {

namespace {

const FieldArray* find_array(const Geometry& geometry, const std::string& name, Association on) {
  for (const FieldArray& array : geometry.arrays) {
    if (array.name == name && array.on == on) return &array;
  }
  return nullptr;
}

std::vector<int> point_bodies(const Geometry& surface) {
  std::vector<int> bodies(static_cast<std::size_t>(surface.points.rows()), 0);
  if (const FieldArray* array = find_array(surface, "body", Association::point)) {
    for (std::size_t i = 0; i < bodies.size(); ++i) bodies[i] = static_cast<int>(array->values[i]);
  }
  return bodies;
}

// Which triangles belong to the input surface: all corners do.
std::vector<int> original_triangles(const Geometry& surface, const Triangles& triangles) {
  const FieldArray* original = find_array(surface, "original_triangle", Association::point);
  std::vector<int> kept;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    bool all = true;
    for (int k = 0; original && k < 3; ++k) {
      all = all && original->values[static_cast<std::size_t>(triangles(t, k))] >= 0;
    }
    if (all) kept.push_back(static_cast<int>(t));
  }
  return kept;
}

VecX vertex_areas(const Points& points, const Triangles& triangles) {
  VecX areas = VecX::Zero(points.rows());
  const VecX whole = triangle_areas(points, triangles);
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    for (int k = 0; k < 3; ++k) areas[triangles(t, k)] += whole[t] / 3;
  }
  return areas;
}

// One body's rows of `points`.
Points rows_of(const Points& points, const std::vector<Eigen::Index>& rows) {
  Points part(static_cast<Eigen::Index>(rows.size()), 3);
  for (std::size_t i = 0; i < rows.size(); ++i) part.row(static_cast<Eigen::Index>(i)) = points.row(rows[i]);
  return part;
}

// `a` after each body's best rigid motion onto `b`.
Points aligned_by_body(const Points& a, const Points& b, const VecX& weights,
                       const std::vector<int>& bodies) {
  Points aligned = a;
  const int count = bodies.empty() ? 0 : *std::max_element(bodies.begin(), bodies.end()) + 1;
  for (int body = 0; body < count; ++body) {
    std::vector<Eigen::Index> rows;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i] == body) rows.push_back(static_cast<Eigen::Index>(i));
    }
    if (rows.empty()) continue;
    const Points from = rows_of(a, rows), to = rows_of(b, rows);
    const Points moved = transform(fit_rigid(from, to, weights(rows)), from);
    for (std::size_t i = 0; i < rows.size(); ++i)
      aligned.row(rows[i]) = moved.row(static_cast<Eigen::Index>(i));
  }
  return aligned;
}

void measure(const Points& a, const Points& b, const VecX& weights, double& rms, double& max) {
  const VecX squared = (a - b).rowwise().squaredNorm();
  rms = std::sqrt(squared.dot(weights) / weights.sum());
  max = std::sqrt(squared.maxCoeff());
}

}  // namespace

SurfaceDistances distances_between(const Points& a, const Points& b, const VecX& weights,
                                   const std::vector<int>& bodies) {
  assert(a.rows() == b.rows() && a.rows() == weights.size());
  SurfaceDistances distances;
  measure(a, b, weights, distances.rms, distances.max);
  measure(aligned_by_body(a, b, weights, bodies), b, weights, distances.rms_aligned, distances.max_aligned);
  if (distances.rms_aligned > distances.rms) {  // round-off of the fit where both already agree
    distances.rms_aligned = distances.rms;
    distances.max_aligned = distances.max;
  }
  return distances;
}

Points rest_positions(const Geometry& surface) {
  const FieldArray* displacement = find_array(surface, "displacement", Association::point);
  if (!displacement) return surface.points;
  return surface.points - Eigen::Map<const Points>(displacement->values.data(), surface.points.rows(), 3);
}

Triangles triangles_of(const Geometry& surface) {
  if (surface.kind != CellKind::triangles) throw InputError("a written surface is not made of triangles");
  return Eigen::Map<const Triangles>(surface.connectivity.data(),
                                     static_cast<Eigen::Index>(surface.connectivity.size() / 3), 3);
}

SurfaceComparison::SurfaceComparison(const Geometry& reference, int samples)
    : m_connectivity(reference.connectivity),
      m_points(reference.points.rows()),
      m_vertex_bodies(point_bodies(reference)) {
  const TriMesh rest{rest_positions(reference), triangles_of(reference)};
  m_vertex_areas = vertex_areas(rest.vertices, rest.triangles);
  m_samples = sample_surface(rest, samples, 1);
  m_sample_rest = sample_positions(m_samples, rest.triangles, rest.vertices);
  for (Eigen::Index i = 0; i < m_samples.triangle.size(); ++i) {
    m_sample_bodies.push_back(
        m_vertex_bodies[static_cast<std::size_t>(rest.triangles(m_samples.triangle[i], 0))]);
  }
}

bool SurfaceComparison::is_whole(const Geometry& surface) const {
  return surface.points.rows() == m_points && surface.connectivity == m_connectivity;
}

Points SurfaceComparison::sampled(const Geometry& surface, Places& places) {
  const Triangles triangles = triangles_of(surface);
  if (is_whole(surface)) return sample_positions(m_samples, triangles, surface.points);
  if (places.connectivity != surface.connectivity) {
    const std::vector<int> kept = original_triangles(surface, triangles);
    if (kept.empty()) throw InputError("a written surface has no part of the input surface");
    const SurfaceDistance rest({rest_positions(surface), triangles(kept, Eigen::all)});
    const std::vector<SurfacePoint> found = rest.nearest_all(m_sample_rest);
    places.connectivity = surface.connectivity;
    places.samples = m_samples;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      places.samples.triangle[row] = kept[static_cast<std::size_t>(found[i].triangle)];
      places.samples.barycentric.row(row) = found[i].barycentric.transpose();
    }
  }
  return sample_positions(places.samples, triangles, surface.points);
}

SurfaceDistances SurfaceComparison::between(const Geometry& surface, const Geometry& reference) {
  if (is_whole(surface) && is_whole(reference)) {
    return distances_between(surface.points, reference.points, m_vertex_areas, m_vertex_bodies);
  }
  const Points a = sampled(surface, m_surface_places), b = sampled(reference, m_reference_places);
  return distances_between(a, b, VecX::Ones(a.rows()), m_sample_bodies);
}

}  // namespace exemplar
