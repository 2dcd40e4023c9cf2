// Reference solutions by CalculiX (ccx) on the same mesh: an independent solver for validation. Its *ELASTIC
// material with NLGEOM is plain St. Venant–Kirchhoff.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/mesh/volume/midsides.h"

namespace exemplar::fem {

struct CalculixJob {
  std::string directory;  // exists; input and output are left there
  std::string name;
  TetMesh mesh;       // its vertices are all nodes
  Midsides midsides;  // C3D10 elements; empty: C3D4
  double young = 1, poisson = 0, density = 1;
  std::vector<int> clamped;  // nodes
};

// True if the program can be started.
bool calculix_available();

// Displacements under nodal forces with large deflections; nothing when ccx fails.
std::optional<Points> calculix_static(const CalculixJob& job, const Points& forces);

// The first `count` natural frequencies (Hz), rigid motions included; nothing when ccx fails.
std::optional<VecX> calculix_frequencies(const CalculixJob& job, int count);

}  // namespace exemplar::fem
