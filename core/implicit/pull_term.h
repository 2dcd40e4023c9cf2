// Pulls (core/world/pull.h) in an implicit step: each holds a point that is a combination of nodes, x = Σ s_i x_i, with the
// gradient s_i ∇E on its nodes and the blocks s_i s_j ∇²E between them. Taken where the step ends.
#pragma once

#include <span>
#include <vector>

#include "core/implicit/step_term.h"
#include "core/implicit/step_unknowns.h"
#include "core/mesh/point_map.h"
#include "core/world/pull.h"

namespace exemplar {

struct PulledNodes {
  std::vector<int> nodes;      // ascending, each once
  std::vector<double> shares;  // s_i
  PullSpring spring;

  Vec3 place(const Points& x) const;
};

// `surface`: a body's surface on its own nodes, which are raised by `first_node`.
PulledNodes pulled_nodes(const ActivePull& pull, const PointMap& surface, int first_node);
// Of these pulls between two states, as long as their targets stand still, J.
double pull_work(std::span<const PulledNodes> pulls, const Points& from, const Points& to);

class PullTerm : public StepTerm {
 public:
  // Both must outlive this.
  PullTerm(std::span<const PulledNodes> pulls, const StepUnknowns& unknowns)
      : m_pulls(pulls), m_unknowns(unknowns) {}
  double value(const StepPoint& at) override;
  void add_gradient(const StepPoint& at, StepGradient& g) override;
  void add_hessian(const StepPoint& at, bool project, BorderedHessian& h) override;
  double largest_force() const override { return m_largest; }

 private:
  std::span<const PulledNodes> m_pulls;
  const StepUnknowns& m_unknowns;
  double m_largest = 0;
};

}  // namespace exemplar
