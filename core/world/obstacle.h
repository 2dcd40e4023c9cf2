// Obstacles: rigid solids that stand still, follow keyframes, or move freely with a mass, pushed by the bodies
// of every method. Units: m, kg, s, rad.
#pragma once

#include <string>
#include <vector>

#include "core/world/curve.h"
#include "core/world/rigid_state.h"
#include "core/world/shape.h"

namespace exemplar {

enum class ObstacleKind { fixed, keyframed, dynamic };

// What a scene says about an obstacle.
struct Obstacle {
  std::string name;
  ShapeDescription shape;
  ObstacleKind kind = ObstacleKind::fixed;
  double mass = 0;                       // kg; dynamic obstacles only
  Vec3 position = Vec3::Zero();          // m, of the shape's local origin
  Vec3 rotation = Vec3::Zero();          // rotation vector, rad: local → world
  Vec3 velocity = Vec3::Zero();          // m/s at the start, of the centre of mass; dynamic only
  Vec3 angular_velocity = Vec3::Zero();  // rad/s at the start, world axes; dynamic only
  std::vector<Keyframe> keyframes;       // poses of the local origin in the world; keyframed only
  Interpolation interpolation = Interpolation::smooth;
  double friction = 0.5;     // Coulomb coefficient
  bool has_friction = true;  // false: in contact with a body, the body's coefficient holds instead
  double restitution = 0;    // 0 … 1; methods that resolve contact by impulses use it

  double friction_with(double body_friction) const { return has_friction ? friction : body_friction; }
};

using ObstacleState = RigidState;

// An obstacle ready for use. Its body frame is the shape's local frame, except that a dynamic obstacle's
// origin is its centre of mass (which moves only meshes).
class ObstacleBody {
 public:
  // Throws InputError: dynamic without positive mass or with a plane, keyframed without keyframes, numbers
  // out of range.
  explicit ObstacleBody(Obstacle description);

  const Obstacle& description() const { return m_description; }
  const std::string& name() const { return m_description.name; }
  const ShapeGeometry& shape() const { return m_shape; }  // in the body frame
  ObstacleKind kind() const { return m_description.kind; }
  bool dynamic() const { return kind() == ObstacleKind::dynamic; }

  double mass() const { return m_description.mass; }           // kg
  const Mat3& body_inertia() const { return m_body_inertia; }  // kg m², body axes, about the centre of mass
  Mat3 world_inertia(const ObstacleState& state) const;
  Mat3 world_inverse_inertia(const ObstacleState& state) const;  // zero unless dynamic
  double inverse_mass() const { return dynamic() ? 1 / mass() : 0; }

  const ObstacleState& initial_state() const { return m_initial; }
  // Of fixed and keyframed obstacles at a time; for dynamic ones the initial state.
  ObstacleState prescribed_state(double time) const;

  // Signed distance in world coordinates: gradient is the outward normal.
  SignedDistance distance(const ObstacleState& state, const Vec3& world) const;
  // The surface to draw, in the world.
  TriMesh surface(const ObstacleState& state) const;

 private:
  Obstacle m_description;
  ShapeGeometry m_shape;
  Mat3 m_body_inertia = Mat3::Zero();
  Mat3 m_body_inverse_inertia = Mat3::Zero();
  ObstacleState m_initial;
};

std::vector<ObstacleBody> make_obstacles(const std::vector<Obstacle>& descriptions);

}  // namespace exemplar
