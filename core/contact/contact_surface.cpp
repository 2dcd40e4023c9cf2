#include "core/contact/contact_surface.h"

#include <array>

namespace exemplar {

void PointMap::add(std::span<const int> point_nodes, std::span<const double> point_weights) {
  nodes.insert(nodes.end(), point_nodes.begin(), point_nodes.end());
  weights.insert(weights.end(), point_weights.begin(), point_weights.end());
  offsets.push_back(static_cast<int>(nodes.size()));
}

Points PointMap::apply(const Eigen::Ref<const Points>& node_positions) const {
  Points points = Points::Zero(size(), 3);
  for (int i = 0; i < size(); ++i) {
    for (int k = offsets[i]; k < offsets[i + 1]; ++k)
      points.row(i) += weights[k] * node_positions.row(nodes[k]);
  }
  return points;
}

PointMap PointMap::identity(int count) {
  std::vector<int> nodes(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) nodes[i] = i;
  return of_nodes(nodes);
}

PointMap PointMap::of_nodes(std::span<const int> nodes) {
  PointMap map;
  const double one = 1;
  for (const int node : nodes) map.add({&node, 1}, {&one, 1});
  return map;
}

PointMap PointMap::embedded(const Embedding& embedding, const Tets& tets) {
  PointMap map;
  for (Eigen::Index i = 0; i < embedding.tet.size(); ++i) {
    std::array<int, 4> corners;
    std::array<double, 4> weights;
    for (int k = 0; k < 4; ++k) {
      corners[k] = tets(embedding.tet[i], k);
      weights[k] = embedding.weights(i, k);
    }
    map.add(corners, weights);
  }
  return map;
}

void append(ContactSurface& surface, const ContactSurface& other, int node_offset) {
  const int points = surface.map.size(), entries = static_cast<int>(surface.map.nodes.size());
  const Eigen::Index triangles = surface.triangles.rows(), rest = surface.rest.rows();
  if (surface.radius.size() > 0 || other.radius.size() > 0) {
    VecX radius = VecX::Zero(points + other.map.size());
    for (int i = 0; i < points; ++i) radius[i] = surface.radius_of(i);
    for (int i = 0; i < other.map.size(); ++i) radius[points + i] = other.radius_of(i);
    surface.radius = std::move(radius);
  }
  for (int i = 1; i <= other.map.size(); ++i) surface.map.offsets.push_back(other.map.offsets[i] + entries);
  for (const int node : other.map.nodes) surface.map.nodes.push_back(node + node_offset);
  surface.map.weights.insert(surface.map.weights.end(), other.map.weights.begin(), other.map.weights.end());
  surface.triangles.conservativeResize(triangles + other.triangles.rows(), 3);
  surface.triangles.bottomRows(other.triangles.rows()) = other.triangles.array() + points;
  surface.rest.conservativeResize(rest + other.rest.rows(), 3);
  surface.rest.bottomRows(other.rest.rows()) = other.rest;
}

}  // namespace exemplar
