// The conventional potential W_i of solids (schumacher2012 eq. 1) as a term of the implicit solver. The
// elements' rest inverses carry plastic deformation: B = Dm⁻¹ F_p⁻¹.
#pragma once

#include "core/elastic/tet_elements.h"
#include "core/implicit/node_term.h"

namespace exemplar::fem {

class ElasticTerm : public NodeTerm {
 public:
  ElasticTerm(TetElements elements, const ElasticEnergy& energy)
      : m_elements(std::move(elements)), m_energy(energy) {}

  TetElements& elements() { return m_elements; }
  const TetElements& elements() const { return m_elements; }
  const ElasticEnergy& energy() const { return m_energy; }

  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override {
    lists.push_back(m_elements.cliques());
  }
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override {
    m_elements.connect(pattern, column_of_node);
  }
  double value(const Points& x, const VecX&) override { return elastic_energy(m_energy, m_elements, x); }
  void add_gradient(const Points& x, const VecX&, Points& g, Eigen::Ref<VecX>) override {
    add_elastic_gradient(m_energy, m_elements, x, g);
  }
  void add_hessian(const Points& x, const VecX&, bool project, BlockMatrix& a, Eigen::Ref<MatX>,
                   Eigen::Ref<MatX>) override {
    add_elastic_hessian(m_energy, m_elements, x, project, a);
  }
  double max_step(const Points& x0, const Points& x1) override {
    return has_barrier(m_energy) ? way_without_inversion(m_elements, x0, x1) : 1;
  }

 private:
  TetElements m_elements;
  ElasticEnergy m_energy;
};

}  // namespace exemplar::fem
