#include "fem/checks/calculix.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace exemplar::fem {

namespace {

std::string path_of(const CalculixJob& job, const char* extension) {
  return job.directory + "/" + job.name + extension;
}

void write_model(std::ostream& out, const CalculixJob& job) {
  out << "*NODE, NSET=NALL\n";
  for (Eigen::Index i = 0; i < job.mesh.vertices.rows(); ++i) {
    // CalculiX reads at most 20 characters a number.
    out << fmt::format("{}, {:.12g}, {:.12g}, {:.12g}\n", i + 1, job.mesh.vertices(i, 0),
                       job.mesh.vertices(i, 1), job.mesh.vertices(i, 2));
  }
  const bool quadratic = !job.midsides.empty();
  out << fmt::format("*ELEMENT, TYPE={}, ELSET=EALL\n", quadratic ? "C3D10" : "C3D4");
  for (Eigen::Index e = 0; e < job.mesh.tets.rows(); ++e) {
    out << e + 1;
    for (int k = 0; k < 4; ++k) out << ", " << job.mesh.tets(e, k) + 1;
    for (int k = 0; quadratic && k < 6; ++k) out << ", " << job.midsides.of_tet(e, k) + 1;
    out << "\n";
  }
  out << fmt::format("*MATERIAL, NAME=M\n*ELASTIC\n{:.17g}, {:.17g}\n*DENSITY\n{:.17g}\n", job.young,
                     job.poisson, job.density);
  out << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  if (!job.clamped.empty()) {
    out << "*BOUNDARY\n";
    for (const int node : job.clamped) out << fmt::format("{}, 1, 3\n", node + 1);
  }
}

bool run(const CalculixJob& job) {
  const std::string command = fmt::format("cd '{}' && OMP_NUM_THREADS=1 ccx -i '{}' > '{}.log' 2>&1",
                                          job.directory, job.name, job.name);
  return std::system(command.c_str()) == 0;
}

}  // namespace

bool calculix_available() {
  return std::system("command -v ccx > /dev/null 2>&1") == 0;
}

std::optional<Points> calculix_static(const CalculixJob& job, const Points& forces) {
  {
    std::ofstream out(path_of(job, ".inp"));
    write_model(out, job);
    // The default tolerance of half a per cent is too coarse for a comparison to 1e-4.
    out << "*STEP, NLGEOM, INC=200\n*STATIC\n0.25, 1.\n*CONTROLS, PARAMETERS=FIELD\n1e-8, 1e-8\n*CLOAD\n";
    for (Eigen::Index i = 0; i < forces.rows(); ++i) {
      for (int c = 0; c < 3; ++c) {
        if (forces(i, c) != 0) out << fmt::format("{}, {}, {:.17g}\n", i + 1, c + 1, forces(i, c));
      }
    }
    out << "*NODE PRINT, NSET=NALL\nU\n*END STEP\n";
  }
  if (!run(job)) return std::nullopt;
  std::ifstream in(path_of(job, ".dat"));
  Points displacements = Points::Zero(job.mesh.vertices.rows(), 3);
  std::string line;
  bool any = false;
  while (std::getline(in, line)) {
    std::istringstream numbers(line);
    Eigen::Index node = 0;
    Vec3 u;
    // Increments follow each other: the last one stays.
    if (numbers >> node >> u[0] >> u[1] >> u[2] && node >= 1 && node <= displacements.rows()) {
      displacements.row(node - 1) = u.transpose();
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return displacements;
}

std::optional<VecX> calculix_frequencies(const CalculixJob& job, int count) {
  {
    std::ofstream out(path_of(job, ".inp"));
    write_model(out, job);
    out << fmt::format("*STEP\n*FREQUENCY\n{}\n*END STEP\n", count);
  }
  if (!run(job)) return std::nullopt;
  std::ifstream in(path_of(job, ".dat"));
  VecX frequencies = VecX::Zero(count);
  std::string line;
  int found = 0;
  while (found < count && std::getline(in, line)) {
    std::istringstream numbers(line);
    int mode = 0;
    double eigenvalue = 0, radians = 0, hertz = 0;
    if (numbers >> mode >> eigenvalue >> radians >> hertz && mode == found + 1) frequencies[found++] = hertz;
  }
  if (found < count) return std::nullopt;
  return frequencies;
}

}  // namespace exemplar::fem
