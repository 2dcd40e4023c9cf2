// How far the runs of a comparison are: one redrawn line for each that goes on, on a terminal; a line now and then
// elsewhere. Read from what the runs write into their directories.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "compare/cli/terminal.h"

namespace exemplar {

class RunBoard {
 public:
  explicit RunBoard(const Terminal& terminal) : m_terminal(terminal) {}

  // `frames`: how many it will have after the initial one.
  void start(std::size_t run, std::string name, std::filesystem::path directory, int frames);
  void finish(std::size_t run);
  // Redraws when it is time; called a few times a second.
  void update();
  // Takes the drawn lines away, before something else is said.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  struct Line {
    std::string name;
    std::filesystem::path directory;
    int frames = 0;
    int first = -1;  // the frame it was at when first seen: a resumed run starts late
    Clock::time_point start, first_seen;
    std::optional<std::filesystem::file_time_type> before;  // of an earlier run's record
  };
  std::string text_of(Line& line) const;

  const Terminal& m_terminal;
  std::map<std::size_t, Line> m_lines;
  Clock::time_point m_last = Clock::now();
  int m_drawn = 0;
};

}  // namespace exemplar
