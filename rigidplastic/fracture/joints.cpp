#include "rigidplastic/fracture/joints.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/base/errors.h"

namespace exemplar::rigid {

namespace {

constexpr std::size_t k_numbers = 21;  // of a saved joint

}  // namespace

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

std::vector<double> BreakableJoints::save() const {
  std::vector<double> numbers;
  for (const BreakableJoint& j : m_joints) {
    auto append = [&](const auto& v) { numbers.insert(numbers.end(), v.data(), v.data() + v.size()); };
    numbers.push_back(j.broken);
    append(j.impulse);
    append(j.angular_impulse);
    append(j.joint.pivot_a);
    append(j.joint.pivot_b);
    append(j.joint.frame_a.coeffs());
    append(j.joint.frame_b.coeffs());
  }
  return numbers;
}

void BreakableJoints::load(std::span<const double> numbers) {
  if (numbers.size() != k_numbers * m_joints.size())
    throw InputError("the saved joints do not fit this scene");
  const double* n = numbers.data();
  for (BreakableJoint& j : m_joints) {
    j.broken = n[0] != 0;
    j.impulse = Eigen::Map<const Vec3>(n + 1);
    j.angular_impulse = Eigen::Map<const Vec3>(n + 4);
    j.joint.pivot_a = Eigen::Map<const Vec3>(n + 7);
    j.joint.pivot_b = Eigen::Map<const Vec3>(n + 10);
    j.joint.frame_a.coeffs() = Eigen::Map<const Vec4>(n + 13);
    j.joint.frame_b.coeffs() = Eigen::Map<const Vec4>(n + 17);
    n += k_numbers;
  }
}

}  // namespace exemplar::rigid
