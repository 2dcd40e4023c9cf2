// A contact sheet of a run or a comparison: one row per run, one column per time, one camera for all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/render/camera.h"
#include "compare/render/image.h"

namespace exemplar::render {

struct SheetOptions {
  std::string series = "surface";
  std::string array;                  // colour by this; empty: by body
  int columns = 5;                    // evenly over the longest run, first and last frame included
  std::vector<double> times;          // s; instead of columns
  int frame = -1;                     // ≥ 0: this frame alone
  int width = 420, height = 315;      // of one picture
  Vec3 view = Vec3(0.5, 0.42, 0.85);  // from the scene to the camera, for up = y
  Vec3 up = Vec3::UnitY();
  bool mesh_edges = false;
  int samples = 2;
};

struct Tile {
  std::string run;
  std::size_t row = 0, column = 0;
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

// <run>_<column>.png for each tile and tiles.json: [{"run", "column", "time", "file"}].
void write_tiles(const std::filesystem::path& directory, const Sheet& sheet);

}  // namespace exemplar::render
