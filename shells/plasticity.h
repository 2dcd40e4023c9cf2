// Plastic flow of sheets (schumacher2012 §5.2, eq. 10–11): after each step rest values follow the shape as
// far as the deviation exceeds its threshold; with plastic examples they stay in the space the examples span.
//
// Paper: per edge  l̄ ← l̄ + sign(Δl)(|Δl| − Δl_max), per hinge the same for θ̄, then clamped to [min_i, max_i]
// over the element's examples, the undeformed one included. Δl_max = ε_y l̄₀, Δθ_max = κ_y Ā_h/l̄₀. Rest
// areas follow the lengths (or the area term would fight them); lengths that would break the triangle
// inequality are held back and counted.
// Physical: the principal values of the elastic strain and of K − K̄ are brought back to ±ε_y and ±κ_y, and
// the rest state is projected onto the convex hull of the examples' states, triangle by triangle, in the norm
// of the stiffness: an interval per number, as in the paper, would depend on how the triangle lies. Membrane
// and bending are projected apart, as the paper's lengths and angles are: together the membrane decides,
// which is stiffer by 12 (l/h)², and plates whose example is not developable hardly bend.
// ε_y = σ_y/E; κ_y = 2 ε_y/h where the section's outermost fibre yields, or 1.5 times that (`full_section`):
// the full plastic moment σ_y h²/4 of a wide plate.
#pragma once

#include "shells/sheet_term.h"

namespace exemplar::shells {

template <class Triangle>
struct PlasticSheet {
  double yield_strain = 0;                    // ε_y
  double yield_curvature = 0;                 // κ_y, 1/m
  std::vector<Rests<Triangle>> poses;         // plastic examples, without the undeformed one
  std::vector<std::vector<char>> takes_part;  // per pose and triangle
};

struct FlowCount {
  int flowed = 0;     // triangles whose rest state has changed
  int held_back = 0;  // triangles whose rest lengths could not follow (paper model)
};

// How far the rest states lie outside the space of the plastic examples, the largest over all triangles; 0
// without examples. Paper: beyond its interval, lengths relative to the undeformed ones, angles in rad.
// Physical: distance to a point of the hull, looked for anew by trying its simplices, so that no fault of the
// projection can hide;
// squared lengths relative to the undeformed ones, angles in rad.
double outside_examples(const PlasticSheet<PhysicalTriangle>& plastic, const Sheet& sheet,
                        const Rests<PhysicalTriangle>& undeformed, const Rests<PhysicalTriangle>& rest);
double outside_examples(const PlasticSheet<PaperTriangle>& plastic, const Sheet& sheet,
                        const Rests<PaperTriangle>& undeformed, const Rests<PaperTriangle>& rest);

// One update of `rest` for the shapes q (columns) of all triangles. `undeformed`: p_0 before any flow.
FlowCount flow(const PlasticSheet<PhysicalTriangle>& plastic, const Sheet& sheet,
               const std::vector<PhysicalTriangle>& triangles,
               const Eigen::Matrix<double, 6, Eigen::Dynamic>& q, const Rests<PhysicalTriangle>& undeformed,
               Rests<PhysicalTriangle>& rest);
FlowCount flow(const PlasticSheet<PaperTriangle>& plastic, const Sheet& sheet,
               const std::vector<PaperTriangle>& triangles, const Eigen::Matrix<double, 6, Eigen::Dynamic>& q,
               const Rests<PaperTriangle>& undeformed, Rests<PaperTriangle>& rest);

}  // namespace exemplar::shells
