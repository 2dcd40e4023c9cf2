// Static equilibrium of a tetrahedral body with some nodes held: minimises elastic energy minus the work of
// constant nodal forces. Also extends a pose that is known on the surface only to the volume.
#pragma once

#include <span>

#include "core/elastic/tet_elements.h"
#include "core/sparse/newton.h"

namespace exemplar {

struct StaticOptions {
  NewtonOptions newton;
  LinearMethod linear = LinearMethod::direct;
};

struct StaticResult {
  Points positions;
  NewtonSummary summary;
};

// `start`: positions of all nodes, held ones at their targets. `forces` (N): one row per node, or empty.
// Without held nodes the body must be held by nothing else either: rigid motions are then left as they come
// out.
StaticResult static_solve(const TetMesh& mesh, const ElasticEnergy& energy, std::span<const int> held,
                          const Points& start, const Points& forces = {}, const StaticOptions& options = {});

// The same for elements that are made already, linear or quadratic ones.
StaticResult static_solve(TetElements elements, const ElasticEnergy& energy, std::span<const int> held,
                          const Points& start, const Points& forces = {}, const StaticOptions& options = {});

// Positions of all nodes when the nodes `held` are put at `targets` (one row each): a smooth (harmonic)
// extension of the displacements, then the elastic equilibrium of modified St. Venant–Kirchhoff material with
// Poisson's ratio `poisson` (which also untangles elements). The stiffness does not matter.
StaticResult extend_to_volume(const TetMesh& mesh, std::span<const int> held, const Points& targets,
                              double poisson = 0.3, const StaticOptions& options = {});

}  // namespace exemplar
