// Mass, centre of mass and inertia tensor, exact for the polygonal shape: moments up to degree two are
// polynomials on each simplex (solids from tets or, by the divergence theorem, from a closed surface; sheets
// from triangles).
//
// For a simplex with corners v_k, measure M and degree-2 denominator d (20 for tets, 12 for triangles):
//   ∫ x dM = M mean(v),   ∫ x xᵀ dM = M/d (Σ v_k v_kᵀ + (Σ v_k)(Σ v_k)ᵀ).
// A sheet of thickness h adds the exact term A h²/12 n nᵀ of a flat plate.
// Units: metres, kilograms.
#pragma once

#include "core/mesh/mesh.h"

namespace exemplar {

struct MassProperties {
  double measure = 0;           // volume in m³; for sheets area times thickness
  double mass = 0;              // kg
  Vec3 centre = Vec3::Zero();   // centre of mass
  Mat3 inertia = Mat3::Zero();  // about the centre of mass, world axes, kg m²
};

// A closed, outwards oriented surface filled with `density` (kg/m³); negative measure when it is oriented
// inwards.
MassProperties solid_mass_properties(const Points& points, const Triangles& triangles, double density);
MassProperties solid_mass_properties(const Points& points, const Tets& tets, double density);

// A mid-surface with thickness; `density` is that of the material (kg/m³).
MassProperties sheet_mass_properties(const Points& points, const Triangles& triangles, double thickness,
                                     double density);

// Each element's mass shared equally by its corners.
VecX lumped_masses(const Points& points, const Tets& tets, double density);
VecX lumped_masses(const Points& points, const Triangles& triangles, double thickness, double density);

double signed_volume(const Points& points, const Triangles& triangles);
// A closed surface with its triangles turned round if they enclose a negative volume: files of other programs may be inside out.
TriMesh facing_outwards(TriMesh closed);
double surface_area(const Points& points, const Triangles& triangles);
VecX tet_volumes(const Points& points, const Tets& tets);
VecX triangle_areas(const Points& points, const Triangles& triangles);

// det[b−a, c−a, d−a]/6.
inline double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return (b - a).cross(c - a).dot(d - a) / 6.0;
}

}  // namespace exemplar
