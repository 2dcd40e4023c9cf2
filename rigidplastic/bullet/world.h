// A Bullet world (unmodified Bullet, double precision) made from plain rigid states, stepped, and read back.
// It is made anew for every frame and whenever bodies or joints come and go, so that a run's state is exactly
// the list of states: contact caches and sleeping timers that Bullet keeps elsewhere would otherwise make a
// resumed run differ. Units: m, kg, s.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "rigidplastic/bullet/shapes.h"

namespace exemplar::rigid {

enum class MotionKind { fixed, kinematic, dynamic };

struct RigidObject {
  const BulletShape* shape = nullptr;
  MotionKind kind = MotionKind::dynamic;
  double mass = 0;
  Vec3 principal_inertia = Vec3::Ones();  // kg m², body axes
  double friction = 0.5;
  bool has_friction = true;  // false, of an obstacle: the coefficient of the body that touches it holds
  double restitution = 0;
  double restitution_factor = 1;  // 0 … 1, modulates a pair's restitution (jones2016 eq. 15)
  bool is_obstacle = false;       // its friction decides in a pair with a body
  int component = -1;             // objects of the same component ≥ 0 do not collide with each other
  RigidState state;
};

// Holds two objects together at a point and, unless it is a ball joint, in their relative orientation. They
// do not collide with each other while it is there.
struct Joint {
  int a = 0, b = 0;                                             // objects
  Vec3 pivot_a = Vec3::Zero(), pivot_b = Vec3::Zero();          // m, in the two body frames
  Quat frame_a = Quat::Identity(), frame_b = Quat::Identity();  // joint axes → body frames
  bool holds_rotation = true;
  // N m along the axes of frame_a, up to which the joint holds its rotation; infinite: it always does.
  Vec3 yield_moment = Vec3::Constant(std::numeric_limits<double>::infinity());

  bool yields() const { return yield_moment.allFinite(); }

  static constexpr auto described() {
    return std::tuple(member("a", &Joint::a), member("b", &Joint::b), member("pivot_a", &Joint::pivot_a),
                      member("pivot_b", &Joint::pivot_b), member("frame_a", &Joint::frame_a),
                      member("frame_b", &Joint::frame_b), member("holds_rotation", &Joint::holds_rotation),
                      member("yield_moment", &Joint::yield_moment));
  }
};

// What a joint did to its object a in the last tick.
struct JointLoad {
  Vec3 impulse = Vec3::Zero();          // N s, world
  Vec3 angular_impulse = Vec3::Zero();  // N m s, world, about the pivot
};

// One contact point of the last tick, a < b. Stale points, which Bullet keeps but did not solve, are left out.
struct Contact {
  int a = 0, b = 0;               // objects
  int part_a = -1, index_a = -1;  // of Bullet's sub-shape; index: a mesh's triangle, a hull's corner
  int part_b = -1, index_b = -1;
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();  // m, world
  Vec3 normal = Vec3::UnitY();                          // unit, world, from b towards a
  Vec3 impulse = Vec3::Zero();                          // N s, on a, friction included; b gets the opposite
  double normal_impulse = 0;                            // its part along the normal, ≥ 0
  double gap = 0;                                       // m, negative: overlap
  Vec3 velocity_a = Vec3::Zero(), velocity_b = Vec3::Zero();  // m/s, of the two points before the tick
};

// Two objects that may reach so deep into each other before they push, and how fast what is deeper is mended, see
// rigidplastic/bullet/overlap.h.
struct AllowedOverlap {
  int a = 0, b = 0;
  double depth = 0;       // m
  double mend_speed = 0;  // m/s
};

// What the impulses of a step left an object with, where it was before the step.
struct StruckMotion {
  Vec3 velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();  // m/s, rad/s
  Vec3 mending = Vec3::Zero();  // m, by which Bullet then moved it out of overlaps
};

struct BulletOptions {
  Vec3 gravity = Vec3::Zero();
  int solver_iterations = 30;
  std::vector<AllowedOverlap> allowed = {};
};

class BulletWorld {
 public:
  BulletWorld(const std::vector<RigidObject>& objects, const std::vector<Joint>& joints,
              const BulletOptions& options);
  ~BulletWorld();
  BulletWorld(const BulletWorld&) = delete;
  BulletWorld& operator=(const BulletWorld&) = delete;

  // Force (N) and torque (N m) about the centre for the next step only.
  void apply(std::size_t object, const Vec3& force, const Vec3& torque);
  // Where a kinematic object is at the end of the next step.
  void move(std::size_t object, const RigidState& target);
  // Takes over mass, inertia, shape and state. `new_shape`: the Bullet shape is another one than before.
  void reshape(std::size_t object, const RigidObject& now, bool new_shape);
  void set_state(std::size_t object, const RigidState& state);
  void set_restitution_factor(std::size_t object, double factor);
  void set_joint(std::size_t joint, const Joint& now);  // other pivots, axes or moments

  void step(double dt);
  RigidState state(std::size_t object) const;
  StruckMotion struck_motion(std::size_t object) const;  // of a free object
  // Contacts of the last step, in an order that depends on the states only. `before`: the objects' states at
  // the start of that step.
  std::vector<Contact> contacts(std::span<const RigidState> before) const;
  JointLoad joint_load(std::size_t joint) const;
  // Deepest overlap of any contact after the last step, m.
  double deepest_contact() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace exemplar::rigid
