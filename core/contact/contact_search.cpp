#include "core/contact/contact_search.h"

#include <algorithm>

#include "core/mesh/bvh.h"

namespace exemplar {

namespace {

Box united(const std::vector<Box>& boxes, const auto& indices) {
  Box box;
  for (const int i : indices) box.extend(boxes[to_size(i)]);
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
    near.push_back(to_int(i));
    near_boxes.push_back(a[i]);
  }
  if (near.empty()) return;
  const Bvh tree(near_boxes);
  for (std::size_t j = 0; j < inflated.size(); ++j) {
    tree.for_overlaps(inflated[j], [&](int i) {
      if (near_boxes[to_size(i)].overlaps(inflated[j])) visit(near[to_size(i)], to_int(j));
    });
  }
}

template <class Elements>
std::vector<Box> boxes_of(const Elements& elements, const std::vector<Box>& boxes) {
  std::vector<Box> out;
  out.reserve(to_size(elements.rows()));
  for (Eigen::Index e = 0; e < elements.rows(); ++e) out.push_back(united(boxes, elements.row(e)));
  return out;
}

using Group = ContactPoints::Group;
using Feature = ContactPoints::Feature;

std::vector<Box> swept_boxes(const ContactPoints& points, const ContactPath& path) {
  std::vector<Box> boxes(to_size(points.size()));
  for (int i = 0; i < points.size(); ++i) {
    Box& box = boxes[to_size(i)];
    box.extend(Vec3(path.start.row(i)));
    box.extend(Vec3(path.end.row(i)));
    const Feature& p = points[i];
    // An arc leaves its chord by at most an eighth of its second derivative.
    const double bulge = p.owner < 0 ? 0 : ContactPath::arc(path.turn(p.owner), p.local.norm()) / 8;
    const double slack = p.radius + bulge;
    box.min.array() -= slack;
    box.max.array() += slack;
  }
  return boxes;
}

// One search: what is found goes to `pairs`.
class Search {
 public:
  Search(const ContactPoints& points, const ContactPath& path)
      : m_points(points), m_path(path), m_boxes(swept_boxes(points, path)) {}

  void add_pairs(const Group& a, const Group& b) {
    const auto convex = [&](const Group& g) {
      return g.owner >= 0 && m_points.obstacle(g.owner).shape().convex();
    };
    if (convex(b)) add_shape_pairs(a, b.owner);
    if (convex(a)) add_shape_pairs(b, a.owner);
    add_point_triangle_pairs(a, b);
    add_point_triangle_pairs(b, a);
    add_edge_pairs(a, b);
  }
  std::vector<ContactPair> take() { return std::move(m_pairs); }

 private:
  void add(ContactPair pair) {
    m_points.set_law(pair);
    m_pairs.push_back(pair);
  }
  void add_shape_pairs(const Group& a, int shape);
  void add_point_triangle_pairs(const Group& points, const Group& triangles);
  void add_edge_pairs(const Group& a, const Group& b);

  const ContactPoints& m_points;
  const ContactPath& m_path;
  std::vector<Box> m_boxes;
  std::vector<ContactPair> m_pairs;
};

void Search::add_shape_pairs(const Group& a, int shape) {
  const ShapeGeometry& geometry = m_points.obstacle(shape).shape();
  const ContactPoints::Pose p0 = m_points.pose(shape, m_path.q0), p1 = m_points.pose(shape, m_path.q1);
  const double turn = m_path.turn(shape).norm();
  const double own_turn = a.owner < 0 ? 0 : m_path.turn(a.owner).norm();
  for (const int i : a.points) {
    const Vec3 z0 = m_path.start.row(i).transpose() - p0.position,
               z1 = m_path.end.row(i).transpose() - p1.position;
    const double value0 = geometry.value(p0.rotation.transpose() * z0);
    const double value1 = geometry.value(p1.rotation.transpose() * z1);
    // The distance changes by at most the length of the path in the shape's frame, so it is nowhere less than
    // this.
    const Feature& feature = m_points[i];
    const double own_arm = a.owner < 0 ? 0 : feature.local.norm();
    const double own = own_turn * own_arm;
    const double way = (z1 - z0).norm() + 2 * own + turn * (std::max(z0.norm(), z1.norm()) + own);
    if (0.5 * (value0 + value1 - way) > m_points.reach_at(i) + feature.radius) continue;
    add({ContactPairKind::point_shape, {i, -1, -1, -1}, shape, feature.radius, feature.area});
  }
}

void Search::add_point_triangle_pairs(const Group& points, const Group& triangles) {
  if (points.points.empty() || triangles.triangles.rows() == 0) return;
  std::vector<Box> point_boxes;
  for (const int i : points.points) point_boxes.push_back(m_boxes[to_size(i)]);
  const auto found = [&](int p, int t) {
    const int i = points.points[to_size(p)];
    const auto corner = triangles.triangles.row(t);
    double area = m_points[i].area;
    if (points.owner >= 0 && triangles.owner < 0)
      area = (m_points[corner[0]].area + m_points[corner[1]].area + m_points[corner[2]].area) / 3;
    add({ContactPairKind::point_triangle,
         {i, corner[0], corner[1], corner[2]},
         -1,
         m_points[i].radius + m_points[corner[0]].radius,
         area});
  };
  const std::vector<Box> triangle_boxes = boxes_of(triangles.triangles, m_boxes);
  const double reach = m_points.largest_reach();
  // The hierarchy is built over the longer list, which is cut to what is near first.
  if (triangle_boxes.size() > point_boxes.size()) {
    for_overlapping(triangle_boxes, point_boxes, reach, [&](int t, int p) { found(p, t); });
  } else {
    for_overlapping(point_boxes, triangle_boxes, reach, found);
  }
}

void Search::add_edge_pairs(const Group& a, const Group& b) {
  if (a.edges.rows() == 0 || b.edges.rows() == 0) return;
  // Lengths at the start stand for rest lengths of obstacle edges, which are rigid.
  const Points& rest = m_points.surface().rest;
  const auto squared_length = [&](int i, int j) {
    if (m_points[i].owner < 0) return (rest.row(i) - rest.row(j)).squaredNorm();
    return (m_points[i].local - m_points[j].local).squaredNorm();
  };
  const auto mean_area = [&](int i, int j) { return 0.5 * (m_points[i].area + m_points[j].area); };
  for_overlapping(
      boxes_of(a.edges, m_boxes), boxes_of(b.edges, m_boxes), m_points.largest_reach(), [&](int ea, int eb) {
        const int a0 = a.edges(ea, 0), a1 = a.edges(ea, 1), b0 = b.edges(eb, 0), b1 = b.edges(eb, 1);
        const double area = a.owner < 0 ? mean_area(a0, a1) : 0.5 * (mean_area(a0, a1) + mean_area(b0, b1));
        add({ContactPairKind::edge_edge,
             {a0, a1, b0, b1},
             -1,
             m_points[a0].radius + m_points[b0].radius,
             area,
             1e-3 * squared_length(a0, a1) * squared_length(b0, b1)});
      });
}

}  // namespace

std::vector<ContactPair> find_contact_pairs(const ContactPoints& points, const ContactPath& path) {
  const std::vector<Group>& groups = points.groups();
  if (groups.size() == 1) return {};
  Search search(points, path);
  const auto dynamic = [&](const Group& g) { return g.owner >= 0 && points.obstacle(g.owner).dynamic(); };
  for (std::size_t b = 1; b < groups.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const bool moves = groups[a].owner < 0 || dynamic(groups[a]) || dynamic(groups[b]);
      if (moves) search.add_pairs(groups[a], groups[b]);
    }
  }
  return search.take();
}

}  // namespace exemplar
