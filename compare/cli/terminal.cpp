#include "compare/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "core/base/phase.h"
#include "core/base/plain_text.h"

namespace exemplar {

namespace {

// Characters, not bytes: UTF-8 continuation bytes do not count.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// A name or path in a message must not move the cursor, turn the text round or change the window's title.
std::string harmless(const std::string& line) {
  return printable(line, "\n\t");
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<int>(std::lround(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string progress_bar(int done, int total) {
  const int filled = std::clamp(static_cast<int>(24.0 * done / std::max(total, 1)), 0, 24);
  std::string bar;
  for (int i = 0; i < 24; ++i) bar += i < filled ? "█" : "░";
  return bar;
}

Terminal::Terminal(bool quiet)
    : m_quiet(quiet),
      m_interactive(isatty(STDERR_FILENO) != 0 && !quiet),
      m_colours(m_interactive && std::getenv("NO_COLOR") == nullptr) {}

std::string Terminal::coloured(const char* code, const std::string& text) const {
  return m_colours ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

void Terminal::say(const std::string& line) const {
  fmt::print(stdout, "{}\n", harmless(line));
  std::fflush(stdout);
}
void Terminal::note(const std::string& line) const {
  if (!m_quiet) fmt::print(stderr, "{}\n", harmless(line));
}
void Terminal::warn(const std::string& line) const {
  fmt::print(stderr, "{} {}\n", coloured("33", "warning:"), harmless(line));
}
void Terminal::error(const std::string& line) const {
  fmt::print(stderr, "{} {}\n", coloured("31", "error:"), harmless(line));
}

ProgressBar::ProgressBar(const Terminal& terminal, std::string label)
    : m_terminal(terminal),
      m_label(std::move(label)),
      m_start(std::chrono::steady_clock::now()),
      m_last(m_start) {}

void ProgressBar::update(int done, int total, double simulated_seconds) {
  if (m_terminal.quiet()) return;
  const auto now = std::chrono::steady_clock::now();
  if (m_first < 0) m_first = done - 1;
  const double pause = m_terminal.interactive() ? 0.1 : 5.0;
  if (done < total && seconds_between(m_last, now) < pause) return;
  m_last = now;
  const double elapsed = seconds_between(m_start, now);
  const double left = elapsed / std::max(done - m_first, 1) * (total - done);
  const std::string text =
      fmt::format("frame {}/{}  t = {:.4g} s  {:.3g} frames/s  {} left", done, total, simulated_seconds,
                  (done - m_first) / std::max(elapsed, 1e-9), clock_text(left));
  if (!m_terminal.interactive()) return m_terminal.note(fmt::format("{}: {}", m_label, text));
  draw(fmt::format("{} {} {}", m_label, progress_bar(done, total), text));
}

void ProgressBar::draw(const std::string& text) {
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  m_drawn = true;
}

void ProgressBar::finish() {
  if (m_drawn) fmt::print(stderr, "\n");
  m_drawn = false;
}

// Written with write(2): a child process may be forked meanwhile, and must not find a lock of the C library
// taken.
struct PhaseTeller::State {
  explicit State(bool is_interactive) : interactive(is_interactive) {}

  void watch() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(500), [&] { return done; })) {
      const double age = seconds_between(since, std::chrono::steady_clock::now());
      if (what.empty() || age < 1.5 || (told && !interactive)) continue;
      if (interactive) {
        put(fmt::format("\r\033[K{} ({})", harmless(what), clock_text(age)));
      } else {
        put(harmless(what) + " …\n");
      }
      told = true;
    }
    if (told && interactive) put("\r\033[K");
  }
  static void put(const std::string& text) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  }
  void change(const std::string& to) {
    std::lock_guard lock(mutex);
    if (told && interactive) put("\r\033[K");
    what = to;
    told = false;
    since = std::chrono::steady_clock::now();
  }

  const bool interactive;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, told = false;
  std::string what;
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  std::thread thread;
};

PhaseTeller::PhaseTeller(const Terminal& terminal)
    : m_state(std::make_unique<State>(terminal.interactive())) {
  if (terminal.quiet()) return;
  m_state->thread = std::thread([this] { m_state->watch(); });
  set_phase_listener([this](const std::string& what) { m_state->change(what); });
}

PhaseTeller::~PhaseTeller() {
  if (!m_state->thread.joinable()) return;
  set_phase_listener({});
  {
    std::lock_guard lock(m_state->mutex);
    m_state->done = true;
  }
  m_state->changed.notify_all();
  m_state->thread.join();
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t k = 0; k < rows[r].size(); ++k) {
      line += rows[r][k] + std::string(widths[k] - width_of(rows[r][k]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r > 0) continue;
    for (std::size_t width : widths) text += std::string(width, '-') + "  ";
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace exemplar
