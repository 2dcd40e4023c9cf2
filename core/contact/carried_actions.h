// Supports and loads on a body whose surface is carried by particles (shape matching, mass-spring,
// peridynamics). Particles need not lie on the surface, and the surface's own triangles may be far larger than
// the particles' distance: so forces, tractions and pressures act on a fine surface, each particle taking what
// acts on its share of it (its tributary surface), and supports that hold no particle take those that carry the
// surface in their region. Units: m, N, Pa, s.
#pragma once

#include "core/contact/particle_contact.h"
#include "core/world/loads.h"
#include "core/world/supports.h"

namespace exemplar {

struct CarriedSurface {
  CarriedPoints points;
  Triangles triangles;
  Points arms;  // from what carries a point to the point itself, at the start; empty: none
  Points at(const Points& particles) const;
};

// The surface with triangles cut until their edges are at most `longest_edge` (64 pieces each at most);
// `vertices` carries its own vertices.
CarriedSurface refine_surface(const CarriedPoints& vertices, const TriMesh& surface, double longest_edge);

// By the particles in each region; where a region holds none, by those that carry the surface in it with a
// weight of more than a tenth. Throws InputError where both are empty.
// `path`: the body's place in the scene, for what is wrong.
SupportSet carried_supports(const std::vector<Support>& supports, const std::string& body,
                            const std::string& path, const CarriedSurface& surface, const Points& particles);

class CarriedLoads {
 public:
  CarriedLoads() = default;
  // Accelerations and torques act on the particles in the region by mass; the others on the surface where the
  // region holds some of it, else on the particles.
  CarriedLoads(const std::vector<Load>& loads, const std::string& body, CarriedSurface surface,
               const Points& particles, const VecX& masses);

  bool empty() const { return m_on_surface.empty() && m_on_particles.empty(); }
  bool needs_surface() const { return !m_on_surface.empty(); }
  const CarriedSurface& surface() const { return m_surface; }
  // Mean force on every particle over [from, to], N. The surface's points follow their particles with their weights.
  Points forces(const Points& particles, double from, double to) const;
  // The same in two parts, for a caller that knows better where the surface's points are and on what they hang (peridynamics):
  // forces on particles, and on the points of the surface.
  Points forces_on_particles(const Points& particles, double from, double to) const;
  Points forces_on_surface(const Points& surface_points, double from, double to) const;

 private:
  CarriedSurface m_surface;
  LoadSet m_on_surface, m_on_particles;
};

}  // namespace exemplar
