#include <gtest/gtest.h>

#include <random>

#include "core/base/errors.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "core/rig/handles.h"

namespace exemplar {
namespace {

Points random_points(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(0, 1);
  return Points::NullaryExpr(count, 3, [&] { return any(random); });
}

std::vector<int> all_of(int count) {
  std::vector<int> indices;
  for (int i = 0; i < count; ++i) indices.push_back(i);
  return indices;
}

// The rule as it is written, looking at every pair every time.
std::vector<int> thin_by_all_pairs(const Points& points, const Points& kept, int count) {
  Points all(kept.rows() + points.rows(), 3);
  all << kept, points;
  const Eigen::RowVector3d low = all.colwise().minCoeff(), high = all.colwise().maxCoeff();
  std::vector<int> left = all_of(static_cast<int>(points.rows()));
  auto to_box = [&](int i) {
    return std::min((points.row(i) - low).minCoeff(), (high - points.row(i)).minCoeff());
  };
  while (static_cast<int>(left.size()) > count) {
    double best = 1e300;
    int remove = -1;
    for (const int i : left) {
      for (const int j : left) {
        const double d = (points.row(i) - points.row(j)).squaredNorm();
        if (j < i && d < best) best = d, remove = to_box(i) >= to_box(j) ? i : j;
      }
      for (Eigen::Index k = 0; k < kept.rows(); ++k) {
        const double d = (points.row(i) - kept.row(k)).squaredNorm();
        if (d < best) best = d, remove = i;
      }
    }
    left.erase(std::find(left.begin(), left.end(), remove));
  }
  return left;
}

TEST(ThinPoints, LeavesWhatTheRuleLeaves) {
  for (unsigned seed : {1u, 2u, 3u}) {
    const Points points = random_points(120, seed);
    EXPECT_EQ(thin_points(points, all_of(120), Points(0, 3), 15),
              thin_by_all_pairs(points, Points(0, 3), 15));
  }
}

TEST(ThinPoints, NeverRemovesWhatWasGiven) {
  const Points points = random_points(100, 4), kept = random_points(6, 5);
  EXPECT_EQ(thin_points(points, all_of(100), kept, 9), thin_by_all_pairs(points, kept, 9));
}

TEST(ThinPoints, KeepsAllWhenAllAreAskedFor) {
  const Points points = random_points(20, 6);
  EXPECT_EQ(thin_points(points, {3, 7, 5}, Points(0, 3), 3), (std::vector<int>{3, 5, 7}));
}

TetMesh box() {
  return box_tets(Vec3(2, 1, 1), {8, 4, 4}, Split::six);
}

TEST(Handles, APointFixesItsNearestVertex) {
  HandleRequest request;
  request.points = {Vec3(-0.97, 0.49, 0.5), Vec3(0.02, 0, 0.01)};
  const TetMesh mesh = box();
  const PlacedHandles placed = place_handles(mesh, request);
  ASSERT_EQ(placed.fixed.vertices.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    Eigen::Index handle = 0;
    EXPECT_EQ(placed.fixed.values.row(static_cast<Eigen::Index>(k)).maxCoeff(&handle), 1);
    const Vec3 vertex = mesh.vertices.row(placed.fixed.vertices[k]);
    EXPECT_LT((vertex - request.points[static_cast<std::size_t>(handle)]).norm(), 0.04);
  }
}

TEST(Handles, ABoneFixesTheVerticesAlongItAndTwoBonesShareTheirJoint) {
  HandleRequest request;
  request.bones = {{Vec3(-1, 0, 0), Vec3(0, 0, 0)}, {Vec3(0, 0, 0), Vec3(1, 0, 0)}};
  const TetMesh mesh = box();
  const PlacedHandles placed = place_handles(mesh, request);
  ASSERT_EQ(placed.fixed.vertices.size(), 9u);  // x = −1, −0.75 … 1
  for (std::size_t k = 0; k < placed.fixed.vertices.size(); ++k) {
    const double x = mesh.vertices(placed.fixed.vertices[k], 0);
    const double left = x < -1e-9 ? 1 : x < 1e-9 ? 0.5 : 0;
    EXPECT_NEAR(placed.fixed.values(static_cast<Eigen::Index>(k), 0), left, 1e-15);
  }
}

TEST(Handles, ACagesEdgeGoesOverFromCornerToCorner) {
  HandleRequest request;
  request.cages = {{Vec3(-1, -0.5, 0), Vec3(1, -0.5, 0), Vec3(0, 0.5, 0)}};
  const TetMesh mesh = box();
  const PlacedHandles placed = place_handles(mesh, request);
  EXPECT_EQ(placed.handles.size(), 3u);
  EXPECT_LT((placed.fixed.values.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-15);
  for (std::size_t k = 0; k < placed.fixed.vertices.size(); ++k) {
    const Vec3 v = mesh.vertices.row(placed.fixed.vertices[k]);
    if (v.y() > -0.49) continue;  // the lower edge; samples lie within half a cell of their vertex
    EXPECT_NEAR(placed.fixed.values(static_cast<Eigen::Index>(k), 1), (v.x() + 1) / 2, 0.07);
  }
}

std::string problems_of(const HandleRequest& request) {
  try {
    place_handles(box(), request);
  } catch (const InputError& error) {
    std::string all;
    for (const Problem& problem : error.problems()) all += to_string(problem) + "\n";
    return all;
  }
  return "";
}

TEST(Handles, OutsideTheBodyOrOnOneVertexAreRefusedWithTheirPath) {
  HandleRequest request;
  request.points = {Vec3(0, 0, 0), Vec3(5, 0, 0), Vec3(0.01, 0, 0)};
  request.bones = {{Vec3(0, 0, 0), Vec3(0, 4, 0)}};
  const std::string problems = problems_of(request);
  EXPECT_NE(problems.find("points[1]: (5, 0, 0) lies 4 m outside"), std::string::npos) << problems;
  EXPECT_NE(problems.find("points[2]: sits on the same vertex"), std::string::npos) << problems;
  EXPECT_NE(problems.find("bones[0]"), std::string::npos) << problems;
}

TEST(Handles, MoreThanThereAreSurfaceVerticesAreRefused) {
  HandleRequest request;
  request.automatic = 100000;
  EXPECT_NE(problems_of(request).find("automatic"), std::string::npos);
  EXPECT_NE(problems_of({}).find("at least one handle"), std::string::npos);
}

TEST(Handles, APartWithoutAHandleMovesWithTheNearestOne) {
  TetMesh mesh = box(), other = box_tets(Vec3(0.2, 0.2, 0.2), {1, 1, 1}, Split::six);
  const auto n = static_cast<int>(mesh.vertices.rows());
  mesh.vertices.conservativeResize(n + other.vertices.rows(), 3);
  mesh.vertices.bottomRows(other.vertices.rows()) = other.vertices.rowwise() + Eigen::RowVector3d(3, 0, 0);
  const Eigen::Index tets = mesh.tets.rows();
  mesh.tets.conservativeResize(tets + other.tets.rows(), 4);
  mesh.tets.bottomRows(other.tets.rows()) = other.tets.array() + n;
  HandleRequest request;
  request.points = {Vec3(-1, 0, 0), Vec3(1, 0, 0)};
  const PlacedHandles placed = place_handles(mesh, request);
  EXPECT_EQ(placed.notes.size(), 1u);
  const MatX w = bounded_biharmonic_weights(mesh, placed.fixed).weights;
  EXPECT_TRUE((w.col(1).tail(other.vertices.rows()).array() == 1).all());
}

}  // namespace
}  // namespace exemplar
