#include "core/world/shape_surface.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/mesh/topology.h"

namespace exemplar {

namespace {

// A half profile from the top of the y axis to its bottom (radius, height), first and last on the axis,
// turned about y.
TriMesh lathe(const std::vector<Vec2>& profile, int segments) {
  const int rings = static_cast<int>(profile.size()) - 2;
  TriMesh mesh;
  mesh.vertices.resize(rings * segments + 2, 3);
  const int top = rings * segments, bottom = top + 1;
  mesh.vertices.row(top) << 0, profile.front().y(), 0;
  mesh.vertices.row(bottom) << 0, profile.back().y(), 0;
  for (int i = 0; i < rings; ++i) {
    for (int j = 0; j < segments; ++j) {
      const double angle = 2 * std::numbers::pi * j / segments;
      const Vec2& p = profile[i + 1];
      mesh.vertices.row(i * segments + j) << p.x() * std::cos(angle), p.y(), -p.x() * std::sin(angle);
    }
  }
  mesh.triangles.resize(2 * rings * segments, 3);
  int t = 0;
  for (int j = 0; j < segments; ++j) {
    const int k = (j + 1) % segments, last = (rings - 1) * segments;
    mesh.triangles.row(t++) << top, j, k;
    mesh.triangles.row(t++) << bottom, last + k, last + j;
    for (int i = 0; i + 1 < rings; ++i) {
      const int a = i * segments, b = a + segments;
      mesh.triangles.row(t++) << a + j, b + j, b + k;
      mesh.triangles.row(t++) << a + j, b + k, a + k;
    }
  }
  return mesh;
}

// Quarter arcs from the pole down and up again; `half` lifts the upper and lowers the lower one.
TriMesh rounded(double radius, double half) {
  constexpr int arcs = 8;
  std::vector<Vec2> profile;
  for (int i = 0; i <= arcs; ++i) {
    const double angle = 0.5 * std::numbers::pi * i / arcs;
    profile.emplace_back(radius * std::sin(angle), radius * std::cos(angle) + half);
  }
  for (int i = half > 0 ? 0 : 1; i <= arcs; ++i) {
    const double angle = 0.5 * std::numbers::pi * i / arcs;
    profile.emplace_back(radius * std::cos(angle), -radius * std::sin(angle) - half);
  }
  return lathe(profile, rim_segments);
}

Points box_corners(const Vec3& size) {
  Points corners(8, 3);
  for (int i = 0; i < 8; ++i) {
    const Vec3 sign(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    corners.row(i) = 0.5 * size.cwiseProduct(sign).transpose();
  }
  return corners;
}

TriMesh box_surface(const Vec3& size) {
  // Corners around each face, counter-clockwise from outside.
  constexpr std::array<std::array<int, 4>, 6> faces{
      {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}};
  TriMesh mesh{box_corners(size), Triangles(12, 3)};
  for (int f = 0; f < 6; ++f) {
    mesh.triangles.row(2 * f) << faces[f][0], faces[f][1], faces[f][2];
    mesh.triangles.row(2 * f + 1) << faces[f][0], faces[f][2], faces[f][3];
  }
  return mesh;
}

TriMesh plane_surface(double extent) {
  const double h = 0.5 * extent;
  TriMesh mesh{Points(4, 3), Triangles(2, 3)};
  mesh.vertices << -h, 0, -h, -h, 0, h, h, 0, h, h, 0, -h;
  mesh.triangles << 0, 1, 2, 0, 2, 3;
  return mesh;
}

TriMesh cylinder_surface(double radius, double length) {
  return lathe({{0, 0.5 * length}, {radius, 0.5 * length}, {radius, -0.5 * length}, {0, -0.5 * length}},
               rim_segments);
}

ShapeFeatures box_features(const Vec3& size) {
  ShapeFeatures features;
  features.points = box_corners(size);
  features.edges.resize(12, 2);
  int e = 0;
  for (int axis = 1; axis <= 4; axis *= 2) {
    for (int i = 0; i < 8; ++i) {
      if (!(i & axis)) features.edges.row(e++) << i, i | axis;
    }
  }
  return features;
}

ShapeFeatures cylinder_features(double radius, double length) {
  const int n = rim_segments;
  ShapeFeatures features;
  features.points = cylinder_surface(radius, length).vertices.topRows(2 * n);
  features.edges.resize(3 * n, 2);
  for (int j = 0; j < n; ++j) {
    const int k = (j + 1) % n;
    features.edges.row(3 * j) << j, k;
    features.edges.row(3 * j + 1) << n + j, n + k;
    features.edges.row(3 * j + 2) << j, n + j;
  }
  return features;
}

ShapeFeatures axis_features(double radius, double length) {
  ShapeFeatures features;
  features.radius = radius;
  if (length == 0) {
    features.points = Points::Zero(1, 3);
    return features;
  }
  features.points = Points::Zero(2, 3);
  features.points(0, 1) = -0.5 * length;
  features.points(1, 1) = 0.5 * length;
  features.edges.resize(1, 2);
  features.edges << 0, 1;
  return features;
}

}  // namespace

TriMesh shape_surface(const ShapeDescription& d) {
  switch (d.kind) {
    case ShapeKind::plane:
      return plane_surface(d.extent);
    case ShapeKind::sphere:
      return rounded(d.radius, 0);
    case ShapeKind::box:
      return box_surface(d.size);
    case ShapeKind::capsule:
      return rounded(d.radius, 0.5 * d.length);
    case ShapeKind::cylinder:
      return cylinder_surface(d.radius, d.length);
    case ShapeKind::mesh:
      return d.mesh;
  }
  return {};
}

ShapeFeatures shape_features(const ShapeDescription& d) {
  switch (d.kind) {
    case ShapeKind::plane:
      return {};
    case ShapeKind::sphere:
      return axis_features(d.radius, 0);
    case ShapeKind::box:
      return box_features(d.size);
    case ShapeKind::capsule:
      return axis_features(d.radius, d.length);
    case ShapeKind::cylinder:
      return cylinder_features(d.radius, d.length);
    case ShapeKind::mesh:
      return {d.mesh.vertices, unique_edges(d.mesh.triangles), d.mesh.triangles, 0};
  }
  return {};
}

}  // namespace exemplar
