// One picture of one moment of one run: lit, with ground, shadows and ambient occlusion, by VTK off-screen
// (needs an X display; Xvfb will do).
#pragma once

#include <memory>
#include <optional>

#include "compare/render/camera.h"
#include "compare/render/colours.h"
#include "compare/render/image.h"

namespace exemplar::render {

struct TileStyle {
  std::optional<ColourScale> scale;  // none: bodies in distinct colours by the cell array `body`
  std::optional<Colour> bodies;      // the run's own colour, of which the bodies get shades instead
  bool mesh_edges = false;
  const Geometry* balls = nullptr;  // marks of handles, dark
  Box motion;  // of the bodies over all pictures: where the ground is shown, and the scale of occlusion
};

class TileRenderer {
 public:
  // Draws at `samples` times the size and takes means.
  TileRenderer(int width, int height, int samples = 2);
  ~TileRenderer();

  // `obstacles` may be null.
  Image render(const Geometry& shown, const Geometry* obstacles, const Camera& camera,
               const TileStyle& style);

 private:
  class Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace exemplar::render
