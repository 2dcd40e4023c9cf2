#include "core/run/body_separation.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/mesh/bvh.h"
#include "core/mesh/crossings.h"
#include "core/mesh/distance.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

constexpr int k_shifts = 50;

Box bounds_of(const Points& points, const Triangles& triangles) {
  Box box;
  for (Eigen::Index i = 0; i < triangles.size(); ++i)
    box.extend(Vec3(points.row(triangles.data()[i]).transpose()));
  return box;
}

TriMesh merge_meshes(const TriMesh& a, const TriMesh& b) {
  const Eigen::Index first = a.vertices.rows();
  TriMesh both{Points(first + b.vertices.rows(), 3), Triangles(a.triangles.rows() + b.triangles.rows(), 3)};
  both.vertices << a.vertices, b.vertices;
  both.triangles << a.triangles, (b.triangles.array() + to_int(first)).matrix();
  return both;
}

std::string text_of(const Vec3& place) {
  return fmt::format("({:.4g}, {:.4g}, {:.4g})", place.x(), place.y(), place.z());
}

// The triangles of some pairs, each once.
Geometry triangles_of(const TriMesh& mesh, const std::vector<std::pair<int, int>>& pairs) {
  std::vector<char> is_in(to_size(mesh.triangles.rows()), pairs.empty() ? 1 : 0);
  for (const auto& [s, t] : pairs) is_in[to_size(s)] = is_in[to_size(t)] = 1;
  Geometry out;
  out.series = "overlap";
  out.kind = CellKind::triangles;
  out.points = mesh.vertices;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    for (int k = 0; k < 3 && is_in[to_size(t)]; ++k) out.connectivity.push_back(mesh.triangles(t, k));
  }
  return out;
}

Vec3 centre_of(const TriMesh& mesh, int triangle) {
  Vec3 sum = Vec3::Zero();
  for (int k = 0; k < 3; ++k) sum += mesh.vertices.row(mesh.triangles(triangle, k)).transpose() / 3;
  return sum;
}

// The place where two bodies are nearest to each other (most negative: deepest in each other).
struct Nearness {
  double room = std::numeric_limits<double>::infinity();  // m, radii taken off
  Vec3 away = Vec3::Zero();                               // where the first would have to go
  Vec3 place = Vec3::Zero();
};

// Points of `a` against the surface of `b`, signed where it encloses something: the middles of the triangles first, then
// the vertices, which must be nearer by more than rounding. Where two boxes lie flush on each other their corners are as
// near as anything, and lead to the side. `sign`: of the way out for the first body.
void look(const PlacedBody& a, const TriMesh& mesh, const PlacedBody& b, const SurfaceDistance& distance,
          double sign, Nearness& nearest) {
  const bool closed = boundary_edges(b.surface->triangles).rows() == 0;
  const double rounding = 1e-6 * a.reach;
  const auto see = [&](const Vec3& x, int point) {
    SurfacePoint p = closed ? distance.signed_nearest(x) : distance.nearest(x);
    if (!closed) p.normal = (x - p.position).normalized();
    const double room =
        p.distance - a.surface->radius_of(point) - b.surface->radius_of(b.surface->triangles(p.triangle, 0));
    if (room < nearest.room - rounding) nearest = {room, sign * p.normal, x};
  };
  for (int t = 0; t < to_int(mesh.triangles.rows()); ++t) see(centre_of(mesh, t), mesh.triangles(t, 0));
  for (Eigen::Index i = 0; i < mesh.triangles.size(); ++i) {
    const int point = mesh.triangles.data()[i];
    see(mesh.vertices.row(point), point);
  }
}

bool may_touch(const TriMesh& a, const TriMesh& b, double gap) {
  Box box = bounds_of(a.vertices, a.triangles);
  box.min.array() -= gap;
  box.max.array() += gap;
  return box.overlaps(bounds_of(b.vertices, b.triangles));
}

double thickest(const PlacedBody& body) {
  return body.surface->radius.size() > 0 ? body.surface->radius.maxCoeff() : 0.0;
}

[[noreturn]] void refuse(const PlacedBody& a, const PlacedBody& b, const std::string& what) {
  const TriMesh both = merge_meshes(a.mesh(), b.mesh());
  throw OverlapError({"", a.path + ".position",
                      fmt::format("bodies {} and {} overlap at the start: {}", a.name, b.name, what)},
                     triangles_of(both, crossing_pairs(both)));
}

double gap_between(const PlacedBody& a, const PlacedBody& b, double share) {
  return share * std::min(a.reach, b.reach);
}

bool may_be_near(const PlacedBody& a, const TriMesh& mesh, const PlacedBody& b, const TriMesh& beside) {
  return may_touch(mesh, beside, std::max(a.reach, b.reach) + thickest(a) + thickest(b));
}

Nearness nearness(const PlacedBody& a, const SurfaceDistance& of_a, const PlacedBody& b,
                  const SurfaceDistance& of_b) {
  Nearness nearest;
  look(a, of_a.mesh(), b, of_b, 1, nearest);
  look(b, of_b.mesh(), a, of_a, -1, nearest);
  return nearest;
}

// The one of all others that has the least of the room it should have; `other`: which one.
Nearness nearest_of(const PlacedBody& body, std::span<const PlacedBody> others,
                    std::span<const SurfaceDistance> distances, double share, std::size_t& other) {
  const SurfaceDistance own(body.mesh());
  Nearness nearest;
  for (std::size_t o = 0; o < others.size(); ++o) {
    if (!may_be_near(body, own.mesh(), others[o], distances[o].mesh())) continue;
    const Nearness one = nearness(body, own, others[o], distances[o]);
    if (one.room - gap_between(body, others[o], share) >=
        nearest.room - gap_between(body, others[other], share))
      continue;
    nearest = one;
    other = o;
  }
  return nearest;
}

void check_crossings(const PlacedBody& body, const PlacedBody& other) {
  const TriMesh a = body.mesh(), b = other.mesh();
  if (!may_touch(a, b, 0) || count_crossings(a, b) == 0) return;
  const TriMesh both = merge_meshes(a, b);
  for (const auto& [s, t] : self_intersections(both, std::numeric_limits<std::size_t>::max())) {
    if (s < a.triangles.rows() && t >= a.triangles.rows())
      refuse(body, other, "their surfaces cross at " + text_of(centre_of(both, t)));
  }
}

}  // namespace

Vec3 separate_from_bodies(PlacedBody& body, std::span<const PlacedBody> others, double share) {
  if (others.empty()) return Vec3::Zero();
  std::vector<SurfaceDistance> distances;
  for (const PlacedBody& other : others) distances.emplace_back(other.mesh());
  Vec3 shift = Vec3::Zero();
  for (int pass = 0;; ++pass) {
    std::size_t other = 0;
    const Nearness nearest = nearest_of(body, others, distances, share, other);
    const double gap = gap_between(body, others[other], share);
    if (nearest.room >= gap) break;
    if (nearest.room < -5 * body.reach - (others[other].moved - shift).norm())
      refuse(body, others[other], fmt::format("by {:.3g} m at {}", -nearest.room, text_of(nearest.place)));
    if (pass == k_shifts)
      refuse(body, others[other],
             "there is no room between the bodies around " + text_of(nearest.place) + "; leave a little");
    const Vec3 way = (1.01 * gap - nearest.room) * nearest.away;
    body.nodes.rowwise() += way.transpose();
    shift += way;
  }
  for (const PlacedBody& other : others) check_crossings(body, other);
  return shift;
}

Vec3 carry_along(PlacedBody& body, std::span<const PlacedBody> others) {
  Vec3 shift = Vec3::Zero();
  const SurfaceDistance own(body.mesh());
  for (const PlacedBody& other : others) {
    if (other.moved.norm() <= shift.norm()) continue;
    PlacedBody unmoved = other;
    unmoved.nodes.rowwise() -= other.moved.transpose();
    const TriMesh beside = unmoved.mesh();
    if (!may_be_near(body, own.mesh(), unmoved, beside)) continue;
    const double room = nearness(body, own, unmoved, SurfaceDistance(beside)).room;
    if (room < gap_between(body, other, 1)) shift = other.moved;
  }
  body.nodes.rowwise() += shift.transpose();
  return shift;
}

SelfCrossing self_crossing(const PlacedBody& body) {
  if (!crossing_pairs({body.surface->rest, body.surface->triangles}).empty()) return SelfCrossing::by_shape;
  return crossing_pairs(body.mesh()).empty() ? SelfCrossing::none : SelfCrossing::by_pose;
}

void refuse_self_crossing(const PlacedBody& body) {
  const TriMesh mesh = body.mesh();
  const auto pairs = crossing_pairs(mesh);
  throw OverlapError(
      {"", body.path,
       fmt::format("body {} cuts itself at the start: {} pairs of triangles cross, the first at {}",
                   body.name, pairs.size(), text_of(centre_of(mesh, pairs.front().first)))},
      triangles_of(mesh, pairs));
}

}  // namespace exemplar
