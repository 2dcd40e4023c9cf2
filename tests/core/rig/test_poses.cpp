#include <gtest/gtest.h>

#include <random>

#include "core/math/angles.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "core/rig/bone_fit.h"
#include "core/rig/handle_pose.h"

namespace exemplar {
namespace {

Volume box_volume(const Vec3& size, const Eigen::Vector3i& cells) {
  Volume volume;
  volume.mesh = box_tets(size, cells, Split::six);
  volume.surface = embed(volume.mesh.vertices, volume.mesh);
  return volume;
}

Rig bar_rig(const Volume& volume, std::vector<Vec3> points) {
  HandleRequest request;
  request.points = std::move(points);
  return make_rig(volume, request);
}

TEST(Rig, TheSurfacesWeightsAreThoseOfTheVerticesItSitsOn) {
  const Volume volume = box_volume(Vec3(2, 1, 1), {8, 4, 4});
  HandleRequest request;
  request.automatic = 6;
  const Rig rig = make_rig(volume, request);
  EXPECT_LT((rig.surface.dense() - rig.volume.dense()).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((rig.surface.dense().rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
}

TEST(BoneFit, RecoversKnownTransformations) {
  const Volume volume = box_volume(Vec3(2, 1, 1), {10, 5, 5});
  HandleRequest request;
  request.automatic = 8;
  const Rig rig = make_rig(volume, request);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-1, 1);
  BonePose known;
  for (int b = 0; b < rig.bones(); ++b) {
    const Vec3 axis = Vec3(any(random), any(random), any(random)).normalized();
    known.push_back({0.3 * Vec3(any(random), any(random), any(random)),
                     Quat(Eigen::AngleAxisd(50 * k_degree * any(random), axis))});
  }
  const Points target = skin(volume.mesh.vertices, rig.centres(), rig.volume, known);
  const BoneFit fit = fit_bones(volume.mesh.vertices, rig.centres(), rig.volume, target);
  EXPECT_LT(fit.max, 1e-9);
  for (std::size_t b = 0; b < known.size(); ++b) {
    EXPECT_LT((fit.pose[b].translation - known[b].translation).norm(), 1e-7);
    EXPECT_LT(fit.pose[b].rotation.angularDistance(known[b].rotation), 1e-7);
  }
}

TEST(BoneFit, OfARigidMotionIsExactHoweverFarItTurns) {
  const Volume volume = box_volume(Vec3(2, 1, 1), {6, 3, 3});
  HandleRequest request;
  request.automatic = 5;
  const Rig rig = make_rig(volume, request);
  const Quat turn(Eigen::AngleAxisd(170 * k_degree, Vec3(1, 1, 0).normalized()));
  const Points target =
      (volume.mesh.vertices * turn.toRotationMatrix().transpose()).rowwise() + Eigen::RowVector3d(3, -2, 1);
  const BoneFit fit = fit_bones(volume.mesh.vertices, rig.centres(), rig.volume, target);
  EXPECT_LT(fit.max, 1e-9);
  for (const BoneTransform& bone : fit.pose) EXPECT_LT(bone.rotation.angularDistance(turn), 1e-7);
}

TEST(BoneFit, SaysHowFarItIsFromWhatTheRigCannotDo) {
  // One bone and a target that is stretched: the best rigid motion is none, the distance is the stretch.
  const Volume volume = box_volume(Vec3(2, 1, 1), {4, 2, 2});
  const Rig rig = bar_rig(volume, {Vec3(0, 0, 0)});
  Points target = volume.mesh.vertices;
  target.col(0) *= 1.1;
  const BoneFit fit = fit_bones(volume.mesh.vertices, rig.centres(), rig.volume, target);
  EXPECT_NEAR(fit.max, 0.1, 1e-9);
  EXPECT_NEAR(std::abs(volume.mesh.vertices(fit.worst, 0)), 1, 1e-12);
  const double rms = 0.1 * std::sqrt(volume.mesh.vertices.col(0).squaredNorm() /
                                     static_cast<double>(volume.mesh.vertices.rows()));
  EXPECT_NEAR(fit.rms, rms, 1e-9);
}

TEST(HandlePose, WithoutMotionIsTheRestShape) {
  const Volume volume = box_volume(Vec3(2, 1, 1), {6, 3, 3});
  const Rig rig = bar_rig(volume, {Vec3(-1, 0, 0), Vec3(1, 0, 0), Vec3(0, 0.5, 0)});
  const HandlePose pose = pose_by_handles(volume.mesh, rig, {{0, Vec3::Zero(), {}}});
  EXPECT_LT(pose.energy, 1e-20);
}

TEST(HandlePose, HandlesMovedLikeARigidBodyTurnTheBody) {
  const Volume volume = box_volume(Vec3(2, 1, 1), {8, 4, 4});
  const Rig rig =
      bar_rig(volume, {Vec3(-1, 0, 0), Vec3(1, 0, 0), Vec3(0, 0.5, 0), Vec3(0, 0, 0.5), Vec3(0, -0.5, 0)});
  const Quat turn(Eigen::AngleAxisd(40 * k_degree, Vec3(1, 2, 3).normalized()));
  std::vector<HandleMotion> motions;
  for (int h = 0; h < 5; ++h) {
    const Vec3 centre = rig.handles[static_cast<std::size_t>(h)].centre();
    motions.push_back({h, turn * centre - centre, {}});
  }
  const HandlePose pose = pose_by_handles(volume.mesh, rig, motions);
  EXPECT_LT(pose.energy, 1e-8);
  for (const BoneTransform& bone : pose.pose) EXPECT_LT(bone.rotation.angularDistance(turn), 2e-3);
}

TEST(HandlePose, ABarWithItsEndsLiftedTurnsItsEndHandlesUpwards) {
  // Handles along the axis moved onto a circular arc: every handle should turn with the arc's tangent.
  const double length = 4, angle = 60 * k_degree, radius = length / angle;
  const Volume volume = box_volume(Vec3(length, 0.4, 0.4), {40, 4, 4});
  std::vector<Vec3> points;
  for (int k = 0; k < 5; ++k) points.emplace_back(-length / 2 + k * length / 4, 0, 0);
  const Rig rig = bar_rig(volume, points);
  std::vector<HandleMotion> motions;
  for (int k = 0; k < 5; ++k) {
    const double turn = points[static_cast<std::size_t>(k)].x() / radius;
    const Vec3 on_arc(radius * std::sin(turn), radius * (1 - std::cos(turn)), 0);
    motions.push_back({k, on_arc - points[static_cast<std::size_t>(k)], {}});
  }
  const HandlePose pose = pose_by_handles(volume.mesh, rig, motions);
  for (int k = 0; k < 5; ++k) {
    const double turn = points[static_cast<std::size_t>(k)].x() / radius;
    const Quat expected(Eigen::AngleAxisd(turn, Vec3::UnitZ()));
    // Rigid bones bend a bar less smoothly than an arc: 4° less turn of the ±30° at the ends was seen.
    EXPECT_LT(pose.pose[static_cast<std::size_t>(k)].rotation.angularDistance(expected) / k_degree, 5)
        << "handle " << k;
  }
}

TEST(HandlePose, FreeHandlesFollowAndHeldOnesStay) {
  const Volume volume = box_volume(Vec3(2, 1, 1), {8, 4, 4});
  const Rig rig = bar_rig(volume, {Vec3(-1, 0, 0), Vec3(1, 0, 0), Vec3(0, 0.5, 0)});
  const HandleMotion motion{0, Vec3(0, 0.3, 0), {}};
  const HandlePose held = pose_by_handles(volume.mesh, rig, {motion});
  const HandlePose free = pose_by_handles(volume.mesh, rig, {motion}, true);
  EXPECT_EQ(held.pose[1].translation, Vec3(0, 0, 0));
  EXPECT_GT(held.energy, 1e-3);
  // One handle alone is followed by some rigid motion of the whole body: no energy, distances as before.
  EXPECT_LT(free.energy, 1e-10);
  const Points rest = rig.centres();
  const auto moved = [&](Eigen::Index b) {
    return Vec3(rest.row(b).transpose() + free.pose[static_cast<std::size_t>(b)].translation);
  };
  EXPECT_EQ(free.pose[0].translation, motion.translation);
  EXPECT_NEAR((moved(0) - moved(1)).norm(), (rest.row(0) - rest.row(1)).norm(), 1e-4);
}

}  // namespace
}  // namespace exemplar
