#include "meshless/peridynamics/checks/paper_scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace exemplar::peridynamics {

namespace {

// One of the paper's three simulations. Frames are short, so that the three ranges are some frames each.
struct PaperScene {
  const char* name;
  const char* scene;
  int particles, small_particles;
  double step, small_step;       // s, below the stability bound
  double frame;                  // s
  std::array<double, 4> ranges;  // s: before until, during from, during until, after from
  double end;                    // s
  std::vector<std::string> assignments;
  struct PaperRow {
    const char* range;
    double seconds;  // for 1000 iterations
  };
  std::array<PaperRow, 3> paper;
};

// Seconds for 1000 steps over the frames from `from` to `to` seconds.
double cost_of(const SceneTiming& timing, double frame, double step, double from, double to) {
  double wall = 0, steps = 0;
  for (std::size_t f = 0; f < timing.phase_frames.size(); ++f) {
    const double middle = (static_cast<double>(f) + 0.5) * frame;
    if (middle < from || middle > to) continue;
    // Phases are particles, steps, fragments, in seconds since the start.
    wall += timing.phase_frames[f][1] - (f > 0 ? timing.phase_frames[f - 1][1] : 0.0);
    steps += std::ceil(frame / step - 1e-9);
  }
  return steps > 0 ? 1000 * wall / steps : 0.0;
}

std::vector<PaperScene> scenes() {
  return {{"glass",
           "glass-plate",
           131072,
           16384,
           5e-8,
           1e-7,
           5e-6,
           {1e-5, 4e-5, 8e-5, 2e-4},
           2.5e-4,
           {},
           {{{"0 - 1k", 30.171}, {"50k - 51k", 226.888}, {"100k - 101k", 239.864}}}},
          {"vase",
           "vase",
           637027,
           12000,
           1e-7,
           2e-7,
           2e-5,
           {2e-4, 2.6e-4, 4.6e-4, 8e-4},
           1e-3,
           {"bodies[0].position=[0,0.013,0]", "methods.peridynamics.horizon=2"},
           {{{"120k - 121k", 268.888}, {"160k - 161k", 268.236}, {"200k - 201k", 265.479}}}},
          {"dragon",
           "creature-drop",
           473380,
           6000,
           2e-7,
           8e-7,
           2e-5,
           {2e-5, 6e-5, 1e-4, 1.4e-4},
           1.8e-4,
           {"bodies[0].position=[0,0.0258,0]", "methods.peridynamics.horizon=6"},
           {{{"100k - 110k", 525.335}, {"200k - 201k", 511.017}, {"300k - 301k", 505.449}}}}};
}

void add_rows(const ValidationContext& context, const PaperScene& row, std::vector<BenchRecord>& records) {
  const int particles = context.slow ? row.particles : row.small_particles;
  std::vector<std::string> assignments = row.assignments;
  assignments.push_back(fmt::format("methods.peridynamics.particles={}", particles));
  assignments.push_back(fmt::format("time.fps={}", 1 / row.frame));
  assignments.push_back(fmt::format("time.duration={}", row.end));
  const double step = context.slow ? row.step : row.small_step;
  assignments.push_back(fmt::format("methods.peridynamics.step={}", step));
  const SceneTiming timing = context.time_scene(row.scene, "peridynamics", assignments, row.end);
  const std::array<std::pair<double, double>, 3> windows{
      {{0, row.ranges[0]}, {row.ranges[1], row.ranges[2]}, {row.ranges[3], row.end}}};
  static constexpr std::array<const char*, 3> names{"before", "during", "after"};
  for (std::size_t k = 0; k < 3; ++k) {
    const double seconds = cost_of(timing, row.frame, step, windows[k].first, windows[k].second);
    const double share = static_cast<double>(row.particles) / particles;
    records.push_back(reported(
        fmt::format("{}, {} impact: 1000 steps", row.name, names[k]), seconds, "s",
        fmt::format("paper, {} particles, iterations {}: {:.1f} s on a Tesla K20{}", row.particles,
                    row.paper[k].range, row.paper[k].seconds,
                    share > 1.01
                        ? fmt::format("; {:.3g} s for as many as we have here", row.paper[k].seconds / share)
                        : ""),
        fmt::format("scene {}, {} particles asked for, {:.0f} to {:.0f} µs; {}", row.scene, particles,
                    1e6 * windows[k].first, 1e6 * windows[k].second, timing.note)));
  }
}

}  // namespace

std::vector<BenchRecord> paper_scenes(const ValidationContext& context) {
  std::vector<BenchRecord> records;
  for (const PaperScene& row : scenes()) add_rows(context, row, records);
  return records;
}

}  // namespace exemplar::peridynamics
