#include "rigidplastic/lbs/rigged_body.h"

#include "core/base/errors.h"

namespace exemplar::lbs {

namespace {

constexpr double k_least_weight = 1e-4;  // smaller ones only cost time

SkinWeights rows_of(const RiggedBody& rig, const std::vector<rigid::PointSource>& sources) {
  SkinWeights rows;
  rows.bones = rig.surface.bones;
  for (const rigid::PointSource& source : sources) {
    const SkinWeights& from = source.vertex >= 0 ? rig.surface : rig.volume;
    const auto row = static_cast<std::size_t>(source.vertex >= 0 ? source.vertex : source.node);
    for (int k = from.start[row]; k < from.start[row + 1]; ++k) {
      rows.bone.push_back(from.bone[static_cast<std::size_t>(k)]);
      rows.weight.push_back(from.weight[static_cast<std::size_t>(k)]);
    }
    rows.start.push_back(static_cast<int>(rows.bone.size()));
  }
  return rows;
}

}  // namespace

Skin SharedRig::placed(const Body& body, const rigid::PieceSurfaces& surfaces) const {
  const Eigen::Isometry3d move = body.placement() * placement.inverse();
  const Quat turn(move.linear());
  std::vector<BonePose> poses = rig.examples;
  for (BonePose& pose : poses) {
    for (BoneTransform& bone : pose) {
      bone.translation = turn * bone.translation;
      bone.rotation = turn * bone.rotation * turn.conjugate();
    }
  }
  Points centres = (rig.centres * move.linear().transpose()).rowwise() + move.translation().transpose();
  return Skin(surfaces.points, std::move(centres), rows_of(rig, surfaces.sources), poses);
}

SharedRig make_shared_rig(const Body& body) {
  const std::vector<Example>& all = body.examples();
  SharedRig made{{}, body.placement(), {}};
  for (const Example& example : all) {
    if (example.plastic) made.examples.push_back(example.name);
  }
  if (made.examples.empty()) {
    throw InputError(
        Problem{"", body.path() + ".examples",
                "rigid-lbs deforms towards examples and needs at least one besides the rest shape "
                "(or a material that never yields)"});
  }
  made.rig = rig_body(body);
  made.rig.surface = sparse_weights(made.rig.surface.dense(), k_least_weight);
  made.rig.volume = sparse_weights(made.rig.volume.dense(), k_least_weight);
  std::vector<BonePose> plastic{made.rig.examples[0]};
  for (std::size_t e = 0; e < all.size(); ++e) {
    if (all[e].plastic) plastic.push_back(made.rig.examples[e + 1]);
  }
  made.rig.examples = std::move(plastic);
  return made;
}

}  // namespace exemplar::lbs
