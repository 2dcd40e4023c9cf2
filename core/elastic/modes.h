// Free vibration of a tetrahedral body at rest: K φ = ω² M φ by Spectra's shift-and-invert Lanczos on our
// Cholesky factorisation.
#pragma once

#include <span>
#include <vector>

#include "core/elastic/tet_elements.h"

namespace exemplar {

struct Modes {
  VecX frequencies;            // Hz, ascending
  std::vector<Points> shapes;  // displacement of every node, scaled to φᵀMφ = 1
  bool converged = false;
};

// one_point: ∫ρ N_a N_b with one integration point, ρV/16 everywhere, as CalculiX does for C3D4 (found by
// comparison: its frequencies agree with this to all digits printed). Its kinetic energy misses what varies
// within an element.
enum class MassMatrix { lumped, consistent, one_point };

// The first `count` modes that are not rigid motions. `held` nodes do not move; with three or more of them
// not on a line there are no rigid motions to leave out.
Modes vibration_modes(const TetMesh& mesh, double young, double poisson, double density, int count,
                      std::span<const int> held = {}, MassMatrix mass = MassMatrix::consistent);

}  // namespace exemplar
