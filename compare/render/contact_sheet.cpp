#include "compare/render/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "compare/render/colours.h"
#include "compare/render/ground.h"
#include "compare/render/run_frames.h"
#include "compare/render/tile.h"
#include "core/base/errors.h"
#include "core/mesh/models/primitives.h"
#include "core/output/atomic_file.h"
#include "core/output/geometry_file.h"

namespace exemplar::render {

namespace {

namespace fs = std::filesystem;

constexpr double k_ball_size = 0.014;  // radius of a handle's ball over its body's diagonal

// One picture to be drawn.
struct Moment {
  double time = 0;
  bool empty = true;
  Geometry shown;
  std::optional<Geometry> obstacles;
  std::optional<Geometry> balls;  // at the handles of rigs
};

struct Row {
  RunFrames run;
  std::vector<Moment> moments;
};

std::vector<double> sheet_times(const std::vector<RunFrames>& runs, const SheetOptions& options) {
  if (!options.times.empty()) return options.times;
  double end = 0;
  for (const RunFrames& run : runs) end = std::max(end, run.end());
  std::vector<double> times;
  for (int i = 0; i < options.columns; ++i)
    times.push_back(options.columns > 1 ? end * i / (options.columns - 1) : end);
  return times;
}

Moment load_moment(const RunFrames& run, std::optional<std::size_t> frame) {
  Moment moment;
  if (!frame || *frame >= run.frames.size()) return moment;
  moment.empty = false;
  moment.time = run.frames[*frame].time;
  moment.shown = read_geometry(run.frames[*frame].file);
  if (auto same_time = frame_at(run.obstacles, moment.time)) {
    moment.obstacles = read_geometry(run.obstacles[*same_time].file);
  }
  return moment;
}

// A ball at each handle, in proportion to the body it belongs to.
Geometry handle_balls(const Geometry& shown, const Geometry& handles) {
  Geometry all;
  const FieldArray* owner = find_array(handles, "body");
  const FieldArray* body = nullptr;
  for (const FieldArray& array : shown.arrays) {
    if (array.name == "body" && array.on == Association::point) body = &array;
  }
  std::map<int, Box> boxes;
  for (Eigen::Index i = 0; i < shown.points.rows(); ++i)
    boxes[body ? static_cast<int>(body->values[static_cast<std::size_t>(i)]) : 0].include(
        shown.points.row(i).transpose());
  const TriMesh ball = make_sphere({.radius = 1, .resolution = 3});
  for (Eigen::Index h = 0; h < handles.points.rows(); ++h) {
    const int of = owner && body ? static_cast<int>(owner->values[static_cast<std::size_t>(h)]) : 0;
    const double radius = k_ball_size * boxes[of].diagonal();
    Geometry one;
    one.points = (radius * ball.vertices).rowwise() + handles.points.row(h);
    one.connectivity.assign(ball.triangles.data(), ball.triangles.data() + ball.triangles.size());
    append(all, one);
  }
  return all;
}

void add_balls(std::vector<Row>& rows) {
  for (Row& row : rows) {
    for (Moment& moment : row.moments) {
      const auto frame = frame_at(row.run.handles, moment.time);
      if (!moment.empty && frame)
        moment.balls = handle_balls(moment.shown, read_geometry(row.run.handles[*frame].file));
    }
  }
}

std::string missing_colours(const std::string& array) {
  return array == k_skinning ? "no frame has the arrays strongest_handle and strongest_weight"
                             : "no frame has arrays example_weight_…";
}

// Colours that only some methods have: the others' rows would be empty.
bool has_colours(const Row& row, const std::string& array) {
  for (const Moment& moment : row.moments) {
    ColourScale examples;
    include_examples(examples, moment.shown);
    if (array == k_skinning ? has_skinning(moment.shown) : !examples.parts.empty()) return true;
  }
  return false;
}

std::vector<Row> load_rows(const fs::path& directory, const SheetOptions& options) {
  std::vector<RunFrames> runs = find_runs(directory, options.series);
  const std::vector<double> times = sheet_times(runs, options);
  std::vector<Row> rows;
  for (RunFrames& run : runs) {
    Row& row = rows.emplace_back();
    if (options.frame >= 0) {
      row.moments.push_back(load_moment(run, static_cast<std::size_t>(options.frame)));
    } else {
      for (double time : times) row.moments.push_back(load_moment(run, frame_at(run.frames, time)));
    }
    row.run = std::move(run);
    if (runs.size() == 1 && !row.run.method.empty()) row.run.name = row.run.label = row.run.method;
  }
  if (options.array == k_skinning) add_balls(rows);
  if (options.array == k_skinning || options.array == k_example_weights) {
    std::erase_if(rows, [&](const Row& row) { return !has_colours(row, options.array); });
    if (rows.empty()) throw InputError(missing_colours(options.array));
  }
  return rows;
}

// A method that blew up must not make all others invisible: runs far larger than the usual one are not
// fitted.
std::vector<const Row*> rows_to_fit(const std::vector<Row>& rows) {
  std::vector<std::pair<double, const Row*>> sizes;
  for (const Row& row : rows) {
    Box box;
    for (const Moment& moment : row.moments) {
      for (Eigen::Index i = 0; i < moment.shown.points.rows(); ++i)
        box.include(moment.shown.points.row(i).transpose());
    }
    if (!box.empty()) sizes.emplace_back(box.diagonal(), &row);
  }
  std::sort(sizes.begin(), sizes.end());
  std::vector<const Row*> kept;
  const double usual = sizes.empty() ? 0 : sizes[(sizes.size() - 1) / 2].first;
  for (const auto& [size, row] : sizes) {
    if (size <= 4 * usual) kept.push_back(row);
  }
  return kept;
}

// Where most of a surface is: loose splinters, up to 2 % of the points on each side, are not looked at unless
// they are near anyway.
Box main_part(const Points& points) {
  Box box;
  const Eigen::Index count = points.rows();
  if (count == 0 || !points.allFinite()) return box;
  const Eigen::Index skipped = count / 50;
  Vec3 low, high;
  for (int axis = 0; axis < 3; ++axis) {
    VecX values = points.col(axis);
    std::sort(values.begin(), values.end());
    low[axis] = values[skipped];
    high[axis] = values[count - 1 - skipped];
  }
  const Vec3 margin = Vec3::Constant(0.1 * (high - low).norm());
  box.include(low - margin);
  box.include(high + margin);
  return box;
}

// The bodies, and what of the obstacles is near them.
std::vector<Vec3> points_to_fit(const std::vector<const Row*>& rows, Box& motion) {
  std::vector<Vec3> points;
  for (const Row* row : rows) {
    for (const Moment& moment : row->moments) {
      const Box part = main_part(moment.shown.points);
      for (Eigen::Index i = 0; i < moment.shown.points.rows(); ++i) {
        const Vec3 point = moment.shown.points.row(i).transpose();
        if (!part.contains(point)) continue;
        points.push_back(point);
        motion.include(point);
      }
    }
  }
  Box near = motion;
  const Vec3 reach = Vec3::Constant(0.2 * motion.diagonal());
  near.low -= reach;
  near.high += reach;
  for (const Row* row : rows) {
    for (const Moment& moment : row->moments) {
      if (!moment.obstacles) continue;
      const Geometry rest = split_obstacles(*moment.obstacles).rest;
      for (int index : rest.connectivity) {
        const Vec3 point = rest.points.row(index).transpose();
        if (near.contains(point)) points.push_back(point);
      }
    }
  }
  return points;
}

ColourScale blend_scale(const std::vector<Row>& rows) {
  ColourScale scale{k_example_weights, ColourScale::Kind::blend};
  for (const Row& row : rows) {
    for (const Moment& moment : row.moments) include_examples(scale, moment.shown);
  }
  return scale;
}

std::optional<ColourScale> make_scale(const std::vector<Row>& rows, const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name == k_example_weights) return blend_scale(rows);
  if (name == k_skinning) return ColourScale{k_skinning, ColourScale::Kind::handles};
  const double infinity = std::numeric_limits<double>::infinity();
  ColourScale scale{name, ColourScale::Kind::sequential, infinity, -infinity};
  const FieldArray* found = nullptr;
  std::string available;
  for (const Row& row : rows) {
    for (const Moment& moment : row.moments) {
      include_values(scale, moment.shown);
      if (!found) found = find_array(moment.shown, name);
      if (!available.empty()) continue;
      for (const FieldArray& array : moment.shown.arrays)
        available += (available.empty() ? "" : ", ") + array.name;
    }
  }
  if (!found) throw InputError("no frame has an array '" + name + "'; there are: " + available);
  settle(scale, found->integer);
  return scale;
}

// From "for up = y" to the scene's own up.
Vec3 turned_view(const SheetOptions& options) {
  return Quat::FromTwoVectors(Vec3::UnitY(), options.up.normalized()) * options.view;
}

std::vector<Tile> render_tiles(const std::vector<Row>& rows, const SheetOptions& options,
                               const std::optional<ColourScale>& scale) {
  TileStyle style;
  style.scale = scale;
  style.mesh_edges = options.mesh_edges;
  const std::vector<Vec3> points = points_to_fit(rows_to_fit(rows), style.motion);
  const double aspect = static_cast<double>(options.width) / options.height;
  const Camera camera = fit_camera(points, turned_view(options), options.up, aspect);
  TileRenderer renderer(options.width, options.height, options.samples);
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    style.bodies = rows[i].run.colour;
    for (std::size_t j = 0; j < rows[i].moments.size(); ++j) {
      const Moment& moment = rows[i].moments[j];
      Tile tile{rows[i].run.name, i, j, moment.time, moment.empty, {}};
      style.balls = moment.balls ? &*moment.balls : nullptr;
      if (moment.empty) {
        tile.image = Image(options.width, options.height, k_background);
      } else {
        tile.image =
            renderer.render(moment.shown, moment.obstacles ? &*moment.obstacles : nullptr, camera, style);
      }
      tiles.push_back(std::move(tile));
    }
  }
  return tiles;
}

constexpr int k_gap = 6, k_row_label = 28, k_title = 44;
constexpr Colour k_faint = {84, 90, 100}, k_warning = {178, 60, 20};

void draw_legend(Image& image, const ColourScale& scale, int right, int base) {
  const TextStyle small{13, k_faint, false};
  const int width = 180;
  const std::string high = fmt::format("{:.4g}", scale.high), low = fmt::format("{:.4g}", scale.low);
  int x = right - text_width(high, small);
  draw_text(image, high, x, base, small);
  x -= width + 8;
  for (int i = 0; i < width; ++i) {
    const double value = scale.low + (scale.high - scale.low) * i / (width - 1);
    fill_rectangle(image, x + i, base - 11, 1, 12, map_colour(scale, value));
  }
  x -= 8 + text_width(low, small);
  draw_text(image, low, x, base, small);
  const TextStyle name{14, {40, 44, 52}, false};
  draw_text(image, scale.array, x - 12 - text_width(scale.array, name), base, name);
}

// Names of the examples, each after a box of its colour.
void draw_parts(Image& image, const ColourScale& scale, int right, int base) {
  const TextStyle small{13, k_faint, false};
  int x = right;
  for (std::size_t part = scale.parts.size(); part-- > 0;) {
    const std::string name = scale.parts[part].substr(std::string("example_weight_").size());
    x -= text_width(name, small);
    draw_text(image, name, x, base, small);
    fill_rectangle(image, x - 17, base - 11, 12, 12, part_colour(part));
    x -= 32;
  }
}

void draw_handles_note(Image& image, int right, int base) {
  const TextStyle small{13, k_faint, false};
  const std::string text = "the strongest handle's colour, paler where others share; balls: handles";
  draw_text(image, text, right - text_width(text, small), base, small);
}

void draw_tile(Image& image, const Tile& tile, const RunFrames& run, int x, int y) {
  paste(image, tile.image, x, y);
  const TextStyle small{14, k_faint, false};
  const int base = y + tile.image.height - 9;
  if (!tile.empty) {
    draw_text(image, fmt::format("t = {:.4g} s", tile.time), x + 9, base, small);
  } else if (run.frames.empty()) {
    draw_text(image, "no frames", x + 9, base, {13, k_warning, false});
  } else {
    draw_text(image, fmt::format("ended at t = {:.4g} s", run.end()), x + 9, base, {13, k_warning, false});
  }
}

void draw_row_label(Image& image, const RunFrames& run, int y) {
  const TextStyle bold{17, {30, 34, 42}, true};
  draw_text(image, run.label, k_gap + 2, y + k_row_label - 8, bold);
  if (run.note.empty()) return;
  std::string note = run.note.substr(0, run.note.find('\n'));
  if (note.size() > 140) note = note.substr(0, 137) + "...";
  draw_text(image, note, k_gap + 18 + text_width(run.label, bold), y + k_row_label - 8,
            {13, k_warning, false});
}

// What the scene is called, else the directory.
std::string sheet_title(const fs::path& directory, const std::vector<Row>& rows,
                        const SheetOptions& options) {
  std::string title = rows.front().run.title;
  if (title.empty())
    title = fs::absolute(directory / ".").lexically_normal().parent_path().filename().string();
  if (options.series != "surface") title += " (" + options.series + ")";
  return title;
}

std::string ground_note(const std::vector<Row>& rows) {
  bool has_ground = false;
  for (const Row& row : rows) {
    for (const Moment& moment : row.moments) {
      has_ground = has_ground || (moment.obstacles && !split_obstacles(*moment.obstacles).rectangles.empty());
    }
  }
  Box motion;
  points_to_fit(rows_to_fit(rows), motion);
  return has_ground ? fmt::format("ground squares {:g} m", ground_tile_size(motion)) : std::string();
}

Image compose(const std::vector<Row>& rows, const std::vector<Tile>& tiles, const std::string& title,
              const SheetOptions& options, const std::optional<ColourScale>& scale) {
  const int columns = static_cast<int>(rows.front().moments.size());
  const int row_height = k_row_label + options.height + k_gap;
  Image image(k_gap + columns * (options.width + k_gap),
              k_title + static_cast<int>(rows.size()) * row_height);
  const TextStyle large{19, {30, 34, 42}, false};
  draw_text(image, title, k_gap + 2, k_title - 16, large);
  draw_text(image, ground_note(rows), k_gap + 22 + text_width(title, large), k_title - 16,
            {13, k_faint, false});
  if (scale && scale->kind == ColourScale::Kind::blend)
    draw_parts(image, *scale, image.width - 12, k_title - 16);
  else if (scale && scale->kind == ColourScale::Kind::handles)
    draw_handles_note(image, image.width - 12, k_title + k_row_label - 8);
  else if (scale && scale->kind != ColourScale::Kind::categories)
    draw_legend(image, *scale, image.width - 12, k_title - 16);
  for (std::size_t i = 0; i < rows.size(); ++i)
    draw_row_label(image, rows[i].run, k_title + static_cast<int>(i) * row_height);
  for (const Tile& tile : tiles) {
    draw_tile(image, tile, rows[tile.row].run,
              k_gap + static_cast<int>(tile.column) * (options.width + k_gap),
              k_title + static_cast<int>(tile.row) * row_height + k_row_label);
  }
  return image;
}

}  // namespace

Sheet make_sheet(const fs::path& directory, const SheetOptions& options) {
  const std::vector<Row> rows = load_rows(directory, options);
  const auto scale = make_scale(rows, options.array);
  Sheet sheet;
  sheet.tiles = render_tiles(rows, options, scale);
  const std::string title = sheet_title(directory, rows, options);
  sheet.image = compose(rows, sheet.tiles, title, options, scale);
  return sheet;
}

void write_tiles(const fs::path& directory, const Sheet& sheet) {
  make_writable_directory(directory);
  nlohmann::ordered_json index = nlohmann::ordered_json::array();
  for (const Tile& tile : sheet.tiles) {
    if (tile.empty) continue;
    const std::string file = fmt::format("{}_{}.png", tile.run, tile.column);
    write_png(directory / file, tile.image);
    index.push_back({{"run", tile.run}, {"column", tile.column}, {"time", tile.time}, {"file", file}});
  }
  write_file_atomically(directory / "tiles.json", index.dump(2) + "\n");
}

}  // namespace exemplar::render
