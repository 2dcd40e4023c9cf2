// From the contact log to impacts: which pairs of objects have just met, where and how fast (patkar2014 Algorithm 1,
// lines 10 to 14). A place of a pair that was in contact a tick ago is no new impact: one dent per impact, however
// long the bodies stay together. Places are told apart by distance, because a barrel that lands on its rim and then
// falls over strikes the same floor twice. Units: m, s, N s.
#pragma once

#include <span>
#include <vector>

#include "rigidplastic/bullet/world.h"

namespace exemplar::dent {

// Contact points of a pair a < b that met together, weighted by their impulses.
struct PairImpact {
  int a = 0, b = 0;
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();  // world
  Vec3 normal = Vec3::UnitY();                          // unit, from b towards a
  Vec3 velocity = Vec3::Zero();                         // of a relative to b, before the tick

  double closing_speed() const { return -velocity.dot(normal); }
};

// Where a pair was in contact.
struct ContactPlace {
  int a = 0, b = 0;
  Vec3 point = Vec3::Zero();

  static constexpr auto described() {
    return std::tuple(member("a", &ContactPlace::a), member("b", &ContactPlace::b),
                      member("point", &ContactPlace::point));
  }
};

class ImpactLog {
 public:
  // `reach`: for every object, how far (m) a contact point may be from an older one and still belong to it.
  // Impacts slower than `threshold` (m/s) are left out. Contacts, and with them impacts, are ordered by pair.
  std::vector<PairImpact> update(std::span<const rigid::Contact> contacts, std::span<const double> reach,
                                 double threshold);

  // Of the last tick, in the order of the log: all that the log remembers.
  const std::vector<ContactPlace>& places() const { return m_places; }
  void restore(std::vector<ContactPlace> places) { m_places = std::move(places); }

 private:
  bool is_known(const rigid::Contact& contact, double reach) const;

  std::vector<ContactPlace> m_places;
};

}  // namespace exemplar::dent
