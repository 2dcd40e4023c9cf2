// The volume that a closed surface carried by particles encloses, V = Σ p₀·(p₁ × p₂)/6 over its triangles, and its gradient by
// the particles' positions. Units: m.
#pragma once

#include "core/mesh/mesh.h"
#include "core/mesh/point_map.h"

namespace exemplar::shape_matching {

struct SurfaceVolume {
  PointMap vertices;
  Triangles triangles;
  double rest = 0;  // m³

  double at(const Points& particles, Points& gradient) const;
};

// `rest_particles`: where they are at rest.
SurfaceVolume surface_volume(const PointMap& vertices, const Triangles& triangles,
                             const Points& rest_particles);

}  // namespace exemplar::shape_matching
