#include "core/mesh/geodesic.h"

#include <limits>
#include <map>
#include <queue>

namespace exemplar {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Entry {
  double distance;
  int vertex;
  bool operator>(const Entry& other) const {
    return distance != other.distance ? distance > other.distance : vertex > other.vertex;
  }
};
using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

}  // namespace

EdgeGraph::EdgeGraph(const Points& points, const Edges& edges)
    : m_neighbours(vertex_neighbours(edges, points.rows())) {
  m_lengths.reserve(m_neighbours.items.size());
  for (int v = 0; v < m_neighbours.rows(); ++v) {
    for (const int n : m_neighbours[v]) m_lengths.push_back((points.row(v) - points.row(n)).norm());
  }
}

VecX EdgeGraph::distances(std::span<const int> sources, double radius) const {
  VecX distance = VecX::Constant(size(), infinity);
  Queue queue;
  for (const int source : sources) {
    distance[source] = 0;
    queue.push({0, source});
  }
  while (!queue.empty()) {
    const Entry top = queue.top();
    queue.pop();
    if (top.distance > distance[top.vertex]) continue;
    const int begin = m_neighbours.offsets[top.vertex];
    const auto neighbours = m_neighbours[top.vertex];
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const double next = top.distance + m_lengths[begin + i];
      if (next <= radius && next < distance[neighbours[i]]) {
        distance[neighbours[i]] = next;
        queue.push({next, neighbours[i]});
      }
    }
  }
  return distance;
}

VecX EdgeGraph::distances(int source, double radius) const {
  return distances(std::span<const int>(&source, 1), radius);
}

std::vector<EdgeGraph::Reached> EdgeGraph::within(int source, double radius) const {
  std::map<int, double> distance{{source, 0.0}};
  std::vector<Reached> reached;
  Queue queue;
  queue.push({0, source});
  while (!queue.empty()) {
    const Entry top = queue.top();
    queue.pop();
    if (top.distance > distance.at(top.vertex)) continue;
    reached.push_back({top.vertex, top.distance});
    const int begin = m_neighbours.offsets[top.vertex];
    const auto neighbours = m_neighbours[top.vertex];
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const double next = top.distance + m_lengths[begin + i];
      if (next > radius) continue;
      const auto [known, fresh] = distance.try_emplace(neighbours[i], next);
      if (!fresh && next >= known->second) continue;
      known->second = next;
      queue.push({next, neighbours[i]});
    }
  }
  return reached;
}

Eigen::VectorXi EdgeGraph::nearest_source(std::span<const int> sources) const {
  VecX distance = VecX::Constant(size(), infinity);
  Eigen::VectorXi owner = Eigen::VectorXi::Constant(size(), -1);
  Queue queue;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    if (owner[sources[s]] >= 0) continue;
    owner[sources[s]] = static_cast<int>(s);
    distance[sources[s]] = 0;
    queue.push({0, sources[s]});
  }
  while (!queue.empty()) {
    const Entry top = queue.top();
    queue.pop();
    if (top.distance > distance[top.vertex]) continue;
    const int begin = m_neighbours.offsets[top.vertex];
    const auto neighbours = m_neighbours[top.vertex];
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const int n = neighbours[i];
      const double next = top.distance + m_lengths[begin + i];
      const bool nearer = next < distance[n];
      const bool earlier = next == distance[n] && owner[top.vertex] < owner[n];
      if (!nearer && !earlier) continue;
      distance[n] = next;
      owner[n] = owner[top.vertex];
      queue.push({next, n});
    }
  }
  return owner;
}

}  // namespace exemplar
