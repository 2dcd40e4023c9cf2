#include <gtest/gtest.h>

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

}  // namespace

}  // namespace exemplar::render
