// Before and after in one picture: the outline of what a body was, drawn over what it has become.
#pragma once

#include "compare/render/image.h"
#include "compare/stage/camera.h"
#include "core/output/fields.h"

namespace exemplar::render {

// A dark line with a light rim around each body's shape at rest, where the body is now; nothing where the frame does
// not know the shape at rest.
void draw_rest_outline(Image& image, const Geometry& shown, const stage::Camera& camera);

}  // namespace exemplar::render
