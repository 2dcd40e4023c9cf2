#include "shells/sheet.h"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>

#include "core/base/index.h"
#include "core/base/parallel.h"

namespace exemplar::shells {

Sheet::Sheet(TriMesh mesh, bool edge_unknowns, const Edges& ghost_edges)
    : m_mesh(std::move(mesh)), m_edge_unknowns(edge_unknowns) {
  m_rest.reserve(triangle_count());
  for (Eigen::Index t = 0; t < m_mesh.triangles.rows(); ++t) {
    Corners x;
    for (int k = 0; k < 3; ++k) x.col(k) = m_mesh.vertices.row(m_mesh.triangles(t, k)).transpose();
    m_rest.emplace_back(x);
  }
  make_edges(ghost_edges);
  if (edge_unknowns) pack_angles();
  set_clamped(std::vector<char>(to_size(vertex_count() + ghost_count()), 0));
  for (const SheetEdge& edge : m_edges) m_mean_edge += edge.length / static_cast<double>(m_edges.size());
}

void Sheet::make_edges(const Edges& ghost_edges) {
  const SurfaceEdges all = surface_edges(m_mesh.triangles);
  m_edges.resize(to_size(static_cast<int>(all.edges.rows())));
  m_sides.resize(triangle_count());
  for (std::size_t t = 0; t < triangle_count(); ++t) {
    const auto row = static_cast<Eigen::Index>(t);
    for (int k = 0; k < 3; ++k) {
      const int e = all.of_triangle(row, k);
      SheetEdge& edge = m_edges[to_size(e)];
      const int side = m_mesh.triangles(row, (k + 1) % 3) == all.edges(e, 0) ? 0 : 1;
      m_sides[t][to_size(k)] = {e, side};
      edge.points[0] = all.edges(e, 0);
      edge.points[1] = all.edges(e, 1);
      edge.points[to_size(2 + side)] = m_mesh.triangles(row, k);
      edge.triangles[to_size(side)] = static_cast<int>(t);
      edge.length = m_rest[t].length[k];
    }
  }
  for (Eigen::Index g = 0; g < ghost_edges.rows(); ++g) {
    const int low = ghost_edges.row(g).minCoeff(), high = ghost_edges.row(g).maxCoeff();
    for (std::size_t e = 0; e < m_edges.size(); ++e) {
      if (m_edges[e].points[0] == low && m_edges[e].points[1] == high) add_ghost(static_cast<int>(e));
    }
  }
}

void Sheet::add_ghost(int e) {
  SheetEdge& edge = m_edges[to_size(e)];
  if (edge.has_angle()) return;
  edge.points[edge.points[2] < 0 ? 2 : 3] = vertex_count() + ghost_count();
  m_ghosts.push_back(e);
}

// The three edges of one triangle share a pack where they can: its nodes are coupled anyway, so the matrix
// gets few blocks more. Triangles that find some of their edges taken pack what is left, then what is left of
// that goes together in order.
void Sheet::pack_angles() {
  std::vector<int> open;
  const auto close_pack = [&] {
    for (std::size_t c = 0; c < open.size(); ++c) {
      m_edges[to_size(open[c])].pack = first_pack() + m_packs;
      m_edges[to_size(open[c])].coordinate = static_cast<int>(c);
    }
    ++m_packs;
    open.clear();
  };
  const auto is_free = [&](int e) {
    return m_edges[to_size(e)].pack < 0 && std::find(open.begin(), open.end(), e) == open.end();
  };
  for (const std::size_t wanted : {std::size_t{3}, std::size_t{2}}) {
    for (const std::array<EdgeSide, 3>& sides : m_sides) {
      for (const EdgeSide& side : sides) {
        if (is_free(side.edge)) open.push_back(side.edge);
      }
      if (open.size() >= wanted) close_pack();
      open.clear();
    }
  }
  for (std::size_t e = 0; e < m_edges.size(); ++e) {
    if (!is_free(static_cast<int>(e))) continue;
    open.push_back(static_cast<int>(e));
    if (open.size() == 3) close_pack();
  }
  if (!open.empty()) close_pack();
}

void Sheet::set_clamped(const std::vector<char>& held) {
  const auto wholly_held = [&](int triangle) {
    if (triangle < 0) return false;
    const auto corners = m_mesh.triangles.row(triangle);
    return held[to_size(corners[0])] && held[to_size(corners[1])] && held[to_size(corners[2])];
  };
  const double phi = m_edge_unknowns ? 1 : 0;
  for (std::size_t e = 0; e < m_edges.size(); ++e) {
    SheetEdge& edge = m_edges[e];
    const bool border = edge.triangles[0] < 0 || edge.triangles[1] < 0;
    edge.rule = {SideRule{0.5, phi}, SideRule{0.5, -phi}};
    if (border) edge.rule = {SideRule{0, phi}, SideRule{0, phi}};
    const int ghost = std::max(edge.points[2], edge.points[3]);  // behind all vertices
    const bool directed = border && edge.has_angle() && held[to_size(ghost)];
    if (!directed && (!held[to_size(edge.points[0])] || !held[to_size(edge.points[1])])) continue;
    if (!m_edge_unknowns) {  // the paper's hinges are on whole edges: θ = 2α there too
      if (border && edge.has_angle()) edge.rule = {SideRule{0.5, 0}, SideRule{0.5, 0}};
      continue;
    }
    const bool left = wholly_held(edge.triangles[0]), right = wholly_held(edge.triangles[1]);
    if (border && edge.has_angle()) clamp(to_int(e), 1, 1);
    if (!border && left != right) clamp(to_int(e), left ? 0 : 1, right ? 0 : 1);
  }
}

// α = factor · θ on each side, measured from the rest shape.
void Sheet::clamp(int e, double left, double right) {
  SheetEdge& edge = m_edges[to_size(e)];
  edge.rule = {SideRule{left, 0}, SideRule{right, 0}};
  for (std::size_t side = 0; side < 2 && m_rest_theta.size() > 0; ++side) {
    const int t = edge.triangles[side];
    if (t < 0) continue;
    for (int k = 0; k < 3; ++k) {
      if (m_sides[to_size(t)][to_size(k)].edge == e)
        edge.rule[side].offset = m_rest_alpha(t, k) - edge.rule[side].theta * m_rest_theta[e];
    }
  }
}

void Sheet::set_rest_angles(VecX theta, Points alpha) {
  m_rest_theta = std::move(theta);
  m_rest_alpha = std::move(alpha);
}

double Sheet::released_phi(int e, double theta) const {
  const SheetEdge& edge = m_edges[to_size(e)];
  const std::size_t side = edge.triangles[0] >= 0 ? 0 : 1;
  const bool border = edge.triangles[0] < 0 || edge.triangles[1] < 0;
  const double alpha = edge.rule[side].theta * theta + edge.rule[side].offset;
  return border ? alpha : alpha - 0.5 * theta;  // a left side, as both are there
}

Vec3 Sheet::ghost_position(const Points& x, const SheetEdge& edge) const {
  const int own = edge.triangles[0] >= 0 ? edge.points[2] : edge.points[3];
  const Vec3 a = x.row(edge.points[0]).transpose(), b = x.row(edge.points[1]).transpose();
  const Vec3 r = x.row(own).transpose() - a, e = (b - a).normalized();
  return a + 2 * e.dot(r) * e - r;  // r turned half a turn about the edge
}

Points Sheet::nodes(const Points& x) const {
  Points all = Points::Zero(node_count(), 3);
  all.topRows(vertex_count()) = x;
  for (int g = 0; g < ghost_count(); ++g)
    all.row(vertex_count() + g) = ghost_position(x, m_edges[to_size(m_ghosts[to_size(g)])]).transpose();
  return all;
}

VecX Sheet::angles(const Points& nodes, const VecX& reference) const {
  VecX theta = VecX::Zero(static_cast<Eigen::Index>(m_edges.size()));
  parallel_for(m_edges.size(), [&](std::size_t e) {
    if (!m_edges[e].has_angle()) return;
    const auto i = static_cast<Eigen::Index>(e);
    theta[i] = Dihedral::value(stencil(nodes, m_edges[e]));
    if (reference.size() > 0) theta[i] = Dihedral::unwrapped(theta[i], reference[i]);
  });
  return theta;
}

void Sheet::set_phi(Points& nodes, const VecX& phi) const {
  for (std::size_t e = 0; e < m_edges.size(); ++e) {
    const SheetEdge& edge = m_edges[e];
    if (edge.pack >= 0)
      nodes(m_first + edge.pack, edge.coordinate) = phi[static_cast<Eigen::Index>(e)] * edge.length;
  }
}

Vec6 Sheet::shape(const Points& nodes, const VecX& theta, std::size_t triangle) const {
  Vec6 q;
  const auto corners = m_mesh.triangles.row(static_cast<Eigen::Index>(triangle));
  for (int k = 0; k < 3; ++k) {
    const EdgeSide& side = m_sides[triangle][to_size(k)];
    const SheetEdge& edge = m_edges[to_size(side.edge)];
    const SideRule& rule = edge.rule[to_size(side.side)];
    q[k] =
        (nodes.row(m_first + corners[(k + 2) % 3]) - nodes.row(m_first + corners[(k + 1) % 3])).squaredNorm();
    q[3 + k] = rule.theta * theta[side.edge] + rule.phi * phi(nodes, edge) + rule.offset;
  }
  return q;
}

double Sheet::area() const {
  double sum = 0;
  for (const RestTriangle& rest : m_rest) sum += rest.area;
  return sum;
}

VecX Sheet::vertex_masses(double surface_density) const {
  VecX masses = VecX::Zero(vertex_count());
  for (std::size_t t = 0; t < triangle_count(); ++t) {
    for (int k = 0; k < 3; ++k)
      masses[m_mesh.triangles(static_cast<Eigen::Index>(t), k)] += surface_density * m_rest[t].area / 3;
  }
  return masses;
}

VecX relaxed_phi(const Sheet& sheet, const VecX& theta, const std::vector<Mat3>& stiffness,
                 const Points& rest) {
  const auto count = static_cast<Eigen::Index>(sheet.edges().size());
  std::vector<Eigen::Triplet<double>> entries;
  VecX slope = VecX::Zero(count);
  for (std::size_t t = 0; t < sheet.triangle_count(); ++t) {
    Vec3 alpha, factor;
    for (int k = 0; k < 3; ++k) {
      const EdgeSide& side = sheet.sides(t)[to_size(k)];
      const SideRule& rule = sheet.edges()[to_size(side.edge)].rule[to_size(side.side)];
      alpha[k] = rule.theta * theta[side.edge] - rest(static_cast<Eigen::Index>(t), k);
      factor[k] = rule.phi;
    }
    const Vec3 moment = stiffness[t] * alpha;
    for (int k = 0; k < 3; ++k) {
      const int row = sheet.sides(t)[to_size(k)].edge;
      slope[row] += factor[k] * moment[k];
      for (int l = 0; l < 3; ++l)
        entries.emplace_back(row, sheet.sides(t)[to_size(l)].edge,
                             factor[k] * factor[l] * stiffness[t](k, l));
    }
  }
  for (Eigen::Index e = 0; e < count; ++e) {
    if (!sheet.edges()[static_cast<std::size_t>(e)].active()) entries.emplace_back(e, e, 1.0);
  }
  Eigen::SparseMatrix<double> matrix(count, count);
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver(matrix);
  solver.setTolerance(1e-13);
  return solver.solve(-slope);
}

}  // namespace exemplar::shells
