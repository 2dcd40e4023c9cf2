// The rigid simulation that `rigid`, `rigid-lbs`, `rigid-dent` and `rigid-bend` share: bodies and obstacles in
// one Bullet world, joints, a contact log after every tick, and bodies whose shape, mass properties and number
// may change between ticks (jones2016 §3.3; patkar2014 §3). A method supplies bodies and two hooks; the rest
// (sub-steps, supports, loads, obstacles, energy balance, state in and out) is here. Units: m, kg, s.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/run/method.h"
#include "core/scene/scene.h"
#include "core/world/loads.h"
#include "core/world/pull.h"
#include "rigidplastic/bullet/world.h"
#include "rigidplastic/simulation/pushes.h"
#include "rigidplastic/simulation/simulation_state.h"

namespace exemplar::rigid {

// A rigid body; its frame is the centre of mass and the principal axes.
struct RigidBody : RigidBodyState {
  std::string name;
  int scene_body = 0;  // the body of the scene that it is, or is a part of
  BulletShape shape;
  double friction = 0.5;
  double restitution = 0;
  const Support* support = nullptr;  // moves the whole body until it lets go
};

// The surface of a scene's body, each vertex carried by one rigid body.
struct CarriedSurface {
  Points local;            // in its carrier's frame
  std::vector<int> owner;  // rigid body of each vertex
  LoadSet loads;
};

struct Options {
  double max_step = 0.004;  // s; fast bodies take shorter ones
  int solver_iterations = 30;
};

// Called around every tick; `dt` is its length.
struct TickHooks {
  std::function<void(double dt)> before;
  // After a tick that may be a rehearsal: true when it called rewind() and changed something, so that the tick is
  // taken again.
  std::function<bool(double dt)> retry;
  std::function<void(double dt)> after;
};

class Simulation {
 public:
  // Obstacles of the scene, no bodies yet. The scene must outlive the simulation.
  Simulation(const Scene& scene, const Options& options);

  // One rigid body for each body of the scene, as it starts.
  void add_scene_bodies(CollisionGeometry geometry);

  const Scene& scene() const { return m_scene; }
  const std::vector<RigidBody>& bodies() const { return m_bodies; }
  const std::vector<CarriedSurface>& surfaces() const { return m_surfaces; }
  const std::vector<Joint>& joints() const { return m_joints; }
  // Objects of the contact log: bodies first, then the scene's obstacles.
  std::size_t object_count() const { return m_bodies.size() + m_obstacle_states.size(); }
  const RigidState& object_state(std::size_t object) const;
  // States of all objects at the start of the last tick.
  const std::vector<RigidState>& states_before() const { return m_before; }
  // Whether a support has the body now, or it is free.
  bool is_held(const RigidBody& body) const { return motion_of(body) != MotionKind::dynamic; }
  double time() const { return m_time; }

  // Changes of what there is: the world is made anew before the next tick.
  void set_bodies(std::vector<RigidBody> bodies, std::vector<Joint> joints);
  void set_surface(std::size_t scene_body, CarriedSurface carried);
  void set_joints(std::vector<Joint> joints);
  std::vector<RigidBody> take_bodies() { return std::move(m_bodies); }
  void set_component(std::size_t body, int component);
  // Bodies that may reach into each other; kept until other bodies are set.
  void allow_overlaps(std::vector<AllowedOverlap> overlaps);
  // Everything as it was at the start of the last tick; from a `retry` hook, before other changes.
  void rewind();

  // Changes of what is there already.
  // The body has another shape: `frame` in the same coordinates as its present frame, `vertices` (of its
  // collision shape) in the new frame. World points and momenta stay.
  void reshape(std::size_t body, const BodyFrame& frame, const Points& vertices);
  // Velocities (or a whole state) given from outside, e.g. after an impulse of a joint.
  void set_state(std::size_t object, const RigidState& state);
  void set_restitution_factor(std::size_t body, double factor);
  // The same two bodies, other pivots, axes or moments.
  void set_joint(std::size_t joint, const Joint& now);
  void set_surface_points(std::size_t scene_body, const Points& local) {
    m_surfaces[scene_body].local = local;
  }
  // Force (N) and torque (N m) about the centre, for the tick that comes; from a `before` hook.
  void apply(std::size_t body, const Vec3& force, const Vec3& torque);

  StepReport advance(double until, const InterruptCheck& interrupted, const TickHooks& hooks = {});

  // Of the last tick; from an `after` hook.
  const std::vector<Contact>& contacts() const;
  const RigidState& state_before(std::size_t object) const { return m_before[object]; }
  JointLoad joint_load(std::size_t joint) const;
  const std::vector<PointForce>& point_forces(std::size_t scene_body) const {
    return m_point_forces[scene_body];
  }
  // What turning in a joint took in it, J.
  double joint_loss(std::size_t joint) const { return m_joint_losses[joint]; }

  // World positions and velocities of a scene body's surface.
  Points surface(std::size_t scene_body) const;
  MatX surface_velocities(std::size_t scene_body, const Points& positions) const;
  Geometry surface_fields() const;  // series "surface" with `velocity`

  Diagnostics diagnostics() const;
  double total_energy() const;  // kinetic and gravitational, of everything that moves freely, J
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const;
  Notes support_notes() const;
  double bullet_seconds() const { return m_bullet_seconds; }

  SimulationState state() const;
  // Into as many bodies as the state has; throws InputError otherwise. Shapes are the method's: it gives their
  // vertices afterwards.
  void restore(const SimulationState& state);
  void restore_shape(std::size_t body, const Points& vertices) {
    m_bodies[body].shape.move_vertices(vertices);
  }

 private:
  RigidObject object_of(const RigidBody& body) const;
  std::vector<RigidObject> objects() const;
  std::vector<RigidState> states() const;
  MotionKind motion_of(const RigidBody& body) const;
  RigidState prescribed(const RigidBody& body, double time) const;
  int substeps(double dt) const;
  void make_world();
  void take_tick(double dt, const TickHooks& hooks);
  void prescribe(double end);
  bool is_loaded(int scene_body, double from, double to) const;  // some load or pull acts within that time
  void apply_loads(double end);
  void add_loads(std::size_t scene_body, double end);
  void add_pulls(std::size_t scene_body, double end);
  double mass_of(std::size_t object) const;
  MiddleMotion middle_motion(std::size_t object, double dt) const;
  void follow_energy(double dt);
  void read_states(double end);
  std::vector<RestingObject> resting_objects();
  ObjectPairs touching() const;                        // in the last tick
  double energy_of(const RigidBodyState& body) const;  // kinetic and gravitational, J
  double obstacle_energy() const;                      // of those that move freely
  void freeze_resting_bodies(double dt);
  bool finite() const;

  const Scene& m_scene;
  Options m_options;
  std::vector<RigidBody> m_bodies;
  std::vector<CarriedSurface> m_surfaces;
  std::vector<Joint> m_joints;
  std::vector<AllowedOverlap> m_allowed;
  std::vector<BulletShape> m_obstacle_shapes;
  std::vector<RigidState> m_obstacle_states;
  std::vector<RestClock> m_obstacle_rest;
  ObjectPairs m_touched;  // in the last tick
  EnergyLedger m_energies;
  std::vector<PullSet> m_pulls;                         // of the scene's bodies
  std::vector<std::vector<PointForce>> m_point_forces;  // on the scene's bodies, in this tick
  std::vector<Push> m_pushes;                           // on the bodies, in this tick
  std::vector<Contact> m_contacts;                      // of the last tick
  std::vector<double> m_joint_losses;                   // J, of the last tick
  double m_initial_obstacle_energy = 0;                 // J
  std::vector<RigidState> m_before;                     // all objects, at the start of the last tick
  std::unique_ptr<BulletWorld> m_world;
  double m_time = 0;
  double m_time_before = 0;
  double m_initial_energy = 0;
  bool m_started = false;
  double m_bullet_seconds = 0;
};

// A body of the scene as it starts, and its surface.
RigidBody make_rigid_body(const Body& body, int scene_body, CollisionGeometry geometry);
CarriedSurface make_carried_surface(const Scene& scene, const Body& body, const RigidBody& carrier,
                                    int index);

}  // namespace exemplar::rigid
