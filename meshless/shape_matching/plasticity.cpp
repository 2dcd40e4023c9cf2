#include "meshless/shape_matching/plasticity.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace exemplar::shape_matching {

std::vector<std::vector<int>> neighbouring_cells(const Cells& cells, int particles) {
  std::vector<std::vector<int>> holders(particles);
  for (int c = 0; c < cells.count(); ++c)
    for (const int p : cells.of(c)) holders[p].push_back(c);
  std::vector<std::vector<int>> out(cells.count());
  for (int c = 0; c < cells.count(); ++c) {
    std::map<int, int> shared;
    for (const int p : cells.of(c))
      for (const int other : holders[p])
        if (other != c) ++shared[other];
    int most = 0;
    for (const auto& [other, count] : shared) most = std::max(most, count);
    for (const auto& [other, count] : shared)
      if (2 * count > most) out[c].push_back(other);
  }
  return out;
}

CellPlasticity::CellPlasticity(const CellSet& cells, const PlasticityOptions& options) : m_options(options) {
  const int count = cells.cells().count();
  m_state.stretch.assign(count, Mat3::Identity());
  m_state.deformation.assign(count, 0.0);
  m_shares.assign(count, 0.0);
  for (int c = 0; c < count; ++c) m_original.push_back(cells.rest_shape(c));
  if (options.kind == PlasticityKind::with_rotation && options.reference == PlasticityReference::neighbours) {
    const auto& particles = cells.cells().particles;
    m_neighbours =
        neighbouring_cells(cells.cells(), *std::max_element(particles.begin(), particles.end()) + 1);
  }
  if (options.kind != PlasticityKind::with_rotation) return;
  std::vector<char> is_used(cells.cells().particles.size(), 0);
  for (const int p : cells.cells().particles) is_used[p] = 1;
  m_mean_share = static_cast<double>(std::count(is_used.begin(), is_used.end(), 1)) /
                 static_cast<double>(cells.cells().particles.size());
  for (int c = 0; c < count; ++c) {
    m_first_turn.push_back(static_cast<int>(m_state.turns.size()));
    m_state.turns.resize(m_state.turns.size() + (m_neighbours.empty() ? 1 : m_neighbours[c].size()),
                         Quat::Identity());
  }
}

// Calls visit(slot, R_ref) for every rotation that the cell's is compared with.
template <class Visit>
void CellPlasticity::for_each_reference(const CellSet& cells, int cell, const Mat3& body_rotation,
                                        const Visit& visit) const {
  int slot = m_first_turn[cell];
  if (m_options.reference == PlasticityReference::body) return visit(slot, body_rotation);
  for (const int other : m_neighbours[cell]) visit(slot++, cells.rotation(other));
}

namespace {

// ‖dev P (S − I) P‖_F over Young's modulus, `metric` P². Less the pressure: flow keeps the volume and cannot relieve
// it, so that a cell that is pressed from all sides would flow for ever. P X P and X P² have the same invariants.
double deviatoric_stress(const Mat3& stretch, const Mat3& metric) {
  Mat3 strain = stretch - Mat3::Identity();
  // Large strains are counted relative to what the cell has shrunk to.
  if (const double det = stretch.determinant(); det > 1e-6) {
    const double scale = std::cbrt(det);
    strain = stretch / scale + (scale - 2.0) * Mat3::Identity();
  }
  const Mat3 stress = 0.5 * (strain + strain.transpose()) * metric;
  return std::sqrt(std::max(0.0, (stress * stress).trace() - stress.trace() * stress.trace() / 3.0));
}

}  // namespace

double CellPlasticity::measure(const CellSet& cells, int cell, const Mat3& body_rotation,
                               double stiffness) const {
  const Mat3 t = cells.transformation(cell);
  const Mat3 stretched = cells.rotation(cell).transpose() * cells.linear(cell);
  const double stretch =
      stiffness * deviatoric_stress(stretched, m_state.stretch[cell] * m_state.stretch[cell].transpose());
  double turned = 0.0;
  for_each_reference(cells, cell, body_rotation, [&](int slot, const Mat3& reference) {
    const Mat3 flowed = reference * m_state.turns[slot].toRotationMatrix();
    turned = std::max(turned, (flowed.transpose() * t - Mat3::Identity()).norm());
  });
  return std::max(stretch, turned / m_options.bend_factor);
}

// Cells that flowed take their share of their turn against the others, less the more cells hold a particle: goals
// are means over these, so that the rest shape too takes up only such a part of the turn at once. With the whole
// share Q was ahead of the shapes, and a plank that should fold sprang back.
void CellPlasticity::take_turns(const CellSet& cells, const Mat3& body_rotation) {
  for (int c = 0; c < cells.cells().count(); ++c) {
    if (m_shares[c] <= 0.0) continue;
    const Mat3 r = cells.rotation(c);
    for_each_reference(cells, c, body_rotation, [&](int slot, const Mat3& reference) {
      const Quat turn(reference.transpose() * r);
      m_state.turns[slot] = m_state.turns[slot].slerp(m_shares[c] * m_mean_share, turn).normalized();
    });
  }
}

namespace {

constexpr double k_most_folded = 0.5;  // what no linear map does, of a particle's distance from the centre

// Scales the flowed shape so that the linear map that fits it to the original best keeps the volume: plastic
// flow does not compress. Returns that map. Flat cells, and what flow has nearly flattened, stay as they are.
Mat3 keep_volume(const Points& original, Points& shape) {
  const Mat3 qq = original.transpose() * original;
  if (qq.determinant() < 1e-12 * std::pow(qq.trace() / 3.0, 3)) return Mat3::Identity();
  const Mat3 map = shape.transpose() * original * qq.inverse();
  const double det = map.determinant();
  if (!(det > 1e-3)) return Mat3::Identity();
  shape /= std::cbrt(det);
  return map / std::cbrt(det);
}

// Takes out of the change of a rest shape what pressure from all sides has to do with: strains p P⁻², which cells
// that flow has made of different stiffness along their axes answer with the same stress along all of them.
void leave_pressure(const Points& shape, const Mat3& metric, Points& change) {
  const Mat3 qq = shape.transpose() * shape;
  if (qq.determinant() < 1e-12 * std::pow(qq.trace() / 3.0, 3)) return;
  const Mat3 relief = metric.inverse();
  const double pressure = (change.transpose() * shape * qq.inverse()).trace() / relief.trace();
  change -= pressure * shape * relief;
}

// Takes back what would fold the shape: seen in the original, bend and twist move no particle by more than
// k_most_folded of its distance from the centre.
void keep_unfolded(const Points& original, const Mat3& map, Points& shape) {
  const Points linear = original * map.transpose();
  const Points seen = (shape - linear) * map.inverse().transpose();
  double most = 0.0;
  for (Eigen::Index k = 0; k < seen.rows(); ++k)
    most = std::max(most, seen.row(k).norm() / std::max(1e-300, original.row(k).norm()));
  if (most > k_most_folded) shape = linear + k_most_folded / most * (shape - linear);
}

}  // namespace

bool CellPlasticity::flow_stretch(CellSet& cells, int cell, double rate) {
  Mat3 s = cells.rotation(cell).transpose() * cells.linear(cell);
  s = 0.5 * (s + s.transpose()).eval();
  const double det = s.determinant();
  if (!(det > 1e-6)) return false;  // flipped or crushed flat: no stretch to take over
  s /= std::cbrt(det);
  const double measured = (s - Mat3::Identity()).norm();
  if (!(measured > m_options.yield)) return false;
  const double share = m_shares[cell] = rate * (1.0 - m_options.yield / measured);
  Mat3 plastic = (Mat3::Identity() + share * (s - Mat3::Identity())) * m_state.stretch[cell];
  plastic /= std::cbrt(plastic.determinant());
  const double norm = (plastic - Mat3::Identity()).norm();
  if (norm > m_options.max) {
    plastic = Mat3::Identity() + m_options.max / norm * (plastic - Mat3::Identity());
    plastic /= std::cbrt(plastic.determinant());
  }
  m_state.stretch[cell] = plastic;
  m_state.deformation[cell] = std::min(norm, m_options.max);
  cells.set_rest_shape(cell, m_original[cell] * plastic.transpose());
  return true;
}

bool CellPlasticity::flow_with_rotation(CellSet& cells, int cell, const Points& goals, double measured,
                                        double rate) {
  if (!(measured > m_options.yield)) return false;
  if (!(cells.linear(cell).determinant() > 1e-6)) return false;  // never keep a flipped cell
  const auto particles = cells.cells().of(cell);
  const Mat3 r = cells.rotation(cell);
  const Eigen::RowVector3d centre = cells.centre(cell).transpose();
  Points shape = cells.rest_shape(cell);
  const double share = rate * (1.0 - m_options.yield / measured);
  Points change(shape.rows(), 3);
  for (Eigen::Index k = 0; k < shape.rows(); ++k)
    change.row(k) = share * ((goals.row(particles[k]) - centre) * r - shape.row(k));
  leave_pressure(shape.rowwise() - shape.colwise().mean(),
                 m_state.stretch[cell] * m_state.stretch[cell].transpose(), change);
  // What creeps by less than a millionth of its overstrain has settled.
  if (change.norm() < 1e-6 * rate * shape.norm()) return false;
  m_shares[cell] = share;
  shape += change;
  shape.rowwise() -= shape.colwise().mean().eval();
  const Points original = m_original[cell].rowwise() - m_original[cell].colwise().mean();
  Mat3 map = keep_volume(original, shape);
  const double changed =
      std::sqrt((shape - original).squaredNorm() / std::max(1e-300, original.squaredNorm()));
  if (changed > m_options.max) {
    shape = original + m_options.max / changed * (shape - original);
    map = keep_volume(original, shape);
  }
  keep_unfolded(original, map, shape);
  m_state.stretch[cell] = map;
  m_state.deformation[cell] = std::min(changed, m_options.max);
  cells.set_rest_shape(cell, shape);
  return true;
}

void CellPlasticity::update_softness() {
  double sum = 0.0;
  for (const Mat3& map : m_state.stretch) {
    const Mat3 metric = map * map.transpose();
    const double least = Eigen::SelfAdjointEigenSolver<Mat3>(metric, Eigen::EigenvaluesOnly).eigenvalues()(0);
    sum += 1.0 / std::clamp(least, 1e-4, 1.0);
  }
  m_softness = m_state.stretch.empty() ? 1.0 : sum / static_cast<double>(m_state.stretch.size());
}

int CellPlasticity::update(CellSet& cells, const Points& goals, const Mat3& body_rotation, double dt,
                           double stiffness) {
  if (m_options.kind == PlasticityKind::none) return 0;
  const double rate = m_options.creep > 0.0 ? 1.0 - std::exp(-dt * m_options.creep) : 1.0;
  const auto count = static_cast<std::size_t>(cells.cells().count());
  // Measures first, then flow: a cell's flow changes only its own rest shape, so their order does not matter,
  // but four cells share a batch, so flow runs on one thread.
  std::fill(m_shares.begin(), m_shares.end(), 0.0);
  std::vector<double> measured(count, 0.0);
  if (m_options.kind == PlasticityKind::with_rotation)
    parallel_for(
        count,
        [&](std::size_t c) { measured[c] = measure(cells, static_cast<int>(c), body_rotation, stiffness); },
        64);
  int flowed = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const int cell = static_cast<int>(c);
    flowed += m_options.kind == PlasticityKind::stretch
                  ? flow_stretch(cells, cell, rate)
                  : flow_with_rotation(cells, cell, goals, measured[c], rate);
  }
  if (flowed > 0) update_softness();
  if (flowed > 0 && m_options.kind == PlasticityKind::with_rotation) take_turns(cells, body_rotation);
  return flowed;
}

void follow_flow(CellSet& coarse, const Points& goals, const VecX& particle_shares) {
  const Cells& cells = coarse.cells();
  for (int c = 0; c < cells.count(); ++c) {
    double share = 0.0;
    for (const int p : cells.of(c)) share = std::max(share, particle_shares(p));
    if (share <= 0.0) continue;
    const Mat3 r = coarse.rotation(c);
    const Eigen::RowVector3d centre = coarse.centre(c).transpose();
    Points shape = coarse.rest_shape(c);
    const Points before = shape.rowwise() - shape.colwise().mean();
    for (Eigen::Index k = 0; k < shape.rows(); ++k)
      shape.row(k) += share * ((goals.row(cells.of(c)[k]) - centre) * r - shape.row(k));
    shape.rowwise() -= shape.colwise().mean().eval();
    keep_volume(before, shape);
    coarse.set_rest_shape(c, shape);
  }
}

void CellPlasticity::set_state(State state) {
  if (state.deformation.size() != m_state.deformation.size() ||
      state.stretch.size() != m_state.stretch.size() || state.turns.size() != m_state.turns.size())
    throw InputError("saved plastic state does not fit this body");
  m_state = std::move(state);
  update_softness();
}

}  // namespace exemplar::shape_matching
