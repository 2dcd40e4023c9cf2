// Where a step with prescribed motion starts: keyframed obstacles and held nodes are led to their places at
// the step's end, and what stands in an obstacle's way is carried along with it, so that the start has no
// overlap by construction, whatever the speed and the step.
//
// The path is parameterised by s in [0, 1]; obstacles go straight in their increments q. A leg goes on until
// the step limit of contact stops the first pair. Whatever free node or dynamic obstacle takes part in that
// pair, and in those that would be stopped soon after, joins the motion of the keyframed obstacle behind it
// as if welded to it: the gap then stays as it is, and the next leg goes on. Where nothing can join
// (something is pinched between the obstacle and another one, or held), the path is blocked: the solver then
// has to give way at that place (Newton's method with the obstacle there) before the motion can continue.
#pragma once

#include <array>
#include <vector>

#include "core/base/index.h"
#include "core/contact/contact.h"
#include "core/world/supports.h"

namespace exemplar {

class PrescribedMotion {
 public:
  // From `states` at the step's start; `q_end` holds the increments of keyframed obstacles at its end (others
  // are ignored), `end` the nodes with held coordinates at their targets. All must outlive this.
  PrescribedMotion(ContactPotential& contact, const std::vector<ObstacleBody>& obstacles,
                   const std::vector<ObstacleState>& states, const std::vector<SupportedNode>& held,
                   const VecX& q_end, const Points& end);

  // Goes on from (x, q), which must be free of overlap, as far as it can. True: everything has arrived.
  bool advance(Points& x, VecX& q);
  // To be called when the nodes were moved by something else: nothing is carried along any more.
  void release();
  double progress() const { return m_progress; }  // s

 private:
  void aim(double s, const Points& x, const VecX& q, Points& x1, VecX& q1) const;
  bool join(const ContactStop& stop);
  bool join(const ContactSide& side, int carrier);
  int carrier_of(const ContactSide& side) const;

  ContactPotential& m_contact;
  const std::vector<ObstacleBody>& m_obstacles;
  const std::vector<ObstacleState>& m_states;
  const VecX& m_q_end;
  const Points& m_end;
  std::vector<std::array<bool, 3>> m_held;  // per node and coordinate
  std::vector<int> m_node_carrier;          // keyframed obstacle that carries the node; −1: none
  std::vector<int> m_obstacle_carrier;      // itself for a keyframed one; −1: none
  double m_progress = 0;
  double m_leg = 1;  // length in s that is tried next
};

}  // namespace exemplar
