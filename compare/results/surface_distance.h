// Distance between the same surface as two runs left it, over material points.
//
// Two surfaces with the same triangles are compared vertex by vertex, each vertex weighing a third of the
// rest area around it. Where one of them is in pieces (fracture cuts triangles and adds vertices), both are
// probed at the same fixed set of area samples of the rest surface. A written surface tells where its points
// were at rest (`displacement`) and which of them belong to the input surface (`original_triangle` ≥ 0; faces
// that fracture opened have none); the sample is found again in the piece whose rest image holds it.
//
//   rms = (Σ w_i ‖a_i − b_i‖² / Σ w_i)^½,  max = max ‖a_i − b_i‖,  in metres;
//   aligned: after the best rigid motion (Kabsch, the same weights), each body on its own, so that what is
//   left is difference of shape.
#pragma once

#include <optional>
#include <vector>

#include "core/mesh/samples.h"
#include "core/output/fields.h"

namespace exemplar {

struct SurfaceDistances {
  double rms = 0, max = 0;                  // m
  double rms_aligned = 0, max_aligned = 0;  // m
};

// Points of two surfaces that are the same material, with weights (m²) and the body each belongs to.
SurfaceDistances distances_between(const Points& a, const Points& b, const VecX& weights,
                                   const std::vector<int>& bodies);

// The written surface as it was at rest: points − displacement (points themselves without that array).
Points rest_positions(const Geometry& surface);
Triangles triangles_of(const Geometry& surface);

// Compares with one reference surface; remembers how the last surface's pieces lie in it.
class SurfaceComparison {
 public:
  // `reference`: any frame of the reference run.
  explicit SurfaceComparison(const Geometry& reference, int samples = 20000);

  // Distances of `surface` to `reference` (both of the same moment).
  SurfaceDistances between(const Geometry& surface, const Geometry& reference);

 private:
  // Where each sample is in a written surface: a cell and barycentric coordinates.
  struct Places {
    std::vector<int> connectivity;  // of the surface they were found in
    SurfaceSamples samples;
  };
  bool is_whole(const Geometry& surface) const;
  Points sampled(const Geometry& surface, Places& places);

  std::vector<int> m_connectivity;  // of the whole reference
  Eigen::Index m_points = 0;
  VecX m_vertex_areas;
  std::vector<int> m_vertex_bodies;
  SurfaceSamples m_samples;  // in the whole reference
  Points m_sample_rest;
  std::vector<int> m_sample_bodies;
  Places m_surface_places, m_reference_places;
};

}  // namespace exemplar
