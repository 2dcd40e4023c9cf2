#include "core/implicit/pressure_term.h"

#include "core/implicit/step_terms.h"
#include "core/world/rotation.h"

namespace exemplar {

PressureTerm::PressureTerm(std::span<const PressedTriangle> triangles, const Points& start,
                           const StepUnknowns& unknowns)
    : m_triangles(triangles), m_unknowns(unknowns), m_iterate(start), m_forces(forces(start)) {}

Points PressureTerm::forces(const Points& x) const {
  Points f = Points::Zero(x.rows(), 3);
  add_pressure_forces(m_triangles, x, f);
  return f;
}

double PressureTerm::value(const StepPoint& at) {
  return m_so_far - 0.5 * (m_forces + forces(at.x)).cwiseProduct(at.x - m_iterate).sum();
}

void PressureTerm::add_gradient(const StepPoint& at, StepGradient& g) {
  const Points f = forces(at.x);
  g.nodes -= f;
  m_largest = largest_row(f);
}

void PressureTerm::add_hessian(const StepPoint& at, bool project, BorderedHessian& h) {
  if (project) return;
  for (const PressedTriangle& t : m_triangles) {
    Vec3 corners[3], edges[3];
    for (std::size_t k = 0; k < 3; ++k) corners[k] = at.x.row(t.nodes[k]);
    for (std::size_t k = 0; k < 3; ++k) edges[k] = corners[(k + 2) % 3] - corners[(k + 1) % 3];
    for (std::size_t v = 0; v < 3; ++v) {
      const std::size_t w = (v + 1) % 3;
      const int row = m_unknowns.column(t.nodes[v]), column = m_unknowns.column(t.nodes[w]);
      if (row < 0 || column < 0) continue;
      h.a.add(h.a.pattern().slot(row, column), t.pressure / 12 * cross_matrix(edges[w] - edges[v]));
    }
  }
}

void PressureTerm::accepted(const StepPoint& at) {
  m_so_far = value(at);
  m_iterate = at.x;
  m_forces = forces(at.x);
}

}  // namespace exemplar
