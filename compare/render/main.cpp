// exemplar-render DIR [-o sheet.png]: a contact sheet of a run or a comparison directory. Without a display it starts
// itself again with a virtual one.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "compare/jobs/display.h"
#include "compare/render/contact_sheet.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/output/target_file.h"

namespace {

using exemplar::InputError;
using exemplar::Vec3;

Vec3 to_vector(const std::vector<double>& values, const char* option) {
  if (values.size() != 3 || Vec3(values[0], values[1], values[2]).norm() == 0) {
    throw InputError(fmt::format("{} needs three numbers, not all 0, such as 0.5,0.4,0.85", option));
  }
  return {values[0], values[1], values[2]};
}

void set_size(exemplar::render::SheetOptions& options, const std::string& size) {
  int width = 0, height = 0;
  char rest = 0;
  const bool read = std::sscanf(size.c_str(), "%dx%d%c", &width, &height, &rest) == 2;
  if (!read || width < 16 || height < 16 || width > 8192 || height > 8192) {
    throw InputError("--size needs WIDTHxHEIGHT in pixels (16 to 8192), such as 420x315");
  }
  options.width = width;
  options.height = height;
}

struct Call {
  std::string directory, output = "sheet.png", tiles, film, size, overlay;
  std::vector<double> view, up;
  bool mesh_edges = false, wireframe = false;
  exemplar::render::SheetOptions options;
  bool overwrite = false, shares = false;
  double least_share = 0;

  exemplar::WriteRule rule() const { return {overwrite, {}}; }
};

// What they leave open is as the scene's `camera` says.
void describe_framing(CLI::App& app, Call& call) {
  app.add_option("--view", call.view,
                 "direction from the scene to the camera, x,y,z (where neither this nor the scene says it: "
                 "0.5,0.42,0.85, or whence more is seen of what deforms)")
      ->delimiter(',');
  app.add_option("--up", call.up, "upward direction, x,y,z (0,1,0)")->delimiter(',');
  app.add_option("--follow", call.options.framing.follow, "go along with this body");
  app.add_option("--zoom", call.options.framing.zoom, "times larger in the middle of the picture")
      ->check(CLI::Range(0.05, 100.0));
  app.add_option("--close-up", call.options.framing.close_ups,
                 "a row that looks at this body alone (may be given again); none: the wide row alone")
      ->allow_extra_args(false);
  app.add_option("--hide", call.options.hide, "obstacles that are not drawn, a,b; obstacles: all of them")
      ->delimiter(',');
  app.add_option("--overlay", call.overlay, "rest: the outline of the shape at rest over each body")
      ->check(CLI::IsMember({"rest"}));
}

void describe(CLI::App& app, Call& call) {
  app.add_option("DIR", call.directory, "run directory, or directory of run directories")->required();
  app.add_option("-o,--output", call.output, "the sheet (PNG)")->capture_default_str();
  app.add_option("--array", call.options.array,
                 "colour by this array (vectors: by length); example_weights: the examples' colours, mixed "
                 "by their weights; skinning: each point in the colour of its strongest handle, with "
                 "balls at the handles");
  app.add_option("--series", call.options.series, "what to draw: surface, tets, particles, ...")
      ->capture_default_str();
  app.add_option("--columns", call.options.columns, "how many times, evenly from first to last frame")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  app.add_option("--times", call.options.times, "these times instead, in seconds")->delimiter(',');
  app.add_option("--frame", call.options.frame, "this frame alone")->check(CLI::NonNegativeNumber);
  app.add_option("--size", call.size, "of one picture, WIDTHxHEIGHT in pixels (420x315)");
  app.add_option("--samples", call.options.samples, "supersampling along each axis")->check(CLI::Range(1, 4));
  describe_framing(app, call);
  app.add_flag("--mesh", call.mesh_edges, "draw the edges of the mesh");
  app.add_flag("--wireframe", call.wireframe, "draw nothing but the edges of the mesh");
  app.add_option("--tiles", call.tiles, "also write each picture without labels into this directory");
  app.add_option(
      "--film", call.film,
      "write pictures of a film into this directory instead of a sheet: 1920x1080, all runs side by "
      "side at each of the times");
  app.add_flag("--shares", call.shares,
               "draw nothing; say what part of the pictures the bodies take that deform");
  app.add_option(
         "--least-share", call.least_share,
         "with --shares: exit code 1 where they take less than this at the end of a run, in every row")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--overwrite", call.overwrite, "replace pictures that this program did not make, too");
}

void complete(Call& call) {
  using exemplar::render::Lines;
  if (!call.size.empty()) set_size(call.options, call.size);
  if (!call.view.empty()) call.options.framing.direction = to_vector(call.view, "--view");
  if (!call.up.empty()) call.options.framing.up = to_vector(call.up, "--up");
  if (!call.output.ends_with(".png")) throw InputError(call.output + ": the sheet is a .png");
  call.options.rest_outline = call.overlay == "rest";
  if (call.mesh_edges) call.options.lines = Lines::edges;
  if (call.wireframe) call.options.lines = Lines::wireframe;
}

int say_shares(const Call& call) {
  std::map<std::string, double> best;  // of each run at its end
  for (const auto& share : exemplar::render::picture_shares(call.directory, call.options)) {
    std::string text;
    for (const double one : share.by_time) text += fmt::format(" {:.3f}", one);
    fmt::print("{}, {}:{}\n", share.run, share.shot.empty() ? "wide" : "close " + share.shot, text);
    if (!share.by_time.empty()) best[share.run] = std::max(best[share.run], share.by_time.back());
  }
  for (const auto& [run, share] : best) {
    if (share >= call.least_share) continue;
    fmt::print(stderr, "exemplar-render: {}: the bodies take {:.3f} of the picture, less than {}\n", run,
               share, call.least_share);
    return 1;
  }
  return 0;
}

// Returns where there is a display; else becomes the same call under xvfb-run.
void get_display(char** arguments) {
  const auto prefix = exemplar::display_prefix();
  if (prefix && prefix->empty()) return;
  if (!prefix)
    throw InputError(
        "there is no display to draw on: install xvfb-run (packages xvfb and xauth), or set DISPLAY");
  std::vector<std::string> words = *prefix;
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  for (char** word = arguments + 1; *word; ++word) words.emplace_back(*word);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  throw InputError("xvfb-run could not be started");
}

int draw_film(const Call& call, char** arguments) {
  exemplar::check_target_folder(call.film, call.rule());
  get_display(arguments);
  const std::size_t count = exemplar::render::make_film(call.directory, call.options, call.film);
  exemplar::mark_folder(call.film);
  fmt::print("{}: {} pictures\n", call.film, count);
  return 0;
}

}  // namespace

// What fails while a failure is being said ends the program.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  CLI::App app("Draws a contact sheet of an Exemplar run or comparison directory.", "exemplar-render");
  Call call;
  describe(app, call);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    complete(call);
    if (call.shares) return say_shares(call);
    if (!call.film.empty()) return draw_film(call, argv);
    exemplar::check_target(call.output, call.rule());
    if (!call.tiles.empty()) exemplar::check_target_folder(call.tiles, call.rule());
    get_display(argv);
    const exemplar::render::Sheet sheet = exemplar::render::make_sheet(call.directory, call.options);
    exemplar::write_target(call.output, call.rule(),
                           [&] { exemplar::render::write_png(call.output, sheet.image); });
    if (!call.tiles.empty()) exemplar::render::write_tiles(call.tiles, sheet);
    if (!call.tiles.empty()) exemplar::mark_folder(call.tiles);
    fmt::print("{}: {} x {} pixels\n", call.output, sheet.image.width, sheet.image.height);
  } catch (const InputError& error) {
    fmt::print(stderr, "exemplar-render: {}\n", error.what());
    return 2;
  } catch (const exemplar::OutputError& error) {
    fmt::print(stderr, "exemplar-render: {}\n", error.what());
    return 3;
  }
  return 0;
}
