// From an impact to the dent that it leaves, for `rigid-dent` and for bending bodies. Units: m, kg, s.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/scene/scene.h"
#include "rigidplastic/dent/dent_distance.h"
#include "rigidplastic/dent/impacts.h"
#include "rigidplastic/dent/settings.h"

namespace exemplar::dent {

// What is struck: a surface in any coordinates, and what the body is made of.
struct Target {
  const Body* body = nullptr;
  const Points* points = nullptr;
  const Triangles* triangles = nullptr;
  double edge_length = 0;      // m, mean
  double smallest_extent = 0;  // m
};

// One side of an impact, in the coordinates of the struck surface.
struct Strike {
  int target = 0;           // body
  std::vector<int> pieces;  // of it that hold together and take the dent
  int target_object = 0, projectile_object = 0;
  Vec3 direction = Vec3::Zero();  // of its velocity relative to the target, unit, world
  double energy = 0;              // J, its share
  Impact impact;
  Points projectile;  // vertices of what strikes
  const Triangles* triangles = nullptr;
  const Adjacency* neighbours = nullptr;
  double projectile_edge = 0;  // m, mean edge length of what strikes
};

// The dent that a strike leaves, or one with an empty grid when it is too shallow to show.
DentMap dent_of(const Strike& strike, const Target& target, const DentOptions& options);

double mean_edge_length(const Points& points, const Edges& edges);

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
