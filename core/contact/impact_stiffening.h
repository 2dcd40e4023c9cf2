// Contact that is stiff enough for an impact. Against a barrier that is far too soft for it the step limit lets
// Newton's method only creep; so, for one step, κ is raised where free motion in the time h would drive things
// into each other: to the pressure p = m s/(h² A) that stops them (m their masses, s the distance left beyond the
// stop). A driven pair gets its own p; a pair that is out of reach at the start gets the largest of its
// obstacle, or of its two bodies, which adds no energy; distances below 20 d̂ are left alone, so that what is added to driven pairs already
// in touch stays small beside the kinetic energy being stopped. Other pairs keep κ.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "core/contact/step_limit.h"

namespace exemplar {

class ImpactStiffening {
 public:
  void clear();
  // No pair is stiffened.
  bool empty() const { return !m_any; }
  // `limits`: of the pairs on the free motion that begins at `start`. `node_masses`: kg.
  void set(const ContactPoints& points, const std::vector<ContactPair>& pairs,
           const std::vector<StepLimit>& limits, const ContactPoints::Placed& start, const VecX& node_masses,
           double dt);
  // Writes this step's factors to newly found pairs and multiplies their areas by them.
  void apply(const ContactPoints& points, std::vector<ContactPair>& pairs) const;

 private:
  using Key = std::array<int, 6>;
  static Key key_of(const ContactPair& pair);

  std::map<Key, double> m_factors;  // of driven pairs and of pairs in reach at the step's start
  std::vector<double> m_impacts;    // of all other pairs, per obstacle
  std::map<std::array<int, 2>, double> m_body_impacts;  // and per pair of bodies, the smaller number first
  bool m_any = false;
};

}  // namespace exemplar
