// Triangle surfaces of the obstacle shapes for drawing, and their features for contact (see shape.h).
#pragma once

#include "core/world/shape.h"

namespace exemplar {

TriMesh shape_surface(const ShapeDescription& description);
ShapeFeatures shape_features(const ShapeDescription& description);

}  // namespace exemplar
