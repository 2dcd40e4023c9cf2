// Every energy density: derivatives at random and degenerate states, rigid invariance, small-strain moduli,
// closed forms of stress, and the nodal blocks against the differential.
#include "core/elastic/energies.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/base/random.h"
#include "core/elastic/tet_kernel.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

Mat3 random_matrix(std::uint64_t seed, double size = 1) {
  Mat3 m;
  for (int i = 0; i < 9; ++i) m(i) = size * normal_random(seed, static_cast<std::uint64_t>(i));
  return m;
}

Mat3 random_rotation(std::uint64_t seed) {
  const Quat q(normal_random(seed, 50), normal_random(seed, 51), normal_random(seed, 52),
               normal_random(seed, 53));
  return q.normalized().toRotationMatrix();
}

Mat3 as_matrix(const VecX& x) {
  return Eigen::Map<const Mat3>(x.data());
}
VecX as_vector(const Mat3& m) {
  return Eigen::Map<const VecX>(m.data(), 9);
}

// Random, inverted, flat, collapsed to a line, and doubly stretched states.
std::vector<Mat3> states() {
  std::vector<Mat3> result;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    result.push_back(Mat3::Identity() + random_matrix(seed, 0.3));
  const Mat3 u = random_rotation(1), v = random_rotation(2);
  for (const Vec3& s : {Vec3(1.2, 1.1, -0.7), Vec3(1.3, 0.9, 0), Vec3(2, 2, 0.25), Vec3(1.5, 0.6, 0.6),
                        Vec3(1.3, 1.3, 1.3)}) {
    result.push_back(u * s.asDiagonal() * v.transpose());
  }
  return result;
}

template <class Energy>
MatX hessian(const Energy& energy, const Mat3& f) {
  MatX h(9, 9);
  for (int i = 0; i < 9; ++i) h.col(i) = as_vector(energy.differential(f, as_matrix(VecX::Unit(9, i))));
  return h;
}

template <class Energy>
void check_derivatives(const Energy& energy, const std::vector<Mat3>& at) {
  for (const Mat3& f : at) {
    const auto g = testing::check_gradient(
        [&](const VecX& x) { return energy.value(as_matrix(x)); },
        [&](const VecX& x) { return as_vector(energy.gradient(as_matrix(x))); }, as_vector(f));
    EXPECT_TRUE(g.ok) << g.message << " error " << g.best_error << "\n" << f;
    const auto h =
        testing::check_hessian([&](const VecX& x) { return as_vector(energy.gradient(as_matrix(x))); },
                               [&](const VecX& x) { return hessian(energy, as_matrix(x)); }, as_vector(f));
    EXPECT_TRUE(h.ok) << h.message << " error " << h.best_error << "\n" << f;
    const Svd3 svd = signed_svd(f);
    const Mat3 df = random_matrix(99);
    const Mat3 exact = energy.differential(f, df);
    EXPECT_LT((differential_from_principal(energy.principal(svd.s), svd, df) - exact).norm(),
              1e-10 * exact.norm());
  }
}

TEST(Energies, DerivativesAgreeWithDifferences) {
  check_derivatives(ModifiedStVK{1.3, 2.1}, states());
  check_derivatives(StVK{1.3, 2.1}, states());
  check_derivatives(StableNeoHookean{1.3, 2.1}, states());
  check_derivatives(DirichletEnergy{1.3}, states());
  // The rotation in the corotated energy is smooth only while s₂ + s₃ > 0.
  std::vector<Mat3> smooth;
  for (const Mat3& f : states()) {
    const Vec3 s = signed_svd(f).s;
    if (s[1] + s[2] > 0.15) smooth.push_back(f);
  }
  EXPECT_GT(smooth.size(), 8U);
  check_derivatives(FixedCorotated{1.3, 2.1}, smooth);
  std::vector<Mat3> upright;
  for (const Mat3& f : states()) {
    if (f.determinant() > 0.15) upright.push_back(f);
  }
  EXPECT_GT(upright.size(), 8U);
  check_derivatives(BarrierNeoHookean{1.3, 2.1}, upright);
}

TEST(Energies, TheBarrierIsInfiniteWhereAnElementIsFlatOrInverted) {
  const BarrierNeoHookean energy{1.3, 2.1};
  double last = 0;
  for (const double s : {0.5, 1e-1, 1e-3, 1e-9, 1e-100}) {
    const double value = energy.value(Vec3(1, 1, s).asDiagonal().toDenseMatrix());
    EXPECT_GT(value, last);
    last = value;
  }
  EXPECT_TRUE(std::isinf(energy.value(Vec3(1, 1, 0).asDiagonal().toDenseMatrix())));
  EXPECT_TRUE(std::isinf(energy.value(Vec3(1, 1, -0.5).asDiagonal().toDenseMatrix())));
  EXPECT_TRUE(has_barrier(make_energy(ElasticModel::barrier_neo_hookean, 1, 0.3)));
  EXPECT_FALSE(has_barrier(make_energy(ElasticModel::neo_hookean, 1, 0.3)));
}

TEST(Energies, NothingUnderRigidMotionAndTheRightSmallStrainModuli) {
  const double young = 7.0, poisson = 0.3;
  const Lame lame = lame_parameters(young, poisson);
  EXPECT_NEAR(lame.mu * (3 * lame.lambda + 2 * lame.mu) / (lame.lambda + lame.mu), young, 1e-13);
  for (const ElasticModel model : {ElasticModel::modified_stvk, ElasticModel::stvk, ElasticModel::corotated,
                                   ElasticModel::neo_hookean, ElasticModel::barrier_neo_hookean}) {
    std::visit(
        [&](const auto& energy) {
          const Mat3 r = random_rotation(7);
          EXPECT_NEAR(energy.value(r), 0, 1e-13);
          EXPECT_LT(energy.gradient(r).norm(), 1e-12);
          const Mat3 f = Mat3::Identity() + random_matrix(3, 0.2);
          EXPECT_NEAR(energy.value(r * f), energy.value(f), 1e-12 * std::abs(energy.value(f)));
          const Mat3 e = 0.5 * (random_matrix(5) + random_matrix(5).transpose());
          const Mat3 linear = 2 * lame.mu * e + lame.lambda * e.trace() * Mat3::Identity();
          EXPECT_LT((energy.differential(Mat3::Identity(), e) - linear).norm(), 1e-9 * linear.norm());
        },
        make_energy(model, young, poisson));
  }
}

TEST(Energies, UniaxialAndSimpleShearStressInClosedForm) {
  const double mu = 1.7, k = 2.9, t = 1.4, g = 0.6;
  Mat3 stretch = Mat3::Identity();
  stretch(0, 0) = t;
  Mat3 shear = Mat3::Identity();
  shear(0, 1) = g;
  const double e = 0.5 * (t * t - 1);
  // Confined uniaxial stretch: P₁₁ by hand for each law.
  EXPECT_NEAR((ModifiedStVK{mu, k}.gradient(stretch)(0, 0)), 2 * mu * t * e + k * (t - 1), 1e-13);
  EXPECT_NEAR((StVK{mu, k}.gradient(stretch)(0, 0)), t * e * (2 * mu + k), 1e-13);
  EXPECT_NEAR((FixedCorotated{mu, k}.gradient(stretch)(0, 0)), (2 * mu + k) * (t - 1), 1e-13);
  const StableNeoHookean nh{mu, k};
  EXPECT_NEAR(nh.gradient(stretch)(0, 0), mu * t * (1 - 1 / (t * t + 3)) + k * (t - nh.alpha()), 1e-13);
  // Simple shear keeps the volume: only the deviatoric part answers. E = [[0, g/2], [g/2, g²/2]].
  EXPECT_NEAR((ModifiedStVK{mu, k}.gradient(shear)(0, 1)), 2 * mu * (g / 2 + g * g * g / 2), 1e-13);
  EXPECT_NEAR((StVK{mu, k}.gradient(shear)(0, 1)), 2 * mu * (g / 2 + g * g * g / 2) + k * g * g / 2 * g,
              1e-13);
  EXPECT_NEAR(nh.gradient(shear)(0, 1), mu * g * (1 - 1 / (4 + g * g)), 1e-13);
  EXPECT_NEAR((BarrierNeoHookean{mu, k}.gradient(stretch)(0, 0)), mu * (t - 1 / t) + k * std::log(t) / t,
              1e-13);
  EXPECT_NEAR((BarrierNeoHookean{mu, k}.gradient(shear)(0, 1)), mu * g, 1e-13);
}

template <class Energy>
void check_blocks(const Energy& energy, const Mat3& f) {
  const Mat3 rest_inverse = (Mat3::Identity() + random_matrix(20, 0.2)).inverse();
  const double volume = 0.37;
  Eigen::Matrix<double, 12, 9> b_transposed = Eigen::Matrix<double, 12, 9>::Zero();  // ∂F/∂x, transposed
  for (int a = 0; a < 4; ++a) {
    const Vec3 b =
        a == 0 ? Vec3(-rest_inverse.colwise().sum().transpose()) : Vec3(rest_inverse.row(a - 1).transpose());
    for (int i = 0; i < 3; ++i) {
      for (int c = 0; c < 3; ++c) b_transposed(3 * a + i, 3 * c + i) = b[c];
    }
  }
  for (const bool project : {false, true}) {
    MatX h = hessian(energy, f);
    if (project) h = project_psd(0.5 * (h + h.transpose()).eval());
    const MatX expected = volume * b_transposed * h * b_transposed.transpose();
    TetBlocks blocks;
    tet_blocks(energy, f, rest_inverse, volume, project, blocks);
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) {
        const MatX difference =
            blocks[static_cast<std::size_t>(tet_pair(a, b))] - expected.block(3 * a, 3 * b, 3, 3);
        EXPECT_LT(difference.norm(), 1e-11 * expected.norm()) << a << b << project;
      }
    }
  }
}

TEST(Energies, NodalBlocksExactAndProjected) {
  for (const Mat3& f : states()) {
    check_blocks(ModifiedStVK{1.3, 2.1}, f);
    check_blocks(StVK{1.3, 2.1}, f);
    check_blocks(StableNeoHookean{1.3, 2.1}, f);
    if (signed_svd(f).s[1] + signed_svd(f).s[2] > 0.15) check_blocks(FixedCorotated{1.3, 2.1}, f);
    if (f.determinant() > 0.1) check_blocks(BarrierNeoHookean{1.3, 2.1}, f);
  }
}

}  // namespace
}  // namespace exemplar
