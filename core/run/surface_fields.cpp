#include "core/run/surface_fields.h"

#include <algorithm>
#include <cassert>

#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"
#include "core/run/method.h"

namespace exemplar {

namespace {

// A vertex as a material point: one of its triangles and the corner it is there. Unused vertices get triangle
// −1.
void add_material_coordinates(const TriMesh& rest, Geometry& surface) {
  const Eigen::Index n = rest.vertices.rows();
  std::vector<int> triangle(static_cast<std::size_t>(n), -1);
  MatX barycentric = MatX::Zero(n, 3);
  for (Eigen::Index t = rest.triangles.rows() - 1; t >= 0; --t) {
    for (int k = 0; k < 3; ++k) {
      const int v = rest.triangles(t, k);
      triangle[static_cast<std::size_t>(v)] = static_cast<int>(t);
      barycentric.row(v) = Vec3::Unit(k).transpose();
    }
  }
  surface.arrays.push_back(make_integer_array("original_triangle", Association::point, triangle));
  surface.arrays.push_back(make_array("original_barycentric", Association::point, barycentric));
}

std::vector<ObstacleState> states_of(const std::vector<std::pair<Vec3, Quat>>& poses) {
  std::vector<ObstacleState> states(poses.size());
  for (std::size_t i = 0; i < poses.size(); ++i) {
    states[i].position = poses[i].first;
    states[i].orientation = poses[i].second;
  }
  return states;
}

bool is_closed(const Body& body) {
  return !body.is_sheet() && boundary_edges(body.surface().triangles).rows() == 0;
}

}  // namespace

Geometry body_geometry(const Body& body, int index, const Points& positions) {
  const TriMesh& rest = body.surface();
  assert(positions.rows() == rest.vertices.rows());
  Geometry surface;
  surface.series = "surface";
  surface.kind = CellKind::triangles;
  surface.points = positions;
  surface.connectivity.assign(rest.triangles.data(), rest.triangles.data() + rest.triangles.size());
  surface.arrays.push_back(make_array("displacement", Association::point, positions - rest.vertices));
  const auto points = static_cast<std::size_t>(positions.rows());
  const auto cells = static_cast<std::size_t>(rest.triangles.rows());
  surface.arrays.push_back(make_integer_array("body", Association::point, std::vector<int>(points, index)));
  surface.arrays.push_back(make_integer_array("body", Association::cell, std::vector<int>(cells, index)));
  add_material_coordinates(rest, surface);
  surface.arrays.push_back(make_integer_array("fragment", Association::cell, std::vector<int>(cells, 0)));
  return surface;
}

VecX cell_values_at_points(const Geometry& cells, const FieldArray& array) {
  assert(array.on == Association::cell && array.components == 1);
  VecX sums = VecX::Zero(cells.points.rows()), counts = sums;
  const auto size = static_cast<std::size_t>(points_per_cell(cells.kind));
  for (std::size_t c = 0; c < cells.connectivity.size(); ++c) {
    sums[cells.connectivity[c]] += array.values[c / size];
    counts[cells.connectivity[c]] += 1;
  }
  return sums.cwiseQuotient(counts.cwiseMax(1));
}

MatX scalar_at(const PointMap& points, const Eigen::Ref<const VecX>& nodes) {
  Points columns = Points::Zero(nodes.size(), 3);
  columns.col(0) = nodes;
  return points.apply(columns).col(0);
}

Geometry surface_geometry(const Scene& scene, const std::vector<Points>& positions) {
  assert(positions.size() == scene.bodies.size());
  Geometry whole = body_geometry(scene.bodies[0], 0, positions[0]);
  for (std::size_t b = 1; b < scene.bodies.size(); ++b) {
    append(whole, body_geometry(scene.bodies[b], static_cast<int>(b), positions[b]));
  }
  return whole;
}

void add_point_array(Geometry& surface, const std::string& name, const std::vector<MatX>& per_body) {
  FieldArray whole{name, Association::point, static_cast<int>(per_body.at(0).cols()), false, {}};
  for (const MatX& values : per_body) {
    const FieldArray part = make_array(name, Association::point, values);
    whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
  }
  surface.arrays.push_back(std::move(whole));
}

Geometry obstacle_geometry(const Scene& scene, const std::vector<std::pair<Vec3, Quat>>& poses) {
  assert(poses.size() == scene.obstacles.size());
  const std::vector<ObstacleState> states = states_of(poses);
  Geometry whole;
  whole.series = "obstacles";
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const TriMesh mesh = scene.obstacles[i].surface(states[i]);
    Geometry part;
    part.series = whole.series;
    part.points = mesh.vertices;
    part.connectivity.assign(mesh.triangles.data(), mesh.triangles.data() + mesh.triangles.size());
    const std::vector<int> index(static_cast<std::size_t>(mesh.triangles.rows()), static_cast<int>(i));
    part.arrays.push_back(make_integer_array("obstacle", Association::cell, index));
    const bool is_plane = scene.obstacles[i].shape().kind() == ShapeKind::plane;
    const std::vector<int> plane(static_cast<std::size_t>(mesh.triangles.rows()), is_plane ? 1 : 0);
    part.arrays.push_back(make_integer_array("plane", Association::cell, plane));
    if (i == 0) {
      whole = std::move(part);
    } else {
      append(whole, part);
    }
  }
  return whole;
}

double surface_volume_ratio(const Scene& scene, const Geometry& surface) {
  Eigen::Index points = 0;
  for (const Body& body : scene.bodies) points += body.surface().vertices.rows();
  if (points != surface.points.rows()) return k_unknown;
  double rest = 0, now = 0;
  Eigen::Index first = 0;
  for (const Body& body : scene.bodies) {
    const Eigen::Index count = body.surface().vertices.rows();
    if (is_closed(body)) {
      rest += signed_volume(body.surface().vertices, body.surface().triangles);
      now += signed_volume(Points(surface.points.middleRows(first, count)), body.surface().triangles);
    }
    first += count;
  }
  return rest == 0 ? k_unknown : now / rest;
}

double deepest_penetration(const Scene& scene, const std::vector<std::pair<Vec3, Quat>>& poses,
                           const Points& points) {
  const std::vector<ObstacleState> states = states_of(poses);
  double deepest = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (Eigen::Index p = 0; p < points.rows(); ++p) {
      deepest = std::max(deepest, -scene.obstacles[i].distance(states[i], points.row(p)).value);
    }
  }
  return deepest;
}

}  // namespace exemplar
