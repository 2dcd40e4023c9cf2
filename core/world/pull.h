// Pulls: a point of a body's surface on a spring to a target that stands still or moves along keyframes, as a mouse pulls
// it. The spring gives way at a largest force F (Huber's function), so that its potential is convex and its gradient bounded:
//   E(x) = k d²/2            for d = |x − target| ≤ d₀ = F/k
//        = F (d − d₀/2)      beyond
// Stiffness and largest force both follow the window p(t). The spring stands outside of the bodies: what it does to them is
// external work, E before minus E after at one target. Units: N/m, N, m, kg, s.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "core/world/curve.h"

namespace exemplar {

// A point of a triangle surface: Σ weights_k x(vertices_k).
struct PulledPoint {
  std::array<int, 3> vertices{0, 0, 0};
  Vec3 weights = Vec3(1, 0, 0);

  // `surface`: the vertices of the body's surface now.
  Vec3 of(const Points& surface) const;
};

struct Pull {
  std::string body;
  std::string path;  // JSON path, e.g. loads[0]
  PulledPoint point;
  std::vector<Keyframe> target;  // world; one: a fixed point
  Interpolation interpolation = Interpolation::smooth;
  double stiffness = 0;                                        // N/m
  double max_force = std::numeric_limits<double>::infinity();  // N
  TimeWindow window;
};

// The spring of a pull at one moment.
struct PullSpring {
  Vec3 target = Vec3::Zero();
  double stiffness = 0;                                        // N/m
  double max_force = std::numeric_limits<double>::infinity();  // N

  double energy(const Vec3& x) const;
  Vec3 gradient(const Vec3& x) const;  // N; the force on the point is its opposite
  Mat3 hessian(const Vec3& x) const;   // N/m, positive semi-definite

  // For methods that step explicitly: the impulse (N s) of a step of h seconds on a point at x with velocity v, taken with
  // the force at the step's end (stable for any stiffness): J = −h ∇E(x + h (v + W J)). `inverse_mass` W (1/kg): what an
  // impulse at the point adds to its velocity; the identity over the mass for a particle. Beyond the largest force it is the
  // force limit times h in the direction of the unlimited impulse.
  Vec3 impulse(const Vec3& x, const Vec3& v, const Mat3& inverse_mass, double h) const;
};

// A pull that acts within a step.
struct ActivePull {
  PulledPoint point;
  PullSpring spring;
};

// The pulls on one body.
class PullSet {
 public:
  PullSet() = default;
  PullSet(const std::vector<Pull>& pulls, const std::string& body);

  bool empty() const { return m_pulls.empty(); }
  // Those that act in the step [from, to]: strengths are means over it, the target is where it is at `to`.
  std::vector<ActivePull> active(double from, double to) const;

 private:
  std::vector<Pull> m_pulls;
};

// The point of the surface that is nearest to `place`.
PulledPoint nearest_surface_point(const Points& vertices, const Triangles& triangles, const Vec3& place);

}  // namespace exemplar
