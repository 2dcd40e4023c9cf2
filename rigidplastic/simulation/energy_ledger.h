// Where the energy of a rigid simulation goes. An impulse j between two bodies does the work
//
//   W = j · (u + u')/2        u, u' relative velocity of the two points before and after the tick
//
// exactly, as far as their kinetic energy is concerned (½ m (v'² − v²) = m (v' − v)·(v + v')/2, and likewise for rotations in
// the place where the tick found them). A body that lies still neither gives nor takes energy by this measure, however often
// gravity pulls and the floor pushes. What is left over is the time step's: in free fall ½ m g² dt² a tick, and in a tick that turns
// v into −v, −m g v dt. Units: J, kg, m, s.
#pragma once

#include <algorithm>

#include "rigidplastic/bullet/world.h"

namespace exemplar::rigid {

// Of one object in one tick: the mean of its velocities before and after.
struct MiddleMotion {
  bool is_free = false;  // neither fixed, held nor prescribed
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();

  Vec3 at(const Vec3& point) const { return velocity + spin.cross(point - centre); }
};
MiddleMotion middle_of_free(const RigidState& before, const StruckMotion& struck);
MiddleMotion middle_of_driven(const RigidState& before, const RigidState& after, double dt);

// Since the start.
struct EnergyLedger {
  double contact_loss = 0;  // given up in contacts
  double joint_loss = 0;    // given up by turning in joints that yield
  double work = 0;          // done by loads, pulls, supports and driven obstacles

  void add_contact(const Contact& contact, const MiddleMotion& a, const MiddleMotion& b);
  // What contacts took beyond what their impulses say (J; negative: gave), by mending overlaps or by a change of shape. They
  // give back what they took and no more: the rest is the time step's.
  void add_to_contacts(double energy) {
    contact_loss = std::max(contact_loss + energy, std::min(contact_loss, 0.0));
  }
  // The load is that on a, the pivots are in the world. Returns what turning in the joint took.
  double add_joint(bool yields, const JointLoad& load, const MiddleMotion& a, const Vec3& pivot_a,
                   const MiddleMotion& b, const Vec3& pivot_b);

  static constexpr auto described() {
    return std::tuple(member("contact_loss", &EnergyLedger::contact_loss),
                      member("joint_loss", &EnergyLedger::joint_loss), member("work", &EnergyLedger::work));
  }
};

}  // namespace exemplar::rigid
