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

// In lines of at most `width` pixels, broken between words; the last of `most` lines ends in "…" where it is too long.
std::vector<std::string> wrapped(const std::string& text, const TextStyle& style, int width, int most);

}  // namespace exemplar::render
