// Particle by particle against LAMMPS' pair_style peri/pmb (program `lmp`): the same
// block is given the same velocities, and positions, forces, damage and energy are compared after breaking
// and contact.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <numbers>
#include <sstream>

#include "core/base/random.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {
namespace {

struct Case {
  double speed;    // of the random velocities [m/s]
  double squeeze;  // m/s per m towards the middle, to bring particles into contact
  double tau;      // strain at which bonds break
  bool indent;
  int steps;
};

// The horizon lies between two shells of the lattice, so that rounding decides no bond.
constexpr double lammps_h = 1e-3, lammps_ratio = 3.1, lammps_K = 10e9, lammps_rho = 2200, lammps_alpha = 0.25,
                 lammps_dt = 5e-8;
const double stiffness = 18 * lammps_K / (std::numbers::pi * std::pow(lammps_ratio * lammps_h, 4));

struct Result {
  Points x, f;
  std::vector<double> damage;
  double energy = 0;
};

void write_data(const std::filesystem::path& file, const ParticleSet& set, const Points& v) {
  std::ofstream out(file);
  out << std::setprecision(17) << "peridynamic block\n\n"
      << set.size() << " atoms\n1 atom types\n\n"
      << "-0.1 0.1 xlo xhi\n-0.1 0.1 ylo yhi\n-0.1 0.1 zlo zhi\n\nAtoms\n\n";
  for (std::size_t i = 0; i < set.size(); ++i) {
    out << i + 1 << " 1 " << set.volumes[i] << " " << lammps_rho << " "
        << set.positions.row(static_cast<Eigen::Index>(i)) << "\n";
  }
  out << "\nVelocities\n\n";
  for (std::size_t i = 0; i < set.size(); ++i)
    out << i + 1 << " " << v.row(static_cast<Eigen::Index>(i)) << "\n";
}

void write_input(const std::filesystem::path& file, const Case& run) {
  std::ofstream out(file);
  out << std::setprecision(17) << "units si\nboundary f f f\natom_style peri\natom_modify map array\n"
      << "neighbor 1e-3 bin\nnewton off\nlattice sc " << lammps_h << "\nread_data block.data\n"
      << "pair_style peri/pmb\npair_coeff * * " << stiffness << " " << lammps_ratio * lammps_h << " "
      << run.tau << " " << lammps_alpha << "\n"
      << "fix 1 all nve\ncompute damage all damage/atom\nneigh_modify every 1 delay 0 check yes\n";
  if (run.indent) out << "fix 2 all indent 1e17 sphere 5e-3 4e-3 5.5e-3 3e-3 units box\n";
  out << "timestep " << lammps_dt
      << "\nthermo_style custom step pe\nthermo_modify format float %.17g\nthermo 1\n"
      << "dump 1 all custom " << run.steps << " out.dump id x y z fx fy fz c_damage\n"
      << "dump_modify 1 sort id format float %.17g\nrun " << run.steps << "\n";
}

Result run_lammps(const ParticleSet& set, const Points& v, const Case& run) {
  const auto dir = std::filesystem::temp_directory_path() / ("exemplar_lammps_" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  write_data(dir / "block.data", set, v);
  write_input(dir / "in.block", run);
  const std::string command = "cd '" + dir.string() +
                              "' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                              "lmp -in in.block -log log.block > screen 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  Result result;
  const Eigen::Index n = static_cast<Eigen::Index>(set.size());
  result.x.resize(n, 3);
  result.f.resize(n, 3);
  result.damage.resize(set.size());
  std::ifstream dump(dir / "out.dump");
  std::string line;
  while (std::getline(dump, line)) {
    if (line.rfind("ITEM: ATOMS", 0) != 0) continue;
    for (Eigen::Index i = 0; i < n; ++i) {
      int id;
      dump >> id;
      for (int a = 0; a < 3; ++a) dump >> result.x(i, a);
      for (int a = 0; a < 3; ++a) dump >> result.f(i, a);
      dump >> result.damage[static_cast<std::size_t>(i)];
      EXPECT_EQ(id, i + 1);
    }
  }
  std::ifstream log(dir / "log.block");
  while (std::getline(log, line)) {
    std::istringstream words(line);
    int step;
    double energy;
    if (words >> step >> energy && step == run.steps) result.energy = energy;
  }
  std::filesystem::remove_all(dir);
  return result;
}

class Lammps : public ::testing::TestWithParam<Case> {};

TEST_P(Lammps, SameForcesDamageAndEnergy) {
  ASSERT_EQ(std::system("command -v lmp > /dev/null 2>&1"), 0)
      << "lmp is missing: scripts/setup --tests installs it";
  const Case run = GetParam();
  const ParticleSet set = cube_grid(9, 8, 6, lammps_h);
  Points v(static_cast<Eigen::Index>(set.size()), 3);
  for (Eigen::Index k = 0; k < v.size(); ++k) {
    v.data()[k] = run.speed * normal_random(9, static_cast<std::uint64_t>(k)) -
                  run.squeeze * (set.positions.data()[k] - 4e-3);
  }
  const Material material{lammps_rho, lammps_K, 0, run.tau};
  Rules rules = lammps_rules();
  rules.strengthening = lammps_alpha;
  Solver solver(set, std::span(&material, 1), rules, lammps_ratio * lammps_h, lammps_h);
  solver.set_velocities(v);
  if (run.indent) {
    solver.set_projectile(
        Projectile{ProjectileModel::indent, Vec3(5e-3, 4e-3, 5.5e-3), Vec3::Zero(), 3e-3, 1e17});
  }
  for (int s = 0; s < run.steps; ++s) ASSERT_TRUE(solver.step(lammps_dt));

  const Result lammps = run_lammps(set, v, run);
  const Points f = solver.accelerations() * lammps_rho;
  EXPECT_GT(lammps.f.cwiseAbs().maxCoeff(), 0);
  EXPECT_LT((solver.positions() - lammps.x).cwiseAbs().maxCoeff(), 1e-10 * lammps_h);
  EXPECT_LT((f - lammps.f).cwiseAbs().maxCoeff(), 1e-10 * lammps.f.cwiseAbs().maxCoeff());
  const std::vector<double> damage = solver.damage();
  for (std::size_t i = 0; i < damage.size(); ++i) ASSERT_NEAR(damage[i], lammps.damage[i], 1e-10);
  if (run.tau < 1) {
    EXPECT_GT(solver.broken_bonds(), 100);
    return;  // LAMMPS still counts the energy of bonds that break in the last step
  }
  const Energies energies = solver.energies();
  EXPECT_NEAR((energies.elastic + energies.contact) / set.volumes[0] / lammps.energy, 1, 1e-10);
  EXPECT_EQ(energies.contact > 0, run.squeeze > 0);
}

INSTANTIATE_TEST_SUITE_P(PeriPmb, Lammps,
                         ::testing::Values(Case{1, 0, 1, false, 20}, Case{10, 1.5e5, 1, false, 40},
                                           Case{12, 0, 2e-3, false, 60}, Case{10, 1.5e5, 2e-3, false, 40},
                                           Case{2, 0, 2e-3, true, 60}));

}  // namespace
}  // namespace exemplar::peridynamics
