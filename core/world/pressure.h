// Pressures on the present surface of a body: they turn and grow with it, so an implicit step takes them where it ends
// (core/implicit/pressure_term.h). Kept at its start, a uniform pressure turns a spinning bar faster and faster (the
// forces have no moment about the nodes' old places, but one about the new ones), and equilibria are not found.
//   f_v = −p/6 (b − a) × (c − a) at each corner v of the triangle (a, b, c)
// Units: Pa, m, s, N.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/world/loads.h"

namespace exemplar {

struct PressedTriangle {
  std::array<int, 3> nodes;
  double pressure = 0;  // Pa, against the normal
};

// The triangles that have all of their corners among the nodes.
std::vector<int> triangles_among(const std::vector<int>& nodes, const Triangles& surface);

void add_pressure_forces(std::span<const PressedTriangle> triangles, const Points& positions, Points& forces);
// Of these pressures on the straight path between two states, exact, J.
double pressure_work(std::span<const PressedTriangle> triangles, const Points& from, const Points& to);

// Those of the loads on one body that are pressures.
class PressureSet {
 public:
  PressureSet() = default;
  // The others must have been checked by a LoadSet.
  PressureSet(const std::vector<Load>& loads, const std::string& body, const Points& start_positions,
              Triangles surface);
  // Appends the means over the step [from, to], node numbers raised by `first_node`.
  void append(double from, double to, int first_node, std::vector<PressedTriangle>& out) const;

 private:
  struct Prepared {
    Load load;
    std::vector<int> triangles;
  };
  std::vector<Prepared> m_loads;
  Triangles m_surface;
};

bool is_pressure(const Load& load);
// All but the pressures.
std::vector<Load> without_pressures(std::vector<Load> loads);

}  // namespace exemplar
