#include "core/contact/body_search.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/contact/primitive_distance.h"
#include "core/math/rigid_fit.h"

namespace exemplar {

namespace {

// Of the rest distance: what is closer than that at rest keeps a thinner contact (see fit_to_rest).
constexpr double k_rest_radius = 0.5, k_rest_reach = 0.25;
constexpr double k_margin = 0.15;       // of the mean edge: around a reference shape
constexpr double k_largest_turn = 0.2;  // rad, within a path for which candidates hold
constexpr double k_shortening = 1.01;   // > 1 / cos(k_largest_turn / 2)

template <class Elements>
std::vector<Box> feature_boxes(const Elements& elements, const auto& box_of_point) {
  std::vector<Box> boxes(to_size(elements.rows()));
  for (Eigen::Index e = 0; e < elements.rows(); ++e) {
    for (Eigen::Index k = 0; k < elements.cols(); ++k) boxes[to_size(e)].extend(box_of_point(elements(e, k)));
  }
  return boxes;
}

template <class Elements>
Elements rows_of(const Elements& all, const std::vector<Eigen::Index>& rows) {
  Elements out(to_row(rows.size()), all.cols());
  for (std::size_t k = 0; k < rows.size(); ++k) out.row(to_row(k)) = all.row(rows[k]);
  return out;
}

double distance_of(const ContactPair& pair, const std::array<Vec3, 4>& corners) {
  return (pair.kind == ContactPairKind::edge_edge ? nearest_edges(corners) : nearest_point_triangle(corners))
      .value;
}

// How much the distance between a pair's two sides can change at most on the path, m.
double closing_bound(const ContactPair& pair, const ContactPath& path) {
  std::array<Vec3, 4> way;
  Vec3 mean = Vec3::Zero();
  for (std::size_t k = 0; k < 4; ++k) {
    way[k] = (path.end.row(pair.points[k]) - path.start.row(pair.points[k])).transpose();
    mean += 0.25 * way[k];
  }
  const std::size_t split = pair.kind == ContactPairKind::edge_edge ? 2 : 1;
  std::array<double, 2> longest{};
  for (std::size_t k = 0; k < 4; ++k) {
    double& side = longest[k < split ? 0 : 1];
    side = std::max(side, (way[k] - mean).norm());
  }
  return longest[0] + longest[1];
}

void join(const std::vector<std::vector<ContactPair>>& found, std::vector<ContactPair>& pairs) {
  for (const std::vector<ContactPair>& some : found) pairs.insert(pairs.end(), some.begin(), some.end());
}

}  // namespace

BodySearch::BodySearch(const ContactPoints& points) : m_points(points) {
  bool any = points.surface().between;
  for (const ContactBody& body : points.surface().bodies) any = any || body.self;
  if (any) make_parts();
}

void BodySearch::make_parts() {
  const ContactSurface& surface = m_points.surface();
  const ContactPoints::Group& group = m_points.groups().front();
  const std::size_t count = std::max<std::size_t>(1, surface.bodies.size());
  m_parts.resize(count);
  std::vector<std::vector<Eigen::Index>> triangles(count), edges(count);
  for (Eigen::Index t = 0; t < group.triangles.rows(); ++t)
    triangles[to_size(surface.body_of(group.triangles(t, 0)))].push_back(t);
  for (Eigen::Index e = 0; e < group.edges.rows(); ++e)
    edges[to_size(surface.body_of(group.edges(e, 0)))].push_back(e);
  for (const int point : group.points) m_parts[to_size(surface.body_of(point))].points.push_back(point);
  const auto rest_box = [&](int point) {
    Box box;
    box.extend(Vec3(surface.rest.row(point)));
    return box;
  };
  for (std::size_t b = 0; b < count; ++b) {
    Part& part = m_parts[b];
    part.self = !surface.bodies.empty() && surface.bodies[b].self;
    part.triangles = rows_of(group.triangles, triangles[b]);
    part.edges = rows_of(group.edges, edges[b]);
    part.triangle_tree = Bvh(feature_boxes(part.triangles, rest_box));
    part.edge_tree = Bvh(feature_boxes(part.edges, rest_box));
  }
}

Box BodySearch::point_box(int point, const Vec3& drift, const ContactPath& path) const {
  Box box;
  box.extend(Vec3(path.start.row(point)));
  box.extend(Vec3(path.end.row(point).transpose() - drift));
  // Both sides together: their radii and at least the smaller reach.
  const double slack = k_shortening * (m_points[point].radius + 0.5 * m_points.reach_at(point) + m_margin);
  box.min.array() -= slack;
  box.max.array() += slack;
  return box;
}

// The body's mean displacement and its bounds.
void BodySearch::measure(Part& part, const ContactPath& path) const {
  part.drift.setZero();
  for (const int i : part.points) part.drift += (path.end.row(i) - path.start.row(i)).transpose();
  part.drift /= std::max<double>(1, static_cast<double>(part.points.size()));
  part.bounds = Box{};
  for (const int i : part.points) part.bounds.extend(point_box(i, part.drift, path));
  part.placed = false;
}

void BodySearch::place(Part& part, const ContactPath& path) const {
  if (part.placed) return;
  const auto box = [&](int point) { return point_box(point, part.drift, path); };
  part.triangle_boxes = feature_boxes(part.triangles, box);
  part.edge_boxes = feature_boxes(part.edges, box);
  part.triangle_tree.refit(part.triangle_boxes);
  part.edge_tree.refit(part.edge_boxes);
  part.placed = true;
}

void BodySearch::append_pairs(const ContactPath& path, std::vector<ContactPair>& pairs) {
  const bool between = m_points.surface().between && m_parts.size() > 1;
  for (Part& part : m_parts) {
    if (between) measure(part, path);
  }
  for (std::size_t a = 0; a < m_parts.size(); ++a) {
    if (m_parts[a].self) add_self_pairs(m_parts[a], path, pairs);
    if (!between) continue;
    for (std::size_t b = a + 1; b < m_parts.size(); ++b)
      add_pairs_between(m_parts[a], m_parts[b], path, pairs);
  }
}

void BodySearch::add_pairs_between(Part& a, Part& b, const ContactPath& path,
                                   std::vector<ContactPair>& pairs) const {
  // In the frame of a, body b goes on by the difference of the drifts.
  const Vec3 ahead = b.drift - a.drift;
  Box swept = b.bounds;
  swept.extend(Box{swept.min + ahead, swept.max + ahead});
  if (!swept.overlaps(a.bounds)) return;
  place(a, path);
  place(b, path);
  add_point_pairs(a, b, path, pairs);
  add_point_pairs(b, a, path, pairs);
  add_edge_pairs(a, b, path, pairs);
}

void BodySearch::add_self_pairs(Part& part, const ContactPath& path, std::vector<ContactPair>& pairs) {
  if (!is_covered(part, path)) {
    find_candidates(part, path);
    measure(part, path);
    if (part.candidates.reference.rows() == 0) {
      place(part, path);
      add_point_pairs(part, part, path, pairs);
      add_edge_pairs(part, part, path, pairs);
      return;
    }
  }
  for (const ContactPair& pair : part.candidates.pairs) {
    if (may_meet(path, pair)) pairs.push_back(pair);
  }
}

// Whether nothing but the candidates can come within reach: both ends of the path are the reference moved rigidly,
// but for the margin. On the path between two turned places lengths are shorter by 1 − cos(angle/2) at most.
bool BodySearch::is_covered(Part& part, const ContactPath& path) {
  Candidates& known = part.candidates;
  if (known.reference.rows() == 0 || !fits(part.points, path.start, known)) return false;
  const Mat3 first = known.turn;
  return fits(part.points, path.end, known) &&
         (first.transpose() * known.turn).trace() > 1 + 2 * std::cos(k_largest_turn);
}

// Whether the points are the reference moved rigidly, but for the margin; known.turn is then its rotation.
bool BodySearch::fits(const std::vector<int>& points, const Points& now, Candidates& known) {
  if (known.seen.rows() > 0) {
    Vec3 shift = Vec3::Zero();
    for (std::size_t k = 0; k < points.size(); ++k)
      shift += (now.row(points[k]) - known.seen.row(to_row(k))).transpose();
    shift /= static_cast<double>(points.size());
    double farthest = 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const Vec3 off = (now.row(points[k]) - known.seen.row(to_row(k))).transpose() - shift;
      farthest = std::max(farthest, off.squaredNorm());
    }
    if (farthest <= known.room * known.room) return true;
  }
  Points own(known.reference.rows(), 3);
  for (std::size_t k = 0; k < points.size(); ++k) own.row(to_row(k)) = now.row(points[k]);
  const RigidTransform motion = fit_rigid(known.reference, own);
  const double farthest =
      std::sqrt((own - transform(motion, known.reference)).rowwise().squaredNorm().maxCoeff());
  if (!(farthest <= known.margin)) return false;
  known.seen = std::move(own);
  known.turn = motion.rotation;
  known.room = known.margin - farthest;
  return true;
}

void BodySearch::find_candidates(Part& part, const ContactPath& path) {
  const Points& rest = m_points.surface().rest;
  double edges = 0;
  for (Eigen::Index e = 0; e < part.edges.rows(); ++e)
    edges += (rest.row(part.edges(e, 0)) - rest.row(part.edges(e, 1))).norm();
  Candidates& known = part.candidates;
  known.margin = k_margin * edges / std::max<double>(1, static_cast<double>(part.edges.rows()));
  known.reference.resize(to_row(part.points.size()), 3);
  for (std::size_t k = 0; k < part.points.size(); ++k)
    known.reference.row(to_row(k)) = path.start.row(part.points[k]);
  known.pairs.clear();
  known.seen.resize(0, 3);
  if (!is_covered(part, path)) {  // it is deformed too much within the path
    known.reference.resize(0, 3);
    return;
  }
  const ContactPath standing{path.q0, path.q0, path.start, path.start};
  m_margin = known.margin;
  measure(part, standing);
  place(part, standing);
  add_point_pairs(part, part, standing, known.pairs);
  add_edge_pairs(part, part, standing, known.pairs);
  m_margin = 0;
}

void BodySearch::add_point_pairs(const Part& a, const Part& b, const ContactPath& path,
                                 std::vector<ContactPair>& pairs) const {
  Found found(a.points.size());
  parallel_for(
      a.points.size(),
      [&](std::size_t k) {
        const int p = a.points[k];
        const Box box = point_box(p, b.drift, path);
        std::vector<int> hits;
        b.triangle_tree.for_overlaps(box, [&](int t) {
          const auto corner = b.triangles.row(t);
          const bool shares = corner[0] == p || corner[1] == p || corner[2] == p;
          if (!shares && b.triangle_boxes[to_size(t)].overlaps(box)) hits.push_back(t);
        });
        std::sort(hits.begin(), hits.end());
        for (const int t : hits) {
          const auto corner = b.triangles.row(t);
          ContactPair pair{ContactPairKind::point_triangle,
                           {p, corner[0], corner[1], corner[2]},
                           -1,
                           m_points[p].radius + m_points[corner[0]].radius,
                           m_points[p].area};
          if (complete(path, pair)) found[k].push_back(pair);
        }
      },
      32);
  join(found, pairs);
}

void BodySearch::add_edge_pairs(const Part& a, const Part& b, const ContactPath& path,
                                std::vector<ContactPair>& pairs) const {
  const Points& rest = m_points.surface().rest;
  const auto squared_length = [&](int i, int j) { return (rest.row(i) - rest.row(j)).squaredNorm(); };
  const bool own = &a == &b;
  Found found(to_size(a.edges.rows()));
  parallel_for(
      found.size(),
      [&](std::size_t k) {
        const int a0 = a.edges(to_row(k), 0), a1 = a.edges(to_row(k), 1);
        Box box = point_box(a0, b.drift, path);
        box.extend(point_box(a1, b.drift, path));
        std::vector<int> hits;
        b.edge_tree.for_overlaps(box, [&](int e) {
          const int b0 = b.edges(e, 0), b1 = b.edges(e, 1);
          const bool shares = a0 == b0 || a0 == b1 || a1 == b0 || a1 == b1;
          if (shares || (own && to_size(e) <= k)) return;
          if (b.edge_boxes[to_size(e)].overlaps(box)) hits.push_back(e);
        });
        std::sort(hits.begin(), hits.end());
        for (const int e : hits) {
          const int b0 = b.edges(e, 0), b1 = b.edges(e, 1);
          const double area =
              0.25 * (m_points[a0].area + m_points[a1].area + m_points[b0].area + m_points[b1].area);
          ContactPair pair{ContactPairKind::edge_edge,
                           {a0, a1, b0, b1},
                           -1,
                           m_points[a0].radius + m_points[b0].radius,
                           area,
                           1e-3 * squared_length(a0, a1) * squared_length(b0, b1)};
          if (complete(path, pair)) found[k].push_back(pair);
        }
      },
      32);
  join(found, pairs);
}

bool BodySearch::may_meet(const ContactPath& path, const ContactPair& pair) const {
  const double distance = distance_of(pair, m_points.corners(pair, path.start));
  return distance - closing_bound(pair, path) <= k_shortening * (pair.radius + pair.reach + 2 * m_margin);
}

bool BodySearch::complete(const ContactPath& path, ContactPair& pair) const {
  m_points.set_law(pair);
  // Sheets: never felt farther than their own thickness.
  if (pair.radius > 0) pair.reach = std::min(pair.reach, pair.radius);
  if (!may_meet(path, pair)) return false;
  const std::array<int, 2> bodies = m_points.bodies_of(pair);
  return bodies[0] != bodies[1] || fit_to_rest(pair);
}

// Features of one body that are near each other at rest must not press then: their radii and their reach are
// scaled to the rest distance (ignoring them would let a thin fork close through itself). What coincides at rest
// (a seam of doubled vertices) makes no pair.
bool BodySearch::fit_to_rest(ContactPair& pair) const {
  const double rest = distance_of(pair, m_points.corners(pair, m_points.surface().rest));
  if (rest < 1e-6 * pair.reach) return false;
  if (rest - pair.radius < 2 * pair.reach) {
    pair.radius = std::min(pair.radius, k_rest_radius * rest);
    pair.reach = std::min(pair.reach, k_rest_reach * rest);
  }
  return true;
}

}  // namespace exemplar
