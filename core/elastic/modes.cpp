#include "core/elastic/modes.h"

#include <Spectra/SymGEigsShiftSolver.h>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/errors.h"
#include "core/sparse/block_product.h"
#include "core/sparse/cholesky.h"

namespace exemplar {

namespace {

// y = (K − σM)⁻¹ x. The shift is fixed when the operator is made: Spectra's own call repeats the same value.
class ShiftInvert {
 public:
  using Scalar = double;
  ShiftInvert(const BlockMatrix& shifted, Cholesky& cholesky)
      : m_rows(shifted.pattern().dofs()), m_cholesky(cholesky) {}
  Eigen::Index rows() const { return m_rows; }
  Eigen::Index cols() const { return m_rows; }
  void set_shift(const double&) {}
  void perform_op(const double* x, double* y) const {
    Eigen::Map<VecX>(y, m_rows) = m_cholesky.solve(Eigen::Map<const VecX>(x, m_rows));
  }

 private:
  Eigen::Index m_rows;
  Cholesky& m_cholesky;
};

class MassProduct {
 public:
  using Scalar = double;
  explicit MassProduct(const BlockMatrix& mass) : m_mass(mass), m_product(mass.pattern()) {}
  Eigen::Index rows() const { return m_mass.pattern().dofs(); }
  Eigen::Index cols() const { return rows(); }
  void perform_op(const double* x, double* y) const { m_product.multiply(m_mass, x, y, 1); }

 private:
  const BlockMatrix& m_mass;
  mutable BlockProduct m_product;
};

BlockMatrix make_mass(const TetElements& elements, const BlockPattern& pattern, std::span<const int> column,
                      double density, MassMatrix kind) {
  BlockMatrix mass(pattern);
  if (kind != MassMatrix::lumped) {
    add_consistent_mass(elements, density, mass, kind == MassMatrix::one_point);
    return mass;
  }
  const VecX lumped = lumped_mass(elements, density, static_cast<Eigen::Index>(column.size()));
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (column[i] >= 0) mass.add_to_diagonal(column[i], lumped[static_cast<Eigen::Index>(i)]);
  }
  return mass;
}

// Positive in its largest entry, so that the same mesh always gives the same pose.
Points expand_shape(const VecX& shape, const NodeColumns& columns) {
  Eigen::Index largest = 0;
  shape.cwiseAbs().maxCoeff(&largest);
  const double sign = shape[largest] < 0 ? -1 : 1;
  Points points = Points::Zero(columns.nodes(), 3);
  columns.scatter(sign * shape, points);
  return points;
}

int rigid_motions(const TetMesh& mesh, std::span<const int> held) {
  Eigen::Matrix<double, Eigen::Dynamic, 6> constraints =
      Eigen::Matrix<double, Eigen::Dynamic, 6>::Zero(3 * static_cast<Eigen::Index>(held.size()), 6);
  const Vec3 centre = mesh.vertices.colwise().mean().transpose();
  const double size = (mesh.vertices.colwise().maxCoeff() - mesh.vertices.colwise().minCoeff()).norm();
  for (std::size_t k = 0; k < held.size(); ++k) {
    const Vec3 r = (mesh.vertices.row(held[k]).transpose() - centre) / size;
    const auto row = 3 * static_cast<Eigen::Index>(k);
    constraints.block<3, 3>(row, 0).setIdentity();
    for (int axis = 0; axis < 3; ++axis) constraints.block<3, 1>(row, 3 + axis) = Vec3::Unit(axis).cross(r);
  }
  if (held.empty()) return 6;
  Eigen::ColPivHouseholderQR<MatX> qr(constraints.transpose() * constraints);
  qr.setThreshold(1e-12);
  return 6 - static_cast<int>(qr.rank());
}

}  // namespace

Modes vibration_modes(const TetMesh& mesh, double young, double poisson, double density, int count,
                      std::span<const int> held, MassMatrix kind) {
  TetElements elements(mesh);
  const NodeColumns columns(mesh.vertices.rows(), held);
  const BlockPattern pattern(columns.count(), columns.columns_of(elements.nodes), 4);
  elements.connect(pattern, columns.of_nodes());

  const int rigid = rigid_motions(mesh, held);
  const int wanted = count + rigid;
  const int subspace = std::min(pattern.dofs(), std::max(2 * wanted + 1, wanted + 20));
  if (count < 1 || wanted >= pattern.dofs()) {
    throw InputError("the mesh has too few free nodes for " + std::to_string(count) + " vibration modes");
  }
  BlockMatrix shifted(pattern);
  add_elastic_hessian(make_energy(ElasticModel::stvk, young, poisson), elements, mesh.vertices, false,
                      shifted);
  const BlockMatrix mass = make_mass(elements, pattern, columns.of_nodes(), density, kind);
  // A small negative shift makes K − σM positive definite although K has rigid motions.
  const double size = (mesh.vertices.colwise().maxCoeff() - mesh.vertices.colwise().minCoeff()).norm();
  const double shift = -1e-3 * young / (density * size * size);
  shifted.add_scaled(mass, -shift);
  Cholesky cholesky(pattern);
  if (!cholesky.factorise(shifted)) return {};
  ShiftInvert inverse(shifted, cholesky);
  MassProduct product(mass);
  Spectra::SymGEigsShiftSolver<ShiftInvert, MassProduct, Spectra::GEigsMode::ShiftInvert> solver(
      inverse, product, wanted, subspace, shift);
  solver.init();
  solver.compute(Spectra::SortRule::LargestMagn, 1000, 1e-12, Spectra::SortRule::SmallestAlge);
  Modes modes;
  modes.converged = solver.info() == Spectra::CompInfo::Successful;
  if (!modes.converged) return modes;
  const MatX vectors = solver.eigenvectors();
  modes.frequencies = solver.eigenvalues().tail(count).cwiseMax(0.0).cwiseSqrt() / (2 * std::numbers::pi);
  for (int k = 0; k < count; ++k) modes.shapes.push_back(expand_shape(vectors.col(rigid + k), columns));
  return modes;
}

}  // namespace exemplar
