#include "rigidplastic/fracture/held_pieces.h"

#include <Eigen/SVD>
#include <algorithm>
#include <map>

#include "rigidplastic/bullet/overlap.h"

namespace exemplar::rigid {

namespace {

constexpr double k_mended_per_second = 0.02;  // of the smaller extent: how fast pieces leave each other

// x = Q X + t, and how it goes on: v(x) = velocity + ω × (x − centre).
struct CommonMotion {
  Mat3 turn = Mat3::Identity();
  Vec3 shift = Vec3::Zero();
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();
};

Mat3 turn_of(const RigidBody& body) {
  return body.state.orientation.toRotationMatrix() * body.frame.axes.transpose();
}

// ∫ (X − c)(X − c)ᵀ dm of a body about its centre, in the coordinates that it is described in.
Mat3 second_moment(const RigidBody& body) {
  const Vec3 squares = Vec3::Constant(0.5 * body.frame.inertia.sum()) - body.frame.inertia;
  return body.frame.axes * squares.asDiagonal() * body.frame.axes.transpose();
}

Mat3 nearest_rotation(const Mat3& m) {
  const Eigen::JacobiSVD<Mat3> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Vec3 signs = Vec3::Ones();
  signs[2] = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
  return svd.matrixU() * signs.asDiagonal() * svd.matrixV().transpose();
}

Mat3 point_inertia(double mass, const Vec3& arm) {
  return mass * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
}

CommonMotion motion_of_held(const RigidBody& held) {
  CommonMotion motion;
  motion.turn = turn_of(held);
  motion.shift = held.state.position - motion.turn * held.frame.centre;
  motion.centre = held.state.position;
  motion.velocity = held.state.velocity;
  motion.angular_velocity = held.state.angular_velocity;
  return motion;
}

CommonMotion motion_of_free(const std::vector<const RigidBody*>& bodies) {
  double mass = 0;
  Vec3 rest_centre = Vec3::Zero();
  CommonMotion motion;
  for (const RigidBody* body : bodies) {
    mass += body->mass;
    rest_centre += body->mass * body->frame.centre;
    motion.centre += body->mass * body->state.position;
    motion.velocity += body->mass * body->state.velocity;
  }
  rest_centre /= mass;
  motion.centre /= mass;
  motion.velocity /= mass;
  Mat3 moment = Mat3::Zero(), inertia = Mat3::Zero();
  Vec3 spin = Vec3::Zero();
  for (const RigidBody* body : bodies) {
    const Vec3 arm = body->state.position - motion.centre, rest_arm = body->frame.centre - rest_centre;
    const Mat3 axes = body->state.orientation.toRotationMatrix();
    moment += body->mass * arm * rest_arm.transpose() + turn_of(*body) * second_moment(*body);
    inertia += axes * body->frame.inertia.asDiagonal() * axes.transpose() + point_inertia(body->mass, arm);
    spin += body->mass * arm.cross(body->state.velocity) + spin_momentum(body->state, body->frame.inertia);
  }
  motion.turn = nearest_rotation(moment);
  motion.shift = motion.centre - motion.turn * rest_centre;
  motion.angular_velocity = inertia.ldlt().solve(spin);
  return motion;
}

RigidState state_in(const CommonMotion& motion, const RigidBody& body) {
  RigidState state;
  state.position = motion.turn * body.frame.centre + motion.shift;
  state.orientation = Quat(Mat3(motion.turn * body.frame.axes)).normalized();
  state.angular_velocity = motion.angular_velocity;
  state.velocity = motion.velocity + motion.angular_velocity.cross(state.position - motion.centre);
  return state;
}

}  // namespace

void hold_pieces_together(Simulation& simulation, const std::vector<int>& components) {
  std::map<int, std::vector<std::size_t>> members;
  for (std::size_t r = 0; r < components.size(); ++r) members[components[r]].push_back(r);
  for (const auto& [component, own] : members) {
    if (own.size() < 2) continue;
    std::vector<const RigidBody*> bodies;
    const RigidBody* held = nullptr;
    for (const std::size_t r : own) {
      bodies.push_back(&simulation.bodies()[r]);
      if (!held && simulation.is_held(*bodies.back())) held = bodies.back();
    }
    const CommonMotion motion = held ? motion_of_held(*held) : motion_of_free(bodies);
    for (const std::size_t r : own) {
      const RigidBody& body = simulation.bodies()[r];
      if (!simulation.is_held(body)) simulation.set_state(r, state_in(motion, body));
    }
  }
}

void allow_first_overlaps(Simulation& simulation) {
  const std::vector<RigidBody>& bodies = simulation.bodies();
  std::vector<AllowedOverlap> overlaps;
  for (std::size_t a = 0; a < bodies.size(); ++a) {
    for (std::size_t b = a + 1; b < bodies.size() && bodies[b].scene_body == bodies[a].scene_body; ++b) {
      const double depth = overlap_of(bodies[a].shape, bodies[a].state, bodies[b].shape, bodies[b].state);
      const double size = std::min(bodies[a].shape.smallest_extent(), bodies[b].shape.smallest_extent());
      overlaps.push_back({static_cast<int>(a), static_cast<int>(b), depth, k_mended_per_second * size});
    }
  }
  simulation.allow_overlaps(std::move(overlaps));
}

}  // namespace exemplar::rigid
