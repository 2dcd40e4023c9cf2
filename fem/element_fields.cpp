#include "fem/element_fields.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/math/svd3.h"

namespace exemplar::fem {

namespace {

Mat3 kirchhoff_stress(const ElasticEnergy& energy, const Mat3& f) {
  const Mat3 p = std::visit([&](const auto& psi) -> Mat3 { return psi.gradient(f); }, energy);
  return p * f.transpose();
}

double von_mises(const Mat3& stress) {
  const Mat3 deviator = stress - stress.trace() / 3 * Mat3::Identity();
  return std::sqrt(1.5) * deviator.norm();
}

// Adds J σ and the energy density of one set of examples.
void add_examples(const SolidModel& model, std::size_t b, std::size_t set, std::vector<Mat3>& stress,
                  MatX& energy_density) {
  const ExampleTerm* term = model.example_set(b, set);
  if (!term) return;
  const std::vector<int>& tets = model.body(b).examples[set].tets;
  const VecX& w = model.weights(b, set);
  const Points& x = model.solver().state().positions;
  parallel_for(term->element_count(), [&](std::size_t k) {
    const std::size_t e = tets.empty() ? k : to_size(tets[k]);
    const Mat3 f = edge_matrix(x, term->elements().nodes_of(k)) * term->rest_edges(k, w).inverse();
    stress[e] += kirchhoff_stress(term->energy(), f);
    energy_density(to_row(e), 0) += std::visit([&](const auto& psi) { return psi.value(f); }, term->energy());
  });
}

}  // namespace

ElementFields element_fields(const SolidModel& model, std::size_t b) {
  const SolidBody& body = model.body(b);
  const Eigen::Index n = body.mesh.tets.rows();
  ElementFields out{MatX(n, 6), MatX(n, 1), MatX(n, 1), MatX(n, 3), MatX::Zero(n, 1)};
  std::vector<Mat3> stress(to_size(n), Mat3::Zero());
  const ElasticTerm& elastic = model.elastic(b);
  const Points& x = model.solver().state().positions;
  if (body.internal_stiffness > 0) {
    parallel_for(to_size(n), [&](std::size_t e) {
      stress[e] = kirchhoff_stress(elastic.energy(), elastic.elements().deformation(x, e));
    });
  }
  for (std::size_t s = 0; s < body.examples.size(); ++s)
    add_examples(model, b, s, stress, out.example_energy);
  parallel_for(to_size(n), [&](std::size_t e) {
    const Mat3 f = edge_matrix(x, elastic.elements().nodes_of(e)) *
                   edge_matrix(body.mesh.vertices, &body.mesh.tets(to_row(e), 0)).inverse();
    const double j = f.determinant();
    const Mat3 s = stress[e] / j;
    out.cauchy_stress.row(to_row(e)) << s(0, 0), s(1, 1), s(2, 2), s(0, 1), s(1, 2), s(0, 2);
    out.von_mises(to_row(e), 0) = von_mises(s);
    out.volume_ratio(to_row(e), 0) = j;
    out.principal_stretches.row(to_row(e)) = signed_svd(f).s.transpose();
  });
  return out;
}

std::vector<FieldArray> element_arrays(const SolidModel& model, std::size_t b, bool all) {
  const ElementFields fields = element_fields(model, b);
  std::vector<FieldArray> arrays;
  arrays.push_back(make_array("von_mises_stress", Association::cell, fields.von_mises));
  arrays.push_back(make_array("volume_ratio", Association::cell, fields.volume_ratio));
  if (!all) return arrays;
  arrays.push_back(make_array("cauchy_stress", Association::cell, fields.cauchy_stress));
  arrays.push_back(make_array("principal_stretches", Association::cell, fields.principal_stretches));
  arrays.push_back(make_array("example_energy", Association::cell, fields.example_energy));
  return arrays;
}

}  // namespace exemplar::fem
