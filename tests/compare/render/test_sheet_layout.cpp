#include <gtest/gtest.h>

#include <array>

#include "compare/render/sheet_layout.h"

namespace exemplar::render {

namespace {

// The picture of a text.
Image drawn(const std::string& text) {
  Image image(60, 30);
  draw_text(image, text, 5, 20, {16, {0, 0, 0}, false});
  return image;
}

// A font without Greek letters draws the same box, or nothing, for each.
TEST(SheetText, GreekLettersAreDrawn) {
  const Image none(60, 30);
  for (const char* letter : {"α", "β", "γ", "λ", "μ", "ν", "σ", "²", "·", "…"})
    EXPECT_NE(drawn(letter).rgb, none.rgb) << letter;
  EXPECT_NE(drawn("α").rgb, drawn("β").rgb);
  EXPECT_NE(drawn("λ").rgb, drawn("γ").rgb);
}

TEST(SheetText, LinesAreNoWiderThanTheSheet) {
  const TextStyle style{18, {0, 0, 0}, false};
  const std::string title =
      "A block falls on a column whose example is a shortened twist, seen from afar and near by";
  for (const int width : {150, 300, 600}) {
    const auto lines = wrapped(title, style, width, 2);
    EXPECT_LE(lines.size(), 2u);
    for (const std::string& line : lines) EXPECT_LE(text_width(line, style), width) << line;
    EXPECT_EQ(lines.back().ends_with("…"), width < 600) << width;
  }
  EXPECT_EQ(wrapped("short", style, 300, 2), std::vector<std::string>{"short"});
  const auto greek = wrapped("λλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλλ", style, 100, 1);
  EXPECT_TRUE(greek[0].ends_with("λ…")) << greek[0];  // no half letters
}

// Title, note and legend of a sheet with a single narrow picture: each has its own line, and nothing is cut off.
TEST(SheetText, ANarrowSheetGrowsInHeight) {
  const auto height_of = [](const std::string& title, const std::string& note, bool has_scale, int width) {
    Tile tile;
    tile.image = Image(width, 50);
    SheetText text{title, note, {}, {{"fem", "", 1}}};
    if (has_scale) text.scale = ColourScale{"von_mises_stress", ColourScale::Kind::sequential, 0, 1e6};
    return compose_sheet({tile}, text).height;
  };
  const int plain = height_of("A bar", "", false, 420);
  EXPECT_GT(height_of("A bar", "ground squares 0.1 m", false, 420), plain);
  EXPECT_EQ(height_of("A bar", "ground squares 0.1 m", true, 900), height_of("A bar", "", true, 900));
  EXPECT_GT(height_of("A bar", "ground squares 0.1 m", true, 420), height_of("A bar", "", true, 420));
  EXPECT_GT(height_of("A bar with a very long title that does not fit into one line", "", false, 300), plain);
}

// As large as they can be, and all inside.
TEST(FilmPicture, AllRunsFit) {
  for (std::size_t runs = 1; runs <= 12; ++runs) {
    const FilmLayout layout = film_layout(runs);
    EXPECT_GE(layout.columns * layout.rows, static_cast<int>(runs));
    EXPECT_LE(layout.columns * layout.tile_width, 1920) << runs;
    EXPECT_LE(layout.rows * layout.tile_height, 1080 - 56) << runs;
    EXPECT_GT(static_cast<double>(runs) * layout.tile_width * layout.tile_height, 0.35 * 1920 * 1080) << runs;
  }
  std::vector<Tile> tiles(3);
  const FilmLayout layout = film_layout(3);
  SheetText text{"A bar", "", {}, {}};
  for (std::size_t i = 0; i < 3; ++i) {
    tiles[i].row = i;
    tiles[i].image = Image(layout.tile_width, layout.tile_height, {200, static_cast<std::uint8_t>(i), 0});
    text.runs.push_back({"run", "", 1});
  }
  const Image image = compose_film_picture(tiles, text, 0.25, layout);
  std::array<int, 3> count{};
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const auto* p = image.pixel(x, y);
      for (int i = 0; i < 3; ++i) count[static_cast<std::size_t>(i)] += p[0] == 200 && p[1] == i && p[2] == 0;
    }
  }
  for (const int one : count) EXPECT_EQ(one, layout.tile_width * layout.tile_height);
}

}  // namespace

}  // namespace exemplar::render
