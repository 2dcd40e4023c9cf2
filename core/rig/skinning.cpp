#include "core/rig/skinning.h"

#include <cassert>

#include "core/base/parallel.h"

namespace exemplar {

namespace {

// f(v) = ‖v‖² R(v/‖v‖) a for a quaternion v = (w, u) that need not be normalised, and its derivative along
// (dw, du). Both are bilinear in v, so the second is the symmetric part of the first.
Vec3 turn_scaled(double w, const Vec3& u, const Vec3& a) {
  return (w * w - u.squaredNorm()) * a + 2 * u.dot(a) * u + 2 * w * u.cross(a);
}

Vec3 turn_scaled_along(double w, const Vec3& u, double dw, const Vec3& du, const Vec3& a) {
  return 2 * ((w * dw - u.dot(du)) * a + du.dot(a) * u + u.dot(a) * du + dw * u.cross(a) + w * du.cross(a));
}

}  // namespace

MatX SkinWeights::dense() const {
  MatX w = MatX::Zero(points(), bones);
  for (Eigen::Index i = 0; i < points(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (int k = start[row]; k < start[row + 1]; ++k) {
      w(i, bone[static_cast<std::size_t>(k)]) = weight[static_cast<std::size_t>(k)];
    }
  }
  return w;
}

SkinWeights sparse_weights(const MatX& weights, double drop) {
  SkinWeights sparse;
  sparse.bones = static_cast<int>(weights.cols());
  for (Eigen::Index i = 0; i < weights.rows(); ++i) {
    double sum = 0;
    for (Eigen::Index b = 0; b < weights.cols(); ++b) sum += weights(i, b) > drop ? weights(i, b) : 0.0;
    assert(sum > 0);
    for (Eigen::Index b = 0; b < weights.cols(); ++b) {
      if (weights(i, b) <= drop) continue;
      sparse.bone.push_back(static_cast<int>(b));
      sparse.weight.push_back(weights(i, b) / sum);
    }
    sparse.start.push_back(static_cast<int>(sparse.bone.size()));
  }
  return sparse;
}

BoneBlend::BoneBlend(std::span<const BoneExample> examples, std::span<const double> e)
    : m_translation(Vec3::Zero()) {
  assert(examples.size() == e.size());
  Vec4 v = Vec4::Zero();
  for (std::size_t k = 0; k < e.size(); ++k) {
    if (e[k] == 0) continue;
    m_translation += e[k] * examples[k].translation;
    v += e[k] * examples[k].quaternion;
  }
  // Half turns in opposite directions can cancel: the rest rotation stands for what cannot be decided.
  if (v.squaredNorm() < 1e-24) v = examples[0].quaternion;
  m_w = v[0];
  m_v = v.tail<3>();
  m_squared_norm = v.squaredNorm();
}

Vec3 BoneBlend::turned(const Vec3& arm) const {
  return turn_scaled(m_w, m_v, arm) / m_squared_norm;
}

Vec3 BoneBlend::derivative(const BoneExample& example, const Vec3& arm) const {
  const double dw = example.quaternion[0];
  const Vec3 dv = example.quaternion.tail<3>();
  const double along = m_w * dw + m_v.dot(dv);  // v·q_k: half the derivative of ‖v‖²
  return example.translation +
         (turn_scaled_along(m_w, m_v, dw, dv, arm) - 2 * along * turned(arm)) / m_squared_norm;
}

BoneTransform BoneBlend::transform() const {
  return {m_translation, Quat(m_w, m_v.x(), m_v.y(), m_v.z()).normalized()};
}

Points skin(const Points& rest, const Points& centres, const SkinWeights& weights, const BonePose& pose) {
  assert(rest.rows() == weights.points() && static_cast<int>(pose.size()) == weights.bones);
  Points x(rest.rows(), 3);
  parallel_for(static_cast<std::size_t>(rest.rows()), [&](std::size_t i) {
    const Vec3 u = rest.row(static_cast<Eigen::Index>(i)).transpose();
    Vec3 sum = Vec3::Zero();
    for (int k = weights.start[i]; k < weights.start[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const int b = weights.bone[at];
      sum += weights.weight[at] * pose[static_cast<std::size_t>(b)].apply(centres.row(b).transpose(), u);
    }
    x.row(static_cast<Eigen::Index>(i)) = sum.transpose();
  });
  return x;
}

Skin::Skin(Points rest, Points centres, SkinWeights weights, const std::vector<BonePose>& examples)
    : m_rest(std::move(rest)),
      m_centres(std::move(centres)),
      m_weights(std::move(weights)),
      m_examples(static_cast<int>(examples.size())) {
  assert(!examples.empty() && m_rest.rows() == m_weights.points() && m_centres.rows() == m_weights.bones);
  for (std::size_t b = 0; b < static_cast<std::size_t>(m_weights.bones); ++b) {
    const Quat reference = examples[0][b].rotation;
    for (const BonePose& pose : examples) {
      assert(static_cast<int>(pose.size()) == m_weights.bones);
      const Quat q = pose[b].rotation.normalized();
      const double sign = q.dot(reference) < 0 ? -1.0 : 1.0;
      m_transforms.push_back({pose[b].translation, sign * Vec4(q.w(), q.x(), q.y(), q.z())});
    }
  }
}

Vec3 Skin::position(Eigen::Index point, std::span<const double> e) const {
  const auto i = static_cast<std::size_t>(point);
  const Vec3 u = m_rest.row(point).transpose();
  Vec3 x = Vec3::Zero();
  for (int k = m_weights.start[i]; k < m_weights.start[i + 1]; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Vec3 centre = m_centres.row(m_weights.bone[at]).transpose();
    x += m_weights.weight[at] * (centre + BoneBlend(bone(m_weights.bone[at]), e).apply(u - centre));
  }
  return x;
}

Eigen::Matrix3Xd Skin::jacobian(Eigen::Index point, std::span<const double> e) const {
  const auto i = static_cast<std::size_t>(point);
  Eigen::Matrix3Xd j = Eigen::Matrix3Xd::Zero(3, m_examples);
  for (int k = m_weights.start[i]; k < m_weights.start[i + 1]; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const auto examples = bone(m_weights.bone[at]);
    const BoneBlend blend(examples, e);
    const Vec3 arm = (m_rest.row(point) - m_centres.row(m_weights.bone[at])).transpose();
    for (int c = 0; c < m_examples; ++c) {
      j.col(c) += m_weights.weight[at] * blend.derivative(examples[static_cast<std::size_t>(c)], arm);
    }
  }
  return j;
}

Points Skin::positions(const ExampleWeights& e) const {
  assert(e.rows() == points() && e.cols() == m_examples);
  Points x(points(), 3);
  parallel_for(
      static_cast<std::size_t>(points()),
      [&](std::size_t i) {
        const auto row = static_cast<Eigen::Index>(i);
        const std::span<const double> weights{e.row(row).data(), static_cast<std::size_t>(m_examples)};
        x.row(row) = position(row, weights).transpose();
      },
      64);
  return x;
}

}  // namespace exemplar
