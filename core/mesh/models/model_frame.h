// What the procedural models share: a shape described at its reference size, stretched to the wanted size,
// meshed there (so that stretching costs no quality) and fitted exactly.
#pragma once

#include "core/mesh/models/implicit.h"

namespace exemplar {

struct ModelFrame {
  Vec3 low;            // reference metres, corner of a box that holds the shape with some room
  Vec3 high;           // reference metres, opposite corner
  Vec3 scale;          // wanted size over reference size along each axis
  double edge_length;  // m, wanted, where the surface is flat
  double finest_cell;  // reference metres: sampling that resolves the thinnest part and the narrowest gap
};

TriMesh mesh_model(const ImplicitField& reference_shape, const ModelFrame& frame);

// Scales and moves the mesh along one axis so that it spans exactly [low, high] there.
void fit_axis(TriMesh& mesh, int axis, double low, double high);

}  // namespace exemplar
