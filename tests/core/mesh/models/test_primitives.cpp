// Primitives and models: topology, orientation, shape quality, self-intersections, and closed forms.
#include "core/mesh/models/primitives.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "core/base/errors.h"
#include "core/mesh/quality.h"
#include "core/mesh/topology.h"

namespace exemplar {
namespace {

constexpr double pi = std::numbers::pi;

struct Measures {
  double area = 0;
  double volume = 0;
  double min_angle = 180;  // degrees
};

Measures measure(const TriMesh& mesh) {
  Measures m;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    Vec3 x[3];
    for (int k = 0; k < 3; ++k) x[k] = mesh.vertices.row(mesh.triangles(t, k));
    m.area += 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).norm();
    m.volume += x[0].dot(x[1].cross(x[2])) / 6;
    for (int k = 0; k < 3; ++k) {
      const Vec3 u = x[(k + 1) % 3] - x[k];
      const Vec3 v = x[(k + 2) % 3] - x[k];
      m.min_angle = std::min(m.min_angle, std::atan2(u.cross(v).norm(), u.dot(v)) * 180 / pi);
    }
  }
  return m;
}

long euler_characteristic(const TriMesh& mesh) {
  return mesh.vertices.rows() - unique_edges(mesh.triangles).rows() + mesh.triangles.rows();
}

// Every directed edge once and its opposite once: closed, manifold at edges, consistently oriented.
bool is_closed_and_oriented(const TriMesh& mesh) {
  std::set<std::pair<int, int>> edges;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t)
    for (int k = 0; k < 3; ++k)
      if (!edges.insert({mesh.triangles(t, k), mesh.triangles(t, (k + 1) % 3)}).second) return false;
  for (const auto& [a, b] : edges)
    if (!edges.count({b, a})) return false;
  return true;
}

void expect_sound(const TriMesh& mesh, int genus, double least_angle) {
  ASSERT_GT(mesh.triangles.rows(), 0);
  EXPECT_TRUE(mesh.vertices.allFinite());
  EXPECT_TRUE(is_closed_and_oriented(mesh));
  EXPECT_TRUE(non_manifold_vertices(mesh.triangles, mesh.vertices.rows()).empty());
  EXPECT_EQ(connected_parts(mesh.triangles, mesh.vertices.rows()).count, 1);
  EXPECT_EQ(euler_characteristic(mesh), 2 - 2 * genus);
  const Measures m = measure(mesh);
  EXPECT_GT(m.volume, 0);
  EXPECT_GE(m.min_angle, least_angle);
  EXPECT_EQ(count_self_intersections(mesh), 0u);
}

template <class Params>
Params with_resolution(int resolution) {
  Params params;
  params.resolution = resolution;
  return params;
}

template <class Params>
void check_all(TriMesh (*make)(const Params&), std::initializer_list<int> resolutions, int genus,
               double least_angle) {
  Eigen::Index last = 0;
  for (const int resolution : resolutions) {
    SCOPED_TRACE(resolution);
    const TriMesh mesh = make(with_resolution<Params>(resolution));
    expect_sound(mesh, genus, least_angle);
    EXPECT_GT(mesh.triangles.rows(), last);
    last = mesh.triangles.rows();
  }
}

TEST(primitives, boxes_are_exact) {
  for (const Eigen::Vector3i& cells : {Eigen::Vector3i(1, 1, 1), Eigen::Vector3i(5, 2, 3)}) {
    const TriMesh mesh = make_box({Vec3(1.5, 0.5, 0.8), cells});
    const Vec3 cell = Vec3(1.5, 0.5, 0.8).cwiseQuotient(cells.cast<double>());
    const double flattest = std::atan(cell.minCoeff() / cell.maxCoeff()) * 180 / pi;
    expect_sound(mesh, 0, flattest - 1e-9);
    const Measures m = measure(mesh);
    EXPECT_NEAR(m.volume, 0.6, 1e-14);
    EXPECT_NEAR(m.area, 2 * (0.75 + 0.4 + 1.2), 1e-13);
    EXPECT_EQ(mesh.triangles.rows(),
              4 * (cells.x() * cells.y() + cells.y() * cells.z() + cells.z() * cells.x()));
  }
}

TEST(primitives, planks_and_plates_keep_their_size) {
  for (const int resolution : {1, 20, 100}) {
    const TriMesh plank = make_plank(with_resolution<PlankParams>(resolution));
    expect_sound(plank, 0, 15);
    EXPECT_NEAR(measure(plank).volume / (1.2 * 0.03 * 0.25), 1, 1e-11);
    const TriMesh plate = make_plate(with_resolution<PlateParams>(resolution));
    expect_sound(plate, 0, 15);
    EXPECT_NEAR(measure(plate).volume / 0.02, 1, 1e-11);
  }
}

TEST(primitives, sheet_is_open_flat_and_faces_up) {
  for (const bool alternate : {false, true}) {
    const TriMesh mesh = make_sheet({2.0, 1.0, 8, 5, alternate});
    EXPECT_EQ(mesh.vertices.rows(), 9 * 6);
    EXPECT_EQ(boundary_edges(mesh.triangles).rows(), 2 * (8 + 5));
    EXPECT_EQ(inconsistent_edges(mesh.triangles).rows(), 0);
    EXPECT_EQ(euler_characteristic(mesh), 1);
    EXPECT_NEAR(measure(mesh).area, 2.0, 1e-14);
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
      const Vec3 a = mesh.vertices.row(mesh.triangles(t, 0));
      const Vec3 b = mesh.vertices.row(mesh.triangles(t, 1));
      const Vec3 c = mesh.vertices.row(mesh.triangles(t, 2));
      EXPECT_GT((b - a).cross(c - a).y(), 0);
    }
  }
}

TEST(primitives, simple_solids_are_sound) {
  check_all(make_sphere, {1, 3, 12}, 0, 50);
  check_all(make_cylinder, {6, 17, 60}, 0, 35);
  check_all(make_capsule, {6, 17, 60}, 0, 30);
  check_all(make_torus, {16, 33, 80}, 1, 30);
  check_all(make_tube, {12, 33, 80}, 1, 20);
  check_all(make_barrel, {20, 41, 90}, 0, 15);
  check_all(make_vase, {20, 41, 90}, 0, 15);
}

TEST(primitives, parameters_within_their_bounds_stay_sound) {
  expect_sound(make_tube({0.25, 0.22, 0.1, 30}), 1, 15);
  expect_sound(make_tube({0.25, 0.01, 1.0, 60}), 1, 15);
  expect_sound(make_torus({0.4, 0.34, 60}), 1, 15);
  expect_sound(make_capsule({0.25, 0.5, 24}), 0, 30);
  expect_sound(make_capsule({0.25, 0.505, 24}), 0, 30);
  expect_sound(make_barrel({0.3, 0.9, 0.08, 0.0, 0.0, 32}), 0, 15);
  expect_sound(make_barrel({0.3, 0.9, 0.08, 0.03, 0.04, 48}), 0, 15);
  expect_sound(make_vase({0.3, 0.08, 0.08, 0.08, 0.08, 0.01, 40}), 0, 15);
}

// Relative errors at two resolutions: must be small and fall with the second order of the edge length.
void expect_second_order(const std::function<TriMesh(int)>& make, int resolution, double area,
                         double volume) {
  const Measures coarse = measure(make(resolution));
  const Measures fine = measure(make(2 * resolution));
  EXPECT_NEAR(fine.area / area, 1, 0.01);
  EXPECT_NEAR(fine.volume / volume, 1, 0.01);
  EXPECT_NEAR((coarse.area - area) / (fine.area - area), 4, 0.04);
  EXPECT_NEAR((coarse.volume - volume) / (fine.volume - volume), 4, 0.06);
}

TEST(primitives, round_solids_converge_to_closed_forms) {
  const double r = 0.25;
  expect_second_order(
      [&](int n) {
        return make_sphere({r, n});
      },
      8, 4 * pi * r * r, 4.0 / 3 * pi * r * r * r);
  expect_second_order(
      [&](int n) {
        return make_cylinder({r, 1.0, n});
      },
      40, 2 * pi * r * (1 + r), pi * r * r);
  expect_second_order(
      [&](int n) {
        return make_capsule({r, 1.0, n});
      },
      40, 2 * pi * r, pi * r * r * 0.5 + 4.0 / 3 * pi * r * r * r);
  expect_second_order(
      [&](int n) {
        return make_torus({0.4, 0.15, n});
      },
      48, 4 * pi * pi * 0.4 * 0.15, 2 * pi * pi * 0.4 * 0.15 * 0.15);
  // The errors of the tube's outer and inner wall nearly cancel in the volume, which leaves no clean order.
  const double inner = 0.21;
  const Measures tube = measure(make_tube({r, 0.04, 1.0, 160}));
  EXPECT_NEAR(tube.area / (2 * pi * (r + inner) + 2 * pi * (r * r - inner * inner)), 1, 5e-4);
  EXPECT_NEAR(tube.volume / (pi * (r * r - inner * inner)), 1, 5e-4);
}

TEST(models, car) {
  check_all(make_car, {12, 30}, 0, 15);
  const TriMesh mesh = make_car({3.6, 1.7, 1.5, 24});
  expect_sound(mesh, 0, 15);
  EXPECT_NEAR(mesh.vertices.col(0).maxCoeff(), 1.8, 1e-12);
  EXPECT_NEAR(mesh.vertices.col(1).minCoeff(), 0.0, 1e-12);
  EXPECT_NEAR(mesh.vertices.col(1).maxCoeff(), 1.5, 1e-12);
  EXPECT_NEAR(mesh.vertices.col(2).minCoeff(), -0.85, 1e-12);
}
TEST(models, aeroplane) {
  check_all(make_aeroplane, {24, 50}, 0, 15);
}
TEST(models, arm) {
  check_all(make_arm, {20, 50}, 0, 15);
  expect_sound(make_arm({0.7, 1.2, 1.0, 40}), 0, 15);
  EXPECT_GT(measure(make_arm({0.7, 1.0, 1.0, 40})).volume, measure(make_arm({0.7, 1.0, 0.0, 40})).volume);
}
TEST(models, crane) {
  check_all(make_crane, {30, 50}, 8, 15);
}
TEST(models, ship) {
  check_all(make_ship, {30, 50}, 0, 15);
}
TEST(models, rabbit) {
  check_all(make_rabbit, {24, 50}, 0, 15);
}
TEST(models, spaceship) {
  check_all(make_spaceship, {24, 50}, 0, 15);
}

TEST(models, frame) {
  expect_sound(make_frame({0.5, 0.06, 0.03, 20}), 3, 15);
}

TEST(models, same_parameters_give_the_same_bits) {
  const TriMesh a = make_arm(with_resolution<ArmParams>(30));
  const TriMesh b = make_arm(with_resolution<ArmParams>(30));
  EXPECT_TRUE(a.vertices == b.vertices && a.triangles == b.triangles);
}

TEST(primitives, a_sleeve_is_an_open_tube_with_normals_outwards) {
  const TriMesh mesh = make_sleeve({0.2, 1.0, 24});
  const SurfaceReport report = inspect(mesh);
  EXPECT_TRUE(report.manifold);
  EXPECT_EQ(report.boundary_edges, 48);
  EXPECT_EQ(report.inconsistent_edges, 0);
  // That of the inscribed prism of 24 sides, but for rows that are turned against each other.
  EXPECT_NEAR(report.area, 24 * 2 * 0.2 * std::sin(std::numbers::pi / 24) * 1.0, 0.01);
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vec3 a = mesh.vertices.row(mesh.triangles(t, 0)), b = mesh.vertices.row(mesh.triangles(t, 1)),
               c = mesh.vertices.row(mesh.triangles(t, 2));
    EXPECT_GT((b - a).cross(c - a).dot(Vec3(0, a.y(), a.z())), 0);
  }
}

TEST(primitives, bad_parameters_are_refused) {
  EXPECT_THROW(make_sleeve({0.1, 0.5, 3}), InputError);
  EXPECT_THROW(make_box({Vec3(1, 0, 1), Eigen::Vector3i(1, 1, 1)}), InputError);
  EXPECT_THROW(make_box({Vec3(1, 1, 1), Eigen::Vector3i(1, 0, 1)}), InputError);
  EXPECT_THROW(make_plank({1.0, -0.1, 0.2, 10}), InputError);
  EXPECT_THROW(make_sheet({1.0, 1.0, 0, 5, true}), InputError);
  EXPECT_THROW(make_sphere({std::nan(""), 4}), InputError);
  EXPECT_THROW(make_sphere({1.0, 0}), InputError);
  EXPECT_THROW(make_cylinder({1.0, 1.0, 3}), InputError);
  EXPECT_THROW(make_cylinder({1.0, 0.001, 12}), InputError);
  EXPECT_THROW(make_capsule({1.0, 1.5, 12}), InputError);
  EXPECT_THROW(make_torus({0.4, 0.5, 40}), InputError);
  EXPECT_THROW(make_tube({0.25, 0.3, 1.0, 40}), InputError);
  EXPECT_THROW(make_tube({0.25, 0.001, 1.0, 40}), InputError);
  EXPECT_THROW(make_barrel({0.3, 0.1, 0, 0, 0, 40}), InputError);
  EXPECT_THROW(make_vase({0.3, 0.05, 0.1, 0.04, 0.06, 0.05, 60}), InputError);
  EXPECT_THROW(make_car({4.2, 0.2, 1.4, 50}), InputError);
  EXPECT_THROW(make_car({-1, 1.8, 1.4, 50}), InputError);
  EXPECT_THROW(make_aeroplane({12, 12, 5}), InputError);
  EXPECT_THROW(make_arm({0.7, 3.0, 0.5, 50}), InputError);
  EXPECT_THROW(make_crane({14, 30, 50}), InputError);
  EXPECT_THROW(make_ship({30, 1, 50}), InputError);
  EXPECT_THROW(make_rabbit({0.4, 3.0, 50}), InputError);
  EXPECT_THROW(make_frame({0.5, 0.01, 0.03, 20}), InputError);
  EXPECT_THROW(make_spaceship({10, 1, 50}), InputError);
}

TEST(primitives, list_names_each_once) {
  std::set<std::string> names;
  for (const PrimitiveInfo& info : primitive_list()) {
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_FALSE(info.doc.empty());
  }
  EXPECT_EQ(names.size(), 20u);
}

}  // namespace
}  // namespace exemplar
