// Validation cases of the spring network: what `exemplar validate mass-spring` runs.
#include <cmath>

#include "meshless/mass_spring/checks/experiments.h"
#include "meshless/mass_spring/method.h"

namespace exemplar::mass_spring {

namespace {

using Records = std::vector<ValidationRecord>;

Network two_masses(double k, double m) {
  Network network;
  network.rest_positions.resize(2, 3);
  network.rest_positions << 0, 0, 0, 1, 0, 0;
  network.masses = VecX::Constant(2, m);
  network.springs.resize(1, 2);
  network.springs << 0, 1;
  network.rest_lengths = VecX::Ones(1);
  network.stiffness = VecX::Constant(1, k);
  network.kinds = {SpringKind::structural};
  return network;
}

// Period of two masses on a spring, counted over many oscillations.
Records oscillator(const ValidationContext&) {
  const double k = 100.0, m = 2.0, dt = 1e-3;
  SpringOptions options;
  options.damping_ratio = 0.0;
  SpringBody body(two_masses(k, m), options);
  body.positions(1, 0) = 1.1;
  const double energy = body.elastic_energy();
  int crossings = 0;
  double first = 0.0, last = 0.0, before = 0.1;
  for (int n = 1; n <= 20000; ++n) {
    body.step(dt, Vec3::Zero());
    const double now = (body.positions.row(1) - body.positions.row(0)).norm() - 1.0;
    if (before > 0.0 && now <= 0.0) {
      last = n * dt - dt * now / (now - before);
      if (crossings++ == 0) first = last;
    }
    before = now;
  }
  const double period = (last - first) / (crossings - 1);
  return {near_relative("period of two masses [s]", period, 2.0 * 3.14159265358979 * std::sqrt(m / (2.0 * k)),
                        1e-4, "2π √(m/2k)"),
          near_relative("energy after 20 s", body.elastic_energy() + body.kinetic_energy(), energy, 0.01,
                        "Verlet does not drift")};
}

// levine2014 §2: which network's stiffness depends on the mesh.
Records resolution(const ValidationContext&) {
  // The five-tet mesh is stiffer along its axes than on the average over directions, which is where the
  // closed form holds.
  Records out;
  double volume[3], uniform[3];
  const int cells[3] = {2, 4, 6};
  for (int i = 0; i < 3; ++i) {
    volume[i] = bar_modulus(cells[i], StiffnessRule::volume);
    uniform[i] = bar_modulus(cells[i], StiffnessRule::uniform);
    out.push_back(
        near_relative("bar modulus, volume rule, " + std::to_string(cells[i]) + " cells across [Pa]",
                      volume[i], 1e6, 0.25, "Young's modulus"));
  }
  out.push_back(near("volume rule: modulus of 6 cells over that of 2", volume[2] / volume[0], 1.0, 0.05,
                     "does not depend on the mesh"));
  out.push_back(no_less_than("uniform rule: modulus of 4 cells over that of 2", uniform[1] / uniform[0],
                             25.0 / 18.0, "one k for all: (n+1)² chains of n springs"));
  out.push_back(no_less_than("uniform rule: modulus of 6 cells over that of 2", uniform[2] / uniform[0],
                             49.0 / 27.0, "one k for all: (n+1)² chains of n springs"));
  return out;
}

}  // namespace

void add_validation_cases(Registry& registry) {
  registry.add(ValidationCase{"mass-spring", "oscillator", false, oscillator});
  registry.add(ValidationCase{"mass-spring", "resolution", false, resolution});
}

}  // namespace exemplar::mass_spring
