// Dents of one tick: from impacts to changed bodies. `rigid-dent` and `rigid-bend` use it on any simulation whose
// bodies carry whole surfaces. Units: m, kg, s.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rigidplastic/dent/dent_distance.h"
#include "rigidplastic/dent/dented_body.h"
#include "rigidplastic/dent/impacts.h"
#include "rigidplastic/dent/settings.h"

namespace exemplar::dent {

// One side of an impact in the struck body's own coordinates.
struct Strike {
  int target = 0;  // body
  int projectile_object = 0;
  Vec3 direction = Vec3::Zero();  // of its velocity relative to the target, unit, world
  double energy = 0;              // J, its share
  Impact impact;
  Points projectile;  // vertices of what strikes
  const Triangles* triangles = nullptr;
  const Adjacency* neighbours = nullptr;
  double projectile_edge = 0;  // m, mean edge length of what strikes
};

// The dent that a strike leaves, or one with an empty grid when it is too shallow to show.
DentMap dent_of(const Strike& strike, const DentedBody& body, const Settings& settings);

// What strikes when it is no body: an obstacle's surface in its own frame (a plane as a wide box).
class ObstacleSurface {
 public:
  explicit ObstacleSurface(const ObstacleBody& obstacle);
  const TriMesh& mesh() const { return m_mesh; }
  const Adjacency& neighbours() const { return m_neighbours; }
  double edge_length() const { return m_edge_length; }
  double smallest_extent() const { return m_smallest_extent; }

 private:
  TriMesh m_mesh;
  Adjacency m_neighbours;
  double m_edge_length = 0, m_smallest_extent = 0;
};

}  // namespace exemplar::dent
