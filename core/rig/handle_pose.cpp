#include "core/rig/handle_pose.h"

#include <cassert>
#include <limits>

#include "core/base/parallel.h"
#include "core/math/polar.h"
#include "core/rig/bone_fit.h"
#include "core/rig/laplacian.h"

namespace exemplar {

namespace {

constexpr int k_max_iterations = 300;
constexpr double k_tolerance = 1e-7;  // relative decrease of the energy that ends the search

class SkinnedArap {
 public:
  SkinnedArap(const TetMesh& mesh, const Rig& rig)
      : m_mesh(mesh),
        m_gradients(tet_gradients(mesh)),
        m_laplacian(laplacian(mesh.tets, m_gradients, mesh.vertices.rows())),
        m_skinning(skinning_matrix(mesh.vertices, rig.centres(), rig.volume)) {
    m_quadratic.h = MatX(m_skinning.m.transpose() * m_laplacian * m_skinning.m);
  }

  // The quadratic whose minimum is the global step after the local step at x; `energy` at x.
  const BoneQuadratic& local_step(const Points& x, double& energy) {
    const auto count = static_cast<std::size_t>(m_mesh.tets.rows());
    std::vector<Mat3> rotations(count);
    VecX energies(m_mesh.tets.rows());
    parallel_for(count, [&](std::size_t e) {
      const auto element = static_cast<Eigen::Index>(e);
      const Mat3 f = tet_edges(x, m_mesh.tets, element) * m_gradients.gradient[e].bottomRows<3>();
      rotations[e] = polar_rotation(f);
      energies[element] = m_gradients.volume[element] * (f - rotations[e]).squaredNorm();
    });
    energy = energies.sum();
    Points rhs = Points::Zero(x.rows(), 3);
    for (std::size_t e = 0; e < count; ++e) {
      const auto element = static_cast<Eigen::Index>(e);
      for (int k = 0; k < 4; ++k) {
        rhs.row(m_mesh.tets(element, k)) +=
            m_gradients.volume[element] * m_gradients.gradient[e].row(k) * rotations[e].transpose();
      }
    }
    m_quadratic.g = m_skinning.m.transpose() * (rhs - m_laplacian * m_skinning.offset);
    return m_quadratic;
  }

 private:
  const TetMesh& m_mesh;
  TetGradients m_gradients;
  SparseMatrix m_laplacian;
  SkinningMatrix m_skinning;
  BoneQuadratic m_quadratic;
};

}  // namespace

HandlePose pose_by_handles(const TetMesh& mesh, const Rig& rig, const std::vector<HandleMotion>& motions,
                           bool others_free) {
  const auto bones = static_cast<std::size_t>(rig.bones());
  HandlePose result;
  result.pose.resize(bones);
  HeldBones held{std::vector<char>(bones, others_free ? 0 : 1), std::vector<char>(bones, 0)};
  for (const HandleMotion& motion : motions) {
    const auto b = static_cast<std::size_t>(motion.handle);
    assert(b < bones);
    result.pose[b].translation = motion.translation;
    held.translation[b] = 1;
    if (motion.rotation) {
      result.pose[b].rotation = *motion.rotation;
      held.rotation[b] = 1;
    }
  }
  SkinnedArap arap(mesh, rig);
  const Points centres = rig.centres();
  double last = std::numeric_limits<double>::infinity();
  for (result.iterations = 0; result.iterations < k_max_iterations; ++result.iterations) {
    const Points x = skin(mesh.vertices, centres, rig.volume, result.pose);
    const BoneQuadratic& quadratic = arap.local_step(x, result.energy);
    if (result.energy >= (1 - k_tolerance) * last || result.energy == 0) break;
    last = result.energy;
    result.pose = minimise_over_bones(quadratic, std::move(result.pose), held, 20);
  }
  return result;
}

}  // namespace exemplar
