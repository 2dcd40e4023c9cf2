#include "compare/cli/run_board.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "compare/cli/comparison_folder.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// The frame that begins the last whole line of metrics.csv; −1 when there is none.
int last_frame(const fs::path& directory) {
  std::ifstream in(directory / "metrics.csv", std::ios::binary | std::ios::ate);
  if (!in) return -1;
  const auto size = static_cast<std::streamoff>(in.tellg());
  const std::streamoff tail = std::min<std::streamoff>(size, 8192);
  std::string text(static_cast<std::size_t>(tail), '\0');
  in.seekg(size - tail);
  in.read(text.data(), tail);
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos || end == 0) return -1;
  const std::size_t begin = text.rfind('\n', end - 1);
  if (begin == std::string::npos) return -1;  // only the header
  return std::atoi(text.c_str() + begin + 1);
}

}  // namespace

void RunBoard::start(std::size_t run, std::string name, fs::path directory, int frames) {
  const Clock::time_point now = Clock::now();
  const auto before = record_time(directory);
  m_lines[run] = {std::move(name), std::move(directory), frames, -1, now, now, before};
}

void RunBoard::finish(std::size_t run) {
  clear();
  m_lines.erase(run);
}

std::string RunBoard::text_of(Line& line) const {
  const Clock::time_point now = Clock::now();
  // Before it has written its record, what is there is an earlier run's.
  const bool has_begun = record_time(line.directory) != line.before;
  const int frame = has_begun ? last_frame(line.directory) : -1;
  if (frame < 0)
    return fmt::format("{}: setting up, {}", line.name, clock_text(seconds_between(line.start, now)));
  if (line.first < 0) {
    line.first = frame;
    line.first_seen = now;
  }
  std::string left;
  if (frame > line.first) {
    const double rate = seconds_between(line.first_seen, now) / (frame - line.first);
    left = fmt::format(", {} left", clock_text(rate * std::max(0, line.frames - frame)));
  }
  return fmt::format("{}: {} frame {}/{}{}", line.name, progress_bar(frame, line.frames), frame, line.frames,
                     left);
}

void RunBoard::update() {
  if (m_terminal.quiet()) return;
  const Clock::time_point now = Clock::now();
  if (seconds_between(m_last, now) < (m_terminal.interactive() ? 0.5 : 10.0)) return;
  m_last = now;
  clear();
  for (auto& [run, line] : m_lines) {
    m_terminal.note(text_of(line));
    m_drawn += m_terminal.interactive() ? 1 : 0;
  }
}

void RunBoard::clear() {
  for (; m_drawn > 0; --m_drawn) std::fputs("\033[A\033[2K", stderr);
}

}  // namespace exemplar
