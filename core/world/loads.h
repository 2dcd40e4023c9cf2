// Loads: forces on a region of a body within a time window, with linear ramps at both ends or a curve.
//
// The profile p(t) is that of a TimeWindow. Methods ask for the mean over their step, so that the impulse
// ∫ F p dt is the same for every step size.
//
// A dead load keeps its direction. A follower turns with the region: with the rotation that fits the region's
// nodes best since the start (Kabsch 1976), evaluated at the positions handed in, that is lagged in an
// implicit step; it has no potential. Units: N, Pa, m/s², N m, s.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/world/curve.h"
#include "core/world/region.h"

namespace exemplar {

enum class LoadKind {
  force,  // value: total force, N; shared by area, or by mass when the region holds no whole surface triangle
  traction,  // value: force per area of the start surface, Pa, on the surface triangles inside the region
  pressure,  // magnitude: Pa, along the inner normals of the present surface triangles (always a follower)
  acceleration,  // value: m/s² on every node of the region
  torque,        // value: moment, N m, as forces without a sum, proportional to mass and to the arm
};

struct Load {
  std::string body;  // name of the body; empty: every body
  Region region;
  LoadKind kind = LoadKind::force;
  Vec3 value = Vec3::Zero();
  double magnitude = 0;  // pressure only
  bool follower = false;
  double start = 0;                                      // s
  double end = std::numeric_limits<double>::infinity();  // s
  double ramp_up = 0;                                    // s
  double ramp_down = 0;                                  // s
  std::optional<Curve> curve;                            // shares of the value over time, instead of ramps
  std::string path;                                      // JSON path, e.g. loads[0]

  TimeWindow window() const { return {start, end, ramp_up, ramp_down, curve}; }
};

// The loads on one body.
class LoadSet {
 public:
  LoadSet() = default;
  // `surface`: triangles over the nodes (may be empty if no load needs it). Throws InputError for impossible
  // numbers, regions without nodes, and tractions or pressures without a surface triangle.
  LoadSet(const std::vector<Load>& loads, const std::string& body, const Points& start_positions,
          const VecX& node_masses, const Triangles& surface);

  bool empty() const { return m_loads.empty(); }
  // Mean force on every node over the step [from, to], N.
  Points forces(const Points& positions, double from, double to) const;

 private:
  struct Prepared {
    Load load;
    std::vector<int> nodes;
    std::vector<int> triangles;  // whole surface triangles inside the region
    VecX weights;                // one per entry of nodes, sum 1
    VecX areas;                  // start area of each node's share, m²
  };
  void add_forces(const Prepared& prepared, const Points& positions, double factor, Points& forces) const;

  std::vector<Prepared> m_loads;
  Points m_start;
  VecX m_masses;
  Triangles m_surface;
};

}  // namespace exemplar
