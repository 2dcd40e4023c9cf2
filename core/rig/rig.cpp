#include "core/rig/rig.h"

#include <fmt/format.h>

#include <algorithm>

namespace exemplar {

int Rig::find(const std::string& name) const {
  for (std::size_t h = 0; h < handles.size(); ++h) {
    if (handles[h].name == name) return static_cast<int>(h);
  }
  return -1;
}

int Rig::nearest(const Vec3& point) const {
  Eigen::Index best = 0;
  (centres().rowwise() - point.transpose()).rowwise().squaredNorm().minCoeff(&best);
  return static_cast<int>(best);
}

SkinWeights carried_weights(const SkinWeights& nodes, const Tets& tets, const Embedding& points) {
  SkinWeights carried;
  carried.bones = nodes.bones;
  VecX row(nodes.bones);
  for (Eigen::Index p = 0; p < points.tet.size(); ++p) {
    row.setZero();
    for (int k = 0; k < 4; ++k) {
      const auto node = static_cast<std::size_t>(tets(points.tet[p], k));
      for (int at = nodes.start[node]; at < nodes.start[node + 1]; ++at) {
        row[nodes.bone[static_cast<std::size_t>(at)]] +=
            points.weights(p, k) * nodes.weight[static_cast<std::size_t>(at)];
      }
    }
    row = row.cwiseMax(0.0);
    row /= row.sum();
    for (int b = 0; b < nodes.bones; ++b) {
      if (row[b] <= 0) continue;
      carried.bone.push_back(b);
      carried.weight.push_back(row[b]);
    }
    carried.start.push_back(static_cast<int>(carried.bone.size()));
  }
  return carried;
}

Rig make_rig(const Volume& volume, const HandleRequest& request) {
  return make_rig(volume, place_handles(volume.mesh, request));
}

Rig make_rig(const Volume& volume, const PlacedHandles& placed) {
  const BbwResult weights = bounded_biharmonic_weights(volume.mesh, placed.fixed);
  Rig rig;
  rig.handles = placed.handles;
  rig.volume = sparse_weights(weights.weights);
  rig.surface = carried_weights(rig.volume, volume.mesh.tets, volume.surface);
  rig.fixed = placed.fixed.vertices;
  std::sort(rig.fixed.begin(), rig.fixed.end());
  rig.objective = weights.objective;
  rig.residual = weights.residual;
  rig.iterations = weights.iterations;
  rig.converged = weights.converged;
  rig.notes = placed.notes;
  if (!rig.converged) {
    rig.notes.push_back(fmt::format("the weights are not converged: residual {:.2g} after {} iterations",
                                    weights.residual, weights.iterations));
  }
  return rig;
}

PlacedHandles placed_handles(const Rig& rig) {
  const MatX weights = rig.volume.dense();
  PlacedHandles placed;
  placed.handles = rig.handles;
  placed.fixed.vertices = rig.fixed;
  placed.fixed.values.resize(static_cast<Eigen::Index>(rig.fixed.size()), weights.cols());
  for (std::size_t k = 0; k < rig.fixed.size(); ++k) {
    placed.fixed.values.row(static_cast<Eigen::Index>(k)) = weights.row(rig.fixed[k]);
  }
  return placed;
}

}  // namespace exemplar
