#include "shells/sheet_body.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/mesh/quality.h"
#include "shells/plasticity.h"

namespace exemplar::shells {

namespace {

constexpr double k_folded = 3.1;  // rad: beyond this a sheet lies on itself

PhysicalTriangle make_triangle(const SheetInput& input, const Sheet& sheet, std::size_t t,
                               PhysicalTriangle*) {
  return PhysicalTriangle(sheet.rest(t), input.material, input.curved_membrane);
}

PaperTriangle make_triangle(const SheetInput& input, const Sheet& sheet, std::size_t t, PaperTriangle*) {
  PaperStiffness k = fitted_stiffness(input.material, sheet.mean_edge());
  if (input.stretching) k.stretching = *input.stretching;
  if (input.area) k.area = *input.area;
  if (input.bending) k.bending = *input.bending;
  Vec3 hinge = Vec3::Zero();
  std::array<bool, 3> border;
  for (int i = 0; i < 3; ++i) {
    const SheetEdge& edge = sheet.edges()[to_size(sheet.sides(t)[to_size(i)].edge)];
    border[to_size(i)] = edge.triangles[0] < 0 || edge.triangles[1] < 0;
    if (!edge.has_angle()) continue;
    // A ghost, which clamps a border, stands for a triangle like the edge's own.
    for (const int side : edge.triangles) hinge[i] += sheet.rest(side < 0 ? t : to_size(side)).area;
  }
  return PaperTriangle(sheet.rest(t), k, hinge, border);
}

// Problems raised inside get this path.
template <class Make>
auto at_path(const std::string& path, const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.path.empty()) problem.path = path;
    }
    throw InputError(std::move(problems));
  }
}

Vec2 principal(const Mat2& tensor) {
  Eigen::SelfAdjointEigenSolver<Mat2> eigen;
  eigen.computeDirect(tensor, Eigen::EigenvaluesOnly);
  return {eigen.eigenvalues()[1], eigen.eigenvalues()[0]};
}

// Δs and Δα of a change of measures.
Vec6 geometric(const PhysicalTriangle&, const Vec6& measures, const RestTriangle&) {
  return measures;
}
Vec6 geometric(const PaperTriangle&, const PaperTriangle::Measures& d, const RestTriangle& rest) {
  Vec6 q;
  q << 2 * rest.length.cwiseProduct(d.head<3>()), 0.5 * d.tail<3>();
  return q;
}

template <class Triangle>
class SheetBodyOf : public SheetBody {
 public:
  using Measures = typename Triangle::Measures;
  using Shapes = Eigen::Matrix<double, 6, Eigen::Dynamic>;

  SheetBodyOf(SheetInput input, int first_node) : SheetBody(std::move(input)) {
    at_path(m_input.path + ".surface", [&] { return check_sheet(m_input.mesh), 0; });
    m_sheet = std::make_shared<Sheet>(m_input.mesh, m_input.model == SheetModelKind::physical,
                                      m_input.clamped_edges);
    for (std::size_t t = 0; t < m_sheet->triangle_count(); ++t)
      m_triangles.push_back(make_triangle(m_input, *m_sheet, t, static_cast<Triangle*>(nullptr)));
    const Points flat = Points::Zero(to_row(m_sheet->triangle_count()), 3);
    m_rest_angles = m_sheet->angles(m_sheet->nodes(m_input.mesh.vertices), {});
    const Points rest_nodes = relaxed(m_input.mesh.vertices, {}, flat);
    m_undeformed = measures(rest_nodes, m_rest_angles);
    m_sheet->set_rest_angles(m_rest_angles,
                             shapes(rest_nodes, m_rest_angles).template bottomRows<3>().transpose());
    m_start_angles = m_rest_angles;
    m_start = rest_nodes;
    if (m_input.positions.rows() > 0) place_start();
    make_terms(first_node);
    make_plastic();
  }

  VecX angles(const Points& x) const override { return term(0).angles(x); }
  bool flow(const Points& x, const std::vector<VecX>& weights) override {
    if (!m_plastic || m_input.internal_stiffness == 0) return false;
    const double before = whole_energy(x, weights);
    Rests<Triangle> rest = term(0).rest();
    const FlowCount count =
        shells::flow(*m_plastic, *m_sheet, m_triangles, shapes(x, term(0).angles(x)), m_undeformed, rest);
    m_held_back += count.held_back;
    if (count.flowed == 0) return false;
    set_rest(rest);
    m_outside = std::max(m_outside, outside_examples(*m_plastic, *m_sheet, m_undeformed, rest));
    m_dissipation += before - whole_energy(x, weights);
    return true;
  }
  double internal_energy(const Points& x) const override { return term(0).triangle_energies(x).sum(); }
  double bending_energy(const Points& x) const override { return term(0).triangle_energies(x).row(1).sum(); }
  double example_energy(const Points& x, std::size_t set, const VecX& w) const override {
    return term(set).example_energy(x, w);
  }
  SheetFields fields(const Points& x) const override;
  SheetState state() const override {
    return {term(0).rest(), term(0).reference_angles(), m_dissipation, m_outside, m_held_back};
  }
  void set_state(SheetState state) override {
    const auto& rest = term(0).rest();
    if (state.rest.rows() != rest.rows() || state.rest.cols() != rest.cols() ||
        state.angles.size() != term(0).reference_angles().size())
      throw InputError("this state belongs to another sheet");
    set_rest(state.rest);
    for (const auto& term : m_own_terms) term->set_reference_angles(state.angles);
    m_dissipation = state.dissipation;
    m_outside = state.outside;
    m_held_back = state.held_back;
  }
  double plastic_measure() const override {
    double largest = 0;
    for (std::size_t t = 0; t < m_triangles.size(); ++t) {
      const Vec6 d = geometric(m_triangles[t], term(0).rest().col(to_row(t)) - m_undeformed.col(to_row(t)),
                               m_sheet->rest(t));
      largest = std::max({largest,
                          0.5 * m_input.material.thickness *
                              principal(m_sheet->rest(t).curvature(d.tail<3>())).cwiseAbs().maxCoeff(),
                          0.5 * principal(m_sheet->rest(t).stretch(d.head<3>())).cwiseAbs().maxCoeff()});
    }
    return largest;
  }
  double locking_measure(const Points& x) const override {
    const VecX theta = term(0).angles(x);
    double largest = 0;
    for (std::size_t t = 0; t < m_triangles.size(); ++t) {
      const RestTriangle& rest = m_sheet->rest(t);
      const Vec2 curvatures = principal(rest.curvature(m_sheet->shape(x, theta, t).template tail<3>()));
      largest = std::max(largest, curvatures.cwiseAbs().maxCoeff() * std::pow(rest.length.maxCoeff(), 2));
    }
    return largest / m_input.material.thickness;
  }

 private:
  const SheetTerm<Triangle>& term(std::size_t i) const { return *m_own_terms[i]; }

  double whole_energy(const Points& x, const std::vector<VecX>& weights) const {
    double sum = internal_energy(x);
    for (std::size_t s = 0; s < weights.size(); ++s) sum += example_energy(x, s, weights[s]);
    return sum;
  }
  void set_rest(const Rests<Triangle>& rest) {
    for (const auto& term : m_own_terms) term->set_rest(rest);
  }
  Shapes shapes(const Points& x, const VecX& theta) const {
    Shapes q(6, to_row(m_triangles.size()));
    for (std::size_t t = 0; t < m_triangles.size(); ++t) q.col(to_row(t)) = m_sheet->shape(x, theta, t);
    return q;
  }
  Rests<Triangle> measures(const Points& x, const VecX& theta) const {
    const Shapes q = shapes(x, theta);
    Rests<Triangle> p(Triangle::measures, q.cols());
    for (std::size_t t = 0; t < m_triangles.size(); ++t)
      p.col(to_row(t)) = m_triangles[t].measure(q.col(to_row(t)));
    return p;
  }
  // The nodes for vertices `x`, with the angles of the edges that cost least against ᾱ.
  Points relaxed(const Points& x, const VecX& reference, const Points& rest_alpha) const {
    Points nodes = m_sheet->nodes(x);
    if (m_sheet->pack_count() == 0) return nodes;
    std::vector<Mat3> stiffness;
    for (const Triangle& t : m_triangles) stiffness.push_back(t.stiffness.template bottomRightCorner<3, 3>());
    m_sheet->set_phi(nodes, relaxed_phi(*m_sheet, m_sheet->angles(nodes, reference), stiffness, rest_alpha));
    return nodes;
  }
  Points rest_alpha() const { return m_undeformed.template bottomRows<3>().transpose(); }
  void place_start() {
    m_start_angles = m_sheet->angles(m_sheet->nodes(m_input.positions), m_rest_angles);
    m_start = relaxed(m_input.positions, m_rest_angles, rest_alpha());
  }
  Rests<Triangle> pose_measures(const Points& pose) const {
    if (pose.rows() != m_sheet->vertex_count())
      throw InputError(
          fmt::format("the example has {} vertices, the sheet {}", pose.rows(), m_sheet->vertex_count()));
    const VecX theta = m_sheet->angles(m_sheet->nodes(pose), m_rest_angles);
    check_pose(pose, theta);
    return measures(relaxed(pose, m_rest_angles, rest_alpha()), theta);
  }
  std::vector<Rests<Triangle>> all_measures(const std::vector<Points>& poses,
                                            const std::vector<int>& numbers) const {
    std::vector<Rests<Triangle>> all;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const int number = i < numbers.size() ? numbers[i] : static_cast<int>(i);
      all.push_back(at_path(fmt::format("{}.examples[{}]", m_input.path, number),
                            [&] { return pose_measures(poses[i]); }));
    }
    return all;
  }
  void check_pose(const Points& pose, const VecX& theta) const;
  void make_terms(int first_node);
  void make_plastic();

  std::vector<Triangle> m_triangles;
  VecX m_rest_angles, m_start_angles;
  Rests<Triangle> m_undeformed;
  std::vector<std::shared_ptr<SheetTerm<Triangle>>> m_own_terms;
  std::optional<PlasticSheet<Triangle>> m_plastic;
};

template <class Triangle>
void SheetBodyOf<Triangle>::check_pose(const Points& pose, const VecX& theta) const {
  for (std::size_t t = 0; t < m_triangles.size(); ++t) {
    const auto v = m_sheet->mesh().triangles.row(to_row(t));
    const Vec3 a = (pose.row(v[1]) - pose.row(v[0])).transpose(),
               b = (pose.row(v[2]) - pose.row(v[0])).transpose();
    if (!(0.5 * a.cross(b).norm() > 1e-6 * m_sheet->rest(t).area))
      throw InputError(fmt::format("the example flattens triangle {} of the sheet", t));
  }
  for (std::size_t e = 0; e < m_sheet->edges().size(); ++e) {
    const SheetEdge& edge = m_sheet->edges()[e];
    if (std::abs(theta[to_row(e)]) > k_folded && std::abs(m_rest_angles[to_row(e)]) <= k_folded)
      throw InputError(
          fmt::format("the example folds the sheet over onto itself at the edge of vertices {} and {} "
                      "({:.0f}°); use a milder pose or a finer sheet",
                      edge.points[0], edge.points[1], theta[to_row(e)] * 180 / std::numbers::pi));
  }
}

template <class Triangle>
void SheetBodyOf<Triangle>::make_terms(int first_node) {
  m_sheet->set_first_node(0);
  std::vector<ExamplePotential<Triangle>> sets;
  for (const SheetExamples& examples : m_input.examples) {
    ExamplePotential<Triangle> set;
    set.membrane = examples.membrane;
    set.bending = examples.bending;
    set.on_simplex = examples.on_simplex;
    set.takes_part = examples.takes_part;
    set.poses = all_measures(examples.poses, examples.numbers);
    sets.push_back(std::move(set));
  }
  m_sheet->set_first_node(first_node);
  for (std::size_t s = 0; s < std::max<std::size_t>(1, sets.size()); ++s) {
    m_own_terms.push_back(
        std::make_shared<SheetTerm<Triangle>>(m_sheet, m_triangles, s == 0 ? m_input.internal_stiffness : 0.0,
                                              m_undeformed, s < sets.size() ? &sets[s] : nullptr));
    m_own_terms.back()->set_reference_angles(m_start_angles);
    m_own_terms.back()->set_viscosity(m_input.damping);
    m_terms.push_back(m_own_terms.back());
  }
}

template <class Triangle>
void SheetBodyOf<Triangle>::make_plastic() {
  if (!m_input.plastic) return;
  const int first = m_sheet->first_node();
  m_sheet->set_first_node(0);
  PlasticSheet<Triangle> plastic;
  plastic.yield_strain = m_input.plastic->yield_strain;
  plastic.yield_curvature =
      (m_input.plastic->full_section ? 3.0 : 2.0) * plastic.yield_strain / m_input.material.thickness;
  plastic.poses = all_measures(m_input.plastic->poses, m_input.plastic->numbers);
  plastic.takes_part = m_input.plastic->takes_part;
  m_plastic = std::move(plastic);
  m_sheet->set_first_node(first);
}

template <class Triangle>
SheetFields SheetBodyOf<Triangle>::fields(const Points& x) const {
  const auto count = to_row(m_triangles.size());
  const MatX energies = term(0).triangle_energies(x);
  const Shapes q = shapes(x, term(0).angles(x));
  SheetFields f{VecX(count), VecX(count), MatX(count, 2), MatX(count, 2), VecX(count), VecX(count)};
  for (std::size_t t = 0; t < m_triangles.size(); ++t) {
    const RestTriangle& rest = m_sheet->rest(t);
    const Eigen::Index i = to_row(t);
    f.membrane_energy[i] = energies(0, i) / rest.area;
    f.bending_energy[i] = energies(1, i) / rest.area;
    f.curvatures.row(i) = principal(rest.curvature(q.col(i).template tail<3>())).transpose();
    const Vec3 undeformed = rest.length.cwiseAbs2();
    f.strains.row(i) = principal(0.5 * rest.stretch(q.col(i).template head<3>() - undeformed)).transpose();
    const Vec6 d = geometric(m_triangles[t], term(0).rest().col(i) - m_undeformed.col(i), rest);
    f.plastic_curvature[i] = principal(rest.curvature(d.tail<3>())).cwiseAbs().maxCoeff();
    f.plastic_strain[i] = 0.5 * principal(rest.stretch(d.head<3>())).cwiseAbs().maxCoeff();
  }
  return f;
}

}  // namespace

PaperStiffness fitted_stiffness(const PlateMaterial& material, double mean_edge) {
  const double e = material.young * material.thickness, nu = material.poisson;
  const double shear = e / (2 * (1 + nu)), bulk = e / (2 * (1 - nu));
  // A triangular lattice of springs k has E = 2k/√3 and ν = 1/3, so G = √3 k/4 and K = 2 G.
  return {4 * shear / std::sqrt(3.0) * mean_edge, std::max(0.0, bulk - 2 * shear),
          material.flexural_rigidity() / 3};
}

std::unique_ptr<SheetBody> make_sheet_body(SheetInput input, int first_node) {
  if (input.model == SheetModelKind::paper)
    return std::make_unique<SheetBodyOf<PaperTriangle>>(std::move(input), first_node);
  return std::make_unique<SheetBodyOf<PhysicalTriangle>>(std::move(input), first_node);
}

}  // namespace exemplar::shells
