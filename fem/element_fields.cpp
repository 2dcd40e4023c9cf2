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

// Per integration point: J σ and the energy density of the examples.
struct PointSums {
  std::vector<Mat3> stress;
  std::vector<double> example_energy;
};

// Adds those of one set of examples.
void add_examples(const SolidModel& model, std::size_t b, std::size_t set, PointSums& sums) {
  const ExampleTerm* term = model.example_set(b, set);
  if (!term) return;
  const std::vector<int>& tets = model.body(b).examples[set].tets;
  const VecX& w = model.weights(b, set);
  const Points& x = model.solver().state().positions;
  const std::size_t per_tet = term->elements().points_per_tet();
  parallel_for(term->element_count(), [&](std::size_t k) {
    const std::size_t e = tets.empty() ? k : to_size(tets[k / per_tet]) * per_tet + k % per_tet;
    const Mat3 f = term->elements().edges(x, k) * term->rest_edges(k, w).inverse();
    sums.stress[e] += kirchhoff_stress(term->energy(), f);
    sums.example_energy[e] += std::visit([&](const auto& psi) { return psi.value(f); }, term->energy());
  });
}

PointSums point_sums(const SolidModel& model, std::size_t b) {
  const SolidBody& body = model.body(b);
  const ElasticTerm& elastic = model.elastic(b);
  const std::size_t n = elastic.elements().count();
  PointSums sums{std::vector<Mat3>(n, Mat3::Zero()), std::vector<double>(n, 0)};
  const Points& x = model.solver().state().positions;
  if (body.internal_stiffness > 0) {
    parallel_for(n, [&](std::size_t e) {
      sums.stress[e] = kirchhoff_stress(elastic.energy(), elastic.elements().deformation(x, e));
    });
  }
  for (std::size_t s = 0; s < body.examples.size(); ++s) add_examples(model, b, s, sums);
  return sums;
}

}  // namespace

ElementFields element_fields(const SolidModel& model, std::size_t b) {
  const SolidBody& body = model.body(b);
  const Eigen::Index n = body.mesh.tets.rows();
  ElementFields out{MatX::Zero(n, 6), MatX::Zero(n, 1), MatX::Zero(n, 1), MatX::Zero(n, 3), MatX::Zero(n, 1)};
  const PointSums sums = point_sums(model, b);
  const TetElements& elements = model.elastic(b).elements();
  const Plasticity* plasticity = model.plasticity(b);
  const Points& x = model.solver().state().positions;
  const std::size_t per_tet = elements.points_per_tet();
  const double part = 1.0 / static_cast<double>(per_tet);
  parallel_for(to_size(n), [&](std::size_t t) {
    const Eigen::Index row = to_row(t);
    for (std::size_t e = t * per_tet; e < (t + 1) * per_tet; ++e) {
      Mat3 f = elements.deformation(x, e);
      if (plasticity) f *= plasticity->inverse()[e].inverse();  // F_e F_p
      const double j = f.determinant();
      const Mat3 s = sums.stress[e] / j;
      out.cauchy_stress.row(row) +=
          part *
          (Eigen::Matrix<double, 1, 6>() << s(0, 0), s(1, 1), s(2, 2), s(0, 1), s(1, 2), s(0, 2)).finished();
      out.von_mises(row, 0) += part * von_mises(s);
      out.volume_ratio(row, 0) += part * j;
      out.principal_stretches.row(row) += part * signed_svd(f).s.transpose();
      out.example_energy(row, 0) += part * sums.example_energy[e];
    }
  });
  return out;
}

MatX plastic_strains(const SolidModel& model, std::size_t b) {
  MatX strains = MatX::Zero(model.body(b).mesh.tets.rows(), 1);
  const Plasticity* plasticity = model.plasticity(b);
  if (!plasticity) return strains;
  const TetElements& elements = model.elastic(b).elements();
  const double part = 1.0 / static_cast<double>(elements.points_per_tet());
  for (std::size_t e = 0; e < elements.count(); ++e) {
    strains(to_row(elements.tet_of(e)), 0) +=
        part * (plasticity->inverse()[e].inverse() - Mat3::Identity()).norm();
  }
  return strains;
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
