// Solid bodies in one implicit solver: elastic terms, example potentials and plastic flow. Free of scenes and
// files, so that tests, validation and benches use it directly.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/implicit/implicit_solver.h"
#include "fem/compatible_term.h"
#include "fem/elastic_term.h"
#include "fem/example_term.h"
#include "fem/plasticity.h"
#include "fem/viscous_term.h"

namespace exemplar::fem {

// Examples that share one simplex of weights, on all or some tets of a body.
struct ExampleSet {
  std::vector<Points> poses;  // one row per node of the body
  std::vector<int> tets;      // empty: all
  double stiffness = 1;       // of W_p relative to W_i
  bool on_simplex = true;
  VecX initial_weights;  // empty: zero
};

struct PlasticBody {
  PlasticParameters parameters;
  std::vector<Points> poses;                  // none: conventional
  std::vector<std::vector<char>> takes_part;  // per pose and tet; empty: everywhere
  bool carries_examples = false;              // flow changes elastic examples as it changes the rest shape
};

struct SolidBody {
  TetMesh mesh;           // at rest; its vertices are all nodes
  Midsides midsides;      // of the mesh; empty: linear tets
  VecX fill;              // part of each tet that is filled; empty: 1
  Points positions;       // at the start; empty: rest
  Points velocities;      // empty: zero
  double density = 1000;  // kg/m³
  ElasticEnergy energy = ModifiedStVK{1e5, 2e5};
  double internal_stiffness = 1;  // of W_i relative to `energy`; 0: off (then nothing yields either)
  double damping = 0;             // β, s: viscosity relative to the stiffness of W_i and W_p together
  std::vector<ExampleSet> examples;
  std::optional<PlasticBody> plastic;
};

// Makes the tets of a body quadratic: midside nodes in the mesh, the start and all poses, on straight edges
// there.
void make_quadratic(SolidBody& body);

enum class ExampleMethod { incompatible, compatible };

class SolidModel {
 public:
  SolidModel(std::vector<SolidBody> bodies, ImplicitOptions options,
             ExampleMethod method = ExampleMethod::incompatible, double compatible_penalty = 1000);

  // One time step with its plastic flow, in it or after it (plasticity.h).
  StepOutcome step(const StepInput& input);

  ImplicitSolver& solver() { return *m_solver; }
  const ImplicitSolver& solver() const { return *m_solver; }
  std::size_t body_count() const { return m_bodies.size(); }
  const SolidBody& body(std::size_t b) const { return m_bodies[b]; }
  int first_node(std::size_t b) const { return m_first_node[b]; }
  int node_count() const { return m_node_count; }  // of the bodies, without pose nodes
  Points body_positions(std::size_t b) const;
  Points body_velocities(std::size_t b) const;
  // Index of a body's example set among the solver's terms.
  std::size_t example_term(std::size_t b, std::size_t set) const { return m_example_terms[b][set]; }
  const VecX& weights(std::size_t b, std::size_t set) const {
    return m_solver->state().weights[example_term(b, set)];
  }
  // Null for the compatible method.
  const ExampleTerm* example_set(std::size_t b, std::size_t set) const {
    return m_incompatible[b].empty() ? nullptr : m_incompatible[b][set].get();
  }
  const Plasticity* plasticity(std::size_t b) const { return m_plasticities[b].get(); }
  ElasticTerm& elastic(std::size_t b) { return *m_elastic[b]; }
  const ElasticTerm& elastic(std::size_t b) const { return *m_elastic[b]; }

  double internal_energy() const;  // Σ W_i
  double example_energy() const;   // Σ W_p: the distance to the example manifold
  // What W_i and W_p lost to plastic flow and hardening, J; never falls.
  double plastic_dissipation() const { return m_dissipation; }
  bool plasticity_frozen = false;

  // How far a rate of flow lets the stress of a body rise (plasticity.h).
  const Overstress& overstress(std::size_t b) const { return m_plasticities[b]->overstress(); }

  // What plastic flow has left behind.
  struct PlasticState {
    std::vector<std::vector<Mat3>> inverse;  // F_p⁻¹ per body and integration point; empty without plasticity
    std::vector<std::vector<double>> strain;  // ε of the same, where the yield stress depends on it
    double dissipation = 0;                   // J

    static constexpr auto described() {
      return std::tuple(member("inverse", &PlasticState::inverse), member("strain", &PlasticState::strain),
                        member("dissipation", &PlasticState::dissipation));
    }
  };
  struct State {
    ImplicitState solver;
    PlasticState plastic;

    static constexpr auto described() {
      return std::tuple(member("solver", &State::solver), member("plastic", &State::plastic));
    }
  };
  State state() const { return {m_solver->state(), plastic_state()}; }
  void set_state(State state);
  PlasticState plastic_state() const;
  // Throws InputError for one that belongs to other bodies.
  void set_plastic_state(PlasticState state);

 private:
  void add_body(std::size_t b, ExampleMethod method, double penalty,
                std::vector<std::shared_ptr<NodeTerm>>& terms);
  void add_viscosity(std::size_t b, std::vector<std::shared_ptr<NodeTerm>>& terms) const;
  TetElements make_elements(std::size_t b, std::span<const int> tets) const;
  Points global(std::size_t b, const Points& local) const;
  bool flows_within_steps(std::size_t b) const;
  void set_yield(bool within_step);
  void flow(const StepInput& input);
  double flow_after_step(std::size_t b, const StepInput& input);
  void settle_weights(std::size_t b, const StepInput& input);
  double example_energy_of(std::size_t b) const;
  void update_examples(std::size_t b);

  std::vector<SolidBody> m_bodies;
  std::vector<int> m_first_node;
  std::vector<int> m_pose_offset;
  int m_node_count = 0, m_total_nodes = 0;
  std::vector<std::shared_ptr<ElasticTerm>> m_elastic;
  std::vector<std::vector<std::shared_ptr<ExampleTerm>>> m_incompatible;
  std::vector<std::shared_ptr<CompatibleTerm>> m_compatible;  // per body; none for the other method
  std::vector<std::vector<std::size_t>> m_example_terms;
  std::vector<std::unique_ptr<Plasticity>> m_plasticities;
  std::unique_ptr<ImplicitSolver> m_solver;
  double m_dissipation = 0;
};

}  // namespace exemplar::fem
