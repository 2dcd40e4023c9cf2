// The part of deformable bodies that contact sees: points that hang on a solver's nodes (surface vertices that
// are nodes, or a surface embedded in a tet cage) and triangles over these points.
#pragma once

#include <limits>
#include <vector>

#include "core/mesh/point_map.h"

namespace exemplar {

// How one body meets whatever it touches.
struct ContactBody {
  double reach = 1e-3;     // d̂, m: gap at which contact begins
  double stiffness = 1e6;  // κ, Pa: pressure scale of the barrier
  double friction = 0.5;   // Coulomb coefficient with obstacles that say none themselves
  bool self = false;       // meets itself too
  // m: a body whose free flight in one step ends deeper than half of this behind another's surface may go around
  // it (ContactPotential::overshoot)
  double inner_radius = std::numeric_limits<double>::infinity();
};

struct ContactSurface {
  PointMap map;
  Triangles triangles;  // over the map's points; points of no triangle take no part in contact
  Points rest;          // rest positions of the points, m: areas and edge lengths are taken from them
  // Half the thickness at every point, m, the same for all points that triangles connect; empty: 0 everywhere.
  // Gaps are measured between the round surfaces: the radii of both sides are taken off the distance.
  VecX radius;
  std::vector<int> body;            // of every point, an index into `bodies`; empty: the first
  std::vector<ContactBody> bodies;  // empty: ContactOptions and the obstacles' friction hold
  bool between = false;             // bodies meet each other

  double radius_of(Eigen::Index point) const { return radius.size() > 0 ? radius[point] : 0.0; }
  int body_of(int point) const { return body.empty() ? 0 : body[to_size(point)]; }
};

// Puts `other` behind `surface`, its node numbers raised by `node_offset`: several bodies in one solve. Either
// both name their bodies or none does. Whether bodies meet each other stays as it is in `surface`.
void append(ContactSurface& surface, const ContactSurface& other, int node_offset);

// Half the width of what the triangles enclose or cover at rest: 3 V / A of a closed surface (a ball's radius, half
// a cube's edge), 2 A / border of an open one (a disc's radius), m.
double half_width(const ContactSurface& surface);

}  // namespace exemplar
