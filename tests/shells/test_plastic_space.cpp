// With plastic examples no rest state ever leaves the space that they span: every triangle and edge, every
// step, in both models, and in the shipped scene of plates by the metric that every run writes.
#include <cmath>

#include "core/base/index.h"
#include "core/mesh/distance.h"
#include "shells/plasticity.h"
#include "tests/shells/shell_run.h"

namespace exemplar::testing {
namespace {

using shells::PhysicalTriangle;
using shells::PlateMaterial;
using shells::Sheet;
using shells::Vec6;

// A plate that falls on the edge of a box: bends both ways and is stretched.
const std::string k_dented = R"({
  "time": {"duration": 0.1, "fps": 500, "steps_per_frame": 1},
  "bodies": [{"name": "plate", "kind": "sheet", "thickness": 0.006,
    "surface": {"sheet": {"length": 0.8, "width": 0.8, "resolution_x": 6, "resolution_z": 6}},
    "material": {"density": 2000, "young": 2e8, "poisson": 0.3, "yield_stress": 4e5, "damping": 0.0002},
    "position": [0, 0.16, 0], "rotation": {"axis": "z", "angle": 25}, "velocity": [0, -8, 0],
    "examples": [
      {"name": "wavy", "use": "plastic", "wave": {"direction": "y", "along": [1, 0, 0.5], "amplitude": 0.03, "wavelength": 0.4}},
      {"name": "bent", "use": "plastic", "bend": {"axis": "z", "along": "x", "angle": -60, "hinge": [0, 0, 0], "hinge_length": 0.5}}]}],
  "obstacles": [{"name": "edge", "box": {"size": [0.3, 0.3, 1.5]}, "rotation": {"axis": "z", "angle": 45}, "position": [0, -0.2, 0]}]})";

MatX rest_state(const ShellRun& run, int rows) {
  StateReader state(run.state());
  const std::vector<double> numbers = state.read_doubles("sheets[0].rest");
  return Eigen::Map<const MatX>(numbers.data(), rows, to_row(numbers.size()) / rows);
}

std::vector<Points> poses_of(const ShellRun& run) {
  std::vector<Points> poses{run.scene().bodies[0].surface().vertices};
  for (const Example& example : run.scene().bodies[0].examples()) poses.push_back(example.surface);
  return poses;
}

Vec3 lengths_of(const Points& x, const Triangles& triangles, Eigen::Index t) {
  Vec3 l;
  for (int k = 0; k < 3; ++k)
    l[k] = (x.row(triangles(t, (k + 1) % 3)) - x.row(triangles(t, (k + 2) % 3))).norm();
  return l;
}

TEST(ShellPlasticSpace, LengthsAndAnglesOfThePapersModelStayInTheirIntervals) {
  ShellRun run(k_dented, {"methods.shell.model=\"paper\""});
  const TriMesh& mesh = run.scene().bodies[0].surface();
  const Sheet sheet(mesh, false);
  const std::vector<Points> poses = poses_of(run);
  MatX low = MatX::Constant(6, mesh.triangles.rows(), 1e9), high = -low;
  for (const Points& pose : poses) {
    const VecX theta = sheet.angles(sheet.nodes(pose), {});
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
      Eigen::Matrix<double, 6, 1> measures;
      measures.head<3>() = lengths_of(pose, mesh.triangles, t);
      for (int k = 0; k < 3; ++k) measures[3 + k] = theta[sheet.sides(to_size(t))[to_size(k)].edge];
      low.col(t) = low.col(t).cwiseMin(measures);
      high.col(t) = high.col(t).cwiseMax(measures);
    }
  }
  double moved = 0, outside = 0;
  const MatX first = rest_state(run, 7);
  for (int frame = 1; frame <= 25; ++frame) {
    ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
    const MatX all = rest_state(run, 7);
    MatX rest(6, all.cols());
    rest << all.topRows(3), all.bottomRows(3);
    outside = std::max({outside, (low - rest).maxCoeff(), (rest - high).maxCoeff()});
    moved = std::max(moved, (all - first).bottomRows(3).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(outside, 1e-12);
  EXPECT_GT(moved, 0.05);  // rad: it has flowed
}

// The six numbers of every triangle in a pose.
MatX physical_measures(const Sheet& plain, const Points& pose, const std::vector<Mat3>& stiffness) {
  Points nodes = plain.nodes(pose);
  const VecX theta = plain.angles(nodes, {});
  plain.set_phi(nodes, relaxed_phi(plain, theta, stiffness, Points::Zero(to_row(plain.triangle_count()), 3)));
  MatX measures(6, to_row(plain.triangle_count()));
  for (std::size_t t = 0; t < plain.triangle_count(); ++t)
    measures.col(to_row(t)) = plain.shape(nodes, theta, t);
  return measures;
}

TEST(ShellPlasticSpace, RestStatesOfThePhysicalModelStayInTheHull) {
  ShellRun run(k_dented);
  const Sheet sheet(run.scene().bodies[0].surface(), true);
  const PlateMaterial material{2e8, 0.3, 0.006};
  std::vector<Mat3> stiffness;
  for (std::size_t t = 0; t < sheet.triangle_count(); ++t)
    stiffness.push_back(PhysicalTriangle(sheet.rest(t), material, false).stiffness.bottomRightCorner<3, 3>());
  std::vector<MatX> poses;
  for (const Points& pose : poses_of(run)) poses.push_back(physical_measures(sheet, pose, stiffness));
  double moved = 0, outside = 0;
  for (int frame = 1; frame <= 25; ++frame) {
    ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
    const MatX rest = rest_state(run, 6);
    for (Eigen::Index t = 0; t < rest.cols(); ++t) {
      // Membrane and bending have a hull each; lengths in units of this triangle's, so that they weigh as
      // angles.
      for (const int part : {0, 3}) {
        const Vec3 unit = part == 0 ? Vec3(poses[0].col(t).head<3>()) : Vec3::Ones();
        TriMesh hull{Points(3, 3), (Triangles(1, 3) << 0, 1, 2).finished()};
        for (int i = 0; i < 3; ++i)
          hull.vertices.row(i) = poses[to_size(i)].col(t).segment<3>(part).cwiseQuotient(unit).transpose();
        const Vec3 state = rest.col(t).segment<3>(part).cwiseQuotient(unit);
        outside = std::max(outside, SurfaceDistance(hull).nearest(state).distance);
        if (part == 3) moved = std::max(moved, (state - hull.vertices.row(0).transpose()).norm());
      }
    }
  }
  EXPECT_LT(outside, 1e-9);
  EXPECT_GT(moved, 0.02);
}

// One triangle with one example at `way` from its undeformed state: how far outside are parts of that way?
template <class Triangle>
double outside_at(const Triangle& triangle, const Sheet& sheet, const typename Triangle::Measures& way,
                  double part) {
  shells::PlasticSheet<Triangle> plastic;
  shells::Rests<Triangle> undeformed(Triangle::measures, 1);
  Vec6 flat;
  flat << sheet.rest(0).length.cwiseAbs2(), Vec3::Zero();
  undeformed.col(0) = triangle.measure(flat);
  plastic.poses = {undeformed.colwise() + way};
  plastic.takes_part = {{1}};
  const shells::Rests<Triangle> rest = undeformed.colwise() + part * way;
  return outside_examples(plastic, sheet, undeformed, rest);
}

TEST(ShellPlasticSpace, TheMetricSeesWhatIsOutside) {
  TriMesh mesh{(Points(3, 3) << 0, 0, 0, 1, 0, 0, 0, 0, 1).finished(),
               (Triangles(1, 3) << 0, 2, 1).finished()};
  const PlateMaterial material{2e8, 0.3, 0.006};
  const Sheet sheet(mesh, true), hinged(mesh, false);
  const PhysicalTriangle physical(sheet.rest(0), material, false);
  const shells::PaperTriangle paper(hinged.rest(0), {1, 1, 1}, Vec3::Ones(), {false, false, false});
  Vec6 way;
  way << 0, 0, 0, 0.3, -0.2, 0.1;
  Eigen::Matrix<double, 7, 1> hinges = Eigen::Matrix<double, 7, 1>::Zero();
  hinges.tail<3>() = way.tail<3>();
  for (const auto& [part, outside] : {std::pair{0.0, 0.0}, {0.6, 0.0}, {1.0, 0.0}, {1.5, 0.5}, {-0.2, 0.2}}) {
    EXPECT_NEAR(outside_at(physical, sheet, way, part), outside * way.norm(), 1e-12) << part;
    EXPECT_NEAR(outside_at(paper, hinged, hinges, part), outside * 0.3, 1e-12) << part;
  }
}

// Examples to either side of nearly the same ways, as creases of different lines give them.
TEST(ShellPlasticSpace, TheMetricIsExactForExamplesThatNearlyDepend) {
  TriMesh mesh{(Points(3, 3) << 0, 0, 0, 1, 0, 0, 0, 0, 1).finished(),
               (Triangles(1, 3) << 0, 2, 1).finished()};
  const Sheet sheet(mesh, true);
  shells::PlasticSheet<PhysicalTriangle> plastic;
  shells::Rests<PhysicalTriangle> undeformed(6, 1);
  undeformed.col(0) << sheet.rest(0).length.cwiseAbs2(), Vec3::Zero();
  for (const double tilt : {1e-6, 1e-7, 1e-8}) {
    plastic.poses.clear();
    for (const Vec3& way :
         {Vec3(0.3, -0.2, tilt), Vec3(-0.3, -tilt, 0.1), Vec3(0.3, -0.2 + tilt, 0), Vec3(-0.3, tilt, 0.1)}) {
      plastic.poses.push_back(undeformed);
      plastic.poses.back().col(0).tail<3>() = way;
    }
    plastic.takes_part.assign(4, {1});
    const auto outside = [&](const Vec3& bending) {
      shells::Rests<PhysicalTriangle> rest = undeformed;
      rest.col(0).tail<3>() = bending;
      return outside_examples(plastic, sheet, undeformed, rest);
    };
    const auto pose = [&](std::size_t i) { return Vec3(plastic.poses[i].col(0).tail<3>()); };
    EXPECT_LT(outside(0.2 * pose(0) + 0.5 * pose(2) + 0.1 * pose(3)), 1e-12) << tilt;
    EXPECT_LT(outside(0.9 * pose(1) + 0.1 * pose(3)), 1e-12) << tilt;
    EXPECT_NEAR(outside(1.5 * pose(0)), 0.5 * pose(0).norm(), 10 * tilt) << tilt;
  }
}

TEST(ShellPlasticSpace, ThePlatesStayInTheSpaceOfTheirExamplesInEveryStep) {
  for (const std::string model : {"physical", "paper"}) {
    std::vector<std::string> coarse{"methods.shell.model=\"" + model + "\""};
    for (const std::string b : {"0", "1", "2", "3"}) {
      coarse.push_back("bodies[" + b + "].surface.sheet.resolution_x=7");
      coarse.push_back("bodies[" + b + "].surface.sheet.resolution_z=7");
    }
    ShellRun run(shipped_scene("plates"), coarse);
    ASSERT_EQ(run.frames(1, 5).status, Status::ok) << model;
    EXPECT_LT(run.extra("outside_plastic_examples"), 1e-9) << model;
    EXPECT_GT(run.method().diagnostics().plastic_measure, 2e-3) << model;  // they have flowed
  }
}

}  // namespace
}  // namespace exemplar::testing
