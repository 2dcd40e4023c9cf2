#include "shells/sheet_term.h"

#include <algorithm>

#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/math/psd.h"

namespace exemplar::shells {

namespace {

double sum_in_order(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

}  // namespace

template <class Triangle>
SheetTerm<Triangle>::SheetTerm(std::shared_ptr<const Sheet> sheet, std::vector<Triangle> triangles,
                               double internal, Rests<Triangle> rest,
                               const ExamplePotential<Triangle>* examples)
    : m_sheet(std::move(sheet)),
      m_triangles(std::move(triangles)),
      m_internal(internal),
      m_rest(std::move(rest)) {
  if (examples) {
    m_poses = examples->poses;
    m_in = examples->takes_part;
    m_on_simplex = examples->on_simplex;
    constexpr int in_plane = Triangle::measures - 3;
    m_factors.template head<in_plane>().setConstant(examples->membrane);
    m_factors.template tail<3>().setConstant(examples->bending);
  }
  find_example_directions();
  number_nodes();
}

template <class Triangle>
void SheetTerm<Triangle>::set_rest(Rests<Triangle> rest) {
  m_rest = std::move(rest);
  find_example_directions();
}

// p_0 carries the plastic offsets of W_i; the examples themselves stay as they are.
template <class Triangle>
void SheetTerm<Triangle>::find_example_directions() {
  const auto count = to_row(m_poses.size());
  m_ways.assign(m_poses.size(), Rests<Triangle>::Zero(Triangle::measures, m_rest.cols()));
  m_pulls = m_ways;
  m_way_stiffness = MatX::Zero(count, count);
  for (std::size_t t = 0; t < m_triangles.size(); ++t) {
    if (!in_examples(t)) continue;
    for (std::size_t i = 0; i < m_poses.size(); ++i) {
      m_ways[i].col(to_row(t)) = m_poses[i].col(to_row(t)) - m_rest.col(to_row(t));
      m_pulls[i].col(to_row(t)) = m_triangles[t].resist(m_factors.cwiseProduct(m_ways[i].col(to_row(t))));
    }
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index l = 0; l < count; ++l)
        m_way_stiffness(i, l) += m_ways[to_size(i)].col(to_row(t)).dot(m_pulls[to_size(l)].col(to_row(t)));
    }
  }
}

// Nodes that occur twice (opposite vertices of small closed meshes, edges in one pack) are one local node.
template <class Triangle>
void SheetTerm<Triangle>::number_nodes() {
  const int first = m_sheet->first_node();
  Points centres(to_row(m_sheet->triangle_count()), 3);
  for (std::size_t t = 0; t < m_sheet->triangle_count(); ++t) {
    const auto corners = m_sheet->mesh().triangles.row(to_row(t));
    std::vector<int> nodes{first + corners[0], first + corners[1], first + corners[2]};
    const auto local_of = [&](int node) {
      if (node < 0) return -1;
      const auto found = std::find(nodes.begin(), nodes.end(), first + node);
      if (found != nodes.end()) return static_cast<int>(found - nodes.begin());
      nodes.push_back(first + node);
      return static_cast<int>(nodes.size()) - 1;
    };
    Local local;
    for (std::size_t k = 0; k < 3; ++k) {
      const EdgeSide& side = m_sheet->sides(t)[k];
      local.wing[k] = local_of(m_sheet->edges()[to_size(side.edge)].points[to_size(3 - side.side)]);
    }
    for (std::size_t k = 0; k < 3; ++k)
      local.pack[k] = local_of(m_sheet->edges()[to_size(m_sheet->sides(t)[k].edge)].pack);
    local.count = static_cast<int>(nodes.size());
    nodes.resize(k_nodes, nodes.front());
    m_nodes.insert(m_nodes.end(), nodes.begin(), nodes.end());
    m_local.push_back(local);
    centres.row(to_row(t)) =
        (m_sheet->mesh().vertices.row(corners[0]) + m_sheet->mesh().vertices.row(corners[1]) +
         m_sheet->mesh().vertices.row(corners[2])) /
        3;
  }
  for (std::size_t e = 0; e < m_sheet->edges().size(); ++e) {
    const SheetEdge& edge = m_sheet->edges()[e];
    if (!edge.has_angle()) continue;
    m_hinges.push_back(static_cast<int>(e));
    for (const int point : edge.points) m_hinge_nodes.push_back(first + point);
  }
  m_triangle_colours = ElementColouring(m_nodes, k_nodes, spatial_order(centres));
  m_hinge_colours = ElementColouring(m_hinge_nodes, 4, {});
}

template <class Triangle>
void SheetTerm<Triangle>::connect(const BlockPattern& pattern, std::span<const int> column_of_node) {
  m_column.assign(column_of_node.begin(), column_of_node.end());
  const auto slots_of = [&](const std::vector<int>& nodes, std::size_t width) {
    std::vector<BlockSlot> slots;
    std::vector<int> columns(width);
    for (std::size_t i = 0; i < nodes.size(); i += width) {
      for (std::size_t k = 0; k < width; ++k) columns[k] = m_column[to_size(nodes[i + k])];
      const std::vector<BlockSlot> own = pattern.slots(columns);
      slots.insert(slots.end(), own.begin(), own.end());
    }
    return slots;
  };
  m_triangle_slots = slots_of(m_nodes, k_nodes);
  m_hinge_slots = slots_of(m_hinge_nodes, 4);
}

template <class Triangle>
typename Triangle::Measures SheetTerm<Triangle>::example_rest(std::size_t t, const VecX& w) const {
  Measures rest = m_rest.col(to_row(t));
  for (std::size_t i = 0; i < m_ways.size(); ++i) rest += w[to_row(i)] * m_ways[i].col(to_row(t));
  return rest;
}

// C commutes with factors of membrane and bending: one product with it serves all three energies.
template <class Triangle>
typename SheetTerm<Triangle>::Point SheetTerm<Triangle>::evaluate(const Points& x, const VecX& theta,
                                                                  const VecX& w, std::size_t t) const {
  Point point;
  point.q = m_sheet->shape(x, theta, t);
  const Measures p = m_triangles[t].measure(point.q);
  Measures sum = m_internal * (p - m_rest.col(to_row(t)));
  point.factors.setConstant(m_internal);
  if (in_examples(t)) {
    point.off_examples = p - example_rest(t, w);
    sum += m_factors.cwiseProduct(point.off_examples);
    point.factors += m_factors;
  }
  if (m_rate > 0) {
    sum += m_rate * point.factors.cwiseProduct(p - m_rate_base.col(to_row(t)));
    point.factors *= 1 + m_rate;
  }
  point.f = m_triangles[t].resist(sum);
  return point;
}

// With the measures of triangle t, as the derivative of its part of D.
template <class Triangle>
typename SheetTerm<Triangle>::Measures SheetTerm<Triangle>::viscous_force(const Measures& p,
                                                                          std::size_t t) const {
  const Measures change = p - m_rate_base.col(to_row(t));
  Measures factors = Measures::Constant(m_internal);
  if (in_examples(t)) factors += m_factors;
  return m_rate * m_triangles[t].resist(factors.cwiseProduct(change));
}

template <class Triangle>
double SheetTerm<Triangle>::viscous_value(const Measures& p, std::size_t t) const {
  return 0.5 * (p - m_rate_base.col(to_row(t))).dot(viscous_force(p, t));
}

template <class Triangle>
double SheetTerm<Triangle>::value(const Points& x, const VecX& w) {
  const VecX theta = angles(x);
  m_slots.resize(m_sheet->triangle_count());
  parallel_for(m_sheet->triangle_count(), [&](std::size_t t) {
    const Measures p = m_triangles[t].measure(m_sheet->shape(x, theta, t));
    const Measures d = p - m_rest.col(to_row(t));
    m_slots[t] = 0.5 * m_internal * d.dot(m_triangles[t].resist(d));
    if (m_rate > 0) m_slots[t] += viscous_value(p, t);
    if (in_examples(t)) m_slots[t] += example_value(p, w, t);
  });
  return sum_in_order(m_slots);
}

template <class Triangle>
double SheetTerm<Triangle>::example_value(const Measures& p, const VecX& w, std::size_t t) const {
  const Measures e = p - example_rest(t, w);
  return 0.5 * e.dot(m_triangles[t].resist(m_factors.cwiseProduct(e)));
}

template <class Triangle>
void SheetTerm<Triangle>::differentiate_angles(const Points& x) {
  const std::vector<SheetEdge>& edges = m_sheet->edges();
  m_theta = angles(x);
  m_theta_gradient.resize(12, to_row(edges.size()));
  parallel_for(edges.size(), [&](std::size_t e) {
    if (edges[e].has_angle())
      m_theta_gradient.col(to_row(e)) = Dihedral::gradient(m_sheet->stencil(x, edges[e]));
  });
}

template <class Triangle>
typename SheetTerm<Triangle>::Jacobian SheetTerm<Triangle>::jacobian(const Points& x, std::size_t t) const {
  Jacobian j = Jacobian::Zero();
  const int* nodes = m_nodes.data() + k_nodes * t;
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    const Eigen::RowVector3d edge_vector = 2 * (x.row(nodes[b]) - x.row(nodes[a]));
    j.template block<1, 3>(k, 3 * b) = edge_vector;
    j.template block<1, 3>(k, 3 * a) = -edge_vector;
    const EdgeSide& side = m_sheet->sides(t)[to_size(k)];
    const SheetEdge& edge = m_sheet->edges()[to_size(side.edge)];
    const SideRule& rule = edge.rule[to_size(side.side)];
    if (rule.theta != 0 && edge.has_angle()) {
      // The edge's points (ends, wing left, wing right) among the triangle's nodes.
      std::array<int, 4> of_point{a, b, k, m_local[t].wing[to_size(k)]};
      if (side.side == 1) of_point = {b, a, m_local[t].wing[to_size(k)], k};
      for (int p = 0; p < 4; ++p)
        j.template block<1, 3>(3 + k, 3 * of_point[to_size(p)]) +=
            rule.theta * m_theta_gradient.template block<3, 1>(3 * p, side.edge).transpose();
    }
    if (rule.phi != 0) j(3 + k, 3 * m_local[t].pack[to_size(k)] + edge.coordinate) = rule.phi / edge.length;
  }
  return j;
}

template <class Triangle>
void SheetTerm<Triangle>::scatter(std::size_t t, const Eigen::Matrix<double, k_dofs, 1>& local,
                                  Eigen::Ref<VecX> column) const {
  for (int a = 0; a < m_local[t].count; ++a) {
    const int c = m_column[to_size(m_nodes[k_nodes * t + to_size(a)])];
    if (c >= 0) column.segment<3>(3 * c) += local.template segment<3>(3 * a);
  }
}

template <class Triangle>
void SheetTerm<Triangle>::add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) {
  differentiate_angles(x);
  const std::size_t m = m_poses.size();
  m_slots.assign(m * m_sheet->triangle_count(), 0.0);
  m_triangle_colours.for_each([&](std::size_t t) {
    const Point point = evaluate(x, m_theta, w, t);
    const Vec6 slope = m_triangles[t].jacobian(point.q).transpose() * point.f;
    const Eigen::Matrix<double, k_dofs, 1> nodal = jacobian(x, t).transpose() * slope;
    for (int a = 0; a < m_local[t].count; ++a)
      g.row(m_nodes[k_nodes * t + to_size(a)]) += nodal.template segment<3>(3 * a).transpose();
    if (!in_examples(t)) return;
    for (std::size_t i = 0; i < m; ++i)
      m_slots[m * t + i] = -point.off_examples.dot(m_pulls[i].col(to_row(t)));
  });
  for (std::size_t t = 0; m > 0 && t < m_sheet->triangle_count(); ++t)
    g_w += Eigen::Map<const VecX>(m_slots.data() + m * t, to_row(m));
}

template <class Triangle>
Vec3 SheetTerm<Triangle>::stretch_error(const Points& x, std::size_t t) const {
  Vec3 error = Vec3::Zero();
  if (m_before.rows() == 0) return error;
  const int* nodes = m_nodes.data() + k_nodes * t;
  for (int k = 0; k < 3; ++k) {
    const int a = nodes[(k + 1) % 3], b = nodes[(k + 2) % 3];
    error[k] = (x.row(b) - x.row(a) - m_before.row(b) + m_before.row(a)).squaredNorm();
  }
  return error;
}

// Σ n_k ∂²s_k/∂x²: scalars on the triangle's own vertices times the identity.
template <class Triangle>
void SheetTerm<Triangle>::add_membrane_force(const Vec3& n, bool project,
                                             Eigen::Matrix<double, k_dofs, k_dofs>& h) const {
  Mat3 m;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) m(i, j) = i == j ? 2 * (n.sum() - n[i]) : -2 * n[3 - i - j];
  }
  if (project) m = project_psd(m);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) h.template block<3, 3>(3 * i, 3 * j).diagonal().array() += m(i, j);
  }
}

template <class Triangle>
void SheetTerm<Triangle>::add_triangle(const Points& x, const VecX& w, bool project, std::size_t t,
                                       BlockMatrix& a, Eigen::Ref<MatX> c) {
  const Point point = evaluate(x, m_theta, w, t);
  const Triangle& triangle = m_triangles[t];
  const typename Triangle::Jacobian p_q = triangle.jacobian(point.q);
  Mat6 k = p_q.transpose() * (triangle.stiffness * point.factors.asDiagonal()) * p_q;
  if (triangle.bent_measures()) k += triangle.second(point.q, point.f);
  if (project && triangle.bent_measures()) k = project_psd(k);
  const Jacobian j = jacobian(x, t);
  const Jacobian kj = k * j;
  Eigen::Matrix<double, k_dofs, k_dofs> h;
  h.noalias() = j.transpose() * kj;
  const Vec6 slope = p_q.transpose() * point.f;
  m_moments.col(to_row(t)) = slope.template tail<3>();
  const Vec3 n = slope.template head<3>() - k.template topLeftCorner<3, 3>() * stretch_error(x, t);
  add_membrane_force(n, project, h);
  const BlockSlot* slots = m_triangle_slots.data() + t * (k_nodes * (k_nodes + 1) / 2);
  for (int r = 0, s = 0; r < m_local[t].count; ++r) {
    for (int b = 0; b <= r; ++b, ++s) a.add(slots[s], h.template block<3, 3>(3 * r, 3 * b));
  }
  if (!in_examples(t)) return;
  for (std::size_t i = 0; i < m_poses.size(); ++i) {
    const Vec6 column = -(p_q.transpose() * m_pulls[i].col(to_row(t)));
    scatter(t, j.transpose() * column, c.col(to_row(i)));
  }
}

template <class Triangle>
void SheetTerm<Triangle>::add_edge(const Points& x, std::size_t h, BlockMatrix& a) const {
  const SheetEdge& edge = m_sheet->edges()[to_size(m_hinges[h])];
  double moment = 0;
  for (std::size_t s = 0; s < 2; ++s) {
    if (edge.triangles[s] < 0) continue;
    const std::array<EdgeSide, 3>& sides = m_sheet->sides(to_size(edge.triangles[s]));
    for (int k = 0; k < 3; ++k) {
      if (sides[to_size(k)].edge == m_hinges[h])
        moment += edge.rule[s].theta * m_moments(k, edge.triangles[s]);
    }
  }
  const Mat12 second = moment * Dihedral::hessian(m_sheet->stencil(x, edge));
  const BlockSlot* slots = m_hinge_slots.data() + 10 * h;
  for (int r = 0, s = 0; r < 4; ++r) {
    for (int b = 0; b <= r; ++b, ++s) a.add(slots[s], second.block<3, 3>(3 * r, 3 * b));
  }
}

template <class Triangle>
void SheetTerm<Triangle>::add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a,
                                      Eigen::Ref<MatX> c, Eigen::Ref<MatX> d) {
  differentiate_angles(x);
  m_moments.resize(3, to_row(m_sheet->triangle_count()));
  m_triangle_colours.for_each([&](std::size_t t) { add_triangle(x, w, project, t, a, c); });
  if (!project) m_hinge_colours.for_each([&](std::size_t h) { add_edge(x, h, a); });
  d += m_way_stiffness;
}

template <class Triangle>
void SheetTerm<Triangle>::forget_iterates() {
  m_before.resize(0, 3);
  m_iterate.resize(0, 3);
}

template <class Triangle>
void SheetTerm<Triangle>::begin_step(const RateBase& base) {
  forget_iterates();
  m_rate = m_viscosity / base.dt;
  if (m_rate == 0) return;
  m_rate_base.setZero(Triangle::measures, to_row(m_sheet->triangle_count()));
  for (std::size_t k = 0; k < base.places.size(); ++k) {
    const auto& [share, place] = base.places[k];
    const VecX theta = angles(place);
    const bool is_start = k == 0;
    if (is_start) m_step_start.resize(Triangle::measures, to_row(m_sheet->triangle_count()));
    parallel_for(m_sheet->triangle_count(), [&](std::size_t t) {
      const Measures measures = m_triangles[t].measure(m_sheet->shape(place, theta, t));
      if (is_start) m_step_start.col(to_row(t)) = measures;
      m_rate_base.col(to_row(t)) += share * measures;
    });
  }
}

template <class Triangle>
double SheetTerm<Triangle>::dissipated(const Points& x) {
  if (m_rate == 0) return 0;
  const VecX theta = angles(x);
  m_slots.resize(m_sheet->triangle_count());
  parallel_for(m_sheet->triangle_count(), [&](std::size_t t) {
    const Measures p = m_triangles[t].measure(m_sheet->shape(x, theta, t));
    m_slots[t] = viscous_force(p, t).dot(p - m_step_start.col(to_row(t)));
  });
  return sum_in_order(m_slots);
}

template <class Triangle>
void SheetTerm<Triangle>::accepted(const Points& x, const VecX&) {
  m_before = m_iterate;
  m_iterate = x;
}

template <class Triangle>
void SheetTerm<Triangle>::end_step(const Points& x, const VecX&) {
  m_reference = angles(x);
  m_rate = 0;
  forget_iterates();
}

template <class Triangle>
MatX SheetTerm<Triangle>::triangle_energies(const Points& x) const {
  const VecX theta = angles(x);
  MatX energies(2, to_row(m_sheet->triangle_count()));
  constexpr int in_plane = Triangle::measures - 3;
  parallel_for(m_sheet->triangle_count(), [&](std::size_t t) {
    const Measures d = m_triangles[t].measure(m_sheet->shape(x, theta, t)) - m_rest.col(to_row(t));
    const Measures f = m_internal * m_triangles[t].resist(d);
    energies(0, to_row(t)) = 0.5 * d.template head<in_plane>().dot(f.template head<in_plane>());
    energies(1, to_row(t)) = 0.5 * d.template tail<3>().dot(f.template tail<3>());
  });
  return energies;
}

template <class Triangle>
double SheetTerm<Triangle>::example_energy(const Points& x, const VecX& w) const {
  const VecX theta = angles(x);
  double sum = 0;
  for (std::size_t t = 0; t < m_sheet->triangle_count(); ++t) {
    if (in_examples(t)) sum += example_value(m_triangles[t].measure(m_sheet->shape(x, theta, t)), w, t);
  }
  return sum;
}

template class SheetTerm<PhysicalTriangle>;
template class SheetTerm<PaperTriangle>;

}  // namespace exemplar::shells
