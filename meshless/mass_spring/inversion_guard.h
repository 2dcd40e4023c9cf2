// Keeps the tetrahedra of a spring network from staying inside out. Springs know lengths only, and a mirrored
// tetrahedron has the same lengths: a body that is squeezed through itself by a landing would stay so for good
// (observed: E = 3e4 Pa dropped from 0.3 m ended with −0.08 of its volume). So a tetrahedron of less than a
// fifth of its volume is pushed open:
//
//     W = ½ k (c − J)²  for J < c,   J = V/V₀,   c = 0.2,   k = E V₀ min(1, (2 h/l)²)
//
//   V, V₀ volume now and at rest [m³], E Young's modulus [Pa], h smallest altitude, l mean edge [m]
//
// Above c nothing acts: the model is the plain network. Flattening a regular tetrahedron costs its springs
// 0.27 E V₀ and W falls by 0.7 E V₀ between J = −1 and 0, so no mirrored shape is an equilibrium. The factor
// with h keeps slivers from needing a smaller step.
#pragma once

#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar::mass_spring {

struct GuardedTets {
  Tets tets;
  VecX rest_volumes;  // m³
  VecX stiffness;     // k [J]
};

// `young_volumes`: E V₀ of every tet, filled part [J].
GuardedTets guard_tets(const TetMesh& mesh, const std::vector<double>& young_volumes);

// Adds the forces on the nodes. `is_off`: tets to leave alone, may be empty.
void add_guard_forces(const GuardedTets& guard, const std::vector<char>& is_off, const Points& positions,
                      Points& forces);
double guard_energy(const GuardedTets& guard, const std::vector<char>& is_off, const Points& positions);

// How many of them are inside out, J < 0.
int count_inverted(const GuardedTets& guard, const std::vector<char>& is_off, const Points& positions);

// Moves the nodes of tets with J < c to J = c, one tet after the other (the counterpart of springs as
// constraints).
void open_tets(const GuardedTets& guard, const std::vector<char>& is_off, const VecX& inverse_masses,
               Points& positions);

// Adds to each node what the guard can add to its row of the stiffness matrix (Gershgorin) [N/m].
void add_guard_rows(const GuardedTets& guard, const Points& rest_positions, VecX& sums);

}  // namespace exemplar::mass_spring
