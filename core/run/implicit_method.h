// The driver of methods on the implicit solver (fem, fem-compatible, shell). It turns a scene's gravity, loads,
// supports, controllers and obstacles into the input of steps, halves steps that fail, starts without overlap,
// and writes what all such methods have in common: surfaces, momenta, energies, weights, the solver's state.
// A method supplies an ImplicitModel: bodies as terms on nodes, what follows a step (plastic flow) and fields
// of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/implicit/implicit_solver.h"
#include "core/run/implicit_settings.h"
#include "core/run/method.h"
#include "core/scene/scene.h"

namespace exemplar {

// Examples that share one simplex of weights: a term of the solver.
struct ImplicitExamples {
  std::size_t term = 0;              // its index among the solver's terms
  std::vector<std::size_t> members;  // indices into Body::examples(), in the order of the weights
  bool on_simplex = true;            // false: any real weights
};

// One body of the scene on the solver's nodes; the numbering within the body starts from 0.
struct ImplicitBody {
  int first_node = 0;
  int node_count = 0;
  double size = 0;         // m, diagonal of its box at rest: contact's reach follows from it
  ContactSurface contact;  // over the body's own nodes, with half the thickness of sheets as radius
  Triangles faces;         // of its surface, over its own nodes: what loads act on
  // Per node, or empty: nodes that are held where another one is (SupportSet); −1: ordinary nodes.
  std::vector<int> leader;
  std::vector<ImplicitExamples> examples;
};

class ImplicitModel {
 public:
  virtual ~ImplicitModel() = default;

  virtual ImplicitSolver& solver() = 0;
  // In the order of the scene's bodies.
  virtual const std::vector<ImplicitBody>& bodies() const = 0;
  // One step of the solver and what follows it.
  virtual StepOutcome step(const StepInput& input) { return solver().step(input); }

  // The scene's surface of a body on the body's own nodes.
  virtual const PointMap& surface_on_nodes(std::size_t body) const = 0;
  // W_p of a set of examples at the present state, J. To be replaced where its term holds more than that.
  virtual double example_energy(const ImplicitExamples& set) { return solver().term_energy(set.term); }
  // Geometry besides the surface.
  virtual std::vector<Geometry> fields() const { return {}; }
  // Further arrays of the surface, over the points or triangles of all bodies; `fields` is what fields() gave.
  virtual std::vector<FieldArray> surface_arrays(const std::vector<Geometry>& /*fields*/) const { return {}; }
  // elastic_energy without that of the examples, plastic_dissipation, plastic_measure, further columns.
  virtual void add_diagnostics(Diagnostics& d) const = 0;
  // What a reader should know about the state at `time` (s), each point once: asked after every frame.
  virtual void find_problems(double /*time*/, Notes& /*notes*/) {}
  // Whatever changes besides the solver's state.
  virtual void save(StateWriter& /*out*/) const {}
  virtual void load(StateReader& /*in*/) {}

  // E.g. "1234 tetrahedra".
  virtual std::string size_text() const = 0;
};

// What the settings say about the solver; damping and scales are the model's.
ImplicitOptions implicit_options(const ImplicitSettings& settings, const TimeSettings& time);

// `notes`: what was said while the model was made. The scene must outlive the method. Throws InputError for
// supports, loads and controllers that do not fit and for starts inside obstacles.
std::unique_ptr<Method> make_implicit_method(const Scene& scene, const ImplicitSettings& settings,
                                             std::unique_ptr<ImplicitModel> model, Notes notes);

}  // namespace exemplar
