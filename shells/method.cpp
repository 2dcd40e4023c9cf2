#include "shells/method.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/mesh/topology.h"
#include "core/output/described_state.h"
#include "core/run/implicit_method.h"
#include "shells/scene_sheets.h"
#include "shells/sheet_model.h"

namespace exemplar::shells {

namespace {

constexpr double k_locking_limit = 10;  // of κ l²/h: see triangle_energy.h

void check_kinds(const Scene& scene) {
  std::vector<Problem> problems;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    if (!scene.bodies[b].is_sheet())
      problems.push_back({{}, fmt::format("bodies[{}].kind", b), "method shell simulates sheets only"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

// Settings that do nothing here.
void warn_of_idle_settings(const Scene& scene, const ShellSettings& settings, Notes& notes) {
  const bool is_paper = settings.model == SheetModelKind::paper;
  const auto warn = [&](std::string text) { notes.push_back({Severity::warning, std::move(text)}); };
  if (is_paper && settings.curved_membrane)
    warn("methods.shell.curved_membrane has no effect with model: paper");
  if (!is_paper && (settings.paper.stretching || settings.paper.area || settings.paper.bending))
    warn("methods.shell.paper has no effect with model: physical");
  for (const Body& body : scene.bodies) {
    const bool yields = settings.plasticity.yield_stress || body.material().yield_stress;
    const bool shows = std::any_of(body.examples().begin(), body.examples().end(),
                                   [](const Example& e) { return e.plastic && !e.elastic; });
    if (shows && !yields)
      warn(fmt::format("body {}: its plastic examples have no effect, as it has no yield stress",
                       body.name()));
  }
}

// A scene's bodies as sheets for the driver.
class SceneSheets : public ImplicitModel {
 public:
  SceneSheets(const Scene& scene, const ShellSettings& settings, Notes& notes);

  ImplicitSolver& solver() override { return m_model->solver(); }
  const std::vector<ImplicitBody>& bodies() const override { return m_bodies; }
  StepOutcome step(const StepInput& input) override { return m_model->step(input); }
  double example_energy(const ImplicitExamples& set) override { return m_model->example_energy(set.term); }
  const PointMap& surface_on_nodes(std::size_t body) const override { return m_surfaces[body].vertices; }
  std::vector<FieldArray> surface_arrays(const std::vector<Geometry>& fields) const override;
  void add_diagnostics(Diagnostics& d) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  void find_problems(double time, Notes& notes) override;
  std::string size_text() const override;

 private:
  void describe_body(const Body& body, std::size_t b);
  double obstacle_crossings() const;
  void add_to_array(std::vector<FieldArray>& arrays, std::size_t b, const std::string& name,
                    const MatX& values) const;

  const Scene& m_scene;
  std::vector<SheetSurface> m_surfaces;
  std::unique_ptr<SheetModel> m_model;
  std::vector<ImplicitBody> m_bodies;
  bool m_may_lock;
  bool m_told_locking = false;
};

SceneSheets::SceneSheets(const Scene& scene, const ShellSettings& settings, Notes& notes)
    : m_scene(scene),
      m_bodies(scene.bodies.size()),
      m_may_lock(settings.model == SheetModelKind::physical && !settings.curved_membrane) {
  std::vector<SheetInput> inputs;
  ImplicitOptions options = implicit_options(settings, scene.time);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    m_surfaces.push_back(sheet_surface(scene.bodies[b]));
    inputs.push_back(make_sheet_input(scene.bodies[b], m_surfaces[b], fmt::format("bodies[{}]", b), settings,
                                      m_bodies[b].examples, notes));
  }
  m_model = std::make_unique<SheetModel>(std::move(inputs), std::move(options));
  for (std::size_t b = 0; b < m_bodies.size(); ++b) describe_body(scene.bodies[b], b);
}

// Vertices and ghosts are the body's nodes for supports and loads; contact sees the vertices, at the sheet's
// thickness.
void SceneSheets::describe_body(const Body& body, std::size_t b) {
  ImplicitBody& out = m_bodies[b];
  const Sheet& sheet = m_model->body(b).sheet();
  const Points& rest = sheet.mesh().vertices;
  out.first_node = sheet.first_node();
  out.node_count = sheet.first_pack();
  out.size = (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).norm();
  out.contact.map = PointMap::identity(sheet.vertex_count());
  out.contact.triangles = sheet.mesh().triangles;
  out.contact.rest = rest;
  out.contact.radius = VecX::Constant(sheet.vertex_count(), 0.5 * body.settings().thickness);
  out.faces = sheet.mesh().triangles;
  if (sheet.ghost_count() > 0) {
    out.leader.assign(to_size(out.node_count), -1);
    for (int g = 0; g < sheet.ghost_count(); ++g)
      out.leader[to_size(sheet.vertex_count() + g)] =
          sheet.edges()[to_size(sheet.ghosts()[to_size(g)])].points[0];
  }
  for (std::size_t s = 0; s < out.examples.size(); ++s) out.examples[s].term = m_model->example_term(b, s);
}

// Told once a run, of the first body and time beyond the limit.
void SceneSheets::find_problems(double time, Notes& notes) {
  if (!m_may_lock || m_told_locking) return;
  for (std::size_t b = 0; b < m_bodies.size() && !m_told_locking; ++b) {
    const double locking = m_model->body(b).locking_measure(m_model->solver().state().positions);
    if (locking <= k_locking_limit) continue;
    m_told_locking = true;
    notes.push_back(
        {Severity::warning,
         fmt::format("body {}: its curvature κ is large for its edges l and thickness h (κ l²/h is {:.3g} at "
                     "{:.4g} s, above {:.0f}): the membrane may lock, so that folds come out too stiff; set "
                     "methods.shell.curved_membrane, or use a finer mesh",
                     m_scene.bodies[b].name(), locking, time, k_locking_limit)});
  }
}

std::string SceneSheets::size_text() const {
  std::size_t triangles = 0;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) triangles += m_model->body(b).sheet().triangle_count();
  return fmt::format("{} triangles", triangles);
}

// Puts a body's values, one row for each triangle of its surface, into the array of this name over the triangles of all
// bodies; 0 elsewhere.
void SceneSheets::add_to_array(std::vector<FieldArray>& arrays, std::size_t b, const std::string& name,
                               const MatX& values) const {
  auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const FieldArray& a) { return a.name == name; });
  if (found == arrays.end()) {
    Eigen::Index triangles = 0;
    for (const Body& body : m_scene.bodies) triangles += body.surface().triangles.rows();
    arrays.push_back(make_array(name, Association::cell, MatX::Zero(triangles, values.cols())));
    found = arrays.end() - 1;
  }
  const FieldArray part = make_array(name, Association::cell, values);
  Eigen::Index first = 0;
  for (std::size_t i = 0; i < b; ++i) first += m_scene.bodies[i].surface().triangles.rows();
  std::copy(part.values.begin(), part.values.end(), found->values.begin() + first * values.cols());
}

std::vector<FieldArray> SceneSheets::surface_arrays(const std::vector<Geometry>& /*fields*/) const {
  std::vector<FieldArray> arrays;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const SheetBody& body = m_model->body(b);
    const SheetFields f = body.fields(m_model->solver().state().positions);
    const auto add = [&](const std::string& name, const MatX& of_sheet) {
      MatX values = MatX::Zero(m_scene.bodies[b].surface().triangles.rows(), of_sheet.cols());
      for (std::size_t t = 0; t < m_surfaces[b].triangles.size(); ++t)
        values.row(m_surfaces[b].triangles[t]) = of_sheet.row(to_row(t));
      add_to_array(arrays, b, name, values);
    };
    add("membrane_energy", f.membrane_energy);
    add("bending_energy", f.bending_energy);
    add("principal_curvatures", f.curvatures);
    add("principal_strains", f.strains);
    add("plastic_curvature", f.plastic_curvature);
    add("plastic_strain", f.plastic_strain);
    for (std::size_t s = 0; s < m_bodies[b].examples.size(); ++s) {
      const ImplicitExamples& set = m_bodies[b].examples[s];
      for (std::size_t k = 0; k < set.members.size(); ++k) {
        const Example& example = m_scene.bodies[b].examples()[set.members[k]];
        VecX weight(to_row(example.triangles.size()));
        for (std::size_t t = 0; t < example.triangles.size(); ++t)
          weight[to_row(t)] = example.triangles[t] ? m_model->weights(b, s)[to_row(k)] : 0.0;
        add_to_array(arrays, b, "example_weight_" + example.name, weight);
      }
    }
  }
  return arrays;
}

// Pairs of triangles of sheets and of obstacles as they are drawn that cross: none may ever.
double SceneSheets::obstacle_crossings() const {
  std::size_t count = 0;
  const ImplicitState& state = m_model->solver().state();
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    const TriMesh obstacle = m_scene.obstacles[o].surface(state.obstacles[o]);
    for (std::size_t b = 0; b < m_bodies.size(); ++b)
      count += count_crossings({m_model->positions(b), m_model->body(b).sheet().mesh().triangles}, obstacle);
  }
  return static_cast<double>(count);
}

void SceneSheets::add_diagnostics(Diagnostics& d) const {
  const Points& x = m_model->solver().state().positions;
  d.elastic_energy = m_model->internal_energy();
  d.plastic_dissipation = m_model->plastic_dissipation();
  d.plastic_measure = 0;
  double locking = 0, bending = 0;
  int held_back = 0;
  std::optional<double> outside;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const SheetBody& body = m_model->body(b);
    d.plastic_measure = std::max(d.plastic_measure, body.plastic_measure());
    locking = std::max(locking, body.locking_measure(x));
    bending += body.bending_energy(x);
    held_back += body.held_back();
    if (body.outside()) outside = std::max(outside.value_or(0), *body.outside());
  }
  d.extra.push_back({"bending_energy", "J", bending});
  d.extra.push_back({"membrane_energy", "J", d.elastic_energy - bending});
  if (m_may_lock) d.extra.push_back({"locking_measure", "", locking});
  if (!m_scene.obstacles.empty()) d.extra.push_back({"obstacle_crossings", "", obstacle_crossings()});
  if (outside) d.extra.push_back({"outside_plastic_examples", "", *outside});
  if (held_back > 0) d.extra.push_back({"rest_lengths_held_back", "", static_cast<double>(held_back)});
}

void SceneSheets::save(StateWriter& out) const {
  std::vector<SheetState> states;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) states.push_back(m_model->body(b).state());
  write_state(out, states, "sheets");
}

void SceneSheets::load(StateReader& in) {
  std::vector<SheetState> states;
  read_state(in, states, "sheets");
  if (states.size() != m_bodies.size()) throw InputError("this state belongs to other sheets");
  for (std::size_t b = 0; b < m_bodies.size(); ++b) m_model->body(b).set_state(std::move(states[b]));
}

}  // namespace

std::unique_ptr<Method> make_shell_method(const Scene& scene, const ShellSettings& settings) {
  check_kinds(scene);
  Notes notes;
  warn_of_idle_settings(scene, settings, notes);
  auto model = std::make_unique<SceneSheets>(scene, settings, notes);
  return make_implicit_method(scene, settings, std::move(model), std::move(notes));
}

}  // namespace exemplar::shells
