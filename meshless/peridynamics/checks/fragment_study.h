// What of a fragmentation converges: a plate flies apart at a given rate, with the fracture energy held, while the horizon
// shrinks at fixed δ/λ (δ-convergence) and while the particles get finer at a fixed horizon (m-convergence), each over several
// seeds of the bonds' strengths.
//
// Observed (`exemplar bench peridynamics/fragments`): where cracks start from flaws that are given in metres, the energy that
// they release and the number and size of the larger pieces stay, and what is left as dust is a strip as wide as the horizon
// beside each crack, so that it goes to 0 with δ. In a plate without flaws nothing of that stays: its strength is the strain at
// which its bonds break, which grows like δ^(−1/2) with the fracture energy held (eq. 4), and where and whether it breaks
// follows the particles.
#pragma once

#include "core/run/validation.h"

namespace exemplar::peridynamics {

struct Fragmentation {
  double count = 0;    // fragments of at least a thousandth of the plate
  double largest = 0;  // share of the plate
  double energy = 0;   // released by bonds [J]
  double dust = 0;     // share of the plate in smaller fragments
};

struct FlyingPlate {
  double rate = 60;             // 1/s, of both in-plane strains
  double fracture_energy = 20;  // J/m²
  double duration = 1.2e-4;     // s
  int flaws = 12;               // cuts of 12 mm through the plate
};

// A plate of side 0.1 m and 6 mm, horizon and spacing in metres.
Fragmentation fragment_plate(const FlyingPlate& plate, double spacing, double horizon, std::uint64_t seed);

std::vector<BenchRecord> fragment_convergence(const ValidationContext& context);

}  // namespace exemplar::peridynamics
