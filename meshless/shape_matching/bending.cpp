#include "meshless/shape_matching/bending.h"

namespace exemplar::shape_matching {

namespace {

constexpr double k_probing_turn = 1e-4;  // of the ends, in radians: small enough for rotations to add up

}  // namespace

double bending_factor(const CellModel& model, const MatchOptions& match, double square_radius,
                      const MassProperties& solid) {
  const Points& rest = model.rest_positions;
  const Eigen::RowVector3d extent = rest.colwise().maxCoeff() - rest.colwise().minCoeff();
  Eigen::Index along = 0, across = 0;
  const double length = extent.maxCoeff(&along);
  extent.minCoeff(&across);
  const double second = 0.5 * solid.inertia.trace() - solid.inertia(across, across);  // ∫ ρ y² dV
  if (along == across || !(length > 0.0) || !(second > 0.0) || !(square_radius > 0.0)) return 1.0;
  const double curvature = k_probing_turn / length;
  const Eigen::RowVector3d centre = model.masses.transpose() * rest / model.masses.sum();
  const Points arms = rest.rowwise() - centre;
  Points bend = Points::Zero(rest.rows(), 3);
  bend.col(along) = -curvature * arms.col(along).cwiseProduct(arms.col(across));
  bend.col(across) = 0.5 * curvature * arms.col(along).cwiseAbs2();
  CellSet cells(rest, model.masses, model.cells, match, model.regions);
  const Points bent = rest + bend;
  Points goals;
  cells.match(bent, centre.transpose(), goals);
  const double answered = model.masses.dot((bend.cwiseProduct(bent - goals)).rowwise().sum());
  return answered / ((1.0 - match.beta) * square_radius * curvature * curvature * second);
}

}  // namespace exemplar::shape_matching
