// Shortest paths along the edges of a mesh (Dijkstra 1959), with an optional radius at which to stop. Lengths
// in metres.
#pragma once

#include <span>
#include <vector>

#include "core/mesh/topology.h"

namespace exemplar {

// Edges with lengths, ready for many searches.
class EdgeGraph {
 public:
  EdgeGraph(const Points& points, const Edges& edges);

  int size() const { return m_neighbours.rows(); }

  // Distance from the nearest source to every vertex; infinity beyond `radius` and where no path leads.
  VecX distances(std::span<const int> sources, double radius = std::numeric_limits<double>::infinity()) const;
  VecX distances(int source, double radius = std::numeric_limits<double>::infinity()) const;

  // Vertices within `radius` of `source`, nearest first (ties by index), without touching the rest of the
  // mesh.
  struct Reached {
    int vertex;
    double distance;
  };
  std::vector<Reached> within(int source, double radius) const;

  // Index into `sources` of the nearest one for every vertex (the earlier one on ties), −1 where no path
  // leads.
  Eigen::VectorXi nearest_source(std::span<const int> sources) const;

 private:
  Adjacency m_neighbours;
  std::vector<double> m_lengths;  // beside m_neighbours.items
};

}  // namespace exemplar
