// Elements that turn inside out are counted and said; the energy with a barrier has none; the default comes
// back when it can.
#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/solid_model.h"
#include "tests/fem/fem_run.h"

namespace exemplar {
namespace {

using testing::FemRun;

// So soft that its own weight is twice its stiffness.
const char* k_jelly = R"({
  "time": {"duration": 3, "fps": 30, "steps_per_frame": 2},
  "bodies": [{
    "name": "jelly", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [4, 4, 4]}}, "volume": {"grid": [2, 4, 4]},
    "material": {"density": 1000, "young": 1000, "poisson": 0.3}, "position": [0, 0.35, 0]
  }],
  "obstacles": [{"name": "floor", "plane": {}}]
})";

bool is_warned(FemRun& run) {
  for (const Note& note : run.method().notes()) {
    if (note.severity == Severity::warning && note.text.find("inside out") != std::string::npos) return true;
  }
  return false;
}

TEST(Inversion, IsCountedAndSaid) {
  FemRun run(k_jelly);
  EXPECT_EQ(run.extra("inverted"), 0);
  ASSERT_EQ(run.frames(1, 40).status, Status::ok);
  EXPECT_GT(run.extra("inverted"), 0);
  EXPECT_TRUE(is_warned(run));
}

TEST(Inversion, TheBarrierLetsNoneHappen) {
  FemRun run(k_jelly, {"methods.fem.model=neo-hookean-barrier"});
  for (int frame = 1; frame <= 40; ++frame) {
    const StepReport report = run.frames(frame, frame);
    ASSERT_EQ(report.status, Status::ok) << frame << " " << report.message;
    EXPECT_EQ(run.extra("inverted"), 0) << frame;
  }
  EXPECT_FALSE(is_warned(run));
  // It lies on the floor and is squashed, but it has a volume.
  EXPECT_GT(run.method().diagnostics().centre_of_mass.y(), 0.01);
  EXPECT_LT(run.method().diagnostics().centre_of_mass.y(), 0.1);
}

TEST(Inversion, ABarrierNeedsAStartWithoutInvertedElements) {
  const std::string text = R"({
    "bodies": [{
      "name": "box", "surface": {"box": {"size": [1, 1, 1], "resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]},
      "examples": [{"name": "folded", "allow_inverted": true, "use": "plastic",
                    "shear": {"direction": "x", "normal": "x", "amount": -1.5}}],
      "initial_pose": "folded"
    }]
  })";
  EXPECT_NO_THROW(FemRun run(text));
  EXPECT_THROW(FemRun run(text, {"methods.fem.model=neo-hookean-barrier"}), InputError);
}

// Squashed through itself by a load it cannot bear, guided so that it cannot turn over instead; then the load
// is gone.
TEST(Inversion, TheDefaultRecoversWhenTheLoadIsGone) {
  fem::SolidBody body;
  body.mesh = tet_box({0.2, 0.2, 0.2}, {3, 5, 5});
  body.energy = make_energy(ElasticModel::modified_stvk, 1000, 0.3);
  body.damping = 0.05;
  fem::SolidModel model({body}, {});
  StepInput input;
  input.dt = 1.0 / 60;
  const TetElements elements(body.mesh);
  input.forces = Points::Zero(model.node_count(), 3);
  for (int i = 0; i < model.node_count(); ++i) {
    const Vec3 rest = body.mesh.vertices.row(i);
    input.forces(i, 1) = -300 * rest.y();  // inwards
    input.held.push_back({i, {true, false, true}, rest, Vec3::Zero()});
  }
  for (int k = 0; k < 30; ++k) ASSERT_EQ(model.step(input).status, StepStatus::ok);
  ASSERT_GT(count_inverted(elements, model.body_positions(0)), 0);
  input.forces.setZero();
  for (int k = 0; k < 300; ++k) ASSERT_EQ(model.step(input).status, StepStatus::ok);
  EXPECT_EQ(count_inverted(elements, model.body_positions(0)), 0);
  EXPECT_LT(model.internal_energy(), 1e-3);
}

}  // namespace
}  // namespace exemplar
