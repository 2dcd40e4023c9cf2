// What of a fragmentation converges: a plate of glass flies apart at a given rate, with the fracture energy held,
// while the horizon shrinks at fixed δ/λ (δ-convergence) and while the particles get finer at a fixed horizon
// (m-convergence), each over several seeds of the bonds' strengths.
#pragma once

#include "core/run/validation.h"

namespace exemplar::peridynamics {

struct Fragmentation {
  double count = 0;    // fragments of at least a thousandth of the plate
  double largest = 0;  // share of the plate
  double energy = 0;   // released by bonds [J]
  double dust = 0;     // share of the plate in smaller fragments
};

// A plate of side 0.1 m and 6 mm, horizon and spacing in metres.
Fragmentation fragment_plate(double spacing, double horizon, std::uint64_t seed);

std::vector<BenchRecord> fragment_convergence(const ValidationContext& context);

}  // namespace exemplar::peridynamics
