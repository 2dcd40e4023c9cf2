// A sheet's surface as it is simulated: vertices at one place are one (exporters double them along seams), triangles
// without area are left out. What is written keeps the body's own vertices and triangles.
#pragma once

#include <vector>

#include "core/mesh/point_map.h"
#include "core/mesh/repair.h"
#include "core/scene/scene.h"

namespace exemplar {

struct SheetSurface {
  TriMesh mesh;                // at rest, placed in the world
  std::vector<int> originals;  // per vertex: the first of the body's surface at its place
  std::vector<int> triangles;  // per triangle: its number in the body's surface
  PointMap vertices;           // the body's vertices by those of `mesh`; unused ones by the nearest

  // Rows of the simulated vertices from one row per vertex of the body's surface.
  Points simulated(const Points& of_surface) const;
};

// Of a sheet whatever the orientation of its triangles.
Repair repair_sheet(const TriMesh& surface);
SheetSurface sheet_surface(const Body& body);

}  // namespace exemplar
