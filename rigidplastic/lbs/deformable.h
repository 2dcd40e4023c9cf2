// One body that deforms by blending its examples, vertex by vertex (jones2016 §3.1–3.2.2).
//
//   u rest points, x skinned points [m, model coordinates]; E example weights, one barycentric row a vertex
//   E* target weights: where E goes
//
//   E* ← Π(E* + Σ φ(d/γ) Δe)      all impulses of a tick at once, Δe at E* before the tick   (11)
//   E  += (1 − λ^(dt/t)) (E* − E)                                                            (13)
//
// Departures from the paper (its literal formulas are the mode `paper`, with ΔE = what the target is here):
// it adds to an accumulator ΔE, applies (1 − λ)ΔE in each step and clamps and rescales E in every step, which
// makes the result depend on λ and on the step as soon as anything is clamped. With a target on the simplex
// and Δe taken at the target, the deformation in the end depends on neither, exactly.
// Distances d are geodesic: Dijkstra on the edges at rest, stopped at γ.
#pragma once

#include <vector>

#include "core/base/state_member.h"
#include "core/mesh/geodesic.h"
#include "core/rig/skinning.h"
#include "rigidplastic/lbs/weight_change.h"

namespace exemplar::lbs {

struct Parameters {
  double alpha = 0;               // see weight_change.h
  double beta = 0;                // N s
  double gamma = 0.1;             // m
  double lambda = 0;              // per reference_time
  double reference_time = 0.004;  // s
  Projection projection = Projection::normalised;
  bool paper = false;
};

struct DeformableState {
  ExampleWeights weights, target;  // paper: target is ΔE
  Points points;                   // m, skinned
  std::vector<int> active;         // rows on their way, ascending

  static constexpr auto described() {
    return std::tuple(member("weights", &DeformableState::weights),
                      member("target", &DeformableState::target), member("points", &DeformableState::points),
                      member("active", &DeformableState::active));
  }
};

class Deformable {
 public:
  // `edges` over the skin's points; `start`: the example whose pose the body begins in.
  Deformable(Skin skin, Edges edges, const Parameters& parameters, int start = 0);

  const Parameters& parameters() const { return m_parameters; }
  void set_parameters(const Parameters& parameters) { m_parameters = parameters; }
  const Skin& skin() const { return m_skin; }
  const Points& points() const { return m_state.points; }
  const ExampleWeights& weights() const { return m_state.weights; }
  const ExampleWeights& target() const { return m_state.target; }

  // The vertex of rows [begin, end) nearest to a point in model coordinates.
  int nearest_vertex(const Vec3& point, int begin, int end) const;
  // An impulse (model axes) on a vertex of a body of this mass in a tick of length dt.
  void hit(int vertex, const Vec3& impulse, double mass, double dt);
  // Ends the tick: impulses go into the target, weights fade towards it, points that moved noticeably are
  // skinned again. True when points moved.
  bool settle(double dt);
  // Edges that are no longer there (a joint broke); −1 below is no edge.
  void cut(const Edges& remaining);

  // ‖ΔE‖_F: what is still to come.
  double pending() const;
  double largest_weight() const;  // of any example but the rest shape, at any vertex
  double mean_weight(int example) const;

  const DeformableState& state() const { return m_state; }
  void restore(DeformableState state);

 private:
  void add_to_target(const std::vector<int>& rows);
  void fade(double dt);
  void fade_as_in_the_paper();
  bool has_arrived(int row) const;
  bool skin_again();
  void activate(int row);

  Skin m_skin;
  Edges m_edges;
  EdgeGraph m_graph;
  Parameters m_parameters;
  DeformableState m_state;
  ExampleWeights m_change;     // of this tick
  std::vector<int> m_changed;  // rows of m_change that are not zero
  std::vector<char> m_is_changed, m_is_active;
  double m_noticeable = 0;  // m
};

}  // namespace exemplar::lbs
