// Geometry as VTK polygonal data ready to be drawn: smooth normals with creases, and colours.
#pragma once

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include "compare/render/tile.h"

namespace exemplar::render {

// Volumetric kinds become their boundary faces.
Geometry boundary_surface(const Geometry& volume);

// With an RGB array "colour" as active scalars on cells or points; surfaces also with normals, split at 40°.
// Without a scale: by body, in shades of `bodies` when given.
vtkSmartPointer<vtkPolyData> drawable(const Geometry& geometry, const std::optional<ColourScale>& scale,
                                      const std::optional<Colour>& bodies = std::nullopt);

// The same in one colour.
vtkSmartPointer<vtkPolyData> drawable(const Geometry& geometry, Colour colour);

}  // namespace exemplar::render
