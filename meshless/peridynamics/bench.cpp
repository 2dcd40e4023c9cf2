// Cost per directed bond and step on the paper's glass plate, beside LAMMPS in the same run where it is
// installed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "core/math/parallel.h"
#include "meshless/peridynamics/solver.h"
#include "meshless/peridynamics/validation.h"

namespace exemplar::peridynamics {

namespace {

constexpr double bench_h = 5e-4;
constexpr int nx = 128, ny = 128, nz = 8;
const Material k_glass{2200, 32.81e9, 0, 5e-4};

// Nanoseconds per directed bond of the fastest of several repetitions.
template <class Work>
double fastest(double bonds, int repetitions, int steps, const Work& work) {
  double best = 1e300;
  for (int r = 0; r < repetitions; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (int s = 0; s < steps; ++s) work();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / steps / bonds);
  }
  return best;
}

struct Cost {
  double kernel = 0, step = 0, bytes = 0;
};

Cost measure(StiffnessMode mode, int threads) {
  const int before = thread_count();
  set_thread_count(threads);
  const ParticleSet set = cube_grid(nx, ny, nz, bench_h);
  Rules rules;
  rules.stiffness = mode;
  Solver solver(set, std::span(&k_glass, 1), rules, 3 * bench_h, bench_h);
  solver.evaluate();
  const double bonds = static_cast<double>(solver.bonds().directed_bonds());
  const double dt = 0.8 * solver.stable_step();
  Cost cost;
  cost.kernel = fastest(bonds, 12, 4, [&] { solver.bond_pass(); });
  cost.step = fastest(bonds, 12, 4, [&] { (void)solver.step(dt); });
  cost.bytes = static_cast<double>(solver.bytes()) / bonds;
  set_thread_count(before);
  return cost;
}

// LAMMPS' own timing of the same plate, or 0 when it is not installed.
double measure_lammps(const std::string& directory, double bonds) {
  if (std::system("command -v lmp > /dev/null 2>&1") != 0) return 0;
  const std::filesystem::path folder(directory);
  const int steps = 20;
  std::ofstream input(folder / "in.plate");
  input << fmt::format(
      "units si\nboundary s s s\natom_style peri\natom_modify map array\nneighbor {0} bin\nlattice sc {0}\n"
      "region plate block -0.1 {1} -0.1 {2} -0.1 {3} units lattice\ncreate_box 1 plate\ncreate_atoms 1 "
      "region plate\n"
      "pair_style peri/pmb\npair_coeff * * {4} {5} 5e-4 0.25\nset group all density 2200\nset group all "
      "volume {6}\n"
      "fix 1 all nve\ntimestep 5e-8\nthermo 1000\nrun {7}\n",
      bench_h, nx - 0.9, ny - 0.9, nz - 0.9,
      18 * 32.81e9 / (std::numbers::pi * 81 * bench_h * bench_h * bench_h * bench_h),
      3.0 * bench_h * (1 + 1e-9), bench_h * bench_h * bench_h, steps);
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
    if (std::sscanf(line.c_str(), "Loop time of %lf", &seconds) == 1) return seconds / steps / bonds * 1e9;
  }
  return 0;
}

std::vector<BenchRecord> cost_per_bond(const ValidationContext& context) {
  const std::string plate =
      fmt::format("{}×{}×{} plate, δ = 3λ, 13 449 224 directed bonds, best of 12 × 4 steps", nx, ny, nz);
  const Cost paper = measure(StiffnessMode::paper, 1), calibrated = measure(StiffnessMode::calibrated, 1);
  const Cost two = measure(StiffnessMode::paper, 2), two_calibrated = measure(StiffnessMode::calibrated, 2);
  const double lammps = measure_lammps(context.directory, 13449224);
  const std::string unit = "ns/bond";
  std::vector<BenchRecord> records = {
      goal_at_most("bond kernel, stiffness paper", paper.kernel, unit, 2.0, "the paper's GPU: 2.24",
                   plate + ", 1 thread"),
      goal_at_most("whole step, stiffness paper", paper.step, unit, 2.6, "Debian's LAMMPS, earlier: 24.9",
                   plate + ", 1 thread"),
      reported("bond kernel, stiffness calibrated", calibrated.kernel, unit, "", plate + ", 1 thread"),
      reported("whole step, stiffness calibrated", calibrated.step, unit, "", plate + ", 1 thread"),
      goal_at_most("two threads over one, whole step, paper", two.step / paper.step, "ratio", 0.6, "", plate),
      reported("two threads over one, whole step, calibrated", two_calibrated.step / calibrated.step, "ratio",
               "", plate),
      reported("memory, stiffness paper", paper.bytes, "bytes/bond", "", plate),
      reported("memory, stiffness calibrated", calibrated.bytes, "bytes/bond", "", plate)};
  if (lammps > 0) {
    records.push_back(reported("LAMMPS peri/pmb, whole step", lammps, unit, "", plate + ", 1 process"));
    records.push_back(
        goal_at_least("LAMMPS over ours, whole step", lammps / paper.step, "ratio", 9, "same run", plate));
  }
  return records;
}

// Table 2 of the paper: seconds per 1000 iterations on a Tesla K20.
std::vector<BenchRecord> paper_table(const ValidationContext&) {
  struct Row {
    const char* model;
    const char* range;
    double seconds, particles, bonds;  // bonds: largest number per particle times particles, an upper bound
  };
  static const Row rows[] = {
      {"glass", "0–1k", 30.171, 131072, 121},        {"glass", "50k–51k", 226.888, 131072, 121},
      {"glass", "100k–101k", 239.864, 131072, 121},  {"vase", "120k–121k", 268.888, 637027, 185},
      {"vase", "160k–161k", 268.236, 637027, 185},   {"vase", "200k–201k", 265.479, 637027, 185},
      {"dragon", "100k–110k", 525.335, 473380, 510}, {"dragon", "200k–201k", 511.017, 473380, 510},
      {"dragon", "300k–301k", 505.449, 473380, 510}};
  const Cost ours = measure(StiffnessMode::calibrated, 0);
  std::vector<BenchRecord> records;
  for (const Row& row : rows) {
    const double nanoseconds = ours.step;
    const double seconds = nanoseconds * 1e-9 * row.particles * row.bonds * 1000;
    records.push_back(
        reported(fmt::format("{} {}: 1000 iterations", row.model, row.range), seconds, "s",
                 fmt::format("paper, Tesla K20: {} s", row.seconds),
                 "our cost per bond, all threads, undamaged, times the paper's number of bonds"));
  }
  return records;
}

}  // namespace

std::vector<Bench> benches() {
  return {{"peridynamics", "cost-per-bond", cost_per_bond}, {"peridynamics", "table-2", paper_table}};
}

}  // namespace exemplar::peridynamics
