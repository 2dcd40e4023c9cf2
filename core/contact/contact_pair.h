// What can touch: pairs of features of surfaces and obstacles, and the numbers that contact between them needs.
// Contact points are numbered: the surface's points first, then the obstacles' features (contact_points.h).
#pragma once

#include <array>
#include <vector>

namespace exemplar {

// Of pairs of obstacles, and of surfaces that say nothing themselves (ContactSurface::bodies).
struct ContactOptions {
  double reach = 1e-3;           // d̂, m: gap at which contact begins
  double stiffness = 1e6;        // κ, Pa: pressure scale of the barrier
  double sticking_speed = 1e-3;  // ε_v, m/s: below it friction holds
};

// Reach 1e-3 of the size (m) as in IPC, stiffness a tenth of Young's modulus (Pa): then a surface under the
// stresses it can bear keeps gaps of the order of d̂.
ContactOptions default_contact_options(double size, double young);

enum class ContactPairKind { point_shape, point_triangle, edge_edge };

struct ContactPair {
  ContactPairKind kind;
  std::array<int, 4> points;  // (p), (p; a, b, c) or (a₀, a₁; b₀, b₁)
  int shape = -1;             // obstacle, for point_shape
  double radius = 0;          // sum of the features' radii, m
  double area = 0;            // A, m², times the factor of this step
  double parallel = 0;        // threshold of parallel_edge_factor, m⁴
  double reach = 0;           // d̂, m
  double stiffness = 0;       // κ, Pa
  double factor = 1;          // of κ in this step; see impact_stiffening.h
};

// What one side of a pair belongs to: an obstacle, or nodes.
struct ContactSide {
  int obstacle = -1;
  std::vector<int> nodes;
};

// A pair that the step limit stops on its path.
struct ContactStop {
  double alpha = 0;  // part of the path that is clear
  std::array<ContactSide, 2> sides;
};

// Nodes and obstacles that act on each other by contact or friction.
struct ContactLink {
  std::vector<int> nodes;
  std::vector<int> obstacles;
};

}  // namespace exemplar
