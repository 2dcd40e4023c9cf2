#include "rigidplastic/bullet/bullet_world.h"

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>

#include "rigidplastic/bullet/bullet_vectors.h"

namespace exemplar {

namespace {

btTransform transform_of(const ObstacleState& state) {
  const Quat& q = state.orientation;
  return btTransform(btQuaternion(q.x(), q.y(), q.z(), q.w()), to_bullet(state.position));
}

constexpr int k_obstacle = 1;

// An obstacle's friction is that of whatever touches it; between bodies the smoother one decides.
btScalar combined_friction(const btCollisionObject* a, const btCollisionObject* b) {
  if (a->getUserIndex() == k_obstacle && b->getUserIndex() != k_obstacle) return a->getFriction();
  if (b->getUserIndex() == k_obstacle && a->getUserIndex() != k_obstacle) return b->getFriction();
  return std::min(a->getFriction(), b->getFriction());
}

// Bullet's product would make every pair with one dead partner dead.
btScalar combined_restitution(const btCollisionObject* a, const btCollisionObject* b) {
  return std::max(a->getRestitution(), b->getRestitution());
}

}  // namespace

struct BulletWorld::Implementation {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btRigidBody>> bodies;

  Implementation() {
    gCalculateCombinedFrictionCallback = combined_friction;
    gCalculateCombinedRestitutionCallback = combined_restitution;
    btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
    world.getDispatchInfo().m_deterministicOverlappingPairs = true;
    solver.reset();
  }

  ~Implementation() {
    for (const auto& body : bodies) world.removeRigidBody(body.get());
  }

  void add(const RigidObject& object) {
    const bool dynamic = object.kind == MotionKind::dynamic;
    btRigidBody::btRigidBodyConstructionInfo info(
        dynamic ? object.mass : 0, nullptr, object.shape->get(),
        dynamic ? to_bullet(object.principal_inertia) : btVector3(0, 0, 0));
    info.m_startWorldTransform = transform_of(object.state);
    info.m_friction = object.friction;
    info.m_restitution = object.restitution;
    info.m_rollingFriction = 0;
    auto body = std::make_unique<btRigidBody>(info);
    body->setUserIndex(object.is_obstacle ? k_obstacle : 0);
    if (object.kind == MotionKind::kinematic) {
      body->setCollisionFlags(body->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
    }
    body->setActivationState(DISABLE_DEACTIVATION);
    // Bullet takes gap/dt off the rebound of a contact that is still open, which loses up to all of it: where
    // there is restitution, only touching points are solved.
    if (object.restitution > 0) body->setContactProcessingThreshold(0);
    body->setLinearVelocity(to_bullet(object.state.velocity));
    body->setAngularVelocity(to_bullet(object.state.angular_velocity));
    world.addRigidBody(body.get());
    bodies.push_back(std::move(body));
  }
};

BulletWorld::BulletWorld(const std::vector<RigidObject>& objects, const BulletOptions& options)
    : m_implementation(std::make_unique<Implementation>()) {
  Implementation& self = *m_implementation;
  self.world.setGravity(to_bullet(options.gravity));
  self.world.getSolverInfo().m_numIterations = options.solver_iterations;
  // Separate position correction from velocities at any depth: overlaps never turn into motion.
  self.world.getSolverInfo().m_splitImpulse = 1;
  self.world.getSolverInfo().m_splitImpulsePenetrationThreshold = 0;
  for (const RigidObject& object : objects) self.add(object);
}

BulletWorld::~BulletWorld() = default;

void BulletWorld::apply(std::size_t object, const Vec3& force, const Vec3& torque) {
  m_implementation->bodies[object]->applyCentralForce(to_bullet(force));
  m_implementation->bodies[object]->applyTorque(to_bullet(torque));
}

void BulletWorld::move(std::size_t object, const ObstacleState& target) {
  btRigidBody& body = *m_implementation->bodies[object];
  body.setWorldTransform(transform_of(target));
  body.setInterpolationWorldTransform(transform_of(target));
  body.setLinearVelocity(to_bullet(target.velocity));
  body.setAngularVelocity(to_bullet(target.angular_velocity));
}

void BulletWorld::step(double dt) {
  m_implementation->world.stepSimulation(dt, 0);
}

ObstacleState BulletWorld::state(std::size_t object) const {
  const btRigidBody& body = *m_implementation->bodies[object];
  const btTransform& transform = body.getWorldTransform();
  const btQuaternion q = transform.getRotation();
  ObstacleState state;
  state.position = from_bullet(transform.getOrigin());
  state.orientation = Quat(q.w(), q.x(), q.y(), q.z()).normalized();
  state.velocity = from_bullet(body.getLinearVelocity());
  state.angular_velocity = from_bullet(body.getAngularVelocity());
  return state;
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

}  // namespace exemplar
