#include "rigidplastic/lbs/checks/bench.h"

#include <fmt/format.h>

#include <fstream>

#include "rigidplastic/lbs/checks/frame_cost_plot.h"

namespace exemplar::lbs {

namespace {

double phase(const SceneTiming& timing, const std::string& name) {
  for (const auto& [phase, seconds] : timing.phases) {
    if (phase == name) return seconds;
  }
  return 0;
}

double ratio(const SceneTiming& timing) {
  return phase(timing, "deformation") / phase(timing, "bullet");
}

struct TableRow {
  std::string scene, figure;
  double paper;  // deformation over rigid-body solver in Table 2
  bool has_goal;
};

std::vector<BenchRecord> overhead(const ValidationContext& context) {
  const std::vector<TableRow> rows{
      {"pachinko", "Fig. 4", 0.74, true},   {"car-and-barrels", "Fig. 8", 0.51, true},
      {"cannonballs", "Fig. 7", 4.0, true}, {"pile-up", "Fig. 1", 0.13, false},
      {"shipyard", "Fig. 9", 0.42, false},  {"space-battle", "Fig. 10", 1.23, false}};
  std::vector<BenchRecord> records;
  for (const TableRow& row : rows) {
    const SceneTiming timing = context.time_scene(row.scene, "rigid-lbs", {}, 1e9);
    const double solver = phase(timing, "bullet"), deformation = phase(timing, "deformation");
    const std::string anchor = fmt::format("{} in the paper ({}, Table 2)", row.paper, row.figure);
    const std::string sizes = fmt::format("{:.2f} s in Bullet, {:.2f} s deforming, {:.2f} s dry run, {}",
                                          solver, deformation, phase(timing, "dry_run"), timing.note);
    records.push_back(
        row.has_goal
            ? goal_at_most(row.scene + ": deformation over Bullet", ratio(timing), "", 0.10, anchor, sizes)
            : reported(row.scene + ": deformation over Bullet", ratio(timing), "", anchor, sizes));
    records.push_back(reported(row.scene + ": frames", timing.phase_frames.size() / (solver + deformation),
                               "1/s", "simulation without output", sizes));
  }
  return records;
}

// The same barrels, more of them: rows of a grid that falls on the floor.
std::vector<BenchRecord> growth(const ValidationContext& context) {
  std::vector<BenchRecord> records;
  double first = 0;
  for (const int count : {10, 100, 1000}) {
    const std::string counts =
        fmt::format("bodies[0].repeat.count=[10,{},{}]", count == 1000 ? 10 : 1, count == 10 ? 1 : 10);
    const SceneTiming timing = context.time_scene("barrel-grid", "rigid-lbs", {counts}, 1.0);
    const double each = 1e3 * phase(timing, "deformation") / count;
    if (first == 0) first = each;
    records.push_back(reported(fmt::format("{} barrels: deformation per barrel", count), each, "ms",
                               fmt::format("ratio to Bullet {:.3f}", ratio(timing)), "1 s simulated"));
    if (count > 10) {
      records.push_back(goal_at_most(fmt::format("{} barrels: cost per barrel over that of 10", count),
                                     each / first, "", 1.5, "flat", "1 s simulated"));
    }
  }
  return records;
}

// Fig. 11: milliseconds per frame of rigid solver and deformation, as CSV and as SVG.
std::vector<BenchRecord> frame_costs(const ValidationContext& context) {
  const SceneTiming timing = context.time_scene("pachinko", "rigid-lbs", {}, 1e9);
  const std::vector<FrameCost> costs = frame_costs_of(timing.phase_frames);
  std::ofstream(context.directory + "/frame-costs.csv") << frame_cost_table(costs);
  std::ofstream(context.directory + "/frame-costs.svg")
      << frame_cost_picture(costs, "pachinko: cost of every frame (1/60 s)");
  double solver = 0, deformation = 0;
  for (const FrameCost& cost : costs) {
    solver = std::max(solver, cost.bullet);
    deformation = std::max(deformation, cost.deformation);
  }
  const std::string files = "frame-costs.csv and frame-costs.svg hold every frame";
  return {reported("pachinko: dearest frame of deformation", deformation, "ms",
                   "paper: 40 ms on average (Table 2)", files),
          reported("pachinko: dearest frame of the rigid solver", solver, "ms",
                   "paper: 54 ms on average (Table 2)", files)};
}

}  // namespace

std::vector<Bench> benches() {
  return {{"rigid-lbs", "overhead", overhead},
          {"rigid-lbs", "growth", growth},
          {"rigid-lbs", "frame-costs", frame_costs}};
}

}  // namespace exemplar::lbs
