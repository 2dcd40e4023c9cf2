// The particles a body is made of, and orders and distances among them. Lengths in metres.
#pragma once

#include <cstdint>
#include <vector>

#include "core/math/types.h"

namespace exemplar::peridynamics {

struct ParticleSet {
  Points positions;                      // at rest
  std::vector<double> volumes;           // V_i
  std::vector<int> body;                 // which body (and material) a particle belongs to
  std::vector<std::uint8_t> on_surface;  // touches the original surface: may collide from the start
  std::vector<double> radii;  // distance at which a particle touches an obstacle [m]; empty: half the spacing

  std::size_t size() const { return volumes.size(); }
  void append(const ParticleSet& other, int body_index);
};

// nx·ny·nz particles of one body on a regular grid, the first at `origin`; volume spacing³ each.
ParticleSet cube_grid(int nx, int ny, int nz, double spacing, const Vec3& origin = Vec3::Zero());

// Particle indices in the order of a Hilbert curve through their bounding box: neighbours in space become
// neighbours in memory, without which large bodies run several times slower.
std::vector<int> curve_order(const Points& positions);

// The order in which the solver keeps particles. Where all bodies are parts of lattices with this spacing along the axes: row
// by row of each body, the rows along its longest extent and among each other in the order of a Hilbert curve; particles of a
// row are then next to each other in memory (bond_groups.h). Otherwise curve_order.
std::vector<int> memory_order(const ParticleSet& particles, double spacing);

// Distance of each particle to its nearest one (infinite for a single particle).
std::vector<double> nearest_distances(const Points& positions);

// The length λ: the given quantile of the nearest distances within each body, 0 being the smallest (the paper's choice,
// fragile for irregular particles where two may nearly coincide). Not between bodies: the gap between two that lie on
// each other says nothing about how far bonds must reach.
double particle_spacing(std::span<const Points> bodies, double quantile = 0);

}  // namespace exemplar::peridynamics
