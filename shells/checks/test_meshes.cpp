#include "shells/checks/test_meshes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/mesh/topology.h"

namespace exemplar::shells {

namespace {

// Triangles are collected as seen from +y (x to the right, −z up), counter-clockwise.
struct Builder {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;

  int add(double x, double z) {
    points.emplace_back(x, 0, z);
    return static_cast<int>(points.size()) - 1;
  }
  void triangle(int a, int b, int c) {
    const Vec3 u = points[static_cast<std::size_t>(b)] - points[static_cast<std::size_t>(a)],
               v = points[static_cast<std::size_t>(c)] - points[static_cast<std::size_t>(a)];
    if (u.cross(v).y() > 0) {
      triangles.push_back({a, b, c});
    } else {
      triangles.push_back({a, c, b});
    }
  }
  TriMesh mesh() const {
    TriMesh mesh;
    mesh.vertices.resize(static_cast<Eigen::Index>(points.size()), 3);
    mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
    for (std::size_t i = 0; i < points.size(); ++i)
      mesh.vertices.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
    for (std::size_t t = 0; t < triangles.size(); ++t) {
      for (int k = 0; k < 3; ++k)
        mesh.triangles(static_cast<Eigen::Index>(t), k) = triangles[t][static_cast<std::size_t>(k)];
    }
    return mesh;
  }
};

TriMesh grid(MeshKind kind, double length, double width, int cells, int rows) {
  Builder b;
  const double dx = length / cells, dz = width / rows;
  for (int j = 0; j <= rows; ++j) {
    for (int i = 0; i <= cells; ++i) b.add(i * dx, j * dz);
  }
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < cells; ++i) {
      const int a = j * (cells + 1) + i, c = a + cells + 2;
      if (kind == MeshKind::crossed) {
        const int middle = b.add((i + 0.5) * dx, (j + 0.5) * dz);
        const int corners[4] = {a, a + 1, c, c - 1};
        for (int k = 0; k < 4; ++k) b.triangle(corners[k], corners[(k + 1) % 4], middle);
      } else if (kind == MeshKind::one_diagonal || (i + j) % 2 == 0) {
        b.triangle(a, a + 1, c);
        b.triangle(a, c, c - 1);
      } else {
        b.triangle(a, a + 1, c - 1);
        b.triangle(a + 1, c, c - 1);
      }
    }
  }
  return b.mesh();
}

TriMesh equilateral(double length, double width, int cells, int rows) {
  Builder b;
  const double dx = length / cells, dz = width / rows;
  std::vector<std::vector<int>> lines;
  for (int j = 0; j <= rows; ++j) {
    lines.emplace_back();
    if (j % 2 == 0) {
      for (int i = 0; i <= cells; ++i) lines.back().push_back(b.add(i * dx, j * dz));
    } else {
      lines.back().push_back(b.add(0, j * dz));
      for (int i = 0; i < cells; ++i) lines.back().push_back(b.add((i + 0.5) * dx, j * dz));
      lines.back().push_back(b.add(length, j * dz));
    }
  }
  for (int j = 0; j < rows; ++j) {
    // The line with more points has one between any two of the other.
    const auto& even = lines[static_cast<std::size_t>(j % 2 == 0 ? j : j + 1)];
    const auto& odd = lines[static_cast<std::size_t>(j % 2 == 0 ? j + 1 : j)];
    for (std::size_t i = 0; i < even.size(); ++i) {
      b.triangle(even[i], odd[i], odd[i + 1]);
      if (i + 1 < even.size()) b.triangle(even[i], even[i + 1], odd[i + 1]);
    }
  }
  return b.mesh();
}

double angle_at(const Points& x, int corner, int a, int b) {
  const Vec3 u = (x.row(a) - x.row(corner)).transpose(), v = (x.row(b) - x.row(corner)).transpose();
  return std::atan2(u.cross(v).norm(), u.dot(v));
}

// Turns edges whose opposite angles sum to more than π until there are none.
void make_delaunay(TriMesh& mesh) {
  for (bool again = true; again;) {
    again = false;
    const SurfaceEdges edges = surface_edges(mesh.triangles);
    std::vector<char> touched(static_cast<std::size_t>(mesh.triangles.rows()), 0);
    for (Eigen::Index e = 0; e < edges.edges.rows(); ++e) {
      const auto sides = edges.triangles[e];
      if (sides.size() != 2 || touched[static_cast<std::size_t>(sides[0])] ||
          touched[static_cast<std::size_t>(sides[1])])
        continue;
      int wing[2], corner[2];
      for (int s = 0; s < 2; ++s) {
        for (int k = 0; k < 3; ++k) {
          if (edges.of_triangle(sides[static_cast<std::size_t>(s)], k) == e) corner[s] = k;
        }
        wing[s] = mesh.triangles(sides[static_cast<std::size_t>(s)], corner[s]);
      }
      const int a = edges.edges(e, 0), b = edges.edges(e, 1);
      if (angle_at(mesh.vertices, wing[0], a, b) + angle_at(mesh.vertices, wing[1], a, b) < 3.1415926)
        continue;
      const int first = mesh.triangles(sides[0], (corner[0] + 1) % 3), second = first == a ? b : a;
      mesh.triangles.row(sides[0]) << wing[0], first, wing[1];
      mesh.triangles.row(sides[1]) << wing[0], wing[1], second;
      touched[static_cast<std::size_t>(sides[0])] = touched[static_cast<std::size_t>(sides[1])] = 1;
      again = true;
    }
  }
}

TriMesh irregular(double length, double width, int cells, int rows) {
  TriMesh mesh = grid(MeshKind::alternating, length, width, cells, rows);
  const double dx = length / cells, dz = width / rows;
  for (int j = 0; j <= rows; ++j) {
    for (int i = 0; i <= cells; ++i) {
      const int v = j * (cells + 1) + i;
      const auto random = [&](int k) {
        return 2 * uniform_random(7, 2 * static_cast<std::uint64_t>(v) + k) - 1;
      };
      // Along the border vertices slide.
      if (i > 0 && i < cells) mesh.vertices(v, 0) += 0.3 * dx * random(0);
      if (j > 0 && j < rows) mesh.vertices(v, 2) += 0.3 * dz * random(1);
    }
  }
  make_delaunay(mesh);
  return mesh;
}

}  // namespace

std::string to_string(MeshKind kind) {
  switch (kind) {
    case MeshKind::one_diagonal:
      return "one diagonal";
    case MeshKind::alternating:
      return "alternating";
    case MeshKind::crossed:
      return "crossed";
    case MeshKind::equilateral:
      return "equilateral";
    case MeshKind::irregular:
      return "irregular";
  }
  return "";
}

TriMesh rectangle(MeshKind kind, double length, double width, int cells, int rows) {
  if (kind == MeshKind::equilateral) return equilateral(length, width, cells, rows);
  if (kind == MeshKind::irregular) return irregular(length, width, cells, rows);
  return grid(kind, length, width, cells, rows);
}

}  // namespace exemplar::shells
