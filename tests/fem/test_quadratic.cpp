// Method fem on quadratic tets: bending without locking, lying and sliding on obstacles, examples, plastic
// flow, surfaces embedded in a cage, what is written, the same bits for any number of threads and after
// resuming.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/mesh/mass_properties.h"
#include "tests/fem/fem_run.h"

namespace exemplar {
namespace {

using testing::FemRun;

const std::vector<std::string> k_quadratic{"methods.fem.element=quadratic"};

std::vector<std::string> quadratic_with(std::vector<std::string> more) {
  more.push_back(k_quadratic[0]);
  return more;
}

// A cantilever of cubic cells, one through its thickness, sags under its weight by w L⁴/8EI.
TEST(QuadraticElements, ABeamOfOneCellSagsAsItShould) {
  const char* text = R"({
    "time": {"duration": 0.1, "fps": 10, "steps_per_frame": 1}, "gravity": [0, -1e-2, 0],
    "bodies": [{"name": "beam", "surface": {"box": {"size": [1, 0.1, 0.1], "resolution": [10, 1, 1]}},
      "volume": {"grid": [10, 1, 1]}, "material": {"density": 1000, "young": 1e6, "poisson": 0.3},
      "supports": [{"region": {"box": {"low": [-0.51, -1, -1], "high": [-0.499, 1, 1]}}}]}],
    "methods": {"fem": {"mode": "quasi-static"}}})";
  const auto share = [&](const std::vector<std::string>& assignments) {
    FemRun run(text, assignments);
    EXPECT_EQ(run.frames(1, 1).status, Status::ok);
    double tip = 0;
    int count = 0;
    const Points x = run.surface();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      if (x(i, 0) < 0.499) continue;
      tip -= x(i, 1);
      ++count;
    }
    const double weight = 1000 * 0.01 * 1e-2, inertia = std::pow(0.1, 4) / 12;
    const double shear = weight * 0.5 / (5.0 / 6 * 0.01 * 1e6 / 2.6);
    return tip / count / (weight / (8 * 1e6 * inertia) + shear);
  };
  EXPECT_NEAR(share(k_quadratic), 1, 0.03);
  EXPECT_LT(share({}), 0.5);
}

const char* const k_lying = R"({
  "time": {"duration": 0.5, "fps": 20, "steps_per_frame": 5}, "gravity": [0, -9.81, 0],
  "bodies": [{"name": "block", "surface": {"box": {"size": [0.4, 0.2, 0.3], "resolution": [2, 1, 2]}},
    "volume": {"grid": [2, 1, 2]}, "position": [0, 0.1005, 0],
    "material": {"density": 1000, "young": 2e5, "poisson": 0.3, "friction": 0.5, "damping": 0.01}}],
  "obstacles": [{"name": "floor", "plane": {}}],
  "methods": {"fem": {"all_fields": true}}})";

const FieldArray& cell_or_point_array(const Geometry& geometry, const std::string& name) {
  for (const FieldArray& array : geometry.arrays) {
    if (array.name == name) return array;
  }
  ADD_FAILURE() << "no array " << name;
  return geometry.arrays.front();
}

Geometry written_tets(FemRun& run) {
  for (Geometry& geometry : run.method().fields()) {
    if (geometry.series == "tets") return geometry;
  }
  ADD_FAILURE() << "no tets";
  return {};
}

TEST(QuadraticElements, ABlockLiesOnTheFloor) {
  FemRun run(k_lying, k_quadratic);
  ASSERT_EQ(run.frames(1, 10).status, Status::ok);
  const Diagnostics d = run.method().diagnostics();
  EXPECT_LT(d.kinetic_energy, 1e-6);
  EXPECT_NEAR(d.mass, 24, 1e-9);
  const Geometry tets = written_tets(run);
  EXPECT_GT(tets.points.col(1).minCoeff(), 0);
  EXPECT_LT(tets.points.col(1).minCoeff(), 1e-3);
  // The floor carries the weight.
  const FieldArray& contact = cell_or_point_array(tets, "contact_force");
  double up = 0;
  for (std::size_t i = 1; i < contact.values.size(); i += 3) up += contact.values[i];
  EXPECT_NEAR(up, 24 * 9.81, 0.01 * 24 * 9.81);
}

// As a block of mass m pushed at 1 m/s: it slides v²/2μg and stops.
TEST(QuadraticElements, ABlockSlidesAsFarAsFrictionLetsIt) {
  FemRun run(k_lying, quadratic_with({"bodies[0].velocity=[1,0,0]", "bodies[0].material.young=2e6"}));
  ASSERT_EQ(run.frames(1, 10).status, Status::ok);
  EXPECT_NEAR(run.method().diagnostics().centre_of_mass.x(), 1 / (2 * 0.5 * 9.81), 0.006);
  EXPECT_LT(run.method().diagnostics().linear_momentum.norm(), 0.1);
}

TEST(QuadraticElements, WrittenAsEightTetsEach) {
  FemRun run(k_lying, k_quadratic);
  const Geometry tets = written_tets(run);
  const Eigen::Index whole = run.scene().bodies[0].volume().mesh.tets.rows();
  ASSERT_EQ(cell_count(tets), to_size(8 * whole));
  const Eigen::Map<const Tets> cells(tets.connectivity.data(), 8 * whole, 4);
  const VecX volumes = tet_volumes(tets.points, cells);
  EXPECT_GT(volumes.minCoeff(), 0);
  EXPECT_NEAR(volumes.sum(), 0.024, 1e-12);
  const FieldArray& tet = cell_or_point_array(tets, "tet");
  EXPECT_EQ(tet.values.front(), 0);
  EXPECT_EQ(tet.values.back(), static_cast<double>(whole - 1));
  for (const FieldArray& array : tets.arrays) {
    if (array.on != Association::cell) continue;
    EXPECT_EQ(array.values.size(), to_size(8 * whole * array.components)) << array.name;
  }
}

const char* const k_examples = R"({
  "time": {"duration": 0.2, "fps": 20, "steps_per_frame": 2}, "gravity": [0, 0, 0],
  "bodies": [{"name": "bar", "surface": {"box": {"size": [0.2, 0.8, 0.2], "resolution": [1, 4, 1]}},
    "volume": {"grid": [1, 4, 1]}, "initial_pose": "bent",
    "material": {"density": 1000, "young": 1e5, "poisson": 0.3},
    "examples": [{"name": "bent", "bend": {"axis": "z", "along": "y", "angle": 60}}]}],
  "methods": {"fem": {"internal_stiffness": 0}}})";

// A pose is at rest in its own example: nothing moves and W_p is zero. With W_i it goes back, and the weight
// with it.
TEST(QuadraticElements, AnExampleIsARestShape) {
  FemRun held(k_examples, k_quadratic);
  const Points start = held.surface();
  EXPECT_LT(held.method().diagnostics().example_distance, 1e-12);
  ASSERT_EQ(held.frames(1, 4).status, Status::ok);
  EXPECT_LT((held.surface() - start).rowwise().norm().maxCoeff(), 1e-6);
  EXPECT_NEAR(held.extra("weight_bar_bent"), 1, 1e-4);

  FemRun freed(k_examples, quadratic_with({"methods.fem.internal_stiffness=1"}));
  ASSERT_EQ(freed.frames(1, 4).status, Status::ok);
  EXPECT_GT((freed.surface() - start).rowwise().norm().maxCoeff(), 0.01);
}

// Bent over its yield stress and let go, a beam keeps a bend; linear tets of the same mesh would not even
// yield.
TEST(QuadraticElements, ABentBeamKeepsItsBend) {
  const char* text = R"({
    "time": {"duration": 1, "fps": 10, "steps_per_frame": 2}, "gravity": [0, 0, 0],
    "bodies": [{"name": "beam", "surface": {"box": {"size": [1, 0.1, 0.1], "resolution": [10, 1, 1]}},
      "volume": {"grid": [10, 1, 1]}, "material": {"density": 1000, "young": 1e6, "poisson": 0.3, "yield_stress": 2e4},
      "supports": [{"region": {"box": {"low": [-0.51, -1, -1], "high": [-0.499, 1, 1]}}}]}],
    "loads": [{"body": "beam", "region": {"box": {"low": [0.499, -1, -1], "high": [0.51, 1, 1]}},
      "value": [0, -8, 0], "ramp_up": 0.3, "until": 0.6, "ramp_down": 0.2}],
    "methods": {"fem": {"mode": "quasi-static", "plasticity": {"rate": 20}}}})";
  const auto tip = [&](const std::vector<std::string>& assignments) {
    FemRun run(text, assignments);
    EXPECT_EQ(run.frames(1, 10).status, Status::ok);
    return run.surface().col(1).minCoeff() + 0.05;
  };
  EXPECT_LT(tip(k_quadratic), -0.03);
  EXPECT_NEAR(tip(quadratic_with({"bodies[0].material.yield_stress=1e9"})), 0, 1e-5);
}

// A surface in a cage hangs on all ten nodes of its tets and lies on the floor itself.
TEST(QuadraticElements, ACagedSurfaceLiesOnTheFloor) {
  const char* text = R"({
    "time": {"duration": 0.4, "fps": 20, "steps_per_frame": 4}, "gravity": [0, -9.81, 0],
    "bodies": [{"name": "block", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [5, 5, 5]}},
      "volume": {"always_cage": true, "cage_cell": 0.1}, "position": [0, 0.102, 0],
      "material": {"density": 500, "young": 2e5, "poisson": 0.3, "friction": 0.5, "damping": 0.02}}],
    "obstacles": [{"name": "floor", "plane": {}}]})";
  FemRun run(text, k_quadratic);
  ASSERT_TRUE(run.scene().bodies[0].volume().cage);
  ASSERT_EQ(run.frames(1, 8).status, Status::ok);
  EXPECT_GT(run.surface().col(1).minCoeff(), 0);
  EXPECT_LT(run.surface().col(1).minCoeff(), 1e-3);
  EXPECT_LT(run.method().diagnostics().kinetic_energy, 1e-5);
}

TEST(QuadraticElements, SameBitsForAnyThreadsAndAfterResuming) {
  const auto assignments =
      quadratic_with({"bodies[0].material.yield_stress=500", "bodies[0].velocity=[1,-2,0]"});
  set_thread_count(1);
  FemRun once(k_lying, assignments);
  ASSERT_EQ(once.frames(1, 4).status, Status::ok);
  EXPECT_GT(once.method().diagnostics().plastic_measure, 1e-4);
  for (const int threads : {2, 3}) {
    set_thread_count(threads);
    FemRun other(k_lying, assignments);
    other.frames(1, 2);
    other.resume();
    other.frames(3, 4);
    EXPECT_TRUE(other.state() == once.state()) << threads << " threads";
  }
  set_thread_count(0);
}

TEST(QuadraticElements, ThePredecessorKnowsLinearOnesOnly) {
  EXPECT_THROW(FemRun(k_lying, {"methods.fem-compatible.element=quadratic"}, "fem-compatible"), InputError);
}

}  // namespace
}  // namespace exemplar
