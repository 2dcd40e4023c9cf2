#include "rigidplastic/bend/bone_weights.h"

#include "core/rig/handles.h"
#include "core/rig/rig.h"

namespace exemplar::bend {

namespace {

// Of a bone's length, left free at both ends: bones that meet in a joint would otherwise claim the same vertices.
constexpr double k_free_end = 0.15;

HandleRequest request_for(const std::vector<Bone>& bones) {
  HandleRequest request;
  for (const Bone& bone : bones) request.bones.push_back({bone.at(k_free_end), bone.at(1 - k_free_end)});
  return request;
}

}  // namespace

void check_bones(const Body& body, const std::vector<Bone>& bones) {
  place_handles(body.volume().mesh, request_for(bones));
}

BodyWeights bone_weights(const Body& body, const std::vector<Bone>& bones) {
  if (bones.size() == 1) return {MatX::Ones(body.surface().vertices.rows(), 1), MatX(), MatX()};
  const Rig rig = make_rig(body.volume(), request_for(bones));
  const MatX nodes = rig.volume.dense();
  const Tets& tets = body.volume().mesh.tets;
  BodyWeights weights{rig.surface.dense(), MatX::Zero(tets.rows(), nodes.cols()), nodes};
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    for (int k = 0; k < 4; ++k) weights.elements.row(t) += 0.25 * nodes.row(tets(t, k));
  }
  return weights;
}

}  // namespace exemplar::bend
