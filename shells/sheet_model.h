// Sheets in one implicit solve: the bodies' terms, and after each step their plastic flow.
#pragma once

#include <memory>
#include <vector>

#include "core/implicit/implicit_solver.h"
#include "shells/sheet_body.h"

namespace exemplar::shells {

class SheetModel {
 public:
  SheetModel(std::vector<SheetInput> inputs, ImplicitOptions options);

  // One step and the plastic flow after it. `input.held` names vertices and ghosts; which edges are clamped
  // and which angles count follows from that.
  StepOutcome step(StepInput input);

  ImplicitSolver& solver() { return *m_solver; }
  const ImplicitSolver& solver() const { return *m_solver; }
  std::size_t body_count() const { return m_bodies.size(); }
  SheetBody& body(std::size_t b) { return *m_bodies[b]; }
  const SheetBody& body(std::size_t b) const { return *m_bodies[b]; }
  int first_node(std::size_t b) const { return m_bodies[b]->sheet().first_node(); }
  Points positions(std::size_t b) const;  // of the vertices
  Points velocities(std::size_t b) const;
  // Index of a body's example set among the solver's terms.
  std::size_t example_term(std::size_t b, std::size_t set) const { return m_first_term[b] + set; }
  const VecX& weights(std::size_t b, std::size_t set) const {
    return m_solver->state().weights[example_term(b, set)];
  }
  double internal_energy() const;
  double example_energy(std::size_t term) const;  // W_p in one of the solver's terms
  double plastic_dissipation() const;

  // Plastic flow at the present state; part of step().
  void flow();
  // Adds all vertices, where they are, to what is held: then only angles and weights are free.
  void hold_vertices(StepInput& input) const;
  // Adds what is held besides vertices; part of step().
  void complete(StepInput& input);
  // Held vertices with their place, e.g. all of a region, fixed where they are.
  static std::vector<SupportedNode> fixed(const Points& positions, const std::vector<int>& nodes);

 private:
  std::vector<std::unique_ptr<SheetBody>> m_bodies;
  std::vector<std::size_t> m_first_term;
  std::unique_ptr<ImplicitSolver> m_solver;
};

}  // namespace exemplar::shells
