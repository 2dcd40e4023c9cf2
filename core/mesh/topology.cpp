#include "core/mesh/topology.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace exemplar {

namespace {

struct EdgeUse {
  int low;
  int high;
  int triangle;
  int corner;  // the edge is opposite this corner
  bool operator<(const EdgeUse& other) const {
    return std::array{low, high, triangle, corner} <
           std::array{other.low, other.high, other.triangle, other.corner};
  }
};

std::vector<EdgeUse> sorted_uses(const Triangles& triangles) {
  std::vector<EdgeUse> uses;
  uses.reserve(static_cast<std::size_t>(triangles.rows()) * 3);
  for (int t = 0; t < static_cast<int>(triangles.rows()); ++t) {
    for (int k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax({triangles(t, (k + 1) % 3), triangles(t, (k + 2) % 3)});
      uses.push_back({low, high, t, k});
    }
  }
  std::sort(uses.begin(), uses.end());
  return uses;
}

Edges to_matrix(const std::vector<std::array<int, 2>>& list) {
  Edges edges(static_cast<Eigen::Index>(list.size()), 2);
  for (std::size_t e = 0; e < list.size(); ++e) {
    edges.row(static_cast<Eigen::Index>(e)) << list[e][0], list[e][1];
  }
  return edges;
}

// Edges whose number of triangles satisfies `wanted`.
template <class Predicate>
Edges edges_with(const Triangles& triangles, const Predicate& wanted) {
  const SurfaceEdges all = surface_edges(triangles);
  std::vector<std::array<int, 2>> found;
  for (int e = 0; e < all.triangles.rows(); ++e) {
    if (wanted(all.triangles[e].size())) found.push_back({all.edges(e, 0), all.edges(e, 1)});
  }
  return to_matrix(found);
}

class UnionFind {
 public:
  explicit UnionFind(std::size_t count) : m_parent(count) { std::iota(m_parent.begin(), m_parent.end(), 0); }
  int find(int i) {
    while (m_parent[i] != i) i = m_parent[i] = m_parent[m_parent[i]];
    return i;
  }
  void join(int a, int b) {
    a = find(a);
    b = find(b);
    if (a != b) m_parent[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> m_parent;
};

template <class Elements>
Parts parts_of(const Elements& elements, Eigen::Index vertex_count) {
  UnionFind sets(static_cast<std::size_t>(vertex_count));
  for (Eigen::Index e = 0; e < elements.rows(); ++e) {
    for (Eigen::Index k = 1; k < elements.cols(); ++k) sets.join(elements(e, 0), elements(e, k));
  }
  Parts parts;
  parts.of_vertex = Eigen::VectorXi::Constant(vertex_count, -1);
  parts.of_element.resize(elements.rows());
  std::vector<int> number(static_cast<std::size_t>(vertex_count), -1);
  for (Eigen::Index e = 0; e < elements.rows(); ++e) {
    int& part = number[sets.find(elements(e, 0))];
    if (part < 0) part = parts.count++;
    parts.of_element[e] = part;
    for (Eigen::Index k = 0; k < elements.cols(); ++k) parts.of_vertex[elements(e, k)] = part;
  }
  return parts;
}

// Turns (row, item) pairs, given by calling `each(add)` twice with the same order, into compressed rows.
template <class Each>
Adjacency compress(Eigen::Index rows, const Each& each) {
  Adjacency result;
  result.offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  each([&](int row, int) { ++result.offsets[row + 1]; });
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.items.resize(static_cast<std::size_t>(result.offsets.back()));
  std::vector<int> next(result.offsets.begin(), result.offsets.end() - 1);
  each([&](int row, int item) { result.items[next[row]++] = item; });
  return result;
}

template <class Elements>
Adjacency elements_at_vertices(const Elements& elements, Eigen::Index vertex_count) {
  return compress(vertex_count, [&](const auto& add) {
    for (Eigen::Index e = 0; e < elements.rows(); ++e) {
      for (Eigen::Index k = 0; k < elements.cols(); ++k) add(elements(e, k), static_cast<int>(e));
    }
  });
}

// The faces of a positively oriented tet, counter-clockwise seen from outside; face k is opposite corner k.
constexpr int tet_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

}  // namespace

SurfaceEdges surface_edges(const Triangles& triangles) {
  const std::vector<EdgeUse> uses = sorted_uses(triangles);
  SurfaceEdges result;
  result.of_triangle.resize(triangles.rows(), 3);
  std::vector<std::array<int, 2>> edges;
  result.triangles.items.reserve(uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const EdgeUse& use = uses[i];
    if (edges.empty() || edges.back() != std::array{use.low, use.high}) {
      if (i > 0) result.triangles.offsets.push_back(static_cast<int>(i));
      edges.push_back({use.low, use.high});
    }
    result.triangles.items.push_back(use.triangle);
    result.of_triangle(use.triangle, use.corner) = static_cast<int>(edges.size()) - 1;
  }
  if (!uses.empty()) result.triangles.offsets.push_back(static_cast<int>(uses.size()));
  result.edges = to_matrix(edges);
  return result;
}

Edges unique_edges(const Triangles& triangles) {
  return surface_edges(triangles).edges;
}

Edges unique_edges(const Tets& tets) {
  std::vector<std::array<int, 2>> edges;
  edges.reserve(static_cast<std::size_t>(tets.rows()) * 6);
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    for (int i = 0; i < 4; ++i) {
      for (int j = i + 1; j < 4; ++j) {
        edges.push_back({std::min(tets(t, i), tets(t, j)), std::max(tets(t, i), tets(t, j))});
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return to_matrix(edges);
}

Edges boundary_edges(const Triangles& triangles) {
  return edges_with(triangles, [](std::size_t count) { return count == 1; });
}

Edges non_manifold_edges(const Triangles& triangles) {
  return edges_with(triangles, [](std::size_t count) { return count > 2; });
}

Edges inconsistent_edges(const Triangles& triangles) {
  const std::vector<EdgeUse> uses = sorted_uses(triangles);
  std::vector<std::array<int, 2>> found;
  const auto forwards = [&](const EdgeUse& use) {
    return triangles(use.triangle, (use.corner + 1) % 3) == use.low;
  };
  for (std::size_t begin = 0; begin < uses.size();) {
    std::size_t end = begin;
    while (end < uses.size() && uses[end].low == uses[begin].low && uses[end].high == uses[begin].high) ++end;
    if (end - begin == 2 && forwards(uses[begin]) == forwards(uses[begin + 1])) {
      found.push_back({uses[begin].low, uses[begin].high});
    }
    begin = end;
  }
  return to_matrix(found);
}

std::vector<int> non_manifold_vertices(const Triangles& triangles, Eigen::Index vertex_count) {
  const SurfaceEdges edges = surface_edges(triangles);
  const Adjacency around = elements_of_vertices(triangles, vertex_count);
  std::vector<char> skip(static_cast<std::size_t>(vertex_count), 0);
  for (int e = 0; e < edges.triangles.rows(); ++e) {
    if (edges.triangles[e].size() > 2) skip[edges.edges(e, 0)] = skip[edges.edges(e, 1)] = 1;
  }
  std::vector<int> found;
  for (int v = 0; v < static_cast<int>(vertex_count); ++v) {
    const std::span<const int> fan = around[v];
    if (skip[v] || fan.size() < 2) continue;
    // Triangles of the fan are joined over the edges at v.
    UnionFind sets(fan.size());
    const auto local = [&](int t) {
      return static_cast<int>(std::lower_bound(fan.begin(), fan.end(), t) - fan.begin());
    };
    for (const int t : fan) {
      for (int k = 0; k < 3; ++k) {
        if (triangles(t, k) == v) continue;
        for (const int other : edges.triangles[edges.of_triangle(t, k)]) sets.join(local(t), local(other));
      }
    }
    for (std::size_t i = 1; i < fan.size(); ++i) {
      if (sets.find(static_cast<int>(i)) != 0) {
        found.push_back(v);
        break;
      }
    }
  }
  return found;
}

Parts connected_parts(const Triangles& triangles, Eigen::Index vertex_count) {
  return parts_of(triangles, vertex_count);
}

Parts connected_parts(const Tets& tets, Eigen::Index vertex_count) {
  return parts_of(tets, vertex_count);
}

Adjacency vertex_neighbours(const Edges& edges, Eigen::Index vertex_count) {
  Adjacency result = compress(vertex_count, [&](const auto& add) {
    for (Eigen::Index e = 0; e < edges.rows(); ++e) {
      add(edges(e, 0), edges(e, 1));
      add(edges(e, 1), edges(e, 0));
    }
  });
  for (int v = 0; v < result.rows(); ++v) {
    std::sort(result.items.begin() + result.offsets[v], result.items.begin() + result.offsets[v + 1]);
  }
  return result;
}

Adjacency elements_of_vertices(const Triangles& triangles, Eigen::Index vertex_count) {
  return elements_at_vertices(triangles, vertex_count);
}

Adjacency elements_of_vertices(const Tets& tets, Eigen::Index vertex_count) {
  return elements_at_vertices(tets, vertex_count);
}

TriMesh boundary_surface(const TetMesh& mesh, Eigen::VectorXi* to_tet_vertex, Eigen::VectorXi* to_tet) {
  struct Face {
    std::array<int, 3> key;
    int tet;
    int opposite;
  };
  std::vector<Face> faces;
  faces.reserve(static_cast<std::size_t>(mesh.tets.rows()) * 4);
  for (int t = 0; t < static_cast<int>(mesh.tets.rows()); ++t) {
    for (int k = 0; k < 4; ++k) {
      std::array<int, 3> key;
      for (int i = 0; i < 3; ++i) key[i] = mesh.tets(t, tet_faces[k][i]);
      std::sort(key.begin(), key.end());
      faces.push_back({key, t, k});
    }
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
    return a.key != b.key ? a.key < b.key : std::pair(a.tet, a.opposite) < std::pair(b.tet, b.opposite);
  });
  std::vector<Face> single;
  for (std::size_t begin = 0; begin < faces.size();) {
    std::size_t end = begin;
    while (end < faces.size() && faces[end].key == faces[begin].key) ++end;
    if (end - begin == 1) single.push_back(faces[begin]);
    begin = end;
  }
  std::sort(single.begin(), single.end(), [](const Face& a, const Face& b) {
    return std::pair(a.tet, a.opposite) < std::pair(b.tet, b.opposite);
  });
  std::vector<int> surface_index(static_cast<std::size_t>(mesh.vertices.rows()), -1);
  for (const Face& face : single) {
    for (const int v : face.key) surface_index[v] = 0;
  }
  std::vector<int> used;
  for (std::size_t v = 0; v < surface_index.size(); ++v) {
    if (surface_index[v] < 0) continue;
    surface_index[v] = static_cast<int>(used.size());
    used.push_back(static_cast<int>(v));
  }
  TriMesh surface;
  surface.vertices = mesh.vertices(used, Eigen::all);
  surface.triangles.resize(static_cast<Eigen::Index>(single.size()), 3);
  if (to_tet) to_tet->resize(surface.triangles.rows());
  for (Eigen::Index f = 0; f < surface.triangles.rows(); ++f) {
    const Face& face = single[static_cast<std::size_t>(f)];
    for (int i = 0; i < 3; ++i) {
      surface.triangles(f, i) = surface_index[mesh.tets(face.tet, tet_faces[face.opposite][i])];
    }
    if (to_tet) (*to_tet)[f] = face.tet;
  }
  if (to_tet_vertex)
    *to_tet_vertex = Eigen::Map<Eigen::VectorXi>(used.data(), static_cast<Eigen::Index>(used.size()));
  return surface;
}

}  // namespace exemplar
