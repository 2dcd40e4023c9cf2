#include "rigidplastic/bullet/world.h"

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletDynamics/ConstraintSolver/btGeneric6DofSpring2Constraint.h>
#include <btBulletDynamicsCommon.h>

#include <BulletCollision/CollisionDispatch/btConvexConvexAlgorithm.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "rigidplastic/bullet/contact_solver.h"
#include "rigidplastic/bullet/face_contact.h"
#include "rigidplastic/bullet/vectors.h"
#include "rigidplastic/bullet/yielding_joint.h"

namespace exemplar::rigid {

namespace {

// What our callbacks know of a Bullet object, behind its user pointer.
struct Tag {
  int index = 0;
  bool is_obstacle = false, has_friction = true;
  double restitution_factor = 1;
};

const Tag& tag_of(const btCollisionObject* object) {
  return *static_cast<const Tag*>(object->getUserPointer());
}

// An obstacle's friction, if it has one, is that of whatever touches it; between bodies the smoother one decides.
btScalar combined_friction(const btCollisionObject* a, const btCollisionObject* b) {
  if (tag_of(a).is_obstacle && !tag_of(b).is_obstacle) return (tag_of(a).has_friction ? a : b)->getFriction();
  if (tag_of(b).is_obstacle && !tag_of(a).is_obstacle) return (tag_of(b).has_friction ? b : a)->getFriction();
  return std::min(a->getFriction(), b->getFriction());
}

// Bullet's product would make every pair with one dead partner dead. A deforming partner takes its share.
btScalar combined_restitution(const btCollisionObject* a, const btCollisionObject* b) {
  return std::max(a->getRestitution(), b->getRestitution()) *
         std::min(tag_of(a).restitution_factor, tag_of(b).restitution_factor);
}

btTransform joint_frame(const Vec3& pivot, const Quat& axes) {
  return btTransform(to_bullet(axes), to_bullet(pivot));
}

Contact flipped(Contact c) {
  std::swap(c.a, c.b);
  std::swap(c.part_a, c.part_b);
  std::swap(c.index_a, c.index_b);
  std::swap(c.point_a, c.point_b);
  c.normal = -c.normal;
  c.impulse = -c.impulse;
  return c;
}

auto order_of(const Contact& c) {
  return std::make_tuple(c.a, c.b, c.part_a, c.index_a, c.part_b, c.index_b, c.point_a.x(), c.point_a.y(),
                         c.point_a.z());
}

// Friction acts along the first direction only: Bullet's default mode turns it along the sliding velocity and
// never writes the second one.
Contact contact_of(const btManifoldPoint& point, const btCollisionObject* first,
                   const btCollisionObject* second) {
  Contact c;
  c.a = tag_of(first).index;
  c.b = tag_of(second).index;
  c.part_a = point.m_partId0;
  c.index_a = point.m_index0;
  c.part_b = point.m_partId1;
  c.index_b = point.m_index1;
  c.point_a = from_bullet(point.getPositionWorldOnA());
  c.point_b = from_bullet(point.getPositionWorldOnB());
  c.normal = from_bullet(point.m_normalWorldOnB);
  c.normal_impulse = point.m_appliedImpulse;
  c.impulse =
      c.normal_impulse * c.normal + point.m_appliedImpulseLateral1 * from_bullet(point.m_lateralFrictionDir1);
  c.gap = point.getDistance();
  return c.a < c.b ? c : flipped(c);
}

// Turns free bodies so that they keep their angular momentum L = I ω: with the ω of the middle of the step, and afterwards
// ω = I⁻¹ L. Bullet's gyroscopic term took 38 % of it in 20 s (10 rad/s, 4 ms). Before the bodies move on, Bullet turns them to
// mend overlaps, with what they had of ω; here ω turns with the body, which neither gives nor takes energy.
class SpinKeepingWorld : public btDiscreteDynamicsWorld {
 public:
  using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;
  const StruckMotion& struck(std::size_t object) const { return m_struck[object]; }

 protected:
  void internalSingleStepSimulation(btScalar dt) override {
    m_starts.clear();
    m_struck.assign(static_cast<std::size_t>(getNumCollisionObjects()), {});
    for (int b = 0; b < m_nonStaticRigidBodies.size(); ++b)
      m_starts.push_back(m_nonStaticRigidBodies[b]->getWorldTransform());
    btDiscreteDynamicsWorld::internalSingleStepSimulation(dt);
  }
  void integrateTransforms(btScalar dt) override {
    std::vector<btVector3> momenta;
    for (int b = 0; b < m_nonStaticRigidBodies.size(); ++b) {
      btRigidBody& body = *m_nonStaticRigidBodies[b];
      const btTransform& start = m_starts[static_cast<std::size_t>(b)];
      m_struck[static_cast<std::size_t>(tag_of(&body).index)] = {
          from_bullet(body.getLinearVelocity()), from_bullet(body.getAngularVelocity()),
          from_bullet(body.getWorldTransform().getOrigin() - start.getOrigin())};
      momenta.push_back(momentum_of(body, start.getBasis()));
      if (is_free(body)) body.setAngularVelocity(middle_velocity(body, momenta.back(), dt));
    }
    btDiscreteDynamicsWorld::integrateTransforms(dt);
    for (int b = 0; b < m_nonStaticRigidBodies.size(); ++b) {
      btRigidBody& body = *m_nonStaticRigidBodies[b];
      if (is_free(body))
        body.setAngularVelocity(
            velocity_of(body, body.getWorldTransform().getBasis(), momenta[static_cast<std::size_t>(b)]));
    }
  }

 private:
  static bool is_free(const btRigidBody& body) {
    return !body.isStaticOrKinematicObject() && !body.getInvInertiaDiagLocal().isZero();
  }
  // `axes`: when the impulses acted.
  static btVector3 momentum_of(const btRigidBody& body, const btMatrix3x3& axes) {
    const btVector3 local = body.getAngularVelocity() * axes;  // axesᵀ ω
    const btVector3& inverse = body.getInvInertiaDiagLocal();
    btVector3 momentum(0, 0, 0);
    for (int a = 0; a < 3; ++a)
      if (inverse[a] > 0) momentum[a] = local[a] / inverse[a];
    return body.getWorldTransform().getBasis() * momentum;
  }
  static btVector3 velocity_of(const btRigidBody& body, const btMatrix3x3& axes, const btVector3& momentum) {
    return axes * ((momentum * axes) * body.getInvInertiaDiagLocal());
  }
  static btVector3 middle_velocity(const btRigidBody& body, const btVector3& momentum, btScalar dt) {
    btVector3 velocity = body.getAngularVelocity();
    for (int k = 0; k < 3; ++k) {
      btTransform middle;
      btTransformUtil::integrateTransform(body.getWorldTransform(), btVector3(0, 0, 0), velocity, dt / 2,
                                          middle);
      velocity = velocity_of(body, middle.getBasis(), momentum);
    }
    return velocity;
  }

  std::vector<btTransform> m_starts;   // of the bodies at the start of the step
  std::vector<StruckMotion> m_struck;  // of all objects
};

}  // namespace

struct BulletWorld::Implementation {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  // Of two hulls Bullet finds one point a tick, and the world is new at every frame: a box that lay on one or two of its corners
  // rocked and walked out of its stack. Four points at once, by turning the hulls a little. Not for hulls on boxes: face_contact.h
  // knows their points.
  btGjkEpaPenetrationDepthSolver depth_solver;
  btConvexConvexAlgorithm::CreateFunc several_points{&depth_solver};
  FaceContactMaker face_contacts{
      configuration.getCollisionAlgorithmCreateFunc(CONVEX_HULL_SHAPE_PROXYTYPE, BOX_SHAPE_PROXYTYPE)};
  btDbvtBroadphase broadphase;
  ContactSolver solver;
  SpinKeepingWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  std::vector<std::unique_ptr<Tag>> tags;
  std::vector<std::unique_ptr<btTypedConstraint>> joints;
  std::vector<Vec3> arms;    // m, world, of the last step
  std::vector<Vec3> pivots;  // of the joints, in the frame of their object a
  std::vector<std::unique_ptr<btJointFeedback>> feedback;
  double last_step = 0;
  bool modulated = false;  // some restitution factor is not 1

  Implementation() {
    several_points.m_numPerturbationIterations = several_points.m_minimumPointsPerturbationThreshold = 4;
    for (const int a : {CONVEX_HULL_SHAPE_PROXYTYPE, CUSTOM_CONVEX_SHAPE_TYPE}) {
      for (const int b : {CONVEX_HULL_SHAPE_PROXYTYPE, CUSTOM_CONVEX_SHAPE_TYPE})
        dispatcher.registerCollisionCreateFunc(a, b, &several_points);
    }
    gCalculateCombinedFrictionCallback = combined_friction;
    gCalculateCombinedRestitutionCallback = combined_restitution;
    btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
    face_contacts.register_at(dispatcher);
    world.getDispatchInfo().m_deterministicOverlappingPairs = true;
    solver.reset();
  }

  ~Implementation() {
    forget_pairs();
    for (const auto& joint : joints) world.removeConstraint(joint.get());
    for (const auto& body : bodies) world.removeRigidBody(body.get());
  }

  // Bullet looks through all pairs for every body that leaves; here they all leave.
  void forget_pairs() {
    struct : btOverlapCallback {
      bool processOverlap(btBroadphasePair&) override { return true; }  // the pair goes
    } all;
    broadphase.getOverlappingPairCache()->processAllOverlappingPairs(&all, &dispatcher);
  }

  void add(const RigidObject& object) {
    const bool dynamic = object.kind == MotionKind::dynamic;
    btRigidBody::btRigidBodyConstructionInfo info(
        dynamic ? object.mass : 0, nullptr, object.shape->get(),
        dynamic ? to_bullet(object.principal_inertia) : btVector3(0, 0, 0));
    info.m_startWorldTransform = to_bullet(object.state);
    info.m_friction = object.friction;
    info.m_restitution = object.restitution;
    info.m_rollingFriction = 0;
    auto body = std::make_unique<btRigidBody>(info);
    tags.push_back(std::make_unique<Tag>(Tag{static_cast<int>(bodies.size()), object.is_obstacle,
                                             object.has_friction, object.restitution_factor}));
    modulated = modulated || object.restitution_factor != 1;
    body->setUserPointer(tags.back().get());
    if (object.kind == MotionKind::kinematic) {
      body->setCollisionFlags(body->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
    }
    body->setActivationState(DISABLE_DEACTIVATION);
    body->setFlags(0);  // no gyroscopic term: see SpinKeepingWorld
    // Bullet takes gap/dt off the rebound of a contact that is still open, which loses up to all of it: where
    // there is restitution, only touching points are solved.
    if (object.restitution > 0) {
      body->setContactProcessingThreshold(0);
      // What does not touch what bounces is solved by itself: see ContactSolver.
      world.getSolverInfo().m_minimumSolverBatchSize = 1;
    }
    body->setLinearVelocity(to_bullet(object.state.velocity));
    body->setAngularVelocity(to_bullet(object.state.angular_velocity));
    world.addRigidBody(body.get());
    bodies.push_back(std::move(body));
  }

  void separate_components(const std::vector<RigidObject>& objects) {
    std::map<int, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (objects[i].component < 0) continue;
      std::vector<std::size_t>& own = members[objects[i].component];
      for (const std::size_t other : own) bodies[other]->setIgnoreCollisionCheck(bodies[i].get(), true);
      own.push_back(i);
    }
  }

  // Where the joints are from the centre of their object a: the solver's impulses act there, at the start of a step.
  void find_arms() {
    arms.resize(joints.size());
    for (std::size_t j = 0; j < joints.size(); ++j)
      arms[j] = from_bullet(joints[j]->getRigidBodyA().getWorldTransform().getBasis() * to_bullet(pivots[j]));
  }

  std::unique_ptr<btTypedConstraint> yielding(const Joint& joint) {
    return std::make_unique<YieldingJoint>(
        *bodies[static_cast<std::size_t>(joint.a)], *bodies[static_cast<std::size_t>(joint.b)],
        joint_frame(joint.pivot_a, joint.frame_a), joint_frame(joint.pivot_b, joint.frame_b),
        to_bullet(joint.yield_moment));
  }

  std::unique_ptr<btTypedConstraint> holding(const Joint& joint) {
    auto made = std::make_unique<btGeneric6DofSpring2Constraint>(
        *bodies[static_cast<std::size_t>(joint.a)], *bodies[static_cast<std::size_t>(joint.b)],
        joint_frame(joint.pivot_a, joint.frame_a), joint_frame(joint.pivot_b, joint.frame_b));
    made->setLinearLowerLimit({0, 0, 0});
    made->setLinearUpperLimit({0, 0, 0});
    const btVector3 free(1, 1, 1), held(0, 0, 0);
    made->setAngularLowerLimit(joint.holds_rotation ? held : free);  // lower > upper: free
    made->setAngularUpperLimit(joint.holds_rotation ? held : -free);
    return made;
  }

  void add(const Joint& joint) {
    joints.push_back(joint.yields() ? yielding(joint) : holding(joint));
    pivots.push_back(joint.pivot_a);
    feedback.push_back(std::make_unique<btJointFeedback>());
    joints.back()->setJointFeedback(feedback.back().get());
    world.addConstraint(joints.back().get(), true);
  }

  // Bullet keeps a pair's restitution from when a contact point was added.
  void refresh_restitution() {
    for (int m = 0; m < dispatcher.getNumManifolds(); ++m) {
      btPersistentManifold* manifold = dispatcher.getManifoldByIndexInternal(m);
      const btScalar value = combined_restitution(manifold->getBody0(), manifold->getBody1());
      for (int c = 0; c < manifold->getNumContacts(); ++c) {
        manifold->getContactPoint(c).m_combinedRestitution = value;
      }
    }
  }

  void place(std::size_t object, const RigidState& target) {
    btRigidBody& body = *bodies[object];
    body.setWorldTransform(to_bullet(target));
    body.setInterpolationWorldTransform(to_bullet(target));
    body.setLinearVelocity(to_bullet(target.velocity));
    body.setAngularVelocity(to_bullet(target.angular_velocity));
  }
};

BulletWorld::BulletWorld(const std::vector<RigidObject>& objects, const std::vector<Joint>& joints,
                         const BulletOptions& options)
    : m_implementation(std::make_unique<Implementation>()) {
  Implementation& self = *m_implementation;
  self.world.setGravity(to_bullet(options.gravity));
  self.solver.allow(options.allowed, [](const btCollisionObject* object) { return tag_of(object).index; });
  self.world.getSolverInfo().m_numIterations = options.solver_iterations;
  // Separate position correction from velocities at any depth: overlaps never turn into motion.
  self.world.getSolverInfo().m_splitImpulse = 1;
  self.world.getSolverInfo().m_splitImpulsePenetrationThreshold = 0;
  self.world.getSolverInfo().m_restitutionVelocityThreshold = k_bounce_speed;
  for (const RigidObject& object : objects) self.add(object);
  self.separate_components(objects);
  for (const Joint& joint : joints) self.add(joint);
}

BulletWorld::~BulletWorld() = default;

void BulletWorld::apply(std::size_t object, const Vec3& force, const Vec3& torque) {
  m_implementation->bodies[object]->applyCentralForce(to_bullet(force));
  m_implementation->bodies[object]->applyTorque(to_bullet(torque));
}

// Bullet takes a kinematic body's velocity from how far it is from its interpolated transform: that one stays behind.
void BulletWorld::move(std::size_t object, const RigidState& target) {
  m_implementation->bodies[object]->setWorldTransform(to_bullet(target));
}

void BulletWorld::set_state(std::size_t object, const RigidState& state) {
  m_implementation->place(object, state);
  m_implementation->bodies[object]->updateInertiaTensor();
}

void BulletWorld::set_joint(std::size_t joint, const Joint& now) {
  btTypedConstraint& held = *m_implementation->joints[joint];
  const btTransform frame_a = joint_frame(now.pivot_a, now.frame_a),
                    frame_b = joint_frame(now.pivot_b, now.frame_b);
  if (now.yields()) {
    dynamic_cast<YieldingJoint&>(held).set(frame_a, frame_b, to_bullet(now.yield_moment));
  } else {
    dynamic_cast<btGeneric6DofSpring2Constraint&>(held).setFrames(frame_a, frame_b);
  }
  m_implementation->pivots[joint] = now.pivot_a;
}

void BulletWorld::reshape(std::size_t object, const RigidObject& now, bool new_shape) {
  Implementation& self = *m_implementation;
  btRigidBody& body = *self.bodies[object];
  if (new_shape) {
    self.broadphase.getOverlappingPairCache()->cleanProxyFromPairs(body.getBroadphaseHandle(),
                                                                   &self.dispatcher);
    body.setCollisionShape(now.shape->get());
  }
  if (now.kind == MotionKind::dynamic) body.setMassProps(now.mass, to_bullet(now.principal_inertia));
  set_state(object, now.state);
  self.world.updateSingleAabb(&body);
}

void BulletWorld::set_restitution_factor(std::size_t object, double factor) {
  m_implementation->tags[object]->restitution_factor = factor;
  m_implementation->modulated = m_implementation->modulated || factor != 1;
}

void BulletWorld::step(double dt) {
  if (m_implementation->modulated) m_implementation->refresh_restitution();
  m_implementation->last_step = dt;
  m_implementation->find_arms();
  m_implementation->world.stepSimulation(dt, 0);
}

RigidState BulletWorld::state(std::size_t object) const {
  const btRigidBody& body = *m_implementation->bodies[object];
  const btTransform& transform = body.getWorldTransform();
  const btQuaternion q = transform.getRotation();
  RigidState state;
  state.position = from_bullet(transform.getOrigin());
  state.orientation = Quat(q.w(), q.x(), q.y(), q.z()).normalized();
  state.velocity = from_bullet(body.getLinearVelocity());
  state.angular_velocity = from_bullet(body.getAngularVelocity());
  return state;
}

StruckMotion BulletWorld::struck_motion(std::size_t object) const {
  return m_implementation->world.struck(object);
}

std::vector<Contact> BulletWorld::contacts(std::span<const RigidState> before) const {
  std::vector<Contact> contacts;
  btDispatcher& dispatcher = m_implementation->dispatcher;
  for (int m = 0; m < dispatcher.getNumManifolds(); ++m) {
    const btPersistentManifold* manifold = dispatcher.getManifoldByIndexInternal(m);
    const btCollisionObject *first = manifold->getBody0(), *second = manifold->getBody1();
    if (first->isStaticOrKinematicObject() && second->isStaticOrKinematicObject()) continue;
    for (int c = 0; c < manifold->getNumContacts(); ++c) {
      const btManifoldPoint& point = manifold->getContactPoint(c);
      // Not solved in this step: what it holds is from an earlier one.
      if (point.getDistance() > manifold->getContactProcessingThreshold()) continue;
      contacts.push_back(contact_of(point, first, second));
    }
  }
  for (Contact& c : contacts) {
    c.velocity_a = before[static_cast<std::size_t>(c.a)].velocity_at(c.point_a);
    c.velocity_b = before[static_cast<std::size_t>(c.b)].velocity_at(c.point_b);
  }
  std::sort(contacts.begin(), contacts.end(),
            [](const Contact& p, const Contact& q) { return order_of(p) < order_of(q); });
  return contacts;
}

JointLoad BulletWorld::joint_load(std::size_t joint) const {
  const btJointFeedback& feedback = *m_implementation->feedback[joint];
  const double dt = m_implementation->last_step;
  JointLoad load;
  load.impulse = dt * from_bullet(feedback.m_appliedForceBodyA);
  load.angular_impulse =
      dt * from_bullet(feedback.m_appliedTorqueBodyA) - m_implementation->arms[joint].cross(load.impulse);
  return load;
}

double BulletWorld::deepest_contact() const {
  double deepest = 0;
  btDispatcher& dispatcher = m_implementation->dispatcher;
  for (int m = 0; m < dispatcher.getNumManifolds(); ++m) {
    const btPersistentManifold* manifold = dispatcher.getManifoldByIndexInternal(m);
    for (int c = 0; c < manifold->getNumContacts(); ++c) {
      deepest = std::max(deepest, -static_cast<double>(manifold->getContactPoint(c).getDistance()));
    }
  }
  return deepest;
}

}  // namespace exemplar::rigid
