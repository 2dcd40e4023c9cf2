#include "fem/method.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/mesh/crossings.h"
#include "core/output/described_state.h"
#include "core/run/implicit_method.h"
#include "core/run/surface_fields.h"
#include "fem/element_fields.h"
#include "fem/scene_bodies.h"

namespace exemplar::fem {

namespace {

// A third of the area of every triangle on each of its corners, m²; nodes inside the body have none.
VecX node_areas(const Points& x, const Triangles& faces) {
  VecX areas = VecX::Zero(x.rows());
  for (Eigen::Index t = 0; t < faces.rows(); ++t) {
    const Vec3 a = x.row(faces(t, 0)), b = x.row(faces(t, 1)), c = x.row(faces(t, 2));
    for (int k = 0; k < 3; ++k) areas[faces(t, k)] += (b - a).cross(c - a).norm() / 6;
  }
  return areas;
}

// Quadratic tets are written as eight linear ones each, with the values of the whole; array `tet` says of
// which.
void subdivide(const SolidBody& body, Geometry& part) {
  const Tets parts = subdivided(body.mesh.tets, body.midsides);
  part.connectivity.assign(parts.data(), parts.data() + parts.size());
  for (FieldArray& array : part.arrays) {
    if (array.on != Association::cell) continue;
    const std::vector<double> whole = std::move(array.values);
    array.values.clear();
    const auto width = static_cast<std::ptrdiff_t>(array.components);
    for (auto from = whole.begin(); from != whole.end(); from += width) {
      for (int k = 0; k < 8; ++k) array.values.insert(array.values.end(), from, from + width);
    }
  }
  std::vector<int> tet(to_size(parts.rows()));
  for (std::size_t k = 0; k < tet.size(); ++k) tet[k] = to_int(k / 8);
  part.arrays.push_back(make_integer_array("tet", Association::cell, tet));
}

// A scene's bodies as solids for the driver.
class SceneSolids : public ImplicitModel {
 public:
  SceneSolids(const Scene& scene, const Settings& settings, ExampleMethod method, double penalty,
              Notes& notes);

  ImplicitSolver& solver() override { return m_model->solver(); }
  const std::vector<ImplicitBody>& bodies() const override { return m_bodies; }
  StepOutcome step(const StepInput& input) override { return m_model->step(input); }
  const PointMap& surface_on_nodes(std::size_t body) const override { return m_surfaces[body]; }
  std::vector<Geometry> fields() const override;
  std::vector<FieldArray> surface_arrays(const std::vector<Geometry>& fields) const override;
  void add_diagnostics(Diagnostics& d) const override;
  void find_problems(double time, Notes& notes) override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::string size_text() const override;

 private:
  Geometry tets(std::size_t b) const;
  void add_all_fields(std::size_t b, Geometry& part) const;
  int inverted() const;
  void find_overstress(double time, Notes& notes);
  double simulated_crossings() const;

  const Scene& m_scene;
  bool m_all_fields;
  std::unique_ptr<SolidModel> m_model;
  std::vector<ImplicitBody> m_bodies;
  std::vector<PointMap> m_surfaces;  // the scene's surfaces on the body's nodes
  bool m_said_inverted = false, m_said_overstress = false;
};

SceneSolids::SceneSolids(const Scene& scene, const Settings& settings, ExampleMethod method, double penalty,
                         Notes& notes)
    : m_scene(scene), m_all_fields(settings.all_fields), m_bodies(scene.bodies.size()) {
  check_example_sets(scene, settings.examples,
                     method == ExampleMethod::compatible ? "fem-compatible" : "fem");
  std::vector<SolidBody> solids;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    solids.push_back(make_solid_body(scene.bodies[b], settings, m_bodies[b].examples, notes));
    if (method == ExampleMethod::compatible)
      check_whole_body_examples(scene.bodies[b], b, m_bodies[b].examples);
  }
  m_model = std::make_unique<SolidModel>(std::move(solids), implicit_options(settings, scene.time), method,
                                         penalty);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const Points& rest = m_model->body(b).mesh.vertices;
    m_bodies[b].first_node = m_model->first_node(b);
    m_bodies[b].node_count = to_int(rest.rows());
    m_bodies[b].size = (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).norm();
    m_bodies[b].contact = contact_surface(scene.bodies[b], m_model->body(b));
    m_surfaces.push_back(surface_map(scene.bodies[b], m_model->body(b)));
    m_bodies[b].faces = boundary_triangles(m_model->body(b).mesh, m_model->body(b).midsides);
    for (std::size_t s = 0; s < m_bodies[b].examples.size(); ++s)
      m_bodies[b].examples[s].term = m_model->example_term(b, s);
  }
}

std::string SceneSolids::size_text() const {
  int tets = 0;
  for (std::size_t b = 0; b < m_model->body_count(); ++b) tets += to_int(m_model->body(b).mesh.tets.rows());
  const bool quadratic = m_model->body_count() > 0 && !m_model->body(0).midsides.empty();
  return fmt::format("{} {}tetrahedra", tets, quadratic ? "quadratic " : "");
}

Geometry SceneSolids::tets(std::size_t b) const {
  const SolidBody& body = m_model->body(b);
  Geometry part;
  part.series = "tets";
  part.kind = CellKind::tets;
  part.points = m_model->body_positions(b);
  part.connectivity.assign(body.mesh.tets.data(), body.mesh.tets.data() + body.mesh.tets.size());
  part.arrays.push_back(make_array("displacement", Association::point, part.points - body.mesh.vertices));
  part.arrays.push_back(make_array("velocity", Association::point, m_model->body_velocities(b)));
  const std::size_t cells = to_size(body.mesh.tets.rows());
  part.arrays.push_back(make_integer_array("body", Association::cell, std::vector<int>(cells, to_int(b))));
  part.arrays.push_back(make_array("plastic_strain", Association::cell, plastic_strains(*m_model, b)));
  for (FieldArray& array : element_arrays(*m_model, b, m_all_fields)) part.arrays.push_back(std::move(array));
  if (m_all_fields) add_all_fields(b, part);
  if (!body.midsides.empty()) subdivide(body, part);
  return part;
}

// Weights of the examples where they act, and the forces of supports and contact.
void SceneSolids::add_all_fields(std::size_t b, Geometry& part) const {
  const Body& scene_body = m_scene.bodies[b];
  for (const ImplicitExamples& set : m_bodies[b].examples) {
    for (std::size_t k = 0; k < set.members.size(); ++k) {
      const std::vector<char>& in = scene_body.volume_examples()[set.members[k]].tets;
      MatX weight = MatX::Zero(to_row(in.size()), 1);
      for (std::size_t e = 0; e < in.size(); ++e) {
        if (in[e]) weight(to_row(e), 0) = m_model->solver().state().weights[set.term][to_row(k)];
      }
      part.arrays.push_back(make_array("example_weight_" + scene_body.examples()[set.members[k]].name,
                                       Association::cell, weight));
    }
  }
  const ImplicitSolver& solver = m_model->solver();
  const ImplicitBody& body = m_bodies[b];
  Points reaction = Points::Zero(body.node_count, 3), contact = reaction;
  for (const Reaction& r : solver.reactions()) {
    const int node = r.node - body.first_node;
    if (node >= 0 && node < body.node_count) reaction.row(node) += r.force.transpose();
  }
  MatX pressure = MatX::Zero(body.node_count, 1);
  if (solver.contact()) {
    const PointMap& map = solver.contact()->points().surface().map;
    const auto of_body = [&](bool friction) -> Points {
      return map.spread(solver.contact_forces(friction), solver.masses().size())
          .middleRows(body.first_node, body.node_count);
    };
    contact = of_body(true);
    pressure =
        of_body(false).rowwise().norm().array() / node_areas(part.points, body.faces).array().max(1e-300);
  }
  part.arrays.push_back(make_array("reaction_force", Association::point, reaction));
  part.arrays.push_back(make_array("contact_force", Association::point, contact));
  part.arrays.push_back(make_array("contact_pressure", Association::point, pressure));
}

std::vector<Geometry> SceneSolids::fields() const {
  if (m_bodies.empty()) return {Geometry{}};
  Geometry whole = tets(0);
  for (std::size_t b = 1; b < m_bodies.size(); ++b) append(whole, tets(b));
  return {std::move(whole)};
}

// The scalars of the tets at the vertices of the surfaces.
std::vector<FieldArray> SceneSolids::surface_arrays(const std::vector<Geometry>& fields) const {
  Geometry surface;
  for (const FieldArray& array : fields[0].arrays) {
    if (array.on != Association::cell || array.components != 1 || array.integer) continue;
    const VecX nodes = cell_values_at_points(fields[0], array);
    std::vector<MatX> values;
    for (std::size_t b = 0; b < m_bodies.size(); ++b)
      values.push_back(
          scalar_at(m_surfaces[b], nodes.segment(m_bodies[b].first_node, m_bodies[b].node_count)));
    add_point_array(surface, array.name, values);
  }
  return std::move(surface.arrays);
}

void SceneSolids::add_diagnostics(Diagnostics& d) const {
  d.elastic_energy = m_model->internal_energy();
  d.plastic_dissipation = m_model->plastic_dissipation();
  d.plastic_measure = 0;
  for (std::size_t b = 0; b < m_model->body_count(); ++b) {
    if (const Plasticity* plasticity = m_model->plasticity(b))
      d.plastic_measure = std::max(d.plastic_measure, plasticity->largest());
  }
  d.extra.push_back({"inverted", "", static_cast<double>(inverted())});
  if (m_model->solver().contact()) d.extra.push_back({"simulated_crossings", "", simulated_crossings()});
}

// Of the surface that contact is about. The written one may have other diagonals, or be embedded.
double SceneSolids::simulated_crossings() const {
  const ImplicitSolver& solver = m_model->solver();
  const ContactSurface& surface = solver.contact()->points().surface();
  return static_cast<double>(
      crossing_pairs({surface.map.apply(solver.state().positions), surface.triangles}).size());
}

int SceneSolids::inverted() const {
  int count = 0;
  const Points& x = m_model->solver().state().positions;
  for (std::size_t b = 0; b < m_model->body_count(); ++b)
    count += count_inverted(m_model->elastic(b).elements(), x);
  return count;
}

// A rate at which stresses rise well above the yield stress makes another material of it. Told once.
void SceneSolids::find_overstress(double time, Notes& notes) {
  constexpr double most = 1.1;
  for (std::size_t b = 0; b < m_bodies.size() && !m_said_overstress; ++b) {
    if (!m_model->plasticity(b)) continue;
    const Overstress& over = m_model->overstress(b);
    if (over.factor <= most) continue;
    m_said_overstress = true;
    notes.push_back(
        {Severity::warning,
         fmt::format(
             "body {}: until {:.4g} s it bore up to {:.3g} times its yield stress where it flows (at "
             "{:.3g} of plastic strain per second): plasticity.rate is too low for that; leave it out and "
             "the body flows without delay",
             m_scene.bodies[b].name(), time, over.factor, over.strain_rate)});
  }
}

void SceneSolids::find_problems(double time, Notes& notes) {
  find_overstress(time, notes);
  if (m_said_inverted) return;
  const int count = inverted();
  if (count == 0) return;
  m_said_inverted = true;
  notes.push_back(
      {Severity::warning,
       fmt::format("at {:.4g} s {} of {} are inside out (column inverted): loads are more than the "
                   "material can bear, or steps are too long; model neo-hookean-barrier keeps them upright",
                   time, count, size_text())});
}

void SceneSolids::save(StateWriter& out) const {
  write_state(out, m_model->plastic_state(), "plastic");
}

void SceneSolids::load(StateReader& in) {
  SolidModel::PlasticState state;
  read_state(in, state, "plastic");
  m_model->set_plastic_state(std::move(state));
}

std::unique_ptr<Method> make_with(const Scene& scene, const Settings& settings, ExampleMethod method,
                                  double penalty) {
  Notes notes;
  auto model = std::make_unique<SceneSolids>(scene, settings, method, penalty, notes);
  return make_implicit_method(scene, settings, std::move(model), std::move(notes));
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return make_with(scene, settings, ExampleMethod::incompatible, 0);
}

std::unique_ptr<Method> make_compatible_method(const Scene& scene, const CompatibleSettings& settings) {
  return make_with(scene, settings, ExampleMethod::compatible, settings.penalty);
}

}  // namespace exemplar::fem
