// A Bullet world (unmodified Bullet, double precision) made from plain rigid states, stepped, and read back.
// It is made anew for every frame, so that a run's state is exactly the list of states: contact caches and
// sleeping timers that Bullet keeps elsewhere would otherwise make a resumed run differ. Units: m, kg, s.
#pragma once

#include <memory>
#include <vector>

#include "core/world/obstacle.h"
#include "rigidplastic/bullet/bullet_shapes.h"

namespace exemplar {

enum class MotionKind { fixed, kinematic, dynamic };

struct RigidObject {
  const BulletShape* shape = nullptr;
  MotionKind kind = MotionKind::dynamic;
  double mass = 0;
  Vec3 principal_inertia = Vec3::Ones();  // kg m², body axes
  double friction = 0.5;
  double restitution = 0;
  bool is_obstacle = false;  // its friction decides in a pair with a body
  ObstacleState state;
};

struct BulletOptions {
  Vec3 gravity = Vec3::Zero();
  int solver_iterations = 30;
};

class BulletWorld {
 public:
  BulletWorld(const std::vector<RigidObject>& objects, const BulletOptions& options);
  ~BulletWorld();
  BulletWorld(const BulletWorld&) = delete;
  BulletWorld& operator=(const BulletWorld&) = delete;

  // Force (N) and torque (N m) about the centre for the next step only.
  void apply(std::size_t object, const Vec3& force, const Vec3& torque);
  // Where a kinematic object is at the end of the next step.
  void move(std::size_t object, const ObstacleState& target);
  void step(double dt);
  ObstacleState state(std::size_t object) const;
  // Deepest overlap of any contact after the last step, m.
  double deepest_contact() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace exemplar
