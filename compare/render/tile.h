// One picture of one moment of one run: lit, with ground, shadows and ambient occlusion, by VTK off-screen
// (needs an X display; Xvfb will do).
#pragma once

#include <memory>
#include <optional>

#include "compare/render/colours.h"
#include "compare/render/image.h"
#include "compare/stage/camera.h"
#include "compare/stage/stage.h"

namespace exemplar::render {

using stage::Box;
using stage::Camera;

enum class Lines { none, edges, wireframe };  // of the mesh

struct TileStyle {
  std::optional<ColourScale> scale;  // none: bodies in distinct colours by the cell array `body`
  std::optional<Colour> bodies;      // the run's own colour, of which the bodies get shades instead
  std::vector<stage::Look> looks;    // of the bodies; empty: all plain
  Lines lines = Lines::none;
  std::vector<int> moving;          // places of obstacles that are drawn dark
  bool rest_outline = false;        // the outline of each body's shape at rest, laid over it
  std::optional<CutSettings> cut;   // what is beyond is not drawn
  const Geometry* balls = nullptr;  // marks of handles, dark
  Box subject;               // what is looked at: where the ground is shown, and the scale of occlusion
  double ground_square = 1;  // m
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
