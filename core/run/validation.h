// Validation cases and benches: a method's folder holds and registers its own; `exemplar validate` and
// `exemplar bench` run them, print tables and write the records as JSON.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace exemplar {

// One compared number. `ok` is decided by the maker (helpers below), so that one-sided checks are possible.
struct ValidationRecord {
  std::string quantity;
  double measured = 0;
  double expected = 0;
  double tolerance = 0;  // on |measured − expected| unless the quantity says otherwise
  bool ok = false;
  std::string source;  // where the expected value comes from
};

// |measured − expected| ≤ tolerance.
inline ValidationRecord near(std::string quantity, double measured, double expected, double tolerance,
                             std::string source) {
  return {std::move(quantity), measured, expected, tolerance, std::abs(measured - expected) <= tolerance,
          std::move(source)};
}
// |measured/expected − 1| ≤ tolerance.
inline ValidationRecord near_relative(std::string quantity, double measured, double expected,
                                      double tolerance, std::string source) {
  return {std::move(quantity) + " (relative)",
          measured,
          expected,
          tolerance,
          std::abs(measured - expected) <= tolerance * std::abs(expected),
          std::move(source)};
}
inline ValidationRecord at_most(std::string quantity, double measured, double limit, std::string source) {
  return {std::move(quantity) + " ≤", measured, limit, 0, measured <= limit, std::move(source)};
}
inline ValidationRecord no_less_than(std::string quantity, double measured, double limit,
                                     std::string source) {
  return {std::move(quantity) + " ≥", measured, limit, 0, measured >= limit, std::move(source)};
}

// How long a scene took, without output.
struct SceneTiming {
  double simulated = 0;                                     // s of simulated time
  double wall = 0;                                          // s
  std::string note;                                         // sizes
  std::vector<std::pair<std::string, double>> phases = {};  // s, by phase, at the end
  std::vector<std::vector<double>> phase_frames = {};  // the same phases since the start, after each frame
};

// What a case or bench may use: a folder for plots and for the input of other solvers, how hard to try, and
// the scenes that come with the program.
struct ValidationContext {
  std::string directory;  // exists; files written here are kept and listed
  bool slow = false;      // also the long variants
  // Runs a shipped scene for at most `seconds` of simulated time after assignments "PATH=VALUE". Throws
  // InputError for a scene that is not there, std::runtime_error when the simulation cannot go on.
  std::function<SceneTiming(const std::string& scene, const std::string& method,
                            const std::vector<std::string>& assignments, double seconds)>
      time_scene;
};

struct ValidationCase {
  std::string group;  // the name on the command line, e.g. "fem"
  std::string name;   // e.g. "cantilever-calculix"
  bool slow = false;  // only with --slow
  std::function<std::vector<ValidationRecord>(const ValidationContext&)> run;
};

struct BenchRecord {
  std::string figure;  // what was measured
  double value = 0;
  std::string unit;
  std::string anchor;          // what it is beside: the paper's number, a peer's, a limit
  std::optional<double> goal;  // none: reported only
  bool met = true;
  std::string settings;  // sizes, threads, repetitions
};

inline BenchRecord reported(std::string figure, double value, std::string unit, std::string anchor,
                            std::string settings) {
  return {std::move(figure), value, std::move(unit),    std::move(anchor),
          std::nullopt,      true,  std::move(settings)};
}
inline BenchRecord goal_at_most(std::string figure, double value, std::string unit, double goal,
                                std::string anchor, std::string settings) {
  return {std::move(figure),  value, std::move(unit), std::move(anchor), goal, value <= goal,
          std::move(settings)};
}
inline BenchRecord goal_at_least(std::string figure, double value, std::string unit, double goal,
                                 std::string anchor, std::string settings) {
  return {std::move(figure),  value, std::move(unit), std::move(anchor), goal, value >= goal,
          std::move(settings)};
}

struct Bench {
  std::string group;
  std::string name;
  std::function<std::vector<BenchRecord>(const ValidationContext&)> run;
};

}  // namespace exemplar
