#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include <fmt/format.h>

#include "compare/export/animation.h"
#include "compare/jobs/batch.h"
#include "compare/jobs/display.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/output/pvd_file.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_pictures = 200;  // of one call of exemplar-render

class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "exemplar-film-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw OutputError(name, "no folder for pictures");
    m_path = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return m_path; }

 private:
  fs::path m_path;
};

void must_run(std::vector<std::string> command, const fs::path& folder, const std::string& what) {
  const std::string log = (folder / "log.txt").string();
  const std::vector<JobResult> results = run_jobs({{std::move(command), log}}, {});
  if (results[0].exit_code != 0)
    throw OutputError(folder, fmt::format("{} ended with exit code {}", what, results[0].exit_code));
}

// Of the first frame of the range, in the run or in the first run of a comparison that has frames.
double first_time(const fs::path& directory, const FrameRange& range) {
  std::vector<fs::path> collections{directory / "surface.pvd"};
  if (fs::is_regular_file(directory / "comparison.json")) {
    collections.clear();
    for (const Json& run :
         read_json_file((directory / "comparison.json").string()).value("runs", Json::array()))
      collections.push_back(directory / run.value("directory", "") / "surface.pvd");
  }
  const auto frame = static_cast<std::size_t>(range.first.value_or(0));
  for (const fs::path& collection : collections) {
    if (!fs::is_regular_file(collection)) continue;
    const std::vector<PvdEntry> entries = read_pvd(collection);
    if (frame < entries.size()) return entries[frame].time;
  }
  return 0;
}

}  // namespace

void write_movie(const fs::path& file, const fs::path& directory, const Animation& animation,
                 const FrameRange& range) {
  const fs::path render = fs::path(own_program()).parent_path() / "exemplar-render";
  if (!on_path("ffmpeg"))
    throw InputError("a film needs ffmpeg, which is not installed; .glb and .usda need nothing");
  if (!fs::exists(render)) throw InputError("a film needs exemplar-render, which is not built");
  const std::optional<std::vector<std::string>> display = display_prefix();
  if (!display) throw InputError("a film needs a display or xvfb-run (package xvfb)");
  const WorkFolder work;
  const std::size_t step = (animation.times.size() + k_most_pictures - 1) / k_most_pictures;
  const double start = first_time(directory, range);
  std::string times;
  for (std::size_t f = 0; f < animation.times.size(); f += step)
    times += fmt::format("{}{}", f ? "," : "", start + animation.times[f]);
  std::vector<std::string> command{
      render.string(), directory.string(), "--film", work.path().string(), "--times",
      times,           "--samples",        "1",      "--overwrite"};
  command.insert(command.begin(), display->begin(), display->end());
  must_run(command, work.path(), "exemplar-render");
  const std::string rate = fmt::format("{:g}", animation.fps / static_cast<double>(step));
  std::vector<std::string> encode{"ffmpeg",     "-y", "-loglevel", "error",
                                  "-framerate", rate, "-i",        (work.path() / "film_%05d.png").string()};
  if (file.extension() == ".mp4") encode.insert(encode.end(), {"-pix_fmt", "yuv420p"});
  if (file.extension() == ".gif") encode.insert(encode.end(), {"-vf", "scale=960:-2:flags=lanczos"});
  const fs::path made = work.path() / ("film" + file.extension().string());
  encode.push_back(made.string());
  must_run(encode, work.path(), "ffmpeg");
  write_file_atomically(file, file_bytes(made));
}

}  // namespace exemplar
