#include "core/rig/handles.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/errors.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

int nearest_vertex(const Points& vertices, const Vec3& point) {
  Eigen::Index nearest = 0;
  (vertices.rowwise() - point.transpose()).rowwise().squaredNorm().minCoeff(&nearest);
  return static_cast<int>(nearest);
}

// The longest edge at every vertex: how far a point inside the mesh may be from its nearest vertex.
VecX longest_edges(const TetMesh& mesh) {
  const Edges edges = unique_edges(mesh.tets);
  VecX longest = VecX::Zero(mesh.vertices.rows());
  for (Eigen::Index e = 0; e < edges.rows(); ++e) {
    const double length = (mesh.vertices.row(edges(e, 0)) - mesh.vertices.row(edges(e, 1))).norm();
    for (int k = 0; k < 2; ++k) longest[edges(e, k)] = std::max(longest[edges(e, k)], length);
  }
  return longest;
}

// Collects handles and, for every vertex that they fix, the handles' shares there.
class Placement {
 public:
  Placement(const TetMesh& mesh) : m_mesh(mesh), m_longest(longest_edges(mesh)) {}

  void add_point(const std::string& name, const Vec3& point, const std::string& path) {
    const int handle = add({name, HandleKind::point, point, point});
    const int vertex = vertex_of(point, path);
    if (vertex < 0) return;
    if (const auto taken = m_shares.find(vertex); taken != m_shares.end()) {
      problem(path, fmt::format("sits on the same vertex of the volume as '{}'; move it or refine the volume",
                                m_handles[static_cast<std::size_t>(taken->second[0].handle)].name));
    }
    m_shares[vertex].push_back({handle, 1.0});
  }

  void add_bone(const std::string& name, const HandleRequest::Bone& bone, const std::string& path) {
    const int handle = add({name, HandleKind::bone, bone.start, bone.end});
    along(bone.start, bone.end, path, [&](double) { return std::vector<Share>{{handle, 1.0}}; });
  }

  void add_cage(const std::string& name, const std::vector<Vec3>& corners, const std::string& path) {
    std::vector<int> handles;
    for (std::size_t c = 0; c < corners.size(); ++c) {
      handles.push_back(add({fmt::format("{}-{}", name, c), HandleKind::cage, corners[c], corners[c]}));
    }
    for (std::size_t c = 0; c < corners.size(); ++c) {
      const std::size_t next = (c + 1) % corners.size();
      along(corners[c], corners[next], fmt::format("{}[{}]", path, c), [&](double t) {
        return std::vector<Share>{{handles[c], 1 - t}, {handles[next], t}};
      });
    }
  }

  void add_automatic(int count) {
    Eigen::VectorXi to_tet_vertex;
    boundary_surface(m_mesh, &to_tet_vertex);
    std::vector<int> candidates;
    for (const int v : to_tet_vertex) {
      if (!m_shares.contains(v)) candidates.push_back(v);
    }
    if (count > static_cast<int>(candidates.size())) {
      problem("automatic", fmt::format("asks for {} handles; the volume has {} surface vertices", count,
                                       candidates.size()));
      return;
    }
    Points kept(static_cast<Eigen::Index>(m_shares.size()), 3);
    Eigen::Index k = 0;
    for (const auto& [vertex, shares] : m_shares) kept.row(k++) = m_mesh.vertices.row(vertex);
    for (const int v : thin_points(m_mesh.vertices, candidates, kept, count)) {
      const Vec3 point = m_mesh.vertices.row(v);
      const int handle = add({fmt::format("auto-{}", m_handles.size()), HandleKind::automatic, point, point});
      m_shares[v].push_back({handle, 1.0});
    }
  }

  // A part of the mesh that no handle reaches moves with the handle nearest to it.
  void attach_loose_parts(std::vector<std::string>& notes) {
    const Parts parts = connected_parts(m_mesh.tets, m_mesh.vertices.rows());
    std::vector<char> reached(static_cast<std::size_t>(parts.count), 0);
    for (const auto& [vertex, shares] : m_shares) {
      if (parts.of_vertex[vertex] >= 0) reached[static_cast<std::size_t>(parts.of_vertex[vertex])] = 1;
    }
    std::map<int, int> nearest;  // part → handle
    for (Eigen::Index v = 0; v < parts.of_vertex.size(); ++v) {
      const int part = parts.of_vertex[v];
      if (part >= 0 && reached[static_cast<std::size_t>(part)]) continue;
      const auto [at, fresh] = nearest.try_emplace(part, -1);
      if (fresh) at->second = nearest_handle(m_mesh.vertices.row(v));
      m_shares[static_cast<int>(v)] = {{at->second, 1.0}};
    }
    if (!nearest.empty()) {
      notes.push_back(
          fmt::format("{} parts of the volume hold no handle and move with the nearest one", nearest.size()));
    }
  }

  PlacedHandles finish() {
    if (!m_problems.empty()) throw InputError(m_problems);
    PlacedHandles placed;
    attach_loose_parts(placed.notes);
    placed.handles = m_handles;
    placed.fixed.values =
        MatX::Zero(static_cast<Eigen::Index>(m_shares.size()), static_cast<Eigen::Index>(m_handles.size()));
    for (const auto& [vertex, shares] : m_shares) {
      const auto row = static_cast<Eigen::Index>(placed.fixed.vertices.size());
      placed.fixed.vertices.push_back(vertex);
      for (const Share& share : shares) placed.fixed.values(row, share.handle) += share.weight;
      placed.fixed.values.row(row) /= placed.fixed.values.row(row).sum();  // bones that share a joint
    }
    return placed;
  }

 private:
  struct Share {
    int handle;
    double weight;
  };

  int add(Handle handle) {
    m_handles.push_back(std::move(handle));
    return static_cast<int>(m_handles.size()) - 1;
  }
  void problem(const std::string& path, const std::string& message) {
    m_problems.push_back({"", path, message});
  }
  int nearest_handle(const Vec3& point) const {
    std::size_t best = 0;
    for (std::size_t h = 1; h < m_handles.size(); ++h) {
      if ((m_handles[h].centre() - point).norm() < (m_handles[best].centre() - point).norm()) best = h;
    }
    return static_cast<int>(best);
  }

  // −1 and a problem for points outside the mesh.
  int vertex_of(const Vec3& point, const std::string& path) {
    const int vertex = nearest_vertex(m_mesh.vertices, point);
    const double distance = (m_mesh.vertices.row(vertex).transpose() - point).norm();
    if (distance <= m_longest[vertex]) return vertex;
    problem(path, fmt::format("({:.4g}, {:.4g}, {:.4g}) lies {:.3g} m outside the body, whose nearest vertex "
                              "is ({:.4g}, {:.4g}, {:.4g})",
                              point.x(), point.y(), point.z(), distance, m_mesh.vertices(vertex, 0),
                              m_mesh.vertices(vertex, 1), m_mesh.vertices(vertex, 2)));
    return -1;
  }

  // Vertices nearest to samples of the segment, each once, with the shares at their own place along it.
  template <class Shares>
  void along(const Vec3& start, const Vec3& end, const std::string& path, const Shares& shares) {
    const int first = vertex_of(start, path), last = vertex_of(end, path);
    if (first < 0 || last < 0) return;
    const double step = 0.5 * std::min(m_longest[first], m_longest[last]);
    const int samples = 1 + static_cast<int>(std::ceil((end - start).norm() / step));
    std::vector<int> seen;
    for (int s = 0; s <= samples; ++s) {
      const double t = static_cast<double>(s) / samples;
      const int vertex = vertex_of(start + t * (end - start), path);
      if (vertex < 0) return;
      if (std::find(seen.begin(), seen.end(), vertex) != seen.end()) continue;
      seen.push_back(vertex);
      for (const Share& share : shares(t)) m_shares[vertex].push_back(share);
    }
  }

  const TetMesh& m_mesh;
  VecX m_longest;
  std::vector<Handle> m_handles;
  std::map<int, std::vector<Share>> m_shares;  // by vertex
  std::vector<Problem> m_problems;
};

}  // namespace

const char* name_of(HandleKind kind) {
  switch (kind) {
    case HandleKind::point:
      return "point";
    case HandleKind::bone:
      return "bone";
    case HandleKind::cage:
      return "cage";
    case HandleKind::automatic:
      return "automatic";
  }
  return "";
}

PlacedHandles place_handles(const TetMesh& mesh, const HandleRequest& request) {
  if (request.empty()) throw InputError("a rig needs at least one handle");
  Placement placement(mesh);
  for (std::size_t i = 0; i < request.points.size(); ++i) {
    placement.add_point(fmt::format("point-{}", i), request.points[i], fmt::format("points[{}]", i));
  }
  for (std::size_t i = 0; i < request.bones.size(); ++i) {
    placement.add_bone(fmt::format("bone-{}", i), request.bones[i], fmt::format("bones[{}]", i));
  }
  for (std::size_t i = 0; i < request.cages.size(); ++i) {
    placement.add_cage(fmt::format("cage-{}", i), request.cages[i], fmt::format("cages[{}]", i));
  }
  if (request.automatic > 0) placement.add_automatic(request.automatic);
  return placement.finish();
}

void add_handle(PlacedHandles& placed, const TetMesh& mesh, int vertex) {
  const Vec3 point = mesh.vertices.row(vertex);
  const auto handle = static_cast<Eigen::Index>(placed.handles.size());
  placed.handles.push_back({fmt::format("auto-{}", handle), HandleKind::automatic, point, point});
  FixedRows& fixed = placed.fixed;
  const auto row = static_cast<Eigen::Index>(fixed.vertices.size());
  fixed.vertices.push_back(vertex);
  fixed.values.conservativeResizeLike(MatX::Zero(row + 1, handle + 1));
  fixed.values(row, handle) = 1;
}

Points centres_of(const std::vector<Handle>& handles) {
  Points centres(static_cast<Eigen::Index>(handles.size()), 3);
  for (std::size_t h = 0; h < handles.size(); ++h) {
    centres.row(static_cast<Eigen::Index>(h)) = handles[h].centre().transpose();
  }
  return centres;
}

}  // namespace exemplar
