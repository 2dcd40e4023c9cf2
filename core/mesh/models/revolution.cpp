#include "core/mesh/models/revolution.h"

#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

namespace exemplar {
namespace {

struct PlacedRing {
  int first = 0;    // index of the ring's first vertex
  int count = 1;    // vertices around
  double turn = 0;  // of the first vertex, in edges
};

// Walks around both rings together and always advances on the ring whose next edge has its midpoint first.
void stitch(const PlacedRing& a, const PlacedRing& b, std::vector<std::array<int, 3>>& triangles) {
  const int steps_a = a.count > 1 ? a.count : 0;
  const int steps_b = b.count > 1 ? b.count : 0;
  int i = 0;
  int j = 0;
  while (i < steps_a || j < steps_b) {
    const double next_a = (i + 0.5 + a.turn) / a.count;
    const double next_b = (j + 0.5 + b.turn) / b.count;
    const bool advance_a = j == steps_b || (i < steps_a && next_a <= next_b);
    const int va = a.first + i % a.count;
    const int vb = b.first + j % b.count;
    if (advance_a) {
      triangles.push_back({va, vb, a.first + (i + 1) % a.count});
      ++i;
    } else {
      triangles.push_back({va, vb, b.first + (j + 1) % b.count});
      ++j;
    }
  }
}

}  // namespace

void append_line(std::vector<ProfilePoint>& profile, const ProfilePoint& end, double spacing) {
  assert(!profile.empty() && spacing > 0);
  const ProfilePoint start = profile.back();
  const double length = std::hypot(end.radius - start.radius, end.y - start.y);
  const int parts = std::max(1, static_cast<int>(std::lround(length / spacing)));
  for (int k = 1; k < parts; ++k) {
    const double t = static_cast<double>(k) / parts;
    profile.push_back({start.radius + t * (end.radius - start.radius), start.y + t * (end.y - start.y)});
  }
  profile.push_back(end);
}

std::vector<Ring> rings_of(const std::vector<ProfilePoint>& profile, double edge) {
  std::vector<Ring> rings;
  for (const ProfilePoint& point : profile) {
    const long count = std::lround(2 * std::numbers::pi * point.radius / edge);
    rings.push_back({point.radius, point.y, point.radius > 0 ? std::max(5, static_cast<int>(count)) : 1});
  }
  return rings;
}

TriMesh revolve(const std::vector<Ring>& rings, bool closed) {
  std::vector<PlacedRing> placed;
  int vertex_count = 0;
  for (std::size_t k = 0; k < rings.size(); ++k) {
    placed.push_back({vertex_count, rings[k].count, k % 2 == 0 ? 0.0 : 0.5});
    vertex_count += rings[k].count;
  }

  TriMesh mesh;
  mesh.vertices.resize(vertex_count, 3);
  for (std::size_t k = 0; k < rings.size(); ++k)
    for (int i = 0; i < rings[k].count; ++i) {
      const double angle = 2 * std::numbers::pi * (i + placed[k].turn) / rings[k].count;
      mesh.vertices.row(placed[k].first + i) << rings[k].radius * std::cos(angle), rings[k].y,
          rings[k].radius * std::sin(angle);
    }

  std::vector<std::array<int, 3>> triangles;
  const std::size_t bands = closed ? rings.size() : rings.size() - 1;
  for (std::size_t k = 0; k < bands; ++k) stitch(placed[k], placed[(k + 1) % rings.size()], triangles);
  mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) mesh.triangles(static_cast<Eigen::Index>(t), k) = triangles[t][k];
  return mesh;
}

}  // namespace exemplar
