// A contact sheet of a run or a comparison: one row per run, one column per time, one camera for all; a second row
// with a close-up where the scene asks for one or its bodies are small.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/render/image.h"
#include "compare/render/tile.h"
#include "compare/stage/framing.h"

namespace exemplar::render {

struct SheetOptions {
  std::string series = "surface";
  std::string array;              // colour by this; empty: by body
  int columns = 5;                // evenly over the longest run, first and last frame included
  std::vector<double> times;      // s; instead of columns
  int frame = -1;                 // ≥ 0: this frame alone
  int width = 420, height = 315;  // of one picture
  stage::FramingWishes framing;   // its aspect is that of width and height
  std::vector<std::string> hide;  // obstacles, or "obstacles" for all
  bool rest_outline = false;      // the outline of the shape at rest over each body
  Lines lines = Lines::none;
  int samples = 2;
};

struct Tile {
  std::string run;
  std::string shot;  // name of a close-up; empty: the wide picture
  std::size_t row = 0, shot_index = 0, column = 0;
  double time = 0;     // s, of the frame that is shown
  bool empty = false;  // the run ended earlier
  Image image;
};

struct Sheet {
  std::vector<Tile> tiles;  // row after row
  Image image;              // all of them with labels
};

// Throws InputError when there is nothing to draw.
Sheet make_sheet(const std::filesystem::path& directory, const SheetOptions& options);

// Pictures of a film, film_00000.png …: 1920 × 1080, all runs side by side at each time. Returns how many.
std::size_t make_film(const std::filesystem::path& directory, const SheetOptions& options,
                      const std::filesystem::path& folder);

// What part of the pictures the bodies take that deform (all bodies where none does), without drawing any.
struct PictureShare {
  std::string run, shot;
  std::vector<double> by_time;  // 0 … 1, of the times the run has
};
std::vector<PictureShare> picture_shares(const std::filesystem::path& directory, const SheetOptions& options);

// <run>_<column>.png for each tile, <run>_close-<n>_<column>.png for those of the n-th close-up, and tiles.json:
// [{"run", "shot", "column", "time", "file"}].
void write_tiles(const std::filesystem::path& directory, const Sheet& sheet);

}  // namespace exemplar::render
