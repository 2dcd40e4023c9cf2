// Linear blend skinning whose bone transformations are blends of examples (jones2016 §3.1).
//
//     x_i = Σ_b W_ib QLERP(e_i, T_b) u_i                                                   (eq. 3)
//
// u: rest points [m]; W: skinning weights, rows ≥ 0 with sum 1; e_i: example weights of point i, example 0 is
// the rest shape, barycentric in use; T_b: bone b's transformation in every example. A bone turns about its
// rest centre c_b and moves with it:
//
//     T_b(u) = c_b + t_b + R(q_b) (u − c_b)
//
// so that t_b is the displacement of the centre and blending does not depend on where the origin is (the
// paper does not say about which point its bones turn).
//
// QLERP (Kavan and Žára 2005) blends displacements linearly and quaternions linearly with normalisation,
//
//     t = Σ_k e_k t_k ,   q = v/‖v‖ ,  v = Σ_k e_k s_k q_k ,
//
// with signs s_k chosen once so that every example's quaternion lies in the half space of example 0's: signs
// that depended on e would make x jump, and signs left as given blend the long way round.
// R(v/‖v‖) is f(v)/‖v‖² with f quadratic in v, which gives the exact derivative by e_k in closed form
// (Skin::jacobian, the J_i of eq. 5). One BoneBlend serves both.
#pragma once

#include <span>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

struct BoneTransform {
  Vec3 translation = Vec3::Zero();  // of the bone's centre [m]
  Quat rotation = Quat::Identity();

  Vec3 apply(const Vec3& centre, const Vec3& point) const {
    return centre + translation + rotation * (point - centre);
  }
};
using BonePose = std::vector<BoneTransform>;  // one per bone

// W without its zeros, row by row, bones ascending in a row.
struct SkinWeights {
  int bones = 0;
  std::vector<int> start{0};  // points + 1
  std::vector<int> bone;
  std::vector<double> weight;

  Eigen::Index points() const { return static_cast<Eigen::Index>(start.size()) - 1; }
  MatX dense() const;
};
// Weights of at most `drop` are left out and what remains of a row is rescaled to sum 1 (to round-off).
SkinWeights sparse_weights(const MatX& weights, double drop = 0);

// One row per point, one column per example.
using ExampleWeights = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// An example of one bone with its sign aligned.
struct BoneExample {
  Vec3 translation = Vec3::Zero();
  Vec4 quaternion = Vec4::UnitX();  // w x y z
};

// QLERP(e, T_b) of one bone.
class BoneBlend {
 public:
  BoneBlend(std::span<const BoneExample> examples, std::span<const double> e);
  // Where the point at `arm` from the bone's centre goes, relative to the centre.
  Vec3 apply(const Vec3& arm) const { return m_translation + turned(arm); }
  // The derivative of apply(arm) by the weight of `example`.
  Vec3 derivative(const BoneExample& example, const Vec3& arm) const;
  BoneTransform transform() const;

 private:
  Vec3 turned(const Vec3& arm) const;  // f(v)/‖v‖²

  Vec3 m_translation;
  double m_w;
  Vec3 m_v;
  double m_squared_norm;
};

// Linear blend skinning of `rest` with given transformations (eq. 1).
Points skin(const Points& rest, const Points& centres, const SkinWeights& weights, const BonePose& pose);

class Skin {
 public:
  Skin() = default;
  // `centres`: one row per bone. `examples`: example 0 first (usually all identities), each with all bones.
  Skin(Points rest, Points centres, SkinWeights weights, const std::vector<BonePose>& examples);

  Eigen::Index points() const { return m_rest.rows(); }
  int bones() const { return m_weights.bones; }
  int examples() const { return m_examples; }
  const Points& rest() const { return m_rest; }
  const Points& centres() const { return m_centres; }
  const SkinWeights& weights() const { return m_weights; }

  // x_i for example weights e (one number per example).
  Vec3 position(Eigen::Index point, std::span<const double> e) const;
  // J_i = ∂x_i/∂e, 3 × examples: every weight on its own, not along the simplex.
  Eigen::Matrix3Xd jacobian(Eigen::Index point, std::span<const double> e) const;
  // All points.
  Points positions(const ExampleWeights& e) const;

 private:
  std::span<const BoneExample> bone(int b) const {
    return {m_transforms.data() + static_cast<std::size_t>(b) * static_cast<std::size_t>(m_examples),
            static_cast<std::size_t>(m_examples)};
  }

  Points m_rest, m_centres;
  SkinWeights m_weights;
  int m_examples = 0;
  std::vector<BoneExample> m_transforms;  // bone by bone
};

}  // namespace exemplar
