// A body that can be dented: its surface in its own fixed coordinates (those the body was made in), the dents that
// are still growing, and what follows from the surface: mass properties and collision vertices. Units: m, kg, s.
#pragma once

#include <vector>

#include "core/output/state.h"
#include "core/scene/scene.h"
#include "rigidplastic/dent/denter.h"
#include "rigidplastic/simulation/body_frame.h"

namespace exemplar::dent {

class DentedBody {
 public:
  explicit DentedBody(const Body& body);

  const Points& points() const { return m_points; }
  const Triangles& triangles() const { return m_body->surface().triangles; }
  const Adjacency& neighbours() const { return m_neighbours; }
  const Body& body() const { return *m_body; }
  Target target() const { return {m_body, &m_points, m_edge_length, m_smallest_extent}; }
  double edge_length() const { return m_edge_length; }          // mean, at rest
  double smallest_extent() const { return m_smallest_extent; }  // at rest
  bool growing() const { return !m_growing.empty(); }
  int dent_count() const { return m_count; }
  double deepest() const { return m_deepest; }  // largest dent distance so far

  // A dent in the body's coordinates that is there after `duration`.
  void add(DentMap map, double duration);
  // Growing dents go on by dt: the surface is always the undented one with the dents applied in their order.
  void grow(double dt);

  // Of the surface as it is, with the mass that the body has always had: dents move material, they remove none.
  MassProperties mass_properties(double mass) const;
  // Vertices of the collision shape (sheets: extruded), in the body's coordinates.
  Points collision_points() const;
  double volume() const;  // m³; sheets: area times thickness
  Points displacements(const Points& rest) const { return m_points - rest; }

  void save(StateWriter& out, const std::string& prefix) const;
  void load(StateReader& in, const std::string& prefix);

 private:
  struct Growing {
    DentMap map;
    double elapsed = 0, duration = 0;
    double share() const { return elapsed >= duration ? 1 : elapsed / duration; }
  };
  void apply_growing();

  const Body* m_body;
  Points m_points;  // with all dents as far as they have grown
  Points m_base;    // without those that still grow
  std::vector<Growing> m_growing;
  Adjacency m_neighbours;
  double m_edge_length = 0, m_smallest_extent = 0;
  double m_deepest = 0;
  int m_count = 0;
};

}  // namespace exemplar::dent
