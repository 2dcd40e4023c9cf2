#include "rigidplastic/simulation/energy_ledger.h"

#include "core/world/rotation.h"

namespace exemplar::rigid {

namespace {

// Two objects that push each other, each where it is touched.
struct Meeting {
  const MiddleMotion &a, &b;
  Vec3 velocity_a, velocity_b;

  Meeting(const MiddleMotion& first, const Vec3& at_first, const MiddleMotion& second, const Vec3& at_second)
      : a(first), b(second), velocity_a(first.at(at_first)), velocity_b(second.at(at_second)) {}

  double given_to_both(const Vec3& impulse_on_a) const { return impulse_on_a.dot(velocity_a - velocity_b); }
  // What is driven gives to what is free.
  double given_by_driven(const Vec3& impulse_on_a) const {
    return (b.is_free ? 0 : impulse_on_a.dot(velocity_b)) - (a.is_free ? 0 : impulse_on_a.dot(velocity_a));
  }
};

}  // namespace

MiddleMotion middle_of_free(const RigidState& before, const StruckMotion& struck) {
  return {true, before.position, 0.5 * (before.velocity + struck.velocity),
          0.5 * (before.angular_velocity + struck.angular_velocity)};
}

// As Bullet takes it: from its way, and where it is at the end.
MiddleMotion middle_of_driven(const RigidState& before, const RigidState& after, double dt) {
  return {false, after.position, (after.position - before.position) / dt,
          log_rotation(after.orientation * before.orientation.conjugate()) / dt};
}

void EnergyLedger::add_contact(const Contact& contact, const MiddleMotion& a, const MiddleMotion& b) {
  const Meeting meeting(a, contact.point_a, b, contact.point_b);
  contact_loss -= meeting.given_to_both(contact.impulse);
  work += meeting.given_by_driven(contact.impulse);
}

double EnergyLedger::add_joint(bool yields, const JointLoad& load, const MiddleMotion& a, const Vec3& pivot_a,
                               const MiddleMotion& b, const Vec3& pivot_b) {
  const Meeting meeting(a, pivot_a, b, pivot_b);
  const double turning = -load.angular_impulse.dot(a.spin - b.spin);
  if (yields) joint_loss += turning;
  work += meeting.given_by_driven(load.impulse) + (b.is_free ? 0 : load.angular_impulse.dot(b.spin)) -
          (a.is_free ? 0 : load.angular_impulse.dot(a.spin));
  return turning;
}

}  // namespace exemplar::rigid
