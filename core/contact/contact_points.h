// The points of contact and where they are: points of deformable surfaces, which hang on nodes x, and features
// of obstacles, which move with the increments q = (u, θ) since the step's start (see rigid_inertia.h).
#pragma once

#include <array>
#include <vector>

#include "core/base/index.h"
#include "core/contact/contact_pair.h"
#include "core/contact/contact_surface.h"
#include "core/world/obstacle.h"
#include "core/world/rigid_inertia.h"

namespace exemplar {

class ContactPoints {
 public:
  using PointsRef = Eigen::Ref<const Points>;

  struct Feature {
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
  struct Pose {
    Vec3 position;
    Mat3 rotation;
  };
  // Everything in one place of the unknowns.
  struct Placed {
    Points points;            // all contact points
    std::vector<Pose> poses;  // of the obstacles
  };

  // `obstacles` must outlive this.
  ContactPoints(ContactSurface surface, const std::vector<ObstacleBody>& obstacles,
                const ContactOptions& options);

  const ContactSurface& surface() const { return m_surface; }
  const std::vector<ObstacleBody>& obstacles() const { return *m_obstacles; }
  const ObstacleBody& obstacle(int i) const { return (*m_obstacles)[to_size(i)]; }
  const ContactOptions& options() const { return m_options; }
  int size() const { return to_int(m_features.size()); }
  const Feature& operator[](int point) const { return m_features[to_size(point)]; }
  // The surface, then every obstacle.
  const std::vector<Group>& groups() const { return m_groups; }
  double largest_reach() const { return m_largest_reach; }
  double smallest_reach() const { return m_smallest_reach; }
  // Of the body that a surface point belongs to.
  double reach_at(int point) const;

  // States of the obstacles at the step's start, from which q counts.
  void set_start(const std::vector<ObstacleState>& states);
  const ObstacleState& start(int obstacle) const { return m_start[to_size(obstacle)]; }

  Pose pose(int obstacle, const VecX& q) const;
  std::vector<Pose> poses(const VecX& q) const;
  Points place(const PointsRef& x, const VecX& q) const;
  Placed placed(const PointsRef& x, const VecX& q) const { return {place(x, q), poses(q)}; }

  std::array<Vec3, 4> corners(const ContactPair& pair, const Points& points) const;
  double gap(const ContactPair& pair, const Placed& at) const;
  // The direction in which the first side of the pair has to go to open the gap.
  Vec3 opening(const ContactPair& pair, const Placed& at) const;
  ContactSide side_of(const ContactPair& pair, int side) const;
  std::array<int, 2> obstacles_of(const ContactPair& pair) const;  // −1: none
  // Of a pair of two surfaces; −1, −1 for all others.
  std::array<int, 2> bodies_of(const ContactPair& pair) const;
  // Of a surface's body and an obstacle: the obstacle's own coefficient, or the body's if it says none; of two
  // bodies or two obstacles: the geometric mean.
  double friction_of(const ContactPair& pair) const;
  // Sets the pair's reach and stiffness: those of its body; of two bodies the smaller ones; of two obstacles
  // the options'.
  void set_law(ContactPair& pair) const;

 private:
  void add_obstacle(int index);
  void add_surface();
  const ContactBody* body_of(int point) const;  // null: an obstacle, or a surface without bodies

  ContactSurface m_surface;
  const std::vector<ObstacleBody>* m_obstacles;
  ContactOptions m_options;
  std::vector<Feature> m_features;
  std::vector<Group> m_groups;
  std::vector<ObstacleState> m_start;
  double m_largest_reach = 0, m_smallest_reach = 0;
};

// Straight motion of all unknowns from (x0, q0) to (x1, q1). Obstacle points move on arcs: with the angular
// velocity ω = J_l(θ) Δθ per unit of the path, |J_l| ≤ 1 and |dJ_l/dα| ≤ |Δθ|/2, so that a point at arm r has
// speed ≤ |Δu| + |Δθ| r and second derivative ≤ 3/2 |Δθ|² r.
struct ContactPath {
  VecX q0, q1;
  Points start, end;  // all contact points

  Vec3 displacement(int obstacle) const { return (q1 - q0).segment<3>(6 * obstacle); }
  Vec3 turn(int obstacle) const { return (q1 - q0).segment<3>(6 * obstacle + 3); }
  VecX at(double alpha) const { return q0 + alpha * (q1 - q0); }
  static double arc(const Vec3& turn, double arm) { return 1.5 * turn.squaredNorm() * arm; }
};

}  // namespace exemplar
