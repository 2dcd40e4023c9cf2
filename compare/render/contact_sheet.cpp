#include "compare/render/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "compare/render/colours.h"
#include "compare/render/ground.h"
#include "compare/render/run_frames.h"
#include "compare/render/sheet_layout.h"
#include "compare/render/tile.h"
#include "compare/stage/visible.h"
#include "core/base/errors.h"
#include "core/mesh/models/primitives.h"
#include "core/output/atomic_file.h"
#include "core/output/geometry_file.h"

namespace exemplar::render {

namespace {

namespace fs = std::filesystem;

constexpr double k_ball_size = 0.014;  // radius of a handle's ball over its body's diagonal

// What one picture shows.
struct FrameData {
  double time = 0;
  bool empty = true;
  Geometry shown;
  std::optional<Geometry> obstacles;
  std::optional<Geometry> balls;  // at the handles of rigs
};

struct Row {
  RunFrames run;
  std::vector<FrameData> moments;
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

FrameData load_moment(const RunFrames& run, std::optional<std::size_t> frame,
                      const std::vector<int>& hidden) {
  FrameData moment;
  if (!frame || *frame >= run.frames.size()) return moment;
  moment.empty = false;
  moment.time = run.frames[*frame].time;
  moment.shown = read_geometry(run.frames[*frame].file);
  if (auto same_time = frame_at(run.obstacles, moment.time)) {
    moment.obstacles = stage::without_obstacles(read_geometry(run.obstacles[*same_time].file), hidden);
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
    for (FrameData& moment : row.moments) {
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
  for (const FrameData& moment : row.moments) {
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
    const std::vector<int> hidden = stage::hidden_obstacles(run.stage, options.hide);
    if (options.frame >= 0) {
      row.moments.push_back(load_moment(run, static_cast<std::size_t>(options.frame), hidden));
    } else {
      for (double time : times) row.moments.push_back(load_moment(run, frame_at(run.frames, time), hidden));
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

ColourScale blend_scale(const std::vector<Row>& rows) {
  ColourScale scale{k_example_weights, ColourScale::Kind::blend};
  for (const Row& row : rows) {
    for (const FrameData& moment : row.moments) include_examples(scale, moment.shown);
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
    for (const FrameData& moment : row.moments) {
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

// The first run that knows its scene.
const stage::Stage& stage_of(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (!row.run.stage.bodies.empty()) return row.run.stage;
  }
  return rows.front().run.stage;
}

stage::Moments moments_of(const std::vector<Row>& rows) {
  stage::Moments moments;
  for (const Row& row : rows) {
    auto& run = moments.emplace_back();
    for (const FrameData& moment : row.moments)
      run.push_back(moment.empty
                        ? stage::Moment{}
                        : stage::Moment{&moment.shown, moment.obstacles ? &*moment.obstacles : nullptr});
  }
  return moments;
}

std::vector<stage::Shot> shots_of(const std::vector<Row>& rows, const SheetOptions& options) {
  stage::FramingWishes wishes = options.framing;
  wishes.aspect = static_cast<double>(options.width) / options.height;
  return stage::frame_shots(moments_of(rows), stage_of(rows), wishes);
}

TileStyle style_of(const std::vector<Row>& rows, const SheetOptions& options,
                   const std::optional<ColourScale>& scale) {
  TileStyle style;
  style.scale = scale;
  style.lines = options.lines;
  style.rest_outline = options.rest_outline;
  if (!scale) style.looks = stage_of(rows).looks;  // colours of numbers are not tinted by what is behind
  style.cut = stage_of(rows).camera.cut;
  return style;
}

// The first subject that there is: they are all of one size.
double ground_square_of(const stage::Shot& shot) {
  for (const auto& run : shot.subjects) {
    for (const Box& subject : run) {
      if (!subject.empty()) return ground_tile_size(subject);
    }
  }
  return 1;
}

std::vector<int> moving_in(const Row& row) {
  std::vector<const Geometry*> over_time;
  for (const FrameData& moment : row.moments)
    over_time.push_back(moment.obstacles ? &*moment.obstacles : nullptr);
  std::optional<Geometry> start;  // one picture alone does not tell
  if (over_time.size() == 1 && !row.run.obstacles.empty()) {
    start = read_geometry(row.run.obstacles.front().file);
    over_time.push_back(&*start);
  }
  return stage::moving_obstacles(over_time);
}

// Draws tiles of rows in turn.
class Painter {
 public:
  Painter(const std::vector<Row>& rows, const SheetOptions& options, const std::optional<ColourScale>& scale)
      : m_rows(rows),
        m_options(options),
        m_style(style_of(rows, options, scale)),
        m_renderer(options.width, options.height, options.samples) {
    for (const Row& row : rows) m_moving.push_back(moving_in(row));
  }

  Tile paint(const stage::Shot& shot, std::size_t shot_index, std::size_t row, std::size_t column) {
    const FrameData& moment = m_rows[row].moments[column];
    Tile tile{m_rows[row].run.name, shot.name, row, shot_index, column, moment.time, moment.empty, {}};
    m_style.bodies = m_rows[row].run.colour;
    m_style.moving = m_moving[row];
    m_style.balls = moment.balls ? &*moment.balls : nullptr;
    m_style.subject = shot.subjects[row][column];
    m_style.ground_square = ground_square_of(shot);
    tile.image = moment.empty
                     ? Image(m_options.width, m_options.height, k_background)
                     : m_renderer.render(moment.shown, moment.obstacles ? &*moment.obstacles : nullptr,
                                         shot.cameras[row][column], m_style);
    return tile;
  }

 private:
  const std::vector<Row>& m_rows;
  const SheetOptions& m_options;
  TileStyle m_style;
  TileRenderer m_renderer;
  std::vector<std::vector<int>> m_moving;  // obstacles, by row
};

std::vector<Tile> render_tiles(const std::vector<Row>& rows, const std::vector<stage::Shot>& shots,
                               const SheetOptions& options, const std::optional<ColourScale>& scale) {
  Painter painter(rows, options, scale);
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t s = 0; s < shots.size(); ++s) {
      for (std::size_t j = 0; j < rows[i].moments.size(); ++j)
        tiles.push_back(painter.paint(shots[s], s, i, j));
    }
  }
  return tiles;
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

// What the eye cannot know: how large the ground's squares are, what the line around a body is.
std::string sheet_note(const std::vector<Row>& rows, const stage::Shot& wide, const SheetOptions& options) {
  bool has_ground = false;
  for (const Row& row : rows) {
    for (const FrameData& moment : row.moments)
      has_ground = has_ground || (moment.obstacles && !split_obstacles(*moment.obstacles).rectangles.empty());
  }
  std::string note = has_ground ? fmt::format("ground squares {:g} m", ground_square_of(wide)) : "";
  if (options.rest_outline) note += note.empty() ? "line: the shape at rest" : " · line: the shape at rest";
  return note;
}

}  // namespace

std::vector<PictureShare> picture_shares(const fs::path& directory, const SheetOptions& options) {
  const std::vector<Row> rows = load_rows(directory, options);
  const stage::Moments moments = moments_of(rows);
  const std::vector<stage::Shot> shots = shots_of(rows, options);
  const std::vector<int> deformed = stage::deformed_bodies(moments);
  const double aspect = static_cast<double>(options.width) / options.height;
  std::vector<PictureShare> shares;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const stage::Shot& shot : shots) {
      PictureShare& share = shares.emplace_back(PictureShare{rows[r].run.label, shot.name, {}});
      for (std::size_t c = 0; c < moments[r].size(); ++c) {
        const stage::Moment& moment = moments[r][c];
        if (!moment.shown) continue;
        const stage::Visible seen =
            stage::look(shot.cameras[r][c], aspect, options.height, *moment.shown, moment.obstacles);
        double sum = deformed.empty() ? seen.share_of_bodies() : 0;
        for (const int body : deformed) sum += seen.share(body);
        share.by_time.push_back(sum);
      }
    }
  }
  return shares;
}

namespace {

SheetText words_of(const fs::path& directory, const std::vector<Row>& rows, const SheetOptions& options,
                   const std::optional<ColourScale>& scale, const stage::Shot& wide) {
  SheetText text{sheet_title(directory, rows, options), sheet_note(rows, wide, options), scale, {}};
  for (const Row& row : rows) text.runs.push_back({row.run.label, row.run.note, row.run.end()});
  return text;
}

}  // namespace

Sheet make_sheet(const fs::path& directory, const SheetOptions& options) {
  const std::vector<Row> rows = load_rows(directory, options);
  const auto scale = make_scale(rows, options.array);
  const std::vector<stage::Shot> shots = shots_of(rows, options);
  Sheet sheet;
  sheet.tiles = render_tiles(rows, shots, options, scale);
  sheet.image = compose_sheet(sheet.tiles, words_of(directory, rows, options, scale, shots.front()));
  return sheet;
}

std::size_t make_film(const fs::path& directory, const SheetOptions& given, const fs::path& folder) {
  const std::vector<Row> rows = load_rows(directory, given);
  const auto scale = make_scale(rows, given.array);
  const FilmLayout layout = film_layout(rows.size());
  SheetOptions options = given;
  options.width = layout.tile_width;
  options.height = layout.tile_height;
  options.framing.close_ups = {stage::k_no_close_up};
  const std::vector<stage::Shot> shots = shots_of(rows, options);
  const SheetText text = words_of(directory, rows, options, scale, shots.front());
  Painter painter(rows, options, scale);
  make_writable_directory(folder);
  const std::size_t columns = rows.front().moments.size();
  for (std::size_t j = 0; j < columns; ++j) {
    std::vector<Tile> tiles;
    double time = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      tiles.push_back(painter.paint(shots.front(), 0, i, j));
      if (!tiles.back().empty) time = std::max(time, tiles.back().time);
    }
    write_png(folder / fmt::format("film_{:05}.png", j), compose_film_picture(tiles, text, time, layout));
  }
  return columns;
}

void write_tiles(const fs::path& directory, const Sheet& sheet) {
  make_writable_directory(directory);
  nlohmann::ordered_json index = nlohmann::ordered_json::array();
  for (const Tile& tile : sheet.tiles) {
    if (tile.empty) continue;
    const std::string close = tile.shot_index > 0 ? fmt::format("close-{}_", tile.shot_index) : "";
    const std::string file = fmt::format("{}_{}{}.png", tile.run, close, tile.column);
    write_png(directory / file, tile.image);
    index.push_back({{"run", tile.run},
                     {"shot", tile.shot},
                     {"column", tile.column},
                     {"time", tile.time},
                     {"file", file}});
  }
  write_file_atomically(directory / "tiles.json", index.dump(2) + "\n");
}

}  // namespace exemplar::render
