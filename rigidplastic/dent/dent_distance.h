// How deep an impact dents, from its energy: the material resists with three times its yield stress (the hardness of
// metals, Tabor 1951) on the whole face of the dent,
//
//   ½ m_eff v_n² = 3 σ_y V(h),
//
// V(h) the volume that both bodies have in common when one is moved on by h along the normal: for a flat target the
// projectile's volume below the collision plane, for a body that falls on a floor its own cap. m_eff is the mass that
// the bodies oppose to each other at the contact point (kg); v_n the normal speed before the impact (m/s).
#pragma once

#include <vector>

#include "rigidplastic/dent/dent_map.h"

namespace exemplar::dent {

// 1/m_eff = Σ over both bodies 1/m + (r × n)ᵀ I⁻¹ (r × n). Bodies that cannot move add nothing.
struct ContactMass {
  double inverse_mass = 0;              // 1/kg
  Mat3 inverse_inertia = Mat3::Zero();  // world axes, 1/(kg m²)
  Vec3 arm = Vec3::Zero();              // from the centre of mass to the contact, m
};
double effective_mass(const ContactMass& a, const ContactMass& b, const Vec3& normal);

// V(h) from gaps (m, ≥ 0) between the two surfaces over equal cells.
class CommonVolume {
 public:
  CommonVolume(std::vector<double> gaps, double cell_area);
  double at(double depth) const;          // m³
  double depth_for(double volume) const;  // m; infinity where there is no cell
  bool empty() const { return m_gaps.empty(); }

 private:
  std::vector<double> m_gaps;  // ascending
  double m_cell_area;
};

// h for an energy (J) and a yield stress (Pa), at most `limit`. The gaps are looked at again on a finer grid until the
// dent fills it.
double depth_from_energy(double energy, double yield_stress, double limit, const Projectile& projectile,
                         const Points& target, const Triangles& target_triangles, const Impact& impact);

}  // namespace exemplar::dent
