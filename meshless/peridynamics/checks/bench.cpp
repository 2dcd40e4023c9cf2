// Cost per directed bond and step, beside LAMMPS in the same run where it is installed: the paper's glass
// plate intact and shattering, plates of 10 thousand to a million particles, and the paper's three sizes.
//
// Two costs are told apart everywhere. "Bond kernel" is Solver::bond_pass alone: forces of all bonds,
// breaking, strengthening. "Whole step" is Solver::step: the same kernel with kick, drift, contact list and
// contact forces. Both are measured by turns on the same particles with the same settings.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numbers>
#include <optional>

#include "core/base/parallel.h"
#include "meshless/peridynamics/checks/fragment_study.h"
#include "meshless/peridynamics/checks/paper_scenes.h"
#include "meshless/peridynamics/checks/validation.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {

namespace {

constexpr double bench_h = 5e-4;
constexpr int nx = 128, ny = 128, nz = 8;
constexpr double lammps_step = 5e-8;
const Material k_glass{2200, 32.81e9, 0, 5e-4};

double nanoseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

struct Cost {
  double kernel = 1e300, step = 1e300;  // ns per directed bond, the fastest of several
  double bonds = 0, bytes = 0;          // directed bonds; bytes of each
  double setup = 0;                     // s
};

// Particles on a grid with spacing bench_h that nothing happens to.
struct Grid {
  int nx, ny, nz;
  double horizon = 3;  // δ/λ
  int particles = 0;   // 0: all; otherwise only so many, the last layers are left out
};

ParticleSet particles_of(const Grid& grid) {
  ParticleSet set = cube_grid(grid.nx, grid.ny, grid.nz, bench_h);
  if (grid.particles == 0) return set;
  const std::size_t count = static_cast<std::size_t>(grid.particles);
  set.positions.conservativeResize(grid.particles, 3);
  set.volumes.resize(count);
  set.body.resize(count);
  set.on_surface.resize(count);
  return set;
}

Cost measure(const Grid& grid, StiffnessMode mode, int threads, int repetitions = 12, int steps = 4) {
  const int before = thread_count();
  set_thread_count(threads);
  Cost cost;
  Rules rules;
  rules.stiffness = mode;
  std::optional<Solver> solver;
  cost.setup = 1e-9 * nanoseconds([&] {
                 const ParticleSet set = particles_of(grid);
                 solver.emplace(set, std::span(&k_glass, 1), rules, grid.horizon * bench_h, bench_h);
                 solver->evaluate();
               });
  cost.bonds = static_cast<double>(solver->bonds().directed_bonds());
  const double dt = 0.8 * solver->stable_step(), share = 1 / (steps * cost.bonds);
  for (int r = 0; r < repetitions; ++r) {
    const double kernel = nanoseconds([&] {
      for (int s = 0; s < steps; ++s) solver->bond_pass();
    });
    const double step = nanoseconds([&] {
      for (int s = 0; s < steps; ++s) (void)solver->step(dt);
    });
    cost.kernel = std::min(cost.kernel, kernel * share);
    cost.step = std::min(cost.step, step * share);
  }
  cost.bytes = static_cast<double>(solver->bytes()) / cost.bonds;
  set_thread_count(before);
  return cost;
}

// What LAMMPS calls itself in its log: "LAMMPS (29 Sep 2021 - Update 2)".
std::string lammps_name(const std::string& directory) {
  std::ifstream log(std::filesystem::path(directory) / "log.plate");
  std::string line;
  while (std::getline(log, line)) {
    if (line.rfind("LAMMPS (", 0) == 0) return line;
  }
  return "LAMMPS";
}

// LAMMPS' own timing of the plate, seconds for some steps, or 0 when it is not installed. With a speed the
// plate's rim flies outwards and it shatters.
double measure_lammps(const std::string& directory, int steps, double speed) {
  if (std::system("command -v lmp > /dev/null 2>&1") != 0) return 0;
  const std::filesystem::path folder(directory);
  std::ofstream input(folder / "in.plate");
  input << fmt::format(
      "units si\nboundary s s s\natom_style peri\natom_modify map array\nneighbor {0} bin\nlattice sc {0}\n"
      "region plate block -0.1 {1} -0.1 {2} -0.1 {3} units lattice\ncreate_box 1 plate\ncreate_atoms 1 "
      "region plate\n"
      "pair_style peri/pmb\npair_coeff * * {4} {5} 5e-4 0.25\nset group all density 2200\nset group all "
      "volume {6}\n"
      "fix 1 all nve\ntimestep {7}\nthermo 1000\n",
      bench_h, nx - 0.9, ny - 0.9, nz - 0.9,
      18 * 32.81e9 / (std::numbers::pi * 81 * bench_h * bench_h * bench_h * bench_h),
      3.0 * bench_h * (1 + 1e-9), bench_h * bench_h * bench_h, lammps_step);
  if (speed > 0) {
    input << fmt::format(
        "velocity all ramp vx {0} {1} x 0 {2} units box\n"
        "velocity all ramp vy {0} {1} y 0 {3} units box sum yes\n",
        -speed, speed, (nx - 1) * bench_h, (ny - 1) * bench_h);
  }
  input << fmt::format("run {}\n", steps);
  input.close();
  const std::string command =
      "cd '" + directory +
      "' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 "
      "lmp -in in.plate -log log.plate > /dev/null 2>&1";
  if (std::system(command.c_str()) != 0) return 0;
  std::ifstream log(folder / "log.plate");
  std::string line;
  while (std::getline(log, line)) {
    double seconds = 0;
    if (std::sscanf(line.c_str(), "Loop time of %lf", &seconds) == 1) return seconds;
  }
  return 0;
}

std::vector<BenchRecord> cost_per_bond(const ValidationContext& context) {
  const std::string plate =
      fmt::format("{}×{}×{} plate, δ = 3λ, 13 449 224 directed bonds, best of 12 × 4", nx, ny, nz);
  const Grid grid{nx, ny, nz};
  const Cost paper = measure(grid, StiffnessMode::paper, 1);
  const Cost two = measure(grid, StiffnessMode::paper, 2);
  const Cost calibrated = measure(grid, StiffnessMode::calibrated, 1);
  const Cost two_calibrated = measure(grid, StiffnessMode::calibrated, 2);
  const int steps = 20;
  const double lammps = measure_lammps(context.directory, steps, 0) / steps / paper.bonds * 1e9;
  const std::string unit = "ns/bond", one = plate + ", 1 thread";
  std::vector<BenchRecord> records = {
      goal_at_most("bond kernel alone, stiffness paper", paper.kernel, unit, 2.0, "the paper's GPU: 2.24",
                   one),
      goal_at_most("whole step with contact, stiffness paper", paper.step, unit, 2.6,
                   "Debian's LAMMPS, earlier: 24.9", one),
      reported("bond kernel alone, stiffness calibrated", calibrated.kernel, unit, "", one),
      reported("whole step with contact, stiffness calibrated", calibrated.step, unit, "", one),
      goal_at_most("two threads over one, whole step, paper", two.step / paper.step, "ratio", 0.6, "", plate),
      reported("two threads over one, whole step, calibrated", two_calibrated.step / calibrated.step, "ratio",
               "", plate),
      reported("memory, stiffness paper", paper.bytes, "bytes/bond", "", plate),
      reported("memory, stiffness calibrated", calibrated.bytes, "bytes/bond", "", plate)};
  if (lammps > 0) {
    const std::string name = lammps_name(context.directory) + ", pair_style peri/pmb";
    records.push_back(reported("LAMMPS, whole step", lammps, unit, name, plate + ", 1 process"));
    records.push_back(goal_at_least("LAMMPS over ours, whole step", lammps / paper.step, "ratio", 9,
                                    name + ", same run", plate));
  }
  return records;
}

// The plate flies apart: velocities grow from the middle to ±speed at the rim.
Solver shattering_plate(const Rules& rules, double speed) {
  const ParticleSet set = cube_grid(nx, ny, nz, bench_h);
  Solver solver(set, std::span(&k_glass, 1), rules, 3 * bench_h * (1 + 1e-9), bench_h);
  Points velocities = Points::Zero(set.positions.rows(), 3);
  for (const auto& [axis, count] : {std::pair(0, nx), std::pair(1, ny)}) {
    velocities.col(axis) = speed * (set.positions.col(axis).array() * 2 / ((count - 1) * bench_h) - 1);
  }
  solver.set_velocities(velocities);
  solver.evaluate();
  return solver;
}

// A run with LAMMPS' rules beside LAMMPS, then one with our rules that says what a step costs at each stage.
std::vector<BenchRecord> shattering(const ValidationContext& context) {
  const int before = thread_count();
  set_thread_count(1);
  const std::string plate = fmt::format("{}×{}×{} plate, rim flies outwards, 1 thread", nx, ny, nz);
  const double speed = 40;
  const int steps = 40;
  std::vector<BenchRecord> records;
  {
    Solver solver = shattering_plate(lammps_rules(), speed);
    const double bonds = static_cast<double>(solver.bonds().directed_bonds());
    const double ours = nanoseconds([&] {
      for (int s = 0; s < steps; ++s) (void)solver.step(lammps_step);
    });
    const double left = static_cast<double>(solver.bonds().directed_bonds()) / bonds;
    const double lammps = 1e9 * measure_lammps(context.directory, steps, speed);
    records.push_back(reported("bonds left after 40 steps, LAMMPS' rules", left, "share", "", plate));
    records.push_back(
        reported("whole step while shattering, LAMMPS' rules", ours / steps / bonds, "ns/initial bond",
                 lammps > 0 ? fmt::format("LAMMPS, same run: {:.1f}", lammps / steps / bonds) : "", plate));
    if (lammps > 0)
      records.push_back(reported("LAMMPS over ours, shattering", lammps / ours, "ratio", "", plate));
  }
  Solver solver = shattering_plate(Rules{}, speed);
  const double bonds = static_cast<double>(solver.bonds().directed_bonds());
  const double whole = measure({nx, ny, nz}, StiffnessMode::calibrated, 1, 4, 2).step;
  records.push_back(reported("step of the intact plate", whole, "ns/initial bond", "", plate));
  double last = 0;
  for (int stage = 0; stage < 3; ++stage) {
    const double spent = nanoseconds([&] {
      for (int s = 0; s < 64; ++s) (void)solver.step(lammps_step);
    });
    last = spent / 64 / bonds;
    const double left = static_cast<double>(solver.bonds().directed_bonds()) / bonds;
    records.push_back(reported(fmt::format("step, mean of steps {} to {}", 64 * stage + 1, 64 * stage + 64),
                               last, "ns/initial bond", fmt::format("{:.1f} % of the bonds left", 100 * left),
                               plate));
  }
  records.push_back(goal_at_most("step of the shattered plate over the intact one", last / whole, "ratio", 1,
                                 "steps get cheaper as bonds break", plate));
  set_thread_count(before);
  return records;
}

// A plate that nothing happens to, ready to be stepped.
struct ReadyPlate {
  ReadyPlate(int cells_per_side, int steps_per_turn) : side(cells_per_side), steps(steps_per_turn) {
    Rules rules;
    rules.stiffness = StiffnessMode::paper;
    setup = 1e-9 * nanoseconds([&] {
              const ParticleSet set = cube_grid(side, side, 8, bench_h);
              solver.emplace(set, std::span(&k_glass, 1), rules, 3 * bench_h, bench_h);
              solver->evaluate();
            });
    bonds = static_cast<double>(solver->bonds().directed_bonds());
  }
  void take_turn() {
    const double dt = 0.8 * solver->stable_step();
    const double spent = nanoseconds([&] {
      for (int s = 0; s < steps; ++s) (void)solver->step(dt);
    });
    costs.push_back(spent / (steps * bonds));
  }
  int particles() const { return side * side * 8; }
  double cost() const {
    std::vector<double> sorted = costs;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                     sorted.end());
    return sorted[sorted.size() / 2];
  }

  int side, steps;  // steps of a turn
  std::optional<Solver> solver;
  double setup = 0, bonds = 0;  // s, directed bonds
  std::vector<double> costs;    // ns per directed bond and step, of every turn
};

// All sizes by turns: a slow while of the machine then meets all of them.
std::vector<BenchRecord> growth(const ValidationContext&) {
  constexpr int turns = 15;
  const int before = thread_count();
  set_thread_count(1);
  std::vector<ReadyPlate> plates;
  for (const auto& [side, steps] : {std::pair(36, 60), {64, 20}, {128, 5}, {200, 2}, {354, 1}})
    plates.emplace_back(side, steps);
  for (int turn = 0; turn < turns; ++turn)
    for (ReadyPlate& plate : plates) plate.take_turn();
  set_thread_count(before);
  std::vector<BenchRecord> records;
  double least = 1e300, most = 0;
  for (const ReadyPlate& plate : plates) {
    least = std::min(least, plate.cost());
    most = std::max(most, plate.cost());
    records.push_back(
        reported(fmt::format("whole step, {} particles", plate.particles()), plate.cost(), "ns/bond",
                 fmt::format("{:.1f} bonds per particle, ready in {:.1f} s", plate.bonds / plate.particles(),
                             plate.setup),
                 fmt::format("{0}×{0}×8 plate, δ = 3λ, 1 thread, median of {1} turns of {2} steps",
                             plate.side, turns, plate.steps)));
  }
  records.push_back(goal_at_most("dearest over cheapest, 10 thousand to 1 million particles", most / least,
                                 "ratio", 1.3, "", "above"));
  return records;
}

double resident_gigabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1.024e-6;
  }
  return std::nan("");
}

// Table 2 of the paper (seconds per 1000 iterations on a Tesla K20): as many particles with about as many
// bonds each as the largest the paper reports, on a grid, started and stepped here.
std::vector<BenchRecord> paper_table(const ValidationContext&) {
  struct Model {
    const char* name;
    Grid grid;
    const char* paper;
  };
  static const Model models[] = {
      {"glass", {128, 128, 8, 3, 131072}, "0–1k 30.2 s, 50k–51k 226.9 s, 100k–101k 239.9 s; ≤ 121 bonds"},
      {"vase",
       {258, 275, 9, 3.5, 637027},
       "120k–121k 268.9 s, 160k–161k 268.2 s, 200k–201k 265.5 s; ≤ 185 bonds"},
      {"dragon",
       {78, 78, 78, 5, 473380},
       "100k–110k 525.3 s, 200k–201k 511.0 s, 300k–301k 505.4 s; ≤ 510 bonds"}};
  std::vector<BenchRecord> records;
  for (const auto& [name, grid, paper] : models) {
    const Cost cost = measure(grid, StiffnessMode::calibrated, 0, 2, 1);
    const std::string settings =
        fmt::format("{} particles on a grid, δ = {}λ, {:.0f} bonds each, undamaged, all threads",
                    grid.particles, grid.horizon, cost.bonds / grid.particles);
    const std::string title = fmt::format("{}, {} particles", name, grid.particles);
    records.push_back(reported(title + ": 1000 steps", cost.step * cost.bonds * 1e-6, "s",
                               fmt::format("paper, Tesla K20: {}", paper), settings));
    records.push_back(reported(
        title + ": ready in", cost.setup, "s",
        fmt::format("{:.2f} GB, {:.1f} bytes/bond", cost.bytes * cost.bonds * 1e-9, cost.bytes), settings));
  }
  records.push_back(goal_at_most("most memory of this process so far", resident_gigabytes(), "GB", 23,
                                 "this machine's", "all benches before included"));
  return records;
}

}  // namespace

std::vector<Bench> benches() {
  return {{"peridynamics", "cost-per-bond", cost_per_bond},
          {"peridynamics", "shattering", shattering},
          {"peridynamics", "growth", growth},
          {"peridynamics", "paper-sizes", paper_table},
          {"peridynamics", "paper-scenes", paper_scenes},
          {"peridynamics", "fragments", fragment_convergence}};
}

}  // namespace exemplar::peridynamics
