#include "core/mesh/point_map.h"

#include <array>
#include <numeric>

#include "core/base/parallel.h"

namespace exemplar {

void PointMap::add(std::span<const int> point_nodes, std::span<const double> point_weights) {
  nodes.insert(nodes.end(), point_nodes.begin(), point_nodes.end());
  weights.insert(weights.end(), point_weights.begin(), point_weights.end());
  offsets.push_back(to_int(nodes.size()));
}

void PointMap::append(const PointMap& other, int node_offset) {
  const int entries = to_int(nodes.size());
  for (int i = 0; i < other.size(); ++i) offsets.push_back(other.end(i) + entries);
  for (const int node : other.nodes) nodes.push_back(node + node_offset);
  weights.insert(weights.end(), other.weights.begin(), other.weights.end());
}

Vec3 PointMap::at(int point, const PointsRef& values) const {
  Vec3 sum = Vec3::Zero();
  for (int k = begin(point); k < end(point); ++k)
    sum += weights[to_size(k)] * values.row(nodes[to_size(k)]).transpose();
  return sum;
}

Points PointMap::apply(const PointsRef& values) const {
  Points out(size(), 3);
  parallel_for(
      to_size(size()), [&](std::size_t i) { out.row(to_row(i)) = at(to_int(i), values).transpose(); }, 2048);
  return out;
}

Points PointMap::spread(const PointsRef& on_points, Eigen::Index node_count) const {
  Points out = Points::Zero(node_count, 3);
  for (int i = 0; i < size(); ++i) {
    for (int k = begin(i); k < end(i); ++k)
      out.row(nodes[to_size(k)]) += weights[to_size(k)] * on_points.row(i);
  }
  return out;
}

PointMap PointMap::identity(int count) {
  std::vector<int> nodes(to_size(count));
  std::iota(nodes.begin(), nodes.end(), 0);
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
      corners[to_size(k)] = tets(embedding.tet[i], k);
      weights[to_size(k)] = embedding.weights(i, k);
    }
    map.add(corners, weights);
  }
  return map;
}

}  // namespace exemplar
