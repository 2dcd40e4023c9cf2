// A fixed set of points spread over a surface by area, the same for the same seed: where metrics compare
// surfaces.
#pragma once

#include <cstdint>

#include "core/mesh/mesh.h"

namespace exemplar {

struct SurfaceSamples {
  Eigen::VectorXi triangle;
  Points barycentric;
};

// Stratified by area: sample i lies in the i-th of `count` strips of equal area, in the order of the
// triangles.
SurfaceSamples sample_surface(const TriMesh& mesh, int count, std::uint64_t seed);

// Where the samples are when the vertices are at `positions`.
Points sample_positions(const SurfaceSamples& samples, const Triangles& triangles, const Points& positions);

}  // namespace exemplar
