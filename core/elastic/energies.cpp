#include "core/elastic/energies.h"

namespace exemplar {

Mat3 differential_from_principal(const PrincipalHessian& h, const Svd3& svd, const Mat3& df) {
  const Mat3 d = svd.u.transpose() * df * svd.v;
  Mat3 p = Mat3::Zero();
  p.diagonal() = h.a * d.diagonal();
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double same = 0.5 * (h.flip[k] + h.twist[k]), mixed = 0.5 * (h.flip[k] - h.twist[k]);
    p(i, j) = same * d(i, j) + mixed * d(j, i);
    p(j, i) = same * d(j, i) + mixed * d(i, j);
  }
  return svd.u * p * svd.v.transpose();
}

Lame lame_parameters(double young, double poisson) {
  return {young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

ElasticEnergy make_energy(ElasticModel model, double young, double poisson) {
  const Lame lame = lame_parameters(young, poisson);
  switch (model) {
    case ElasticModel::modified_stvk:
      return ModifiedStVK{lame.mu, lame.lambda};
    case ElasticModel::stvk:
      return StVK{lame.mu, lame.lambda};
    case ElasticModel::corotated:
      return FixedCorotated{lame.mu, lame.lambda};
    case ElasticModel::neo_hookean:
      return StableNeoHookean{4.0 / 3.0 * lame.mu, lame.lambda + 5.0 / 6.0 * lame.mu};
    case ElasticModel::barrier_neo_hookean:
      return BarrierNeoHookean{lame.mu, lame.lambda};
  }
  return ModifiedStVK{lame.mu, lame.lambda};
}

Lame small_strain_parameters(const ElasticEnergy& energy) {
  const Mat3 a = std::visit([](const auto& psi) { return psi.principal(Vec3::Ones()).a; }, energy);
  return {0.5 * (a(0, 0) - a(0, 1)), a(0, 1)};
}

ElasticEnergy scaled(const ElasticEnergy& energy, double factor) {
  struct Visitor {
    double k;
    ElasticEnergy operator()(const ModifiedStVK& e) const { return ModifiedStVK{k * e.mu, k * e.kappa}; }
    ElasticEnergy operator()(const StVK& e) const { return StVK{k * e.mu, k * e.lambda}; }
    ElasticEnergy operator()(const FixedCorotated& e) const { return FixedCorotated{k * e.mu, k * e.lambda}; }
    ElasticEnergy operator()(const StableNeoHookean& e) const {
      return StableNeoHookean{k * e.mu, k * e.lambda};
    }
    ElasticEnergy operator()(const BarrierNeoHookean& e) const {
      return BarrierNeoHookean{k * e.mu, k * e.lambda};
    }
    ElasticEnergy operator()(const DirichletEnergy& e) const { return DirichletEnergy{k * e.stiffness}; }
  };
  return std::visit(Visitor{factor}, energy);
}

}  // namespace exemplar
