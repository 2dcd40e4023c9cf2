// A rig: handles, and how much each of them moves every vertex of the body's volume and surface (jones2016 §4,
// Algorithm 1). Made once per body; independent of where the body is placed. Lengths in metres, body
// coordinates.
#pragma once

#include <string>
#include <vector>

#include "core/mesh/volume/tetrahedralize.h"
#include "core/rig/handles.h"
#include "core/rig/skinning.h"

namespace exemplar {

struct Rig {
  std::vector<Handle> handles;
  SkinWeights volume;      // of the tet mesh's vertices
  SkinWeights surface;     // of the user's vertices, which the tet mesh carries
  std::vector<int> fixed;  // vertices of the tet mesh whose weights the handles prescribe, ascending
  double objective = 0;
  double residual = 0;  // of the weights: kkt_residual in bbw.h
  int iterations = 0;
  bool converged = true;
  std::vector<std::string> notes;

  int bones() const { return static_cast<int>(handles.size()); }
  Points centres() const { return centres_of(handles); }
  int find(const std::string& name) const;  // −1: there is none
  int nearest(const Vec3& point) const;     // by the handles' centres
};

Rig make_rig(const Volume& volume, const HandleRequest& request);
Rig make_rig(const Volume& volume, const PlacedHandles& placed);

// The handles and prescribed rows of a rig, to add more.
PlacedHandles placed_handles(const Rig& rig);

// Weights of points that a tet mesh carries: combinations of its vertices' weights, clamped where the point is
// extrapolated, rows summing to 1.
SkinWeights carried_weights(const SkinWeights& nodes, const Tets& tets, const Embedding& points);

}  // namespace exemplar
