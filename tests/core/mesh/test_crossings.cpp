#include "core/mesh/crossings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/base/random.h"

namespace exemplar {
namespace {

// Whether the edge pq goes through the triangle abc, by solving for the place in plain numbers.
bool goes_through(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  Mat3 columns;
  columns << b - a, c - a, p - q;
  const Vec3 at = columns.fullPivLu().solve(p - a);
  return at.minCoeff() > 0 && at[0] + at[1] < 1 && at[2] < 1;
}

bool share_a_corner(const Triangles& triangles, int s, int corner, int t) {
  return (triangles.row(t).array() == triangles(s, corner)).any();
}

bool crosses_plainly(const TriMesh& mesh, int s, int t) {
  const auto x = [&](int triangle, int k) -> Vec3 { return mesh.vertices.row(mesh.triangles(triangle, k)); };
  for (const auto& [from, to] : {std::pair(s, t), std::pair(t, s)}) {
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3;
      if (share_a_corner(mesh.triangles, from, k, to) || share_a_corner(mesh.triangles, from, next, to))
        continue;
      if (goes_through(x(from, k), x(from, next), x(to, 0), x(to, 1), x(to, 2))) return true;
    }
  }
  return false;
}

// Triangles between few random points: many share corners and edges, many cross, and far from the origin too.
TEST(Crossings, AgreeWithPlainNumbersOnRandomTriangles) {
  for (const double offset : {0.0, 1e3}) {
    TriMesh mesh{Points(30, 3), Triangles(120, 3)};
    for (int i = 0; i < 30; ++i) {
      for (int k = 0; k < 3; ++k)
        mesh.vertices(i, k) = offset + uniform_random(3, static_cast<std::uint64_t>(3 * i + k));
    }
    for (int t = 0; t < 120; ++t) {
      for (int k = 0; k < 3; ++k)
        mesh.triangles(t, k) =
            (10 * k + static_cast<int>(10 * uniform_random(4, static_cast<std::uint64_t>(3 * t + k)))) % 30;
    }
    std::vector<std::pair<int, int>> expected;
    for (int s = 0; s < 120; ++s) {
      for (int t = s + 1; t < 120; ++t) {
        if (crosses_plainly(mesh, s, t)) expected.emplace_back(s, t);
      }
    }
    EXPECT_GT(expected.size(), 500u);
    EXPECT_EQ(crossing_pairs(mesh), expected) << offset;
    std::vector<int> group(120);
    for (int t = 0; t < 120; ++t) group[static_cast<std::size_t>(t)] = t % 3;
    std::erase_if(expected,
                  [](const std::pair<int, int>& pair) { return pair.first % 3 == pair.second % 3; });
    EXPECT_EQ(crossing_pairs(mesh, group), expected) << offset;
  }
}

// Small triangles strewn over a plate, in groups by place: most lie among their own, one is long, and one is
// not finite.
TEST(Crossings, GroupsThatLieApartAreLookedAtWhereTheyMeet) {
  constexpr int count = 600;
  TriMesh mesh{Points(3 * count, 3), Triangles(count, 3)};
  std::vector<int> group(count);
  for (int t = 0; t < count; ++t) {
    const auto random = [&](int k) { return uniform_random(7, static_cast<std::uint64_t>(16 * t + k)); };
    const Vec3 place(10 * random(0), 0.3 * random(1), 10 * random(2));
    for (int k = 0; k < 3; ++k) {
      mesh.vertices.row(3 * t + k) = place.transpose();
      for (int a = 0; a < 3; ++a) mesh.vertices(3 * t + k, a) += random(3 + 3 * k + a);
    }
    mesh.triangles.row(t) << 3 * t, 3 * t + 1, 3 * t + 2;
    group[static_cast<std::size_t>(t)] = place[0] < 4 ? 0 : place[2] < 6 ? 3 : -2;
  }
  for (int round = 0; round < 3; ++round) {
    if (round == 1) mesh.vertices.row(0) << 30, 0.5, 20;
    if (round == 2) mesh.vertices(3, 0) = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::pair<int, int>> expected = crossing_pairs(mesh);
    std::erase_if(expected, [&](const std::pair<int, int>& pair) {
      return group[static_cast<std::size_t>(pair.first)] == group[static_cast<std::size_t>(pair.second)];
    });
    EXPECT_GT(expected.size(), 10u);
    EXPECT_EQ(crossing_pairs(mesh, group), expected) << round;
  }
}

// Two rough sheets that lie on each other as the sides of a crack do, closed on one side and open on the
// other.
TEST(Crossings, SidesOfACrackCrossWhereTheyArePressedIntoEachOther) {
  constexpr int n = 8, points = (n + 1) * (n + 1), cells = 2 * n * n;
  TriMesh mesh{Points(2 * points, 3), Triangles(2 * cells, 3)};
  std::vector<int> group(2 * cells);
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < points; ++i) {
      const double along = static_cast<double>(i % (n + 1)),
                   rough = uniform_random(5, static_cast<std::uint64_t>(i));
      const double gap = side * 1e-7 * (along - 0.5 * n);
      // Shifted along both axes, or edges would meet edges exactly, which plain numbers cannot tell.
      mesh.vertices.row(side * points + i) << 1e-3 * along + side * 2e-5, 1e-5 * rough + gap,
          1e-3 * static_cast<double>(i / (n + 1)) + side * 3e-5;
    }
    for (int c = 0; c < n * n; ++c) {
      const int a = side * points + c / n * (n + 1) + c % n, t = side * cells + 2 * c;
      mesh.triangles.row(t) << a, a + 1, a + n + 2;
      mesh.triangles.row(t + 1) << a, a + n + 2, a + n + 1;
      group[static_cast<std::size_t>(t)] = group[static_cast<std::size_t>(t + 1)] = side;
    }
  }
  std::vector<std::pair<int, int>> expected;
  for (int s = 0; s < cells; ++s) {
    for (int t = cells; t < 2 * cells; ++t) {
      if (crosses_plainly(mesh, s, t)) expected.emplace_back(s, t);
    }
  }
  EXPECT_GT(expected.size(), 50u);
  EXPECT_LT(expected.size(), 600u);
  EXPECT_EQ(crossing_pairs(mesh, group), expected);
}

// A square sheet in its plane, and the same sheet through itself after one corner was pulled across.
TEST(Crossings, NeighboursInOnePlaneDoNotCross) {
  constexpr int n = 8;
  TriMesh mesh{Points((n + 1) * (n + 1), 3), Triangles(2 * n * n, 3)};
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j) mesh.vertices.row(i * (n + 1) + j) << 0.1 * i, 0, 0.1 * j;
  }
  int t = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int a = i * (n + 1) + j;
      mesh.triangles.row(t++) << a, a + 1, a + n + 2;
      mesh.triangles.row(t++) << a, a + n + 2, a + n + 1;
    }
  }
  EXPECT_TRUE(crossing_pairs(mesh).empty());
  mesh.vertices.row(0) << 0.45, -0.2, 0.45;  // below the middle
  mesh.vertices.row(1) << 0.45, 0.2, 0.47;   // and above it
  EXPECT_FALSE(crossing_pairs(mesh).empty());
}

}  // namespace
}  // namespace exemplar
