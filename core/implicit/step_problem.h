// The function that one implicit step minimises, as a sum of terms over the step's unknowns.
#pragma once

#include <memory>
#include <vector>

#include "core/implicit/step_unknowns.h"

namespace exemplar {

// What counts as one in the tolerances.
struct StepScales {
  double least_force = 0;  // N
  double length = 1;       // m
};

class StepProblem : public NewtonProblem {
 public:
  // `pattern` must outlive this. `start`: held nodes at their targets, prescribed obstacles at theirs.
  StepProblem(const BlockPattern& pattern, StepUnknowns unknowns, StepPoint start, StepScales scales)
      : m_pattern(pattern), m_unknowns(std::move(unknowns)), m_point(std::move(start)), m_scales(scales) {}
  StepProblem(const StepProblem&) = delete;
  StepProblem& operator=(const StepProblem&) = delete;

  const StepUnknowns& unknowns() const { return m_unknowns; }
  // Internal forces: their sum counts among the forces at work. All of them come before the others.
  void add_internal(std::unique_ptr<StepTerm> term);
  void add(std::unique_ptr<StepTerm> term) { m_terms.push_back(std::move(term)); }

  const BlockPattern& pattern() const override { return m_pattern; }
  int border_size() const override { return m_unknowns.border(); }
  std::span<const SimplexGroup> simplex_groups() const override { return m_unknowns.simplex_groups(); }
  double value(const VecX& z) override;
  void gradient(const VecX& z, VecX& g) override;
  void hessian(const VecX& z, bool project, BorderedHessian& h) override;
  double max_step(const VecX& z, const VecX& dz) override;
  void accepted(const VecX& z) override;
  double force_scale() const override { return m_force_scale; }
  // An energy for weights, a force for obstacles.
  double border_scale(int i) const override {
    return m_unknowns.is_weight(i) ? m_force_scale * m_scales.length : m_force_scale;
  }
  double length_scale() const override { return m_scales.length; }

  // The unknowns here, and everything at the place of z.
  VecX pack() const { return m_unknowns.pack(m_point); }
  const StepPoint& unpack(const VecX& z) {
    m_unknowns.unpack(z, m_point);
    return m_point;
  }
  const StepPoint& point() const { return m_point; }
  // Over all nodes, held ones too, where gradient() was last asked: with Newton's method the end of its solve.
  const StepGradient& last_gradient() const { return m_gradient; }

  void begin_solve(const VecX& z);
  void lag(const VecX& z);
  void account(const StepPoint& end, StepEnergies& energies);

 private:
  const BlockPattern& m_pattern;
  StepUnknowns m_unknowns;
  StepPoint m_point;
  StepScales m_scales;
  std::vector<std::unique_ptr<StepTerm>> m_terms;
  std::size_t m_internal = 0;  // how many of them
  StepGradient m_gradient;     // scratch
  double m_force_scale = 1;
};

}  // namespace exemplar
