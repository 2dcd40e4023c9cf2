// Pictures with their words on one sheet: title, legend, a label a row, the time in each picture. Nothing prints over
// anything else, however narrow the sheet is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/render/colours.h"
#include "compare/render/contact_sheet.h"

namespace exemplar::render {

struct RunText {
  std::string label;
  std::string note;  // why it ended early
  double end = 0;    // s, of its last frame; no frames: 0
};

struct SheetText {
  std::string title, note;
  std::optional<ColourScale> scale;
  std::vector<RunText> runs;
};

// Rows as in the tiles: run after run, in each the wide picture and then its close-ups.
Image compose_sheet(const std::vector<Tile>& tiles, const SheetText& text);

// A picture of a film: all runs at one time side by side below the title, with their names and the time.
struct FilmLayout {
  int width = 1920, height = 1080;  // of the film
  int columns = 1, rows = 1;
  int tile_width = 0, tile_height = 0;
};
// The one with the largest pictures.
FilmLayout film_layout(std::size_t runs, int width = 1920, int height = 1080);
Image compose_film_picture(const std::vector<Tile>& tiles, const SheetText& text, double time,
                           const FilmLayout& layout);

// In lines of at most `width` pixels, broken between words; the last of `most` lines ends in "…" where it is too long.
std::vector<std::string> wrapped(const std::string& text, const TextStyle& style, int width, int most);

}  // namespace exemplar::render
