// What is written: stress against closed forms, forces of supports and contact against the weight they carry,
// columns that tell how the solver stands.
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "core/mesh/volume/tet_box.h"
#include "fem/element_fields.h"
#include "tests/fem/fem_run.h"

namespace exemplar {
namespace {

using testing::FemRun;

const FieldArray& array_of(const Geometry& geometry, const std::string& name) {
  for (const FieldArray& array : geometry.arrays) {
    if (array.name == name) return array;
  }
  ADD_FAILURE() << "no array " << name;
  return geometry.arrays.front();
}

Geometry tets_of(FemRun& run) {
  for (Geometry& geometry : run.method().fields()) {
    if (geometry.series == "tets") return geometry;
  }
  ADD_FAILURE() << "no tets";
  return {};
}

// A uniform deformation: σ = (2μ F E Fᵀ)/J + κ(J − 1) I in every element.
TEST(ElementFields, StressOfAUniformDeformation) {
  fem::SolidBody body;
  body.mesh = tet_box({1, 1, 1}, {3, 3, 3});
  const double mu = 3e4, kappa = 5e4;
  body.energy = ModifiedStVK{mu, kappa};
  Mat3 f;
  f << 1.2, 0.3, 0, 0, 0.9, 0.1, 0, 0, 1.1;
  body.positions = body.mesh.vertices * f.transpose();
  const fem::SolidModel model({body}, {});
  const fem::ElementFields fields = fem::element_fields(model, 0);
  const double j = 1.2 * 0.9 * 1.1;
  const Mat3 e = 0.5 * (f.transpose() * f - Mat3::Identity());
  const Mat3 s = 2 * mu * f * e * f.transpose() / j + kappa * (j - 1) * Mat3::Identity();
  const double v = std::sqrt(0.5 * (std::pow(s(0, 0) - s(1, 1), 2) + std::pow(s(1, 1) - s(2, 2), 2) +
                                    std::pow(s(2, 2) - s(0, 0), 2)) +
                             3 * (s(0, 1) * s(0, 1) + s(1, 2) * s(1, 2) + s(0, 2) * s(0, 2)));
  const Eigen::JacobiSVD<Mat3> svd(f);
  for (Eigen::Index t = 0; t < body.mesh.tets.rows(); ++t) {
    const Eigen::RowVectorXd expected{{s(0, 0), s(1, 1), s(2, 2), s(0, 1), s(1, 2), s(0, 2)}};
    EXPECT_LT((fields.cauchy_stress.row(t) - expected).norm(), 1e-10 * expected.norm());
    EXPECT_NEAR(fields.von_mises(t, 0), v, 1e-10 * v);
    EXPECT_NEAR(fields.volume_ratio(t, 0), j, 1e-12);
    EXPECT_LT((fields.principal_stretches.row(t).transpose() - svd.singularValues()).norm(), 1e-12);
    EXPECT_EQ(fields.example_energy(t, 0), 0);
  }
}

// A free state in its example: W_p pulls it nowhere, W_i alone stresses it; and the other way round.
TEST(ElementFields, StressOfTheExamples) {
  fem::SolidBody body;
  body.mesh = tet_box({1, 1, 1}, {2, 2, 2});
  body.energy = ModifiedStVK{3e4, 5e4};
  fem::ExampleSet set;
  set.stiffness = 2;
  Points pose = body.mesh.vertices;
  pose.col(1) *= 1.3;
  set.poses = {pose};
  body.examples = {set};
  const auto fields_at = [&](const Points& x, double w, double internal) {
    fem::SolidBody copy = body;
    copy.positions = x;
    copy.internal_stiffness = internal;
    copy.examples[0].initial_weights = VecX::Constant(1, w);
    const fem::SolidModel model({copy}, {});
    return fem::element_fields(model, 0);
  };
  EXPECT_LT(fields_at(pose, 1, 0).von_mises.maxCoeff(), 1e-9);
  EXPECT_LT(fields_at(pose, 1, 0).example_energy.maxCoeff(), 1e-9);
  // Away from the only weight W_p is twice the material: the sum is three times W_i's stress.
  const double internal = fields_at(pose, 1, 1).von_mises.maxCoeff(),
               both = fields_at(pose, 0, 1).von_mises.maxCoeff();
  EXPECT_GT(internal, 1e3);
  EXPECT_NEAR(both, 3 * internal, 1e-9 * internal);
}

const char* k_block = R"({
  "time": {"duration": 2, "fps": 10, "steps_per_frame": 5},
  "bodies": [{
    "name": "block", "surface": {"box": {"size": [0.4, 0.3, 0.4], "resolution": [3, 3, 3]}}, "volume": {"grid": [3, 3, 3]},
    "material": {"density": 1000, "young": 1e6, "poisson": 0.3, "damping": 0.01}, "position": [0, 0.152, 0]
    SUPPORTS
  }],
  "obstacles": [OBSTACLES],
  "methods": {"fem": {"all_fields": true}}
})";

std::string block(const std::string& supports, const std::string& obstacles) {
  std::string text = k_block;
  text.replace(text.find("SUPPORTS"), 8, supports);
  return text.replace(text.find("OBSTACLES"), 9, obstacles);
}

Vec3 sum_of(const FieldArray& array) {
  Vec3 sum = Vec3::Zero();
  const std::vector<double>& values = array.values;
  for (std::size_t i = 0; i < values.size(); ++i) sum[static_cast<Eigen::Index>(i % 3)] += values[i];
  return sum;
}

TEST(Fields, SupportsCarryTheWeight) {
  FemRun run(
      block(R"(, "supports": [{"region": {"half_space": {"point": [0, 0.01, 0], "normal": "-y"}}}])", ""));
  ASSERT_EQ(run.frames(1, 20).status, Status::ok);
  const double weight = 48 * 9.81;
  EXPECT_NEAR(run.extra("reaction_y"), weight, 1e-3 * weight);
  EXPECT_NEAR(run.extra("reaction_x"), 0, 1e-3 * weight);
  EXPECT_LT((sum_of(array_of(tets_of(run), "reaction_force")) - Vec3(0, weight, 0)).norm(), 2e-3 * weight);
  EXPECT_LT(run.extra("residual"), 1e-6);
  EXPECT_EQ(run.extra("inverted"), 0);
}

// Held at its foot, and all of it in z (plane strain): the second support must not free the foot.
TEST(Fields, SupportsThatOverlapCombineAndTellTheirShares) {
  FemRun run(block(R"(, "supports": [
    {"name": "foot", "region": {"half_space": {"point": [0, 0.01, 0], "normal": "-y"}}},
    {"name": "plane", "region": {"all": true}, "x": false, "y": false}])",
                   ""));
  ASSERT_EQ(run.frames(1, 20).status, Status::ok);
  const double weight = 48 * 9.81;
  EXPECT_NEAR(run.extra("reaction_foot_y"), weight, 1e-3 * weight);
  EXPECT_EQ(run.extra("reaction_plane_y"), 0);
  EXPECT_EQ(run.extra("reaction_foot_z"), 0);  // the plane holds z there too
  EXPECT_NEAR(run.extra("reaction_y"), weight, 1e-3 * weight);
}

TEST(Fields, ContactCarriesTheWeight) {
  FemRun run(block("", R"({"name": "floor", "plane": {}, "friction": 0.5})"));
  ASSERT_EQ(run.frames(1, 20).status, Status::ok);
  const double weight = 48 * 9.81;
  const Geometry tets = tets_of(run);
  EXPECT_LT((sum_of(array_of(tets, "contact_force")) - Vec3(0, weight, 0)).norm(), 5e-3 * weight);
  // Pressure times area over the foot; the area of its edge nodes has a part on the sides.
  const std::vector<double> pressure = array_of(tets, "contact_pressure").values;
  EXPECT_GT(*std::max_element(pressure.begin(), pressure.end()), 0.5 * weight / 0.16);
  EXPECT_LT(*std::max_element(pressure.begin(), pressure.end()), 3 * weight / 0.16);
  EXPECT_GT(run.extra("smallest_gap"), 0);
  EXPECT_LT(run.extra("smallest_gap"), 1e-3);
}

}  // namespace
}  // namespace exemplar
