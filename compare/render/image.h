// A picture in memory, with what a contact sheet needs: rectangles, other pictures, text. Origin top left,
// 8-bit RGB.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace exemplar::render {

using Colour = std::array<std::uint8_t, 3>;

struct Image {
  Image() = default;
  Image(int width_, int height_, Colour fill = {255, 255, 255});

  std::uint8_t* pixel(int x, int y) { return rgb.data() + 3 * (static_cast<std::size_t>(y) * width + x); }
  const std::uint8_t* pixel(int x, int y) const { return const_cast<Image*>(this)->pixel(x, y); }

  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

// Both cut off what lies outside.
void fill_rectangle(Image& image, int x, int y, int width, int height, Colour colour);
void paste(Image& image, const Image& other, int x, int y);

// Mean over blocks of factor × factor pixels: the second half of supersampling.
Image reduce(const Image& image, int factor);

struct TextStyle {
  int size = 14;  // points at 72 dpi, about the height of a line in pixels
  Colour colour = {40, 44, 52};
  bool bold = false;
};

// Width in pixels of one line of text.
int text_width(const std::string& text, const TextStyle& style);
// (x, y) is the left end of the base line.
void draw_text(Image& image, const std::string& text, int x, int y, const TextStyle& style);

// Throws OutputError.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace exemplar::render
