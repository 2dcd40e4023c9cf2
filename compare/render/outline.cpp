#include "compare/render/outline.h"

#include <algorithm>
#include <cmath>

#include "compare/render/colours.h"
#include "compare/stage/stage.h"
#include "compare/stage/visible.h"

namespace exemplar::render {

namespace {

constexpr int k_fineness = 3;         // of the mask, times the picture's pixels
constexpr int k_line = 2, k_rim = 4;  // half widths in the mask's pixels

// Where the owner of a pixel is not that of its right or lower neighbour, widened.
std::vector<bool> borders(const stage::Visible& mask, int half_width) {
  std::vector<bool> marked(mask.owner.size(), false);
  const auto at = [&](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(mask.width) + static_cast<std::size_t>(x);
  };
  const auto mark = [&](int x, int y) {
    for (int v = std::max(0, y - half_width); v <= std::min(mask.height - 1, y + half_width); ++v) {
      for (int u = std::max(0, x - half_width); u <= std::min(mask.width - 1, x + half_width); ++u) {
        if ((u - x) * (u - x) + (v - y) * (v - y) <= half_width * half_width) marked[at(u, v)] = true;
      }
    }
  };
  for (int y = 0; y + 1 < mask.height; ++y) {
    for (int x = 0; x + 1 < mask.width; ++x) {
      const int own = mask.owner[at(x, y)];
      if (own != mask.owner[at(x + 1, y)] || own != mask.owner[at(x, y + 1)]) mark(x, y);
    }
  }
  return marked;
}

void blend_marked(Image& image, const stage::Visible& mask, const std::vector<bool>& marked, Colour colour,
                  double strength) {
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      int count = 0;
      for (int k = 0; k < k_fineness * k_fineness; ++k) {
        const int u = x * k_fineness + k % k_fineness, v = y * k_fineness + k / k_fineness;
        if (u < mask.width && v < mask.height)
          count += marked[static_cast<std::size_t>(v) * static_cast<std::size_t>(mask.width) +
                          static_cast<std::size_t>(u)];
      }
      const double alpha = strength * count / (k_fineness * k_fineness);
      std::uint8_t* pixel = image.pixel(x, y);
      for (std::size_t c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + alpha * (colour[c] - pixel[c])));
    }
  }
}

}  // namespace

void draw_rest_outline(Image& image, const Geometry& shown, const stage::Camera& camera) {
  Geometry rest = shown;
  rest.points = stage::rest_over(shown);
  if (rest.points.rows() != shown.points.rows() || rest.points.rows() == 0) return;
  const double aspect = static_cast<double>(image.width) / image.height;
  const stage::Visible mask = stage::look(camera, aspect, k_fineness * image.height, rest);
  blend_marked(image, mask, borders(mask, k_rim), {255, 255, 255}, 0.55);
  blend_marked(image, mask, borders(mask, k_line), {24, 26, 32}, 0.9);
}

}  // namespace exemplar::render
