// exemplar-render DIR [-o sheet.png]: a contact sheet of a run or a comparison directory. scripts/render
// calls it with a display.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

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
  std::string directory, output = "sheet.png", tiles, size;
  std::vector<double> view, up;
  exemplar::render::SheetOptions options;
  bool overwrite = false;

  exemplar::WriteRule rule() const { return {overwrite, {}}; }
};

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
  app.add_option("--view", call.view, "direction from the scene to the camera, x,y,z (0.5,0.42,0.85)")
      ->delimiter(',');
  app.add_option("--up", call.up, "upward direction, x,y,z (0,1,0)")->delimiter(',');
  app.add_option("--samples", call.options.samples, "supersampling along each axis")->check(CLI::Range(1, 4));
  app.add_flag("--mesh", call.options.mesh_edges, "draw the edges of the mesh");
  app.add_option("--tiles", call.tiles, "also write each picture without labels into this directory");
  app.add_flag("--overwrite", call.overwrite, "replace pictures that this program did not make, too");
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
    if (!call.size.empty()) set_size(call.options, call.size);
    if (!call.view.empty()) call.options.view = to_vector(call.view, "--view");
    if (!call.up.empty()) call.options.up = to_vector(call.up, "--up");
    if (!call.output.ends_with(".png")) throw InputError(call.output + ": the sheet is a .png");
    exemplar::check_target(call.output, call.rule());
    if (!call.tiles.empty()) exemplar::check_target_folder(call.tiles, call.rule());
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
