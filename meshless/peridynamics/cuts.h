// Bonds that must not be: those that would cross the body's own surface (the two sides of a slit narrower than
// the horizon are not one piece) and those that cross an authored notch. Lengths in metres.
#pragma once

#include <functional>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar::peridynamics {

// Says whether the straight line between two particles (indices of the rows given) is cut.
using BondCut = std::function<bool(int, int)>;

// Lines that leave the closed surface. Particles deeper inside than the line is long need no look; empty if no line
// between inner points can leave it.
BondCut crosses_surface(const TriMesh& surface, const Points& particles);

// A cut that is there from the start: a whole plane, a disc, or a parallelogram.
struct Notch {
  enum class Shape { plane, disc, parallelogram };
  Shape shape = Shape::plane;
  Vec3 point = Vec3::Zero();                // of the plane; the disc's centre; a corner of the parallelogram
  Vec3 normal = Vec3::UnitY();              // plane and disc
  double radius = 0;                        // disc
  Vec3 u = Vec3::Zero(), v = Vec3::Zero();  // sides of the parallelogram
};

// Says whether a line from a to b crosses the notch.
class NotchTest {
 public:
  explicit NotchTest(const Notch& notch);
  bool operator()(const Vec3& a, const Vec3& b) const;
  // Which side of the notch's plane a point is on: a line between two on the same side crosses nothing.
  bool is_above(const Vec3& point) const { return m_normal.dot(point - m_notch.point) >= 0; }

 private:
  Notch m_notch;
  Vec3 m_normal;
  Mat3 m_from_axes = Mat3::Zero();
};

}  // namespace exemplar::peridynamics
