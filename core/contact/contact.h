// Contact for implicit solvers: the barrier potential of Li et al. 2020 (IPC) between deformable surfaces and
// obstacles and among obstacles, its step limit that lets nothing cross, and lagged smooth Coulomb friction.
//
// Pairs: (i) a point and the signed distance of a convex shape, (ii) a point and a triangle, (iii) two edges.
// Surface vertices meet shapes by (i) and mesh obstacles by (ii); obstacle features (sphere centre, capsule
// axis, box, cylinder and mesh vertices and edges, each with the feature's radius) meet surface triangles and
// edges by (ii) and (iii), so that nothing slips between the vertices of a coarse surface. Each pair has the
// energy of barrier.h with its own area A.
//
// Unknowns: nodes x of the solver and, per obstacle, q = (u, θ): displacement and rotation vector since the
// step's start (see rigid_inertia.h). Derivatives with respect to q exist for dynamic obstacles only;
// keyframed ones may move in q too. The energy depends on relative positions only: forces and moments on the
// two sides cancel exactly.
//
// Use in a step:
//   contact.begin_step(states, x_start);
//   each Newton iteration, with direction (dx, dq):  find_pairs(x, q, x + dx, q + dq); α = max_step(x, q, x +
//   dx, q + dq); line search in (0, α]: value(x, q);  then blocks(x, q, …) for the derivatives (the pairs
//   stay valid on that segment). Before the first iteration find_pairs(x, q, x, q). Friction:
//   update_friction(x, q, dt) fixes normals and normal forces (at the start of the step and as often as the
//   solver repeats it), then friction_value and friction_blocks. A keyframed obstacle is moved first, and
//   what stands in its way (stops) with it: see core/implicit/prescribed_motion.h.
//
// Contact of deformable bodies with each other and with themselves would be further pairs (ii) and (iii) of
// the group of surface points with itself; evaluation and step limit handle such pairs already, the search
// does not make them.
//
// Symbols: d̂ reach (m), κ stiffness (Pa), ε_v sticking speed (m/s).
#pragma once

#include <array>
#include <limits>
#include <map>
#include <vector>

#include "core/contact/contact_surface.h"
#include "core/mesh/bvh.h"
#include "core/world/obstacle.h"
#include "core/world/rigid_inertia.h"

namespace exemplar {

struct ContactOptions {
  double reach = 1e-3;           // d̂, m: gap at which contact begins
  double stiffness = 1e6;        // κ, Pa: pressure scale of the barrier
  double sticking_speed = 1e-3;  // ε_v, m/s: below it friction holds
};

// Reach 1e-3 of the size (m) as in IPC, stiffness a tenth of Young's modulus (Pa): then a surface under the
// stresses it can bear keeps gaps of the order of d̂.
ContactOptions default_contact_options(double size, double young);

// One pair's share, small and dense, ready to be scattered: first 3 numbers for every node, then 6 for every
// obstacle.
struct ContactBlock {
  std::vector<int> nodes;
  std::array<int, 2> obstacles{-1, -1};  // dynamic ones; −1: none
  double value = 0;
  VecX gradient;
  MatX hessian;  // empty unless asked for

  int obstacle_count() const { return (obstacles[0] >= 0) + (obstacles[1] >= 0); }
};

// Nodes and obstacles that act on each other by contact or friction.
struct ContactLink {
  std::vector<int> nodes;
  std::vector<int> obstacles;
};

enum class Derivatives { gradient, hessian, projected_hessian };  // projected: positive semi-definite

enum class ContactPairKind { point_shape, point_triangle, edge_edge };

// Contact points are numbered: the surface's points first, then the obstacles' features.
struct ContactPair {
  ContactPairKind kind;
  std::array<int, 4> points;  // (p), (p; a, b, c) or (a₀, a₁; b₀, b₁)
  int shape = -1;             // obstacle, for point_shape
  double radius = 0;          // sum of the features' radii, m
  double area = 0;            // A, m², times the factor of this step
  double parallel = 0;        // threshold of parallel_edge_factor, m⁴
  double factor = 1;          // of κ in this step; see ContactPotential::stiffen
};

// What one side of a pair belongs to: an obstacle, or nodes.
struct ContactSide {
  int obstacle = -1;
  std::vector<int> nodes;
};

// A pair that the step limit stops on its way.
struct ContactStop {
  double alpha = 0;  // part of the way that is free
  std::array<ContactSide, 2> sides;
};

class ContactPotential {
 public:
  using PointsRef = Eigen::Ref<const Points>;

  // `obstacles` must outlive the potential.
  ContactPotential(ContactSurface surface, const std::vector<ObstacleBody>& obstacles,
                   const ContactOptions& options);

  const ContactOptions& options() const { return m_options; }
  void set_stiffness(double stiffness) { m_options.stiffness = stiffness; }

  void begin_step(const std::vector<ObstacleState>& states, const PointsRef& nodes);
  // All pairs that come within reach while nodes and obstacles go straight from (x0, q0) to (x1, q1).
  void find_pairs(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1);
  const std::vector<ContactPair>& pairs() const { return m_pairs; }

  // The largest part of the way from (x0, q0) to (x1, q1), at most 1, on which every gap of the found pairs
  // keeps at least a fifth of its first value, or of the reach where it was wider. Conservative advancement
  // along separating planes, hence safe at any speed.
  double max_step(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1) const;

  // The pairs that max_step would stop, each with its own limit, in the order of the pairs.
  std::vector<ContactStop> stops(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                 const VecX& q1) const;

  // How far the found pairs would still go along their normals after the place where max_step stops each of
  // them, relative to half the inner radius of the pair's obstacles; the largest of all. Above 1 the end of
  // the way may lie behind an obstacle: an implicit step that pulls towards it may lead around the obstacle
  // instead of stopping at it, so such a step should be shortened. Planes have no behind and never count.
  double overshoot(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1) const;

  // For the rest of the step, raises κ where free motion from (x0, q0) to (x1, q1) in the time dt would drive
  // things into each other: to the pressure p = m s/(dt² A) that stops them (m their masses, s the way left
  // beyond the stop). Against a barrier that is far too soft for an impact the step limit lets Newton's
  // method only creep. A driven pair gets its own p; a pair that is out of reach at the start gets the
  // largest of its obstacle, which adds no energy; ways below 20 d̂ are left alone, so that what is added to
  // driven pairs already in touch stays small beside the kinetic energy being stopped. Other pairs keep κ.
  void stiffen(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1,
               const VecX& node_masses, double dt);

  // Infinite when something touches or overlaps.
  double value(const PointsRef& x, const VecX& q) const;
  // The part of it that stiffen() has added: gone when the step is over, J.
  double added_by_stiffening(const PointsRef& x, const VecX& q) const;
  // Blocks of the pairs within reach, in the order of the pairs.
  std::vector<ContactBlock> blocks(const PointsRef& x, const VecX& q, Derivatives derivatives) const;
  // The smallest gap among the found pairs, m; infinity when there are none. Not positive: overlap.
  double smallest_gap(const PointsRef& x, const VecX& q) const;

  // The pair of the surface and an obstacle with the smallest gap among the found ones.
  struct Closest {
    double gap = std::numeric_limits<double>::infinity();  // m
    Vec3 away = Vec3::Zero();                              // where the surface would have to go
    int obstacle = -1;
  };
  Closest closest(const PointsRef& x, const VecX& q) const;
  // All pairs within reach at (x, q) and all contacts of friction.
  std::vector<ContactLink> links(const PointsRef& x, const VecX& q) const;

  // Fixes the normals, contact points and normal forces of friction at (x, q).
  void update_friction(const PointsRef& x, const VecX& q, double dt);
  double friction_value(const PointsRef& x, const VecX& q) const;
  // Σ friction force at (x, q) times the slip since the step's start, J, never negative: what friction takes
  // from the two sides in the step.
  double friction_work(const PointsRef& x, const VecX& q) const;
  std::vector<ContactBlock> friction_blocks(const PointsRef& x, const VecX& q, Derivatives derivatives) const;
  std::size_t friction_contacts() const { return m_frictions.size(); }

 private:
  struct FeaturePoint {
    int owner = -1;  // obstacle; −1: point of the surface
    Vec3 local = Vec3::Zero();
    double radius = 0, area = 0;
  };
  // What belongs to the surface (owner −1) or to one obstacle.
  struct Group {
    int owner = -1;
    std::vector<int> points;
    Edges edges;
    Triangles triangles;
  };
  // A point that moves with the unknowns: of the surface, or fixed to an obstacle.
  struct PointRef {
    int point = -1;  // surface point
    int obstacle = -1;
    Vec3 local = Vec3::Zero();
  };
  struct Friction {
    std::vector<PointRef> points;
    std::vector<double> weights;  // slip = Tᵀ Σ w (p − p at the step's start)
    Eigen::Matrix<double, 3, 2> tangents;
    double limit = 0;           // μ λ, N
    Vec3 start = Vec3::Zero();  // Σ w p at the step's start
  };
  struct Pose {
    Vec3 position;
    Mat3 rotation;
  };
  // Straight motion of all unknowns, as the step limit and the search see it.
  struct Path;
  // Where the coordinates of a pair go in its block.
  struct Layout;

  // core/world/contact.cpp
  void add_obstacle(int index);
  void add_surface();
  Pose pose(int obstacle, const VecX& q) const;
  Points place(const PointsRef& x, const VecX& q) const;
  Vec3 place(const PointRef& ref, const PointsRef& x, const VecX& q) const;
  PointRef reference(int point) const;
  std::array<Vec3, 4> corners(const ContactPair& pair, const Points& positions) const;
  double gap(const ContactPair& pair, const Points& positions, const std::vector<Pose>& poses) const;
  std::vector<Pose> poses(const VecX& q) const;
  double pair_value(const ContactPair& pair, const Points& positions, const std::vector<Pose>& poses) const;
  ContactBlock pair_block(const ContactPair& pair, const Points& positions, const VecX& q,
                          Derivatives d) const;

  // core/world/contact_search.cpp
  std::vector<Box> swept_boxes(const Path& path) const;
  void add_pairs(const Group& a, const Group& b, const Path& path, const std::vector<Box>& boxes);
  void add_shape_pairs(const Group& a, int shape, const Path& path);
  void add_point_triangle_pairs(const Group& points, const Group& triangles, const std::vector<Box>& boxes);
  void add_edge_pairs(const Group& a, const Group& b, const std::vector<Box>& boxes);

  // core/world/contact_ccd.cpp
  struct Limit {
    double alpha = 1;  // part of the way that is free
    double left = 0;   // m: what was left of it along the normal there
  };
  std::vector<Limit> limits(const Path& path) const;
  Limit pair_limit(const ContactPair& pair, const Path& path) const;
  Limit shape_limit(const ContactPair& pair, const Path& path) const;
  ContactSide side_of(const ContactPair& pair, int side) const;
  double inner_radius(const ContactPair& pair) const;
  double stopped_mass(const ContactPair& pair, const VecX& node_masses) const;

  // core/world/contact_friction.cpp
  Friction make_friction(const ContactPair& pair, const Points& positions, const VecX& q, double limit) const;
  double friction_coefficient(const ContactPair& pair) const;
  Vec2 slip_of(const Friction& friction, const PointsRef& x, const VecX& q) const;
  ContactBlock friction_block(const Friction& friction, const PointsRef& x, const VecX& q,
                              Derivatives d) const;

  // core/world/contact_assembly.cpp: derivatives with respect to positions of `points` (and to the pose
  // increment of `shape`) become a block over nodes and dynamic obstacles.
  ContactBlock assemble(const std::vector<PointRef>& points, int shape, const VecX& gradient,
                        const MatX& hessian, const VecX& q, Derivatives derivatives) const;
  Layout make_layout(const std::vector<PointRef>& points, int shape) const;

  ContactSurface m_surface;
  const std::vector<ObstacleBody>* m_obstacles;
  ContactOptions m_options;
  std::vector<FeaturePoint> m_points;
  std::vector<Group> m_groups;  // the surface, then every obstacle
  std::vector<ObstacleState> m_start;
  Points m_start_nodes;
  std::vector<ContactPair> m_pairs;
  using PairKey = std::array<int, 6>;
  static PairKey key_of(const ContactPair& pair);
  std::array<int, 2> obstacles_of(const ContactPair& pair) const;  // −1: none
  std::map<PairKey, double> m_stiffened;  // this step's factors of κ; pairs in reach at its start
  std::vector<double> m_impacts;          // and of all other pairs, per obstacle
  std::vector<Friction> m_frictions;
  double m_friction_dt = 0;
};

}  // namespace exemplar
