#include "core/rig/bone_fit.h"

#include <ceres/cost_function.h>
#include <ceres/manifold.h>
#include <ceres/problem.h>
#include <ceres/solver.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cassert>

#include "core/math/rigid_fit.h"

namespace exemplar {

namespace {

// H = SᵀS and Y with SᵀY = G: the quadratic is ½‖S T − Y‖² and a constant.
struct SquareRoot {
  MatX s, y;
};

SquareRoot square_root(const BoneQuadratic& quadratic) {
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(quadratic.h);
  const VecX values = eigen.eigenvalues().cwiseMax(0.0);
  const VecX root = values.cwiseSqrt();
  const double floor = 1e-7 * root.maxCoeff();
  const VecX inverse = (root.array() > floor).select(root.cwiseMax(1e-300).cwiseInverse(), 0.0);
  return {root.asDiagonal() * eigen.eigenvectors().transpose(),
          inverse.asDiagonal() * (eigen.eigenvectors().transpose() * quadratic.g)};
}

// Derivatives of R(q) by x, y, z, w (Eigen's order) for R quadratic in q.
std::array<Mat3, 4> rotation_derivatives(const Quat& q) {
  std::array<Mat3, 4> d;
  const double x = q.x(), y = q.y(), z = q.z(), w = q.w();
  d[0] << x, y, z, y, -x, -w, z, w, -x;
  d[1] << -y, x, w, x, y, z, -w, z, -y;
  d[2] << -z, -w, x, w, -z, y, x, y, z;
  d[3] << w, -z, y, z, w, -x, -y, x, w;
  for (Mat3& m : d) m *= 2;
  return d;
}

// Residuals S T − Y, column by column; parameters: quaternion (x y z w) and translation of every bone.
class BoneResiduals : public ceres::CostFunction {
 public:
  explicit BoneResiduals(SquareRoot root) : m_root(std::move(root)), m_bones(m_root.s.cols() / 4) {
    set_num_residuals(static_cast<int>(m_root.y.size()));
    for (Eigen::Index b = 0; b < m_bones; ++b) {
      mutable_parameter_block_sizes()->push_back(4);
      mutable_parameter_block_sizes()->push_back(3);
    }
  }

  bool Evaluate(double const* const* parameters, double* residuals, double** jacobians) const override {
    MatX t(4 * m_bones, 3);
    for (Eigen::Index b = 0; b < m_bones; ++b) {
      t.middleRows<3>(4 * b) = Quat(parameters[2 * b]).toRotationMatrix().transpose();
      t.row(4 * b + 3) = Eigen::Map<const Eigen::RowVector3d>(parameters[2 * b + 1]);
    }
    Eigen::Map<MatX>(residuals, m_root.y.rows(), 3) = m_root.s * t - m_root.y;
    if (!jacobians) return true;
    for (Eigen::Index b = 0; b < m_bones; ++b) {
      if (jacobians[2 * b]) fill_rotation(b, Quat(parameters[2 * b]), jacobians[2 * b]);
      if (jacobians[2 * b + 1]) fill_translation(b, jacobians[2 * b + 1]);
    }
    return true;
  }

 private:
  void fill_rotation(Eigen::Index b, const Quat& q, double* out) const {
    const Eigen::Index rows = m_root.y.rows();
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 4, Eigen::RowMajor>> jacobian(out, 3 * rows, 4);
    const auto derivatives = rotation_derivatives(q);
    for (int k = 0; k < 4; ++k) {
      const MatX column =
          m_root.s.middleCols<3>(4 * b) * derivatives[static_cast<std::size_t>(k)].transpose();
      for (int c = 0; c < 3; ++c) jacobian.block(c * rows, k, rows, 1) = column.col(c);
    }
  }
  void fill_translation(Eigen::Index b, double* out) const {
    const Eigen::Index rows = m_root.y.rows();
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>> jacobian(out, 3 * rows, 3);
    jacobian.setZero();
    for (int c = 0; c < 3; ++c) jacobian.block(c * rows, c, rows, 1) = m_root.s.col(4 * b + 3);
  }

  SquareRoot m_root;
  Eigen::Index m_bones;
};

bool is_held(const std::vector<char>& held, std::size_t bone) {
  return !held.empty() && held[bone] != 0;
}

// Each bone by itself: the rigid motion that takes the points it moves most to their targets.
BonePose separate_fits(const Points& rest, const Points& centres, const SkinWeights& weights,
                       const Points& target) {
  const MatX dense = weights.dense();
  BonePose pose;
  for (Eigen::Index b = 0; b < dense.cols(); ++b) {
    const RigidTransform motion = fit_rigid(rest, target, dense.col(b).array().square());
    const Vec3 centre = centres.row(b);
    pose.push_back({motion.apply(centre) - centre, Quat(motion.rotation)});
  }
  return pose;
}

}  // namespace

SkinningMatrix skinning_matrix(const Points& rest, const Points& centres, const SkinWeights& weights) {
  SkinningMatrix result;
  result.offset = Points::Zero(rest.rows(), 3);
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(4 * weights.bone.size());
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (int k = weights.start[row]; k < weights.start[row + 1]; ++k) {
      const int b = weights.bone[static_cast<std::size_t>(k)];
      const double w = weights.weight[static_cast<std::size_t>(k)];
      for (int c = 0; c < 3; ++c) {
        entries.emplace_back(static_cast<int>(i), 4 * b + c, w * (rest(i, c) - centres(b, c)));
      }
      entries.emplace_back(static_cast<int>(i), 4 * b + 3, w);
      result.offset.row(i) += w * centres.row(b);
    }
  }
  result.m.resize(rest.rows(), 4 * weights.bones);
  result.m.setFromTriplets(entries.begin(), entries.end());
  return result;
}

BonePose minimise_over_bones(const BoneQuadratic& quadratic, BonePose start, const HeldBones& held,
                             int max_iterations) {
  assert(quadratic.h.cols() == 4 * static_cast<Eigen::Index>(start.size()));
  ceres::Problem problem;
  std::vector<double*> blocks;
  for (BoneTransform& bone : start) {
    blocks.push_back(bone.rotation.coeffs().data());
    blocks.push_back(bone.translation.data());
  }
  problem.AddResidualBlock(new BoneResiduals(square_root(quadratic)), nullptr, blocks);
  for (std::size_t b = 0; b < start.size(); ++b) {
    problem.SetManifold(blocks[2 * b], new ceres::EigenQuaternionManifold);
    if (is_held(held.rotation, b)) problem.SetParameterBlockConstant(blocks[2 * b]);
    if (is_held(held.translation, b)) problem.SetParameterBlockConstant(blocks[2 * b + 1]);
  }
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.max_num_iterations = max_iterations;
  options.function_tolerance = 1e-14;
  options.gradient_tolerance = 1e-14;
  options.parameter_tolerance = 1e-12;
  options.logging_type = ceres::SILENT;
  options.num_threads = 1;  // the same bits again
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  for (BoneTransform& bone : start) bone.rotation.normalize();
  return start;
}

BoneFit fit_bones(const Points& rest, const Points& centres, const SkinWeights& weights,
                  const Points& target) {
  assert(rest.rows() == target.rows());
  const SkinningMatrix skinning = skinning_matrix(rest, centres, weights);
  const BoneQuadratic quadratic{MatX(skinning.m.transpose() * skinning.m),
                                skinning.m.transpose() * (target - skinning.offset)};
  BoneFit fit;
  fit.pose = minimise_over_bones(quadratic, separate_fits(rest, centres, weights, target));
  fit.fitted = skin(rest, centres, weights, fit.pose);
  const VecX distance = (fit.fitted - target).rowwise().norm();
  fit.rms = std::sqrt(distance.squaredNorm() / static_cast<double>(distance.size()));
  fit.max = distance.maxCoeff(&fit.worst);
  return fit;
}

}  // namespace exemplar
