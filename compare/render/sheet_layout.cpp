#include "compare/render/sheet_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace exemplar::render {

namespace {

constexpr int k_gap = 6, k_row_label = 28, k_line_height = 24, k_between = 22;
constexpr Colour k_ink = {30, 34, 42}, k_faint = {84, 90, 100}, k_warning = {178, 60, 20};
const TextStyle k_title_style{18, k_ink, false}, k_small_style{13, k_faint, false};
const TextStyle k_label_style{16, k_ink, true}, k_warning_style{13, k_warning, false};

// Bytes that continue a letter of UTF-8 belong to it.
void drop_letter(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

std::string shortened(std::string text, const TextStyle& style, int width) {
  if (text_width(text, style) <= width) return text;
  while (!text.empty() && text_width(text + "…", style) > width) drop_letter(text);
  return text + "…";
}

// Words are read on any picture behind them.
void lighten(Image& image, int x, int y, int width, int height) {
  for (int v = std::max(0, y); v < std::min(image.height, y + height); ++v) {
    for (int u = std::max(0, x); u < std::min(image.width, x + width); ++u) {
      for (int c = 0; c < 3; ++c) {
        std::uint8_t& part = image.pixel(u, v)[c];
        part = static_cast<std::uint8_t>(part + 7 * (255 - part) / 10);
      }
    }
  }
}

// Draws right-aligned and returns where it begins.
int draw_right(Image& image, const std::string& text, int right, int base, const TextStyle& style) {
  const int x = right - text_width(text, style);
  draw_text(image, text, x, base, style);
  return x;
}

std::string scale_title(const ColourScale& scale) {
  const std::string unit = stage::unit_of_array(scale.array);
  std::string name = scale.array;
  std::replace(name.begin(), name.end(), '_', ' ');
  return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

// Each draws into its place unless `image` is null, and returns its width.
int draw_legend(Image* image, const ColourScale& scale, int right, int base) {
  Image none(1, 1);
  Image& on = image ? *image : none;
  constexpr int k_bar = 160;
  int x = draw_right(on, fmt::format("{:.4g}", scale.high), right, base, k_small_style) - k_bar - 8;
  for (int i = 0; i < k_bar; ++i) {
    const double value = scale.low + (scale.high - scale.low) * i / (k_bar - 1);
    fill_rectangle(on, x + i, base - 11, 1, 12, map_colour(scale, value));
  }
  x = draw_right(on, fmt::format("{:.4g}", scale.low), x - 8, base, k_small_style);
  return right - draw_right(on, scale_title(scale), x - 12, base, k_small_style);
}

// Names of the examples, each after a box of its colour.
int draw_parts(Image* image, const ColourScale& scale, int right, int base) {
  Image none(1, 1);
  Image& on = image ? *image : none;
  int x = right;
  for (std::size_t part = scale.parts.size(); part-- > 0;) {
    const std::string name = scale.parts[part].substr(std::string("example_weight_").size());
    x = draw_right(on, name, x, base, k_small_style);
    fill_rectangle(on, x - 17, base - 11, 12, 12, part_colour(part));
    x -= 32;
  }
  return right - x;
}

int draw_key(Image* image, const ColourScale& scale, int right, int base) {
  Image none(1, 1);
  switch (scale.kind) {
    case ColourScale::Kind::blend:
      return draw_parts(image, scale, right, base);
    case ColourScale::Kind::handles:
      return right - draw_right(image ? *image : none,
                                "the strongest handle's colour, paler where others share; balls: handles",
                                right, base, k_small_style);
    case ColourScale::Kind::categories:
      return 0;
    default:
      return draw_legend(image, scale, right, base);
  }
}

// The lines above the pictures: their places follow from the width.
struct Header {
  std::vector<std::string> title;
  bool key_below = false;  // the key has a line of its own below the note
  int height = 0;
};

Header header_of(const SheetText& text, int width) {
  Header header;
  header.title = wrapped(text.title, k_title_style, width - 4 * k_gap, 2);
  const int note = text.note.empty() ? 0 : text_width(text.note, k_small_style);
  const int key = text.scale ? draw_key(nullptr, *text.scale, width, 0) : 0;
  header.key_below = note > 0 && key > 0 && note + k_between + key > width - 4 * k_gap;
  const int lines =
      static_cast<int>(header.title.size()) + (note > 0 || key > 0 ? 1 : 0) + (header.key_below ? 1 : 0);
  header.height = 10 + lines * k_line_height;
  return header;
}

void draw_header(Image& image, const Header& header, const SheetText& text) {
  int base = 22;
  for (const std::string& line : header.title) {
    draw_text(image, line, k_gap + 2, base, k_title_style);
    base += k_line_height;
  }
  draw_text(image, shortened(text.note, k_small_style, image.width - 4 * k_gap), k_gap + 2, base,
            k_small_style);
  if (header.key_below) base += k_line_height;
  if (text.scale) draw_key(&image, *text.scale, image.width - 12, base);
}

void draw_tile(Image& image, const Tile& tile, const RunText& run, int x, int y) {
  paste(image, tile.image, x, y);
  const int base = y + tile.image.height - 9;
  if (!tile.empty) {
    const std::string time = fmt::format("t = {:.4g} s", tile.time);
    lighten(image, x + 5, base - 14, text_width(time, k_small_style) + 8, 19);
    draw_text(image, time, x + 9, base, k_small_style);
  } else {
    const std::string text = run.end > 0 ? fmt::format("ended at t = {:.4g} s", run.end) : "no frames";
    draw_text(image, text, x + 9, base, k_warning_style);
  }
}

void draw_row_label(Image& image, const RunText& run, const std::string& shot, int y) {
  const int base = y + k_row_label - 8;
  const std::string label = shortened(shot.empty() ? run.label : run.label + ", close: " + shot,
                                      k_label_style, image.width - 4 * k_gap);
  draw_text(image, label, k_gap + 2, base, k_label_style);
  if (run.note.empty() || !shot.empty()) return;
  const int x = k_gap + 18 + text_width(label, k_label_style);
  const std::string note =
      shortened(run.note.substr(0, run.note.find('\n')), k_warning_style, image.width - x - k_gap);
  draw_text(image, note, x, base, k_warning_style);
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, const TextStyle& style, int width, int most) {
  std::vector<std::string> lines{""};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    const bool is_last = static_cast<int>(lines.size()) == most;
    if (is_last || lines.back().empty() || text_width(longer, style) <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(word);
    }
  }
  for (std::string& line : lines) line = shortened(line, style, width);
  return lines;
}

namespace {

constexpr int k_film_header = 56, k_film_label = 34;
const TextStyle k_film_title{26, k_ink, false}, k_film_small{18, k_faint, false},
    k_film_name{20, k_ink, true};

}  // namespace

FilmLayout film_layout(std::size_t runs, int width, int height) {
  FilmLayout best;
  for (int columns = 1; columns <= static_cast<int>(runs); ++columns) {
    FilmLayout one{width, height, columns, (static_cast<int>(runs) + columns - 1) / columns, 0, 0};
    one.tile_width = (width - (columns + 1) * k_gap) / columns;
    one.tile_height = (height - k_film_header - one.rows * (k_film_label + k_gap)) / one.rows;
    // Pictures much wider than high show little of what is high.
    one.tile_width = std::min(one.tile_width, one.tile_height * 16 / 9);
    one.tile_height = std::max(16, std::min(one.tile_height, one.tile_width));
    one.tile_width = std::max(16, one.tile_width);
    const auto area = [](const FilmLayout& of) { return of.tile_width * of.tile_height; };
    if (area(one) > area(best)) best = one;
  }
  return best;
}

Image compose_film_picture(const std::vector<Tile>& tiles, const SheetText& text, double time,
                           const FilmLayout& layout) {
  Image image(layout.width, layout.height);
  const std::string now = fmt::format("t = {:.4f} s", time);
  const int right = draw_right(image, now, layout.width - 16, 38, k_film_small);
  const std::string title = shortened(text.title, k_film_title, right - 40);
  draw_text(image, title, 16, 38, k_film_title);
  if (text.scale)
    draw_key(&image, *text.scale, right - 40, 38);
  else
    draw_text(image, text.note, 40 + text_width(title, k_film_title), 38, k_film_small);
  const int left = (layout.width - layout.columns * (layout.tile_width + k_gap) + k_gap) / 2;
  for (const Tile& tile : tiles) {
    const int row = static_cast<int>(tile.row) / layout.columns;
    const int x = left + static_cast<int>(tile.row) % layout.columns * (layout.tile_width + k_gap);
    const int y = k_film_header + row * (layout.tile_height + k_film_label + k_gap);
    const RunText& run = text.runs[tile.row];
    draw_text(image, shortened(run.label, k_film_name, layout.tile_width), x + 2, y + 24, k_film_name);
    paste(image, tile.image, x, y + k_film_label);
    if (tile.empty)
      draw_text(image, run.end > 0 ? fmt::format("ended at t = {:.4g} s", run.end) : "no frames", x + 12,
                y + k_film_label + 28, {18, k_warning, false});
  }
  return image;
}

Image compose_sheet(const std::vector<Tile>& tiles, const SheetText& text) {
  std::size_t columns = 0, shots = 0;
  for (const Tile& tile : tiles) {
    columns = std::max(columns, tile.column + 1);
    shots = std::max(shots, tile.shot_index + 1);
  }
  const int tile_width = tiles.front().image.width, tile_height = tiles.front().image.height;
  const int row_height = k_row_label + tile_height + k_gap;
  const int width = k_gap + static_cast<int>(columns) * (tile_width + k_gap);
  const Header header = header_of(text, width);
  Image image(width, header.height + static_cast<int>(text.runs.size() * shots) * row_height);
  draw_header(image, header, text);
  for (const Tile& tile : tiles) {
    const int y = header.height + static_cast<int>(tile.row * shots + tile.shot_index) * row_height;
    const RunText& run = text.runs[tile.row];
    if (tile.column == 0) draw_row_label(image, run, tile.shot, y);
    draw_tile(image, tile, run, k_gap + static_cast<int>(tile.column) * (tile_width + k_gap),
              y + k_row_label);
  }
  return image;
}

}  // namespace exemplar::render
