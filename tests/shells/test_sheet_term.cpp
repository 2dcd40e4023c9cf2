// The energies of whole sheets: derivatives through the step's function, rigid motions, threads.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"
#include "tests/support/derivatives.h"

namespace exemplar::shells {
namespace {

using exemplar::testing::check_gradient;
using exemplar::testing::check_hessian;

SheetInput small_sheet(SheetModelKind kind, bool curved) {
  SheetInput input;
  input.mesh = rectangle(MeshKind::irregular, 1, 0.8, 3, 2);
  input.material = {2.0, 0.3, 0.1};
  input.model = kind;
  input.curved_membrane = curved;
  return input;
}

SheetExamples bent_examples(const Points& x) {
  SheetExamples examples;
  for (const double amount : {0.2, -0.1}) {
    Points pose = x;
    for (Eigen::Index i = 0; i < x.rows(); ++i) pose(i, 1) += amount * x(i, 0) * (x(i, 0) + x(i, 2));
    examples.poses.push_back(pose);
  }
  examples.membrane = 0.7;
  examples.bending = 1.6;
  return examples;
}

ImplicitOptions direct_statics() {
  ImplicitOptions options;
  options.inertia = false;
  options.linear = LinearMethod::direct;
  return options;
}

// The step's function at a random state, with examples' weights in the border, viscosity and one clamped
// border.
void check_model(SheetModelKind kind, bool curved, double noise) {
  SheetInput input = small_sheet(kind, curved);
  input.examples = {bent_examples(input.mesh.vertices)};
  input.damping = 0.6;
  const std::vector<int> end =
      vertices_where(input.mesh.vertices, [](const Vec3& x) { return x.x() < 1e-9; });
  input.clamped_edges = border_among(input.mesh, end);
  SheetModel model({input}, direct_statics());
  StepInput step;
  step.dt = 1;
  step.held = hold(input.mesh.vertices, end);
  model.complete(step);
  VecX z;
  const auto problem = model.solver().make_problem(step, z);
  for (Eigen::Index i = 0; i < z.size(); ++i) z[i] += noise * normal_random(3, static_cast<std::uint64_t>(i));
  z.tail<2>() = Vec2(0.3, 0.2);
  problem->accepted(z);
  const auto value = [&](const VecX& y) { return problem->value(y); };
  const auto gradient = [&](const VecX& y) {
    VecX g;
    problem->gradient(y, g);
    return g;
  };
  const auto hessian = [&](const VecX& y) {
    BorderedHessian h;
    h.reset(problem->pattern(), problem->border_size());
    problem->hessian(y, false, h);
    const Eigen::Index n = h.a.pattern().dofs();
    MatX dense(y.size(), y.size());
    dense << h.a.to_dense(), h.c, h.c.transpose(), h.d;
    // Masked coordinates have an identity that belongs to no energy.
    const VecX g = gradient(y);
    for (Eigen::Index i = 0; i < n; ++i) {
      VecX moved = y;
      moved[i] += 1e-3;
      if ((gradient(moved) - g).isZero(0)) dense(i, i) = 0;
    }
    return dense;
  };
  const auto g = check_gradient(value, gradient, z, 0.1);
  EXPECT_TRUE(g.ok) << g.message << " " << g.best_error;
  const auto h = check_hessian(gradient, hessian, z, 0.1);
  EXPECT_TRUE(h.ok) << h.message << " " << h.best_error << " " << h.asymmetry;
}

TEST(SheetTerm, DerivativesAgreeWithDifferences) {
  for (const double noise : {0.001, 0.05}) {
    check_model(SheetModelKind::physical, false, noise);
    check_model(SheetModelKind::physical, true, noise);
    check_model(SheetModelKind::paper, false, noise);
  }
}

TEST(SheetTerm, RigidMotionsCostNoEnergy) {
  const Mat3 turn = Eigen::AngleAxisd(1.1, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  for (const SheetModelKind kind : {SheetModelKind::physical, SheetModelKind::paper}) {
    SheetInput input = small_sheet(kind, false);
    for (Eigen::Index i = 0; i < input.mesh.vertices.rows(); ++i)
      input.mesh.vertices(i, 1) = 0.3 * input.mesh.vertices(i, 0) * input.mesh.vertices(i, 0);
    input.positions = (input.mesh.vertices * turn.transpose()).rowwise() + Eigen::RowVector3d(3, -2, 5);
    SheetModel model({input}, direct_statics());
    EXPECT_LT(model.internal_energy(), 1e-20) << static_cast<int>(kind);
    EXPECT_LT(model.solver().internal_forces().cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(SheetTerm, SameBitsForAnyNumberOfThreads) {
  SheetInput input;
  input.mesh = rectangle(MeshKind::irregular, 1, 1, 30, 30);
  input.material = {1e5, 0.3, 0.01};
  input.examples = {bent_examples(input.mesh.vertices)};
  std::vector<Points> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    SheetModel model({input}, {});
    StepInput step;
    step.dt = 0.02;
    step.forces = model.solver().masses() * Eigen::RowVector3d(0, -9.81, 0);
    step.held = hold(input.mesh.vertices, {0, 1, 40});
    for (int k = 0; k < 2; ++k) ASSERT_EQ(model.step(step).status, StepStatus::ok);
    results.push_back(model.solver().state().positions);
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

// Half of a beam on two supports, 2 m apart: the middle of the beam slides down in the plane of symmetry and
// stays level.
TEST(Sheet, ABorderInAPlaneOfSymmetrySlidesWithoutTurning) {
  StaticSheet half;
  half.input.mesh = rectangle(MeshKind::alternating, 1, 0.1, 20, 2);
  half.input.mesh.vertices.rowwise() += Eigen::RowVector3d(0, 1, 1);  // in no other coordinate plane
  half.input.material = {1e6, 0, 0.01};
  const Points& x = half.input.mesh.vertices;
  half.held = hold(x, vertices_where(x, [](const Vec3& p) { return p.x() > 1 - 1e-9; }), false);
  hold_planes_of_symmetry(half, 1);
  const double pressure = 4e-5;
  half.forces = -Sheet(half.input.mesh, false).vertex_masses(pressure) * Eigen::RowVector3d::UnitY();
  const StaticAnswer answer = solve_static(half, 1);
  ASSERT_TRUE(answer.ok);
  const double exact =
      5 * pressure * std::pow(2, 4) / (384 * 1e6 * std::pow(0.01, 3) / 12);  // 5 q L⁴/(384 EI)
  for (const int v : vertices_where(x, [](const Vec3& p) { return p.x() < 1e-9; }))
    EXPECT_NEAR((1 - answer.positions(v, 1)) / exact, 1, 2e-3);
}

TEST(Sheet, EveryEdgeHasAPlaceOfItsOwnForItsAngle) {
  for (const MeshKind kind : k_mesh_kinds) {
    const Sheet sheet(rectangle(kind, 1, 1, 7, 5), true);
    std::vector<std::array<int, 2>> places;
    for (const SheetEdge& edge : sheet.edges()) places.push_back({edge.pack, edge.coordinate});
    std::sort(places.begin(), places.end());
    EXPECT_EQ(std::unique(places.begin(), places.end()), places.end());
    EXPECT_EQ(places.front()[0], sheet.first_pack());
    EXPECT_LE(sheet.pack_count(), to_int(sheet.edges().size()) * 2 / 5) << to_string(kind);  // nearly full
  }
}

TEST(Sheet, ClosedAndSmallMeshesWork) {
  TriMesh tetrahedron;
  tetrahedron.vertices.resize(4, 3);
  tetrahedron.vertices << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1;
  tetrahedron.triangles.resize(4, 3);
  tetrahedron.triangles << 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3;
  SheetInput input;
  input.mesh = tetrahedron;
  SheetModel model({input}, direct_statics());
  EXPECT_LT(model.internal_energy(), 1e-20);
}

}  // namespace
}  // namespace exemplar::shells
