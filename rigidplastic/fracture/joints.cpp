#include "rigidplastic/fracture/joints.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/base/errors.h"

namespace exemplar::rigid {

double BreakableJoint::stress(double window) const {
  const double radius = std::sqrt(area / std::numbers::pi);
  return (impulse.norm() + 4 * angular_impulse.norm() / radius) / (area * window);
}

void BreakableJoints::add(const std::vector<RigidBody>& bodies, int a, int b, const Vec3& pivot, double area,
                          double strength) {
  const RigidState &first = bodies[static_cast<std::size_t>(a)].state,
                   &second = bodies[static_cast<std::size_t>(b)].state;
  BreakableJoint joint;
  joint.piece_a = a;
  joint.piece_b = b;
  joint.area = area;
  joint.strength = strength;
  joint.joint.a = a;
  joint.joint.b = b;
  joint.joint.pivot_a = first.to_local(pivot);
  joint.joint.pivot_b = second.to_local(pivot);
  joint.joint.frame_a = first.orientation.conjugate();
  joint.joint.frame_b = second.orientation.conjugate();
  m_joints.push_back(joint);
}

std::vector<Joint> BreakableJoints::holding() const {
  std::vector<Joint> joints;
  for (const BreakableJoint& joint : m_joints) {
    if (!joint.broken) joints.push_back(joint.joint);
  }
  return joints;
}

bool BreakableJoints::update(const Simulation& simulation, double dt) {
  const double kept = std::exp(-dt / m_window);
  bool broke = false;
  std::size_t index = 0;  // among those that hold
  for (BreakableJoint& joint : m_joints) {
    if (joint.broken) continue;
    const JointLoad load = simulation.joint_load(index++);
    joint.impulse = kept * joint.impulse + load.impulse;
    joint.angular_impulse = kept * joint.angular_impulse + load.angular_impulse;
    joint.broken = joint.stress(m_window) > joint.strength;
    broke = broke || joint.broken;
  }
  return broke;
}

std::vector<int> BreakableJoints::components(std::size_t body_count) const {
  std::vector<int> label(body_count);
  std::iota(label.begin(), label.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const BreakableJoint& joint : m_joints) {
      if (joint.broken) continue;
      int &a = label[static_cast<std::size_t>(joint.piece_a)],
          &b = label[static_cast<std::size_t>(joint.piece_b)];
      if (a == b) continue;
      a = b = std::min(a, b);
      changed = true;
    }
  }
  return label;
}

void BreakableJoints::follow(int body, const BodyFrame& from, const BodyFrame& to) {
  auto moved = [&](Vec3& pivot, Quat& frame) {
    const Vec3 model = from.centre + from.axes * pivot;
    pivot = to.axes.transpose() * (model - to.centre);
    frame = (Quat(Mat3(to.axes.transpose() * from.axes)) * frame).normalized();
  };
  for (BreakableJoint& joint : m_joints) {
    if (joint.piece_a == body) moved(joint.joint.pivot_a, joint.joint.frame_a);
    if (joint.piece_b == body) moved(joint.joint.pivot_b, joint.joint.frame_b);
  }
}

void BreakableJoints::restore(std::vector<BreakableJoint> joints) {
  const bool same = std::equal(joints.begin(), joints.end(), m_joints.begin(), m_joints.end(),
                               [](const BreakableJoint& a, const BreakableJoint& b) {
                                 return a.piece_a == b.piece_a && a.piece_b == b.piece_b;
                               });
  if (!same) throw InputError("the saved joints do not fit this scene");
  m_joints = std::move(joints);
}

}  // namespace exemplar::rigid
