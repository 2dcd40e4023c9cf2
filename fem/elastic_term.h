// The conventional potential W_i of solids (schumacher2012 eq. 1) as a term of the implicit solver. The
// elements' rest inverses carry plastic deformation: B = Dm⁻¹ F_p⁻¹. With yield() the elements flow within the step
// (plastic_return.h): the term is then the sum of Ψ instead of ψ, until the flow is taken over at the step's end.
#pragma once

#include <vector>

#include "core/elastic/tet_elements.h"
#include "core/implicit/node_term.h"
#include "fem/plastic_return.h"

namespace exemplar::fem {

// The flow of one element in a step.
struct ElementFlow {
  Mat3 inverse;         // the factor V e^{−Δ} Vᵀ on F_p⁻¹
  double strain = 0;    // growth of the equivalent plastic strain; 0: it did not flow
  double released = 0;  // J, what the flow took
};

class ElasticTerm : public NodeTerm {
 public:
  ElasticTerm(TetElements elements, const ElasticEnergy& energy)
      : m_elements(std::move(elements)), m_energy(energy), m_mu(small_strain_parameters(energy).mu) {}

  TetElements& elements() { return m_elements; }
  const TetElements& elements() const { return m_elements; }
  const ElasticEnergy& energy() const { return m_energy; }

  // The elements flow from their plastic strains so far (one per element); null: they do not. Both must outlive it.
  void yield(const YieldCurve* curve, const std::vector<double>* strains);
  // What flows at x.
  std::vector<ElementFlow> flows(const Points& x) const;

  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override {
    lists.push_back(m_elements.cliques());
  }
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override {
    m_elements.connect(pattern, column_of_node);
  }
  void begin_step(const RateBase& base) override;
  double value(const Points& x, const VecX& w) override;
  void add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) override;
  void add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a, Eigen::Ref<MatX> c,
                   Eigen::Ref<MatX> d) override;
  double max_step(const Points& x0, const Points& x1) override {
    return has_barrier(m_energy) ? way_without_inversion(m_elements, x0, x1) : 1;
  }

 private:
  YieldLimit limit(std::size_t e) const { return {m_curve, (*m_strains)[e], m_volumes[e]}; }
  // `squared_stress`, `squared_stretch`, `volume`: as for may_flow().
  bool may_flow(std::size_t e, double squared_stress, double squared_stretch, double volume) const;
  bool may_flow(std::size_t e, const Mat3& f) const;
  template <class S, class Energy>
  bool any_may_flow(std::span<const int> group, const Energy& psi, const Matrix3<S>& f) const;
  void add_gradient(const Points& x, const int& e, Points& g) const;
  void add_hessian(const Points& x, const int& e, bool project, BlockMatrix& a) const;

  TetElements m_elements;
  ElasticEnergy m_energy;
  double m_mu;  // at small strain, Pa
  const YieldCurve* m_curve = nullptr;
  const std::vector<double>* m_strains = nullptr;
  std::vector<double> m_volumes;  // J at the step's start
};

}  // namespace exemplar::fem
