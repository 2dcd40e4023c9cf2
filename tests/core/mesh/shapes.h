// Small shapes with known measures for the tests of this folder.
#pragma once

#include <cmath>
#include <numbers>

#include "core/base/random.h"
#include "core/mesh/mesh.h"

namespace exemplar::testing {

inline const Vec3 unit = Vec3::Ones();

// An axis-aligned box from `low` to `high`, outwards, 12 triangles.
inline TriMesh box_surface(const Vec3& low, const Vec3& high) {
  TriMesh mesh;
  mesh.vertices.resize(8, 3);
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.row(i) << (i & 1 ? high.x() : low.x()), (i & 2 ? high.y() : low.y()),
        (i & 4 ? high.z() : low.z());
  }
  mesh.triangles.resize(12, 3);
  mesh.triangles << 0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6,
      1, 3, 5, 3, 7, 5;
  return mesh;
}

// A sphere from rings and segments, outwards; without the last ring of triangles when `open`.
inline TriMesh sphere_surface(double radius, int rings, int segments, bool open = false) {
  TriMesh mesh;
  const auto id = [&](int ring, int segment) { return 1 + (ring - 1) * segments + segment % segments; };
  const int last = 1 + (rings - 1) * segments;
  mesh.vertices.resize(last + (open ? 0 : 1), 3);
  mesh.vertices.row(0) << 0, 0, radius;
  if (!open) mesh.vertices.row(last) << 0, 0, -radius;
  for (int r = 1; r < rings; ++r) {
    const double theta = std::numbers::pi * r / rings;
    for (int s = 0; s < segments; ++s) {
      const double phi = 2 * std::numbers::pi * s / segments;
      mesh.vertices.row(id(r, s)) << radius * std::sin(theta) * std::cos(phi),
          radius * std::sin(theta) * std::sin(phi), radius * std::cos(theta);
    }
  }
  mesh.triangles.resize(2 * segments * (rings - 1) - (open ? segments : 0), 3);
  int t = 0;
  for (int s = 0; s < segments; ++s) mesh.triangles.row(t++) << 0, id(1, s), id(1, s + 1);
  for (int r = 1; r + 1 < rings; ++r) {
    for (int s = 0; s < segments; ++s) {
      mesh.triangles.row(t++) << id(r, s), id(r + 1, s), id(r + 1, s + 1);
      mesh.triangles.row(t++) << id(r, s), id(r + 1, s + 1), id(r, s + 1);
    }
  }
  if (!open) {
    for (int s = 0; s < segments; ++s)
      mesh.triangles.row(t++) << last, id(rings - 1, s + 1), id(rings - 1, s);
  }
  return mesh;
}

// A torus about z with genus one.
inline TriMesh torus_surface(double major, double minor, int around, int across) {
  TriMesh mesh;
  mesh.vertices.resize(around * across, 3);
  mesh.triangles.resize(2 * around * across, 3);
  int t = 0;
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < across; ++j) {
      const double u = 2 * std::numbers::pi * i / around;
      const double v = 2 * std::numbers::pi * j / across;
      const double ring = major + minor * std::cos(v);
      mesh.vertices.row(i * across + j) << ring * std::cos(u), ring * std::sin(u), minor * std::sin(v);
      const int a = i * across + j;
      const int b = ((i + 1) % around) * across + j;
      const int c = ((i + 1) % around) * across + (j + 1) % across;
      const int d = i * across + (j + 1) % across;
      mesh.triangles.row(t++) << a, b, c;
      mesh.triangles.row(t++) << a, c, d;
    }
  }
  return mesh;
}

// Both meshes as one.
inline TriMesh merge_meshes(const TriMesh& a, const TriMesh& b) {
  TriMesh mesh;
  mesh.vertices.resize(a.vertices.rows() + b.vertices.rows(), 3);
  mesh.vertices << a.vertices, b.vertices;
  mesh.triangles.resize(a.triangles.rows() + b.triangles.rows(), 3);
  mesh.triangles << a.triangles, (b.triangles.array() + static_cast<int>(a.vertices.rows())).matrix();
  return mesh;
}

inline Points random_points(int count, double extent, std::uint64_t seed) {
  Points points(count, 3);
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    points.data()[i] = extent * (2 * uniform_random(seed, static_cast<std::uint64_t>(i)) - 1);
  }
  return points;
}

// A rotation by no special angle about no special axis.
inline Mat3 some_rotation() {
  return Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
}

}  // namespace exemplar::testing
