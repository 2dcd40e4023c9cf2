// A body of a scene as the method `shape-matching` simulates it.
#pragma once

#include "core/contact/carried_actions.h"
#include "core/contact/carried_pulls.h"
#include "core/scene/scene.h"
#include "meshless/shape_matching/body.h"
#include "meshless/shape_matching/embedding.h"
#include "meshless/shape_matching/settings.h"

namespace exemplar::shape_matching {

struct SceneBody {
  const Body* body = nullptr;
  std::unique_ptr<ShapeMatchingBody> matched;
  CarriedPoints surface;         // the input surface's vertices
  CarriedPoints contact_points;  // these, samples between them and the particles inside the body
  std::vector<int> owner;        // owning cell of each vertex; empty: smooth embedding
  Points owner_offset;           // vertex relative to its cell's rest centre
  SurfaceFrames rest_frames;     // of the vertices
  SupportSet supports;
  CarriedLoads loads;
  CarriedPulls pulls;
  double contact_margin = 0;                  // m
  int substeps = 1;                           // of a scene step
  double enough_stiffness = 0.5;              // share of the material's that asks for no more of them
  int least_substeps = 1, most_substeps = 1;  // at the start, and where flow makes cells softer
  double bending = 1.0;                       // stiffness in bending over that in stretching (bending.h)
  bool has_given_stiffness = false;           // a stiffness_time, not the material's
  double planned_softness = 1.0;              // what `substeps` are for (CellPlasticity::softness)
  Notes notes;
};

// Sub-steps until the share `enough` of the material's stiffness is reached, from `least` up to `most`.
int enough_substeps(ShapeMatchingBody& body, double step, double enough, int least, int most);
// More of them where flow has made the body's cells softer.
void adapt_substeps(SceneBody& body, double step);

// What of the material's stiffness the body has at steps of `dt`, in stretching or bending, whichever is further off.
double stiffness_share(const SceneBody& body, double dt);

SceneBody make_scene_body(const Scene& scene, const Body& body, const Settings& settings);

// Positions of the surface's vertices now.
Points surface_positions(const SceneBody& body);
// Their normals, turned by the inverse transpose of the local map (eq. 3.2), and tangents, carried along.
SurfaceFrames surface_frames(const SceneBody& body);

}  // namespace exemplar::shape_matching
