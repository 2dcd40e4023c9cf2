// exemplar export: a run or a comparison in the formats of other programs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compare/cli/commands.h"
#include "compare/export/animation.h"
#include "core/base/errors.h"
#include "core/output/target_file.h"

namespace exemplar {

int export_command(const ExportArguments& arguments, const Terminal& terminal) {
  const std::filesystem::path file = arguments.output;
  const std::string format = file.extension().string();
  const std::vector<std::string> known{".glb", ".usda", ".pc2", ".mp4", ".gif"};
  if (std::find(known.begin(), known.end(), format) == known.end())
    throw InputError(fmt::format("{}: cannot write '{}': choose .glb, .usda, .pc2, .mp4 or .gif",
                                 arguments.output, format));
  const WriteRule rule{arguments.overwrite, {arguments.directory}};
  check_target(file, rule);
  if (format == ".pc2") check_target(mesh_beside(file), rule);
  const FrameRange range{arguments.first, arguments.last};
  const Animation animation = read_animation(arguments.directory, range);
  if (format == ".pc2") {
    const AnimationPart& surface = only_part(animation);
    write_target(mesh_beside(file), rule, [&] { write_first_frame(mesh_beside(file), surface); });
    write_target(file, rule, [&] { write_pc2(file, surface); });
  } else if (format == ".glb") {
    write_target(file, rule, [&] { write_glb(file, animation); });
  } else if (format == ".usda") {
    write_target(file, rule, [&] { write_usda(file, animation); });
  } else {
    write_target(file, rule, [&] { write_movie(file, arguments.directory, animation, range); });
  }
  terminal.say(fmt::format("{}: {} frames", arguments.output, animation.times.size()));
  return k_exit_done;
}

}  // namespace exemplar
