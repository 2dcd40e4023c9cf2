// Contact by impulses between obstacles and a surface that particles carry, for methods with simple time
// stepping (shape matching, mass-spring): surface points that would be inside an obstacle at the end of the
// step stop at its surface, with the obstacle's friction and restitution; the particles take the impulse with
// the weights of the point, the obstacle the opposite one. Points are visited in order, so the result does
// not depend on threads. Units: m, kg, s.
#pragma once

#include <vector>

#include "core/mesh/mesh.h"
#include "core/mesh/point_map.h"
#include "core/world/obstacle_motion.h"

namespace exemplar {

// Points carried by particles; those embedded in tetrahedra are carried by their corners.
using CarriedPoints = PointMap;
inline CarriedPoints carried_by_tets(const Embedding& points, const Tets& tets) {
  return PointMap::embedded(points, tets);
}

// The surface's points, and further ones inside triangles with edges longer than `spacing`, so that a small
// obstacle does not slip between the vertices of a coarse surface.
CarriedPoints with_triangle_samples(const CarriedPoints& vertices, const TriMesh& surface, double spacing);

// Half the radius of the smallest obstacle; infinite without obstacles of finite size.
double contact_sample_spacing(const std::vector<ObstacleBody>& obstacles);

struct ParticleContactSummary {
  int contacts = 0;
  double deepest = 0;        // penetration before, m
  double closing_speed = 0;  // fastest approach that was stopped, m/s
  double dissipated = 0;     // energy that the particles and obstacles gave up, J
};

// Changes `velocities` (and the obstacles') so that positions + dt · velocities stays outside.
// `inverse_masses` are zero for held particles. Depth that is left over from before is pushed out at
// `push_speed` (m/s) at most.
ParticleContactSummary resolve_contacts(ObstacleWorld& world, const CarriedPoints& points,
                                        const Points& positions, const VecX& inverse_masses, double dt,
                                        double push_speed, Points& velocities);

}  // namespace exemplar
