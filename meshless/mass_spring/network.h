// A network of springs over the vertices of a mesh: the classic mass-spring model (bugbear2009 §2.1.1,
// levine2014 eq. 1)
//     f = −k (l − l₀) n,
// with structural springs along the edges and springs across shared faces (solids: shear) or shared edges
// (sheets: bend).
//
// Spring constants. `uniform`: one k for all springs whatever their length, the standard that levine2014 §2
// argues against: a finer mesh of the same body has more springs side by side and is stiffer, k must be tuned
// anew for every mesh. `volume` (van Gelder 1998): k = Σ E V_t / l² over the tets t at the edge (E t A for
// triangles). In an isotropic network Σ k l² = 6 E V gives exactly Young's modulus E at Poisson's ratio 1/4
// (sheets: 3 E t A, ratio 1/3): that sum is what this rule has by construction, so stiffness does not depend
// on the mesh. A share of it goes to the cross springs.
//
//   E Young's modulus [Pa], V volume [m³], l₀ rest length [m], k [N/m]
#pragma once

#include <array>
#include <vector>

#include "core/mesh/mesh.h"
#include "meshless/mass_spring/inversion_guard.h"

namespace exemplar::mass_spring {

enum class SpringKind : char { structural, shear, bend };
enum class StiffnessRule { volume, uniform };

struct NetworkOptions {
  double young = 1e6;
  double density = 1000.0;
  double thickness = 0.001;  // sheets [m]
  StiffnessRule rule = StiffnessRule::volume;
  double spring_constant = 0.0;  // uniform rule [N/m]; 0: E times the cube root of the volume over 10
  double cross_share = 0.25;     // of the stiffness in shear or bend springs; 0: none of these springs
};

struct Network {
  Points rest_positions;
  VecX masses;  // kg
  Edges springs;
  VecX rest_lengths;  // m
  VecX stiffness;     // k
  std::vector<SpringKind> kinds;
  GuardedTets guard;                            // solids only
  std::vector<std::array<int, 6>> tet_springs;  // along the edges of each guarded tet
};

Network make_tet_network(const TetMesh& mesh, const VecX& fill, const NetworkOptions& options);
Network make_sheet_network(const TriMesh& sheet, const NetworkOptions& options);

// Largest stable step of Verlet integration without damping, 2/ω, with ω² ≤ max 2 Σ k / m (Gershgorin) [s].
double critical_step(const Network& network);

}  // namespace exemplar::mass_spring
