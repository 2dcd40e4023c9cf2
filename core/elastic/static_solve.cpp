#include "core/elastic/static_solve.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace exemplar {

namespace {

class StaticProblem : public NewtonProblem {
 public:
  StaticProblem(TetElements elements, const ElasticEnergy& energy, std::span<const int> held,
                const Points& start, const Points& forces)
      : m_energy(energy),
        m_elements(std::move(elements)),
        m_columns(start.rows(), held),
        m_pattern(m_columns.count(), m_columns.columns_of(m_elements.nodes), m_elements.nodes_per_tet()),
        m_positions(start),
        m_forces(forces),
        m_gradient(start.rows(), 3) {
    m_elements.connect(m_pattern, m_columns.of_nodes());
    double volume = 0;
    for (const double v : m_elements.volume) volume += v;
    m_length = std::cbrt(6 * volume / static_cast<double>(std::max<std::size_t>(m_elements.tet_count(), 1)));
    // One percent of strain on the area of an element: a force that means something for this material and
    // mesh.
    const double stiffness =
        std::visit([](const auto& psi) { return psi.principal(Vec3::Ones()).a.norm(); }, energy);
    m_force_scale = 0.01 * stiffness * m_length * m_length;
    if (m_forces.size() > 0) m_force_scale = std::max(m_force_scale, m_forces.rowwise().norm().maxCoeff());
  }

  const BlockPattern& pattern() const override { return m_pattern; }
  double force_scale() const override { return m_force_scale; }
  double length_scale() const override { return m_length; }

  double value(const VecX& z) override {
    m_columns.scatter(z, m_positions);
    const double work = m_forces.size() > 0 ? m_forces.cwiseProduct(m_positions).sum() : 0.0;
    return elastic_energy(m_energy, m_elements, m_positions) - work;
  }
  void gradient(const VecX& z, VecX& g) override {
    m_columns.scatter(z, m_positions);
    m_gradient.setZero();
    add_elastic_gradient(m_energy, m_elements, m_positions, m_gradient);
    if (m_forces.size() > 0) m_gradient -= m_forces;
    g.resize(m_pattern.dofs());
    m_columns.gather(m_gradient, g);
  }
  void hessian(const VecX& z, bool project, BorderedHessian& h) override {
    m_columns.scatter(z, m_positions);
    add_elastic_hessian(m_energy, m_elements, m_positions, project, h.a);
  }

  VecX start() const {
    VecX z(m_pattern.dofs());
    m_columns.gather(m_positions, z);
    return z;
  }
  const Points& positions(const VecX& z) {
    m_columns.scatter(z, m_positions);
    return m_positions;
  }

 private:
  ElasticEnergy m_energy;
  TetElements m_elements;
  NodeColumns m_columns;
  BlockPattern m_pattern;
  Points m_positions;
  Points m_forces;
  Points m_gradient;
  double m_length = 1;
  double m_force_scale = 1;
};

}  // namespace

StaticResult static_solve(const TetMesh& mesh, const ElasticEnergy& energy, std::span<const int> held,
                          const Points& start, const Points& forces, const StaticOptions& options) {
  assert(start.rows() == mesh.vertices.rows());
  return static_solve(TetElements(mesh), energy, held, start, forces, options);
}

StaticResult static_solve(TetElements elements, const ElasticEnergy& energy, std::span<const int> held,
                          const Points& start, const Points& forces, const StaticOptions& options) {
  StaticProblem problem(std::move(elements), energy, held, start, forces);
  LinearSolver solver(problem.pattern(), options.linear);
  VecX z = problem.start();
  StaticResult result;
  if (z.size() == 0) {
    result.summary.status = NewtonStatus::converged;
    result.positions = start;
    return result;
  }
  result.summary = minimise(problem, solver, options.newton, z);
  result.positions = problem.positions(z);
  return result;
}

StaticResult extend_to_volume(const TetMesh& mesh, std::span<const int> held, const Points& targets,
                              double poisson, const StaticOptions& options) {
  assert(static_cast<std::size_t>(targets.rows()) == held.size());
  Points start = mesh.vertices;
  for (std::size_t i = 0; i < held.size(); ++i)
    start.row(held[i]) = targets.row(static_cast<Eigen::Index>(i));
  const StaticResult smooth = static_solve(mesh, DirichletEnergy{}, held, start, {}, options);
  return static_solve(mesh, make_energy(ElasticModel::modified_stvk, 1.0, poisson), held, smooth.positions,
                      {}, options);
}

}  // namespace exemplar
