#include "core/implicit/momentum_balance.h"

namespace exemplar {

LinkedGroups link_all(const LinkedGroups& terms, const StepUnknowns& unknowns, std::size_t obstacles,
                      const ContactPotential* contact, const StepPoint& at) {
  const int nodes = to_int(at.x.rows()), fixed = nodes + to_int(obstacles);
  LinkedGroups groups(fixed + 1);
  LinkedGroups by_terms = terms;
  for (int i = 0; i < nodes; ++i) {
    groups.link(i, by_terms.root(i));
    const int c = unknowns.column(i);
    if (c < 0 || unknowns.masked(c, 0) || unknowns.masked(c, 1) || unknowns.masked(c, 2))
      groups.link(i, fixed);
  }
  for (int o = 0; o < to_int(obstacles); ++o) {
    if (unknowns.border_of_obstacle(o) < 0) groups.link(nodes + o, fixed);
  }
  if (contact == nullptr) return groups;
  for (const ContactLink& link : contact->links(at.x, at.q)) {
    std::vector<int> all = link.nodes;
    for (const int o : link.obstacles) all.push_back(nodes + o);
    for (const int member : all) groups.link(all.front(), member);
  }
  return groups;
}

void balance_momentum(const FreeMotion& motion, const StepUnknowns& unknowns, LinkedGroups groups,
                      double longest, StepPoint& at) {
  const int nodes = to_int(at.x.rows());
  Points force = Points::Zero(groups.size(), 3);
  VecX mass = VecX::Zero(groups.size());
  const double factor = 1 / (motion.dt * motion.dt);
  for (int i = 0; i < nodes; ++i) {
    const int root = groups.root(i);
    force.row(root) += factor * motion.masses[i] * (at.x.row(i) - motion.predicted.row(i));
    if (motion.forces.size() > 0) force.row(root) -= motion.forces.row(i);
    mass[root] += motion.masses[i];
  }
  for (const auto& [o, inertia] : motion.inertias) {
    const int root = groups.root(nodes + o);
    force.row(root) += inertia.gradient(at.q.segment<6>(6 * o)).head<3>().transpose();
    mass[root] += motion.obstacles[to_size(o)].mass();
  }
  const int fixed = groups.root(groups.size() - 1);
  const auto shift = [&](int member) -> Vec3 {
    const int root = groups.root(member);
    if (root == fixed || !(mass[root] > 0)) return Vec3::Zero();
    const Vec3 way = -force.row(root).transpose() / (factor * mass[root]);
    return way.norm() < longest ? way : Vec3::Zero();
  };
  for (int i = 0; i < nodes; ++i) {
    const bool place = motion.abstract.empty() || !motion.abstract[to_size(i)];
    if (unknowns.column(i) >= 0 && place) at.x.row(i) += shift(i).transpose();
  }
  for (const auto& [o, inertia] : motion.inertias) at.q.segment<3>(6 * o) += shift(nodes + o);
}

}  // namespace exemplar
