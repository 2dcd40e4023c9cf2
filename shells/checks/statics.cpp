#include "shells/checks/statics.h"

#include <algorithm>

#include "core/base/index.h"
#include "core/mesh/topology.h"

namespace exemplar::shells {

StaticAnswer solve_static(const StaticSheet& problem, int steps,
                          const std::function<void(double, const Points&)>& watch) {
  ImplicitOptions options;
  options.inertia = false;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = problem.tolerance;
  options.newton.max_iterations = 150;
  SheetModel model({problem.input}, options);
  StepInput step;
  step.dt = 1;
  step.held = problem.held;
  StaticAnswer answer;
  double done = 0, size = 1.0 / steps;
  while (done < 1 - 1e-9) {
    const double load = std::min(1.0, done + size);
    step.forces = Points::Zero(model.solver().state().positions.rows(), 3);
    step.forces.topRows(problem.forces.rows()) = load * problem.forces;
    const StepOutcome outcome = model.step(step);
    answer.iterations += outcome.newton.iterations;
    if (outcome.status != StepStatus::ok) {
      size /= 2;
      if (size < 1e-4 / steps) return answer;
      continue;
    }
    done = load;
    size = std::min(2 * size, 1.0 / steps);
    if (watch) watch(done, model.positions(0));
  }
  answer.ok = true;
  answer.positions = model.positions(0);
  answer.locking = model.body(0).locking_measure(model.solver().state().positions);
  return answer;
}

std::vector<int> vertices_where(const Points& x, const std::function<bool(const Vec3&)>& inside) {
  std::vector<int> found;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (inside(x.row(i).transpose())) found.push_back(to_int(i));
  }
  return found;
}

Edges border_among(const TriMesh& mesh, const std::vector<int>& vertices) {
  const Edges border = boundary_edges(mesh.triangles);
  const auto in = [&](int v) { return std::binary_search(vertices.begin(), vertices.end(), v); };
  Edges found(border.rows(), 2);
  Eigen::Index count = 0;
  for (Eigen::Index e = 0; e < border.rows(); ++e) {
    if (in(border(e, 0)) && in(border(e, 1))) found.row(count++) = border.row(e);
  }
  return found.topRows(count);
}

std::vector<SupportedNode> hold(const Points& x, const std::vector<int>& vertices, bool along_x, bool along_y,
                                bool along_z) {
  std::vector<SupportedNode> held = SheetModel::fixed(x, vertices);
  for (SupportedNode& node : held) node.held = {along_x, along_y, along_z};
  return held;
}

Points edge_load(const TriMesh& mesh, const std::vector<int>& vertices, const Vec3& per_length) {
  Points forces = Points::Zero(mesh.vertices.rows(), 3);
  const Edges edges = border_among(mesh, vertices);
  for (Eigen::Index e = 0; e < edges.rows(); ++e) {
    const double length = (mesh.vertices.row(edges(e, 0)) - mesh.vertices.row(edges(e, 1))).norm();
    for (int k = 0; k < 2; ++k) forces.row(edges(e, k)) += 0.5 * length * per_length.transpose();
  }
  return forces;
}

// Ghosts so far away that their direction stays whatever the border does within its plane.
void hold_planes_of_symmetry(StaticSheet& sheet, double size) {
  const Points x = sheet.input.mesh.vertices;
  Edges border(0, 2);
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<int> there =
        vertices_where(x, [&](const Vec3& p) { return std::abs(p[axis]) < 1e-6 * size; });
    for (const SupportedNode& node : hold(x, there, axis == 0, axis == 1, axis == 2))
      sheet.held.push_back(node);
    const Edges edges = border_among(sheet.input.mesh, there);
    border.conservativeResize(border.rows() + edges.rows(), 2);
    border.bottomRows(edges.rows()) = edges;
  }
  const Sheet with_ghosts(sheet.input.mesh, false, border);
  const Points nodes = with_ghosts.nodes(x);
  for (int g = 0; g < with_ghosts.ghost_count(); ++g) {
    const SheetEdge& edge = with_ghosts.edges()[to_size(with_ghosts.ghosts()[to_size(g)])];
    const Vec3 a = x.row(edge.points[0]),
               along = (x.row(edge.points[1]) - x.row(edge.points[0])).normalized();
    SupportedNode ghost;
    ghost.node = with_ghosts.vertex_count() + g;
    const Vec3 r = nodes.row(ghost.node).transpose() - a, outwards = (r - r.dot(along) * along).normalized();
    ghost.position = a + 1e6 * size * outwards;
    sheet.held.push_back(ghost);
  }
  sheet.input.clamped_edges = border;
}

StaticSheet clamped_strip(TriMesh mesh, const PlateMaterial& material, bool curved) {
  StaticSheet strip;
  const std::vector<int> end = vertices_where(mesh.vertices, [](const Vec3& x) { return x.x() < 1e-9; });
  strip.held = hold(mesh.vertices, end);
  strip.input.clamped_edges = border_among(mesh, end);
  strip.input.mesh = std::move(mesh);
  strip.input.material = material;
  strip.input.curved_membrane = curved;
  return strip;
}

}  // namespace exemplar::shells
