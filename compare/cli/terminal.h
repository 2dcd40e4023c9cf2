// What the program says on the terminal: plain lines in a pipe, colours and a progress bar on a terminal.
// NO_COLOR is respected. Results go to standard output, everything else to standard error.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace exemplar {

inline double seconds_between(std::chrono::steady_clock::time_point a,
                              std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

class Terminal {
 public:
  explicit Terminal(bool quiet = false);

  void say(const std::string& line) const;   // standard output
  void note(const std::string& line) const;  // standard error, not with --quiet
  void warn(const std::string& line) const;
  void error(const std::string& line) const;
  bool quiet() const { return m_quiet; }
  bool interactive() const { return m_interactive; }

 private:
  std::string coloured(const char* code, const std::string& text) const;
  bool m_quiet;
  bool m_interactive;  // standard error is a terminal
  bool m_colours;
};

// Simulated time, rate and time left; one redrawn line on a terminal, a line now and then elsewhere.
class ProgressBar {
 public:
  ProgressBar(const Terminal& terminal, std::string label);
  void update(int done, int total, double simulated_seconds);
  void finish();

 private:
  void draw(const std::string& text);
  const Terminal& m_terminal;
  std::string m_label;
  std::chrono::steady_clock::time_point m_start, m_last;
  int m_first = -1;
  bool m_drawn = false;
};

// "3:05", and "████░░" of 24 characters.
std::string clock_text(double seconds);
std::string progress_bar(int done, int total);

// Says what a long set-up is doing (core/base/phase.h) once it takes more than a moment: with a clock on a
// terminal, once elsewhere. While it lives.
class PhaseTeller {
 public:
  explicit PhaseTeller(const Terminal& terminal);
  ~PhaseTeller();
  PhaseTeller(const PhaseTeller&) = delete;
  PhaseTeller& operator=(const PhaseTeller&) = delete;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// Rows of equal length; the first is the header.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace exemplar
