#include "core/mesh/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/mesh/bvh.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"
#include "core/mesh/triangle.h"

namespace exemplar {

namespace {

std::array<double, 3> key(const Points& points, int i) {
  // Adding zero turns −0 into 0, so that both count as the same place.
  return {points(i, 0) + 0.0, points(i, 1) + 0.0, points(i, 2) + 0.0};
}

// For every vertex the first one at exactly the same place.
std::vector<int> exact_representatives(const Points& points) {
  std::vector<int> order(static_cast<std::size_t>(points.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto ka = key(points, a);
    const auto kb = key(points, b);
    return ka != kb ? ka < kb : a < b;
  });
  std::vector<int> first(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && key(points, order[i]) == key(points, order[i - 1]);
    first[order[i]] = same ? first[order[i - 1]] : order[i];
  }
  return first;
}

// Joins representatives that are nearer than `distance` to an earlier one.
void merge_close(const Points& points, double distance, std::vector<int>& first) {
  std::vector<int> own;
  for (int i = 0; i < static_cast<int>(first.size()); ++i) {
    if (first[i] == i) own.push_back(i);
  }
  std::vector<Box> boxes(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) boxes[i].extend(Vec3(points.row(own[i])));
  const Bvh tree(boxes);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Vec3 point = points.row(own[i]);
    const Box reach{point.array() - distance, point.array() + distance};
    int target = own[i];
    tree.for_overlaps(reach, [&](int j) {
      const bool close = (Vec3(points.row(own[j])) - point).norm() <= distance;
      if (close && own[j] < target) target = own[j];
    });
    first[own[i]] = first[target];  // `target` is earlier, hence final
  }
  for (int& representative : first) representative = first[representative];
}

bool is_degenerate(const Points& points, const std::array<int, 3>& t) {
  if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) return true;
  const Vec3 ab = points.row(t[1]) - points.row(t[0]);
  const Vec3 ac = points.row(t[2]) - points.row(t[0]);
  const double longest2 = std::max({ab.squaredNorm(), ac.squaredNorm(), (ac - ab).squaredNorm()});
  return !(ab.cross(ac).norm() > 1e-13 * longest2);
}

// Keeps the good triangles, in order, over the representatives.
std::vector<std::array<int, 3>> kept_triangles(const TriMesh& mesh, const std::vector<int>& first,
                                               Repair& result) {
  std::vector<std::array<int, 3>> kept;
  std::vector<int> source;
  for (int t = 0; t < static_cast<int>(mesh.triangles.rows()); ++t) {
    const std::array<int, 3> corners{first[mesh.triangles(t, 0)], first[mesh.triangles(t, 1)],
                                     first[mesh.triangles(t, 2)]};
    if (is_degenerate(mesh.vertices, corners)) {
      ++result.degenerate_triangles;
    } else {
      kept.push_back(corners);
      source.push_back(t);
    }
  }
  std::vector<std::pair<std::array<int, 3>, int>> sorted;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    auto corners = kept[i];
    std::sort(corners.begin(), corners.end());
    sorted.emplace_back(corners, static_cast<int>(i));
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<char> drop(kept.size(), 0);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first == sorted[i - 1].first) drop[sorted[i].second] = 1;
  }
  std::vector<std::array<int, 3>> unique;
  std::vector<int> map;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (drop[i]) {
      ++result.duplicate_triangles;
    } else {
      unique.push_back(kept[i]);
      map.push_back(source[i]);
    }
  }
  result.triangle_map = Eigen::Map<Eigen::VectorXi>(map.data(), static_cast<Eigen::Index>(map.size()));
  return unique;
}

void number_vertices(const TriMesh& mesh, const std::vector<int>& first,
                     const std::vector<std::array<int, 3>>& triangles, Repair& result) {
  std::vector<int> number(first.size(), -1);
  for (const auto& t : triangles) {
    for (const int v : t) number[v] = 0;
  }
  std::vector<int> used;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = static_cast<int>(used.size());
    used.push_back(static_cast<int>(v));
  }
  result.mesh.vertices = mesh.vertices(used, Eigen::all);
  result.mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      result.mesh.triangles(static_cast<Eigen::Index>(t), k) = number[triangles[t][k]];
    }
  }
  result.vertex_map.resize(mesh.vertices.rows());
  for (std::size_t v = 0; v < first.size(); ++v) {
    result.vertex_map[static_cast<Eigen::Index>(v)] = number[first[v]];
    if (first[v] != static_cast<int>(v)) ++result.merged_vertices;
    if (number[first[v]] < 0) ++result.unused_vertices;
  }
}

// Pieces joined over edges of exactly two triangles, with the flips that make each consistent.
struct Pieces {
  int count = 0;
  std::vector<int> of_triangle;
  std::vector<char> flip;
  std::vector<char> closed;
  bool orientable = true;
};

bool runs_along(const Triangles& triangles, int t, int from, int to) {
  for (int k = 0; k < 3; ++k) {
    if (triangles(t, k) == from && triangles(t, (k + 1) % 3) == to) return true;
  }
  return false;
}

Pieces consistent_pieces(const Triangles& triangles) {
  const SurfaceEdges edges = surface_edges(triangles);
  Pieces pieces;
  pieces.of_triangle.assign(static_cast<std::size_t>(triangles.rows()), -1);
  pieces.flip.assign(static_cast<std::size_t>(triangles.rows()), 0);
  std::vector<int> stack;
  for (int seed = 0; seed < static_cast<int>(triangles.rows()); ++seed) {
    if (pieces.of_triangle[seed] >= 0) continue;
    const int piece = pieces.count++;
    pieces.closed.push_back(1);
    pieces.of_triangle[seed] = piece;
    stack.push_back(seed);
    while (!stack.empty()) {
      const int t = stack.back();
      stack.pop_back();
      for (int k = 0; k < 3; ++k) {
        const int e = edges.of_triangle(t, k);
        const auto at = edges.triangles[e];
        if (at.size() != 2) {
          pieces.closed[piece] = 0;
          continue;
        }
        const int other = at[0] == t ? at[1] : at[0];
        const int a = edges.edges(e, 0);
        const int b = edges.edges(e, 1);
        const bool clash = runs_along(triangles, t, a, b) == runs_along(triangles, other, a, b);
        const char wanted = static_cast<char>(pieces.flip[t] ^ static_cast<char>(clash));
        if (pieces.of_triangle[other] < 0) {
          pieces.of_triangle[other] = piece;
          pieces.flip[other] = wanted;
          stack.push_back(other);
        } else if (pieces.flip[other] != wanted) {
          pieces.orientable = false;
        }
      }
    }
  }
  return pieces;
}

// Whether the point lies within an odd number of the other closed pieces.
bool nested(const TriMesh& mesh, const Pieces& pieces, int piece, const Vec3& point) {
  std::vector<double> winding(static_cast<std::size_t>(pieces.count), 0.0);
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const int other = pieces.of_triangle[static_cast<std::size_t>(t)];
    if (other == piece || !pieces.closed[other]) continue;
    winding[other] +=
        solid_angle(point, mesh.vertices.row(mesh.triangles(t, 0)), mesh.vertices.row(mesh.triangles(t, 1)),
                    mesh.vertices.row(mesh.triangles(t, 2)));
  }
  int around = 0;
  for (const double w : winding) around += std::abs(w) > 2 * std::numbers::pi;
  return around % 2 == 1;
}

void flip_pieces(TriMesh& mesh, const std::vector<char>& flip) {
  for (std::size_t t = 0; t < flip.size(); ++t) {
    const auto row = static_cast<Eigen::Index>(t);
    if (flip[t]) std::swap(mesh.triangles(row, 1), mesh.triangles(row, 2));
  }
}

// Signed volume of every piece about the mesh's middle.
std::vector<double> piece_volumes(const TriMesh& mesh, const Pieces& pieces) {
  std::vector<double> volumes(static_cast<std::size_t>(pieces.count), 0.0);
  const Eigen::RowVector3d middle = mesh.vertices.colwise().mean();
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const auto x = [&](int k) { return Vec3(mesh.vertices.row(mesh.triangles(t, k)) - middle); };
    volumes[pieces.of_triangle[static_cast<std::size_t>(t)]] += x(0).dot(x(1).cross(x(2))) / 6;
  }
  return volumes;
}

// Closed pieces face outwards (cavities inwards, as given), open ones like most of their triangles did.
void orient(Repair& result) {
  TriMesh& mesh = result.mesh;
  Pieces pieces = consistent_pieces(mesh.triangles);
  result.orientable = pieces.orientable;
  const Triangles before = mesh.triangles;
  flip_pieces(mesh, pieces.flip);
  const std::vector<double> volumes = piece_volumes(mesh, pieces);
  std::vector<int> balance(static_cast<std::size_t>(pieces.count), 0);
  std::vector<int> sample(static_cast<std::size_t>(pieces.count), -1);
  for (std::size_t t = 0; t < pieces.flip.size(); ++t) {
    balance[pieces.of_triangle[t]] += pieces.flip[t] ? 1 : -1;
    if (sample[pieces.of_triangle[t]] < 0) sample[pieces.of_triangle[t]] = static_cast<int>(t);
  }
  std::vector<char> invert(static_cast<std::size_t>(pieces.count), 0);
  for (int p = 0; p < pieces.count; ++p) {
    const bool mostly_flipped = balance[p] > 0;
    if (!pieces.closed[p]) {
      invert[p] = mostly_flipped;
      continue;
    }
    const Vec3 point = mesh.vertices.row(mesh.triangles(sample[p], 0));
    const bool given_inwards = (volumes[p] < 0) != mostly_flipped;
    const bool cavity = given_inwards && nested(mesh, pieces, p, point);
    invert[p] = (volumes[p] < 0) != cavity;
  }
  std::vector<char> again(pieces.flip.size());
  for (std::size_t t = 0; t < again.size(); ++t) again[t] = invert[pieces.of_triangle[t]];
  flip_pieces(mesh, again);
  for (Eigen::Index t = 0; t < before.rows(); ++t) {
    result.flipped_triangles += before(t, 1) != mesh.triangles(t, 1);
  }
}

void describe(Repair& result) {
  const auto say = [&](int count, const char* what) {
    if (count > 0) result.notes.push_back(fmt::format("{} {}", count, what));
  };
  say(result.merged_vertices, "duplicate vertices merged");
  say(result.degenerate_triangles, "degenerate triangles left out");
  say(result.duplicate_triangles, "duplicate triangles left out");
  say(result.flipped_triangles, "triangles turned round to face outwards");
  say(result.unused_vertices, "vertices belong to no triangle");
  if (!result.orientable) result.notes.emplace_back("the surface cannot be oriented consistently");
}

}  // namespace

Repair repair_surface(const TriMesh& mesh, const RepairOptions& options) {
  Repair result;
  std::vector<int> first = exact_representatives(mesh.vertices);
  if (mesh.vertices.rows() > 0 && options.merge_distance > 0) {
    const double diagonal = (mesh.vertices.colwise().maxCoeff() - mesh.vertices.colwise().minCoeff()).norm();
    merge_close(mesh.vertices, options.merge_distance * diagonal, first);
  }
  const auto triangles = kept_triangles(mesh, first, result);
  number_vertices(mesh, first, triangles, result);
  if (options.orient && !triangles.empty()) orient(result);
  describe(result);
  return result;
}

int orient_tets(TetMesh& mesh) {
  const VecX volumes = tet_volumes(mesh.vertices, mesh.tets);
  int flipped = 0;
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    if (volumes[t] >= 0) continue;
    std::swap(mesh.tets(t, 2), mesh.tets(t, 3));
    ++flipped;
  }
  return flipped;
}

}  // namespace exemplar
