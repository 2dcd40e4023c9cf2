// Which pairs can come within reach on a straight path: boxes of the moving features in a hierarchy, and a
// Lipschitz bound for points against signed distances.
#include <algorithm>

#include "core/contact/contact_path.h"

namespace exemplar {

namespace {

Box united(const std::vector<Box>& boxes, const auto& indices) {
  Box box;
  for (const int i : indices) box.extend(boxes[i]);
  return box;
}

// Calls visit(a, b) for all a, b with overlapping boxes, b inflated by `reach`.
template <class Visit>
void for_overlapping(const std::vector<Box>& a, const std::vector<Box>& b, double reach, const Visit& visit) {
  Box all;
  std::vector<Box> inflated = b;
  for (Box& box : inflated) {
    box.min.array() -= reach;
    box.max.array() += reach;
    all.extend(box);
  }
  std::vector<int> near;
  std::vector<Box> near_boxes;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].overlaps(all)) continue;
    near.push_back(static_cast<int>(i));
    near_boxes.push_back(a[i]);
  }
  if (near.empty()) return;
  const Bvh tree(near_boxes);
  for (std::size_t j = 0; j < inflated.size(); ++j) {
    tree.for_overlaps(inflated[j], [&](int i) {
      if (near_boxes[i].overlaps(inflated[j])) visit(near[i], static_cast<int>(j));
    });
  }
}

template <class Elements>
std::vector<Box> boxes_of(const Elements& elements, const std::vector<Box>& boxes) {
  std::vector<Box> out;
  out.reserve(static_cast<std::size_t>(elements.rows()));
  for (Eigen::Index e = 0; e < elements.rows(); ++e) out.push_back(united(boxes, elements.row(e)));
  return out;
}

}  // namespace

void ContactPotential::find_pairs(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1) {
  const Path path{q0, q1, place(x0, q0), place(x1, q1)};
  const std::vector<Box> boxes = swept_boxes(path);
  m_pairs.clear();
  for (std::size_t b = 1; b < m_groups.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const bool moves = a == 0 || (*m_obstacles)[a - 1].dynamic() || (*m_obstacles)[b - 1].dynamic();
      if (moves) add_pairs(m_groups[a], m_groups[b], path, boxes);
    }
  }
  if (m_impacts.empty()) return;
  for (ContactPair& pair : m_pairs) {
    const auto found = m_stiffened.find(key_of(pair));
    if (found != m_stiffened.end()) {
      pair.factor = found->second;
    } else {
      for (const int o : obstacles_of(pair))
        pair.factor = o < 0 ? pair.factor : std::max(pair.factor, m_impacts[o]);
    }
    pair.area *= pair.factor;
  }
}

ContactPotential::PairKey ContactPotential::key_of(const ContactPair& pair) {
  return {static_cast<int>(pair.kind),
          pair.shape,
          pair.points[0],
          pair.points[1],
          pair.points[2],
          pair.points[3]};
}

std::vector<Box> ContactPotential::swept_boxes(const Path& path) const {
  std::vector<Box> boxes(m_points.size());
  for (std::size_t i = 0; i < m_points.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    boxes[i].extend(Vec3(path.start.row(row)));
    boxes[i].extend(Vec3(path.end.row(row)));
    const FeaturePoint& p = m_points[i];
    // An arc leaves its chord by at most an eighth of its second derivative.
    const double bulge = p.owner < 0 ? 0 : Path::arc(path.turn(p.owner), p.local.norm()) / 8;
    const double slack = p.radius + bulge;
    boxes[i].min.array() -= slack;
    boxes[i].max.array() += slack;
  }
  return boxes;
}

void ContactPotential::add_pairs(const Group& a, const Group& b, const Path& path,
                                 const std::vector<Box>& boxes) {
  const auto convex = [&](const Group& g) {
    return g.owner >= 0 && (*m_obstacles)[g.owner].shape().convex();
  };
  if (convex(b)) add_shape_pairs(a, b.owner, path);
  if (convex(a)) add_shape_pairs(b, a.owner, path);
  add_point_triangle_pairs(a, b, boxes);
  add_point_triangle_pairs(b, a, boxes);
  add_edge_pairs(a, b, boxes);
}

void ContactPotential::add_shape_pairs(const Group& a, int shape, const Path& path) {
  const ShapeGeometry& geometry = (*m_obstacles)[shape].shape();
  const Pose p0 = pose(shape, path.q0), p1 = pose(shape, path.q1);
  const double turn = path.turn(shape).norm();
  const double own_turn = a.owner < 0 ? 0 : path.turn(a.owner).norm();
  for (const int i : a.points) {
    const Vec3 z0 = path.start.row(i).transpose() - p0.position,
               z1 = path.end.row(i).transpose() - p1.position;
    const double value0 = geometry.value(p0.rotation.transpose() * z0);
    const double value1 = geometry.value(p1.rotation.transpose() * z1);
    // The distance changes by at most the length of the way in the shape's frame, so it is nowhere less than
    // this.
    const double own_arm = a.owner < 0 ? 0 : m_points[i].local.norm();
    const double own = own_turn * own_arm;
    const double way = (z1 - z0).norm() + 2 * own + turn * (std::max(z0.norm(), z1.norm()) + own);
    if (0.5 * (value0 + value1 - way) > m_options.reach + m_points[i].radius) continue;
    m_pairs.push_back(
        {ContactPairKind::point_shape, {i, -1, -1, -1}, shape, m_points[i].radius, m_points[i].area, 0});
  }
}

void ContactPotential::add_point_triangle_pairs(const Group& points, const Group& triangles,
                                                const std::vector<Box>& boxes) {
  if (points.points.empty() || triangles.triangles.rows() == 0) return;
  std::vector<Box> point_boxes;
  for (const int i : points.points) point_boxes.push_back(boxes[i]);
  const auto add = [&](int p, int t) {
    const int i = points.points[p];
    const auto corner = triangles.triangles.row(t);
    double area = m_points[i].area;
    if (points.owner >= 0 && triangles.owner < 0)
      area = (m_points[corner[0]].area + m_points[corner[1]].area + m_points[corner[2]].area) / 3;
    m_pairs.push_back({ContactPairKind::point_triangle,
                       {i, corner[0], corner[1], corner[2]},
                       -1,
                       m_points[i].radius + m_points[corner[0]].radius,
                       area,
                       0});
  };
  const std::vector<Box> triangle_boxes = boxes_of(triangles.triangles, boxes);
  // The hierarchy is built over the longer list, which is cut to what is near first.
  if (triangle_boxes.size() > point_boxes.size()) {
    for_overlapping(triangle_boxes, point_boxes, m_options.reach, [&](int t, int p) { add(p, t); });
  } else {
    for_overlapping(point_boxes, triangle_boxes, m_options.reach, add);
  }
}

void ContactPotential::add_edge_pairs(const Group& a, const Group& b, const std::vector<Box>& boxes) {
  if (a.edges.rows() == 0 || b.edges.rows() == 0) return;
  // Lengths at the start stand for rest lengths of obstacle edges, which are rigid.
  const auto squared_length = [&](int i, int j) {
    if (m_points[i].owner < 0) return (m_surface.rest.row(i) - m_surface.rest.row(j)).squaredNorm();
    return (m_points[i].local - m_points[j].local).squaredNorm();
  };
  const auto mean_area = [&](int i, int j) { return 0.5 * (m_points[i].area + m_points[j].area); };
  for_overlapping(boxes_of(a.edges, boxes), boxes_of(b.edges, boxes), m_options.reach, [&](int ea, int eb) {
    const int a0 = a.edges(ea, 0), a1 = a.edges(ea, 1), b0 = b.edges(eb, 0), b1 = b.edges(eb, 1);
    const double area = a.owner < 0 ? mean_area(a0, a1) : 0.5 * (mean_area(a0, a1) + mean_area(b0, b1));
    m_pairs.push_back({ContactPairKind::edge_edge,
                       {a0, a1, b0, b1},
                       -1,
                       m_points[a0].radius + m_points[b0].radius,
                       area,
                       1e-3 * squared_length(a0, a1) * squared_length(b0, b1)});
  });
}

}  // namespace exemplar
