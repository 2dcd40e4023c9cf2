// Pieces of a broken body and how they are drawn (levine2014 §4 "Alignment"): connected components over
// unbroken bonds between particles that share a face, one rigid motion per component, and the surface of all
// pieces.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/math/rigid_fit.h"
#include "core/output/fields.h"
#include "meshless/peridynamics/elements/elements.h"

namespace exemplar::peridynamics {

struct Fragments {
  std::vector<int> of;          // component of each particle; 0 is the largest by volume
  std::vector<double> volumes;  // of each component, descending
  std::size_t count() const { return volumes.size(); }
};

Fragments find_fragments(std::span<const std::pair<int, int>> neighbours, std::span<const double> volumes,
                         const std::function<bool(int, int)>& joined);

// Number of fragments with a volume share below 1e-4, 1e-3, 1e-2, 1e-1 and up to 1 of the whole.
std::vector<int> size_histogram(const Fragments& fragments);

// Rest → current for each component, by Kabsch. Components of fewer than four particles keep the rotation
// that their particles had before (a single point has none of its own), taken from and written to
// `rotations`.
std::vector<RigidTransform> fit_fragments(const Fragments& fragments, const Points& rest,
                                          const Points& current, std::span<const double> masses,
                                          std::vector<Quat>& rotations);

// The original surface in pieces plus the faces between particles of different components, as triangles. Points
// are shared within a fragment, but for the rim of its fracture faces, which is sharp. Arrays: displacement (the
// place at rest is the point less it), original_triangle (−1 on fracture faces), original_barycentric, normal,
// body; of triangles fragment, interior (1: a fracture face), body. `is_drawn` leaves out fragments.
Geometry fragment_surface(const Elements& elements, const TriMesh& surface, std::span<const int> of_particle,
                          const std::vector<RigidTransform>& motions, int body,
                          const std::function<bool(int)>& is_drawn = {});

}  // namespace exemplar::peridynamics
