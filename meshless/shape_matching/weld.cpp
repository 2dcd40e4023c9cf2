#include "meshless/shape_matching/weld.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "core/base/errors.h"

namespace exemplar::shape_matching {

namespace {

constexpr double k_weld_share = 0.5;    // of the distance, taken back in one step
constexpr double k_weld_extent = 1e-8;  // directions with less of the largest variance have no extent

// Weights 1/n + (p − c)ᵀ M⁺ (x_i − c): they add up to one and, where the cell has extent, give back p.
std::vector<double> affine_weights(const Vec3& point, std::span<const int> particles,
                                   const Points& positions) {
  const auto count = static_cast<double>(particles.size());
  Vec3 centre = Vec3::Zero();
  for (const int p : particles) centre += positions.row(p).transpose() / count;
  Mat3 second = Mat3::Zero();
  for (const int p : particles) {
    const Vec3 arm = positions.row(p).transpose() - centre;
    second += arm * arm.transpose();
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(second);
  Vec3 dual = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    const Vec3 axis = solver.eigenvectors().col(k);
    if (solver.eigenvalues()[k] > k_weld_extent * solver.eigenvalues()[2])
      dual += axis.dot(point - centre) / solver.eigenvalues()[k] * axis;
  }
  std::vector<double> weights;
  for (const int p : particles)
    weights.push_back(1.0 / count + dual.dot(positions.row(p).transpose() - centre));
  return weights;
}

int nearest_cell(const Vec3& point, const Cells& cells, const Points& positions) {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int c = 0; c < cells.count(); ++c) {
    Vec3 centre = Vec3::Zero();
    for (const int p : cells.of(c)) centre += positions.row(p).transpose();
    const double distance = (centre / static_cast<double>(cells.of(c).size()) - point).squaredNorm();
    if (distance >= least) continue;
    least = distance;
    best = c;
  }
  return best;
}

}  // namespace

void add_affine_point(const Vec3& point, std::span<const int> particles, const Points& positions,
                      CarriedPoints& out) {
  out.add(particles, affine_weights(point, particles, positions));
}

Weld::Weld(std::vector<int> particles, const Points& part_positions, const Cells& cells,
           const Points& positions, const WeldOptions& options)
    : m_particles(std::move(particles)), m_options(options), m_inverse_masses(m_particles.size()) {
  m_state.sums.assign(m_particles.size(), Vec3::Zero());
  for (const int p : m_particles) {
    const Vec3 point = part_positions.row(p);
    add_affine_point(point, cells.of(nearest_cell(point, cells, positions)), positions, m_images);
  }
}

void Weld::begin(const WeldSide& part, const WeldSide& other, double dt) {
  m_part = part;
  m_other = other;
  // The same force as in the last step to begin with.
  const double longer = m_state.dt > 0 ? dt / m_state.dt : 1.0;
  m_state.dt = dt;
  m_has_begun = false;
  for (std::size_t i = 0; i < m_particles.size(); ++i) {
    m_state.sums[i] *= longer;
    Vec3& inverse_mass = m_inverse_masses[i];
    inverse_mass = part.inverse_masses->row(m_particles[i]).transpose();
    for (int k = m_images.begin(static_cast<int>(i)); k < m_images.end(static_cast<int>(i)); ++k) {
      const double weight = m_images.weights[static_cast<std::size_t>(k)];
      inverse_mass += weight * weight *
                      other.inverse_masses->row(m_images.nodes[static_cast<std::size_t>(k)]).transpose();
    }
  }
}

// Adds M⁻¹ amount to the part and takes it from the other body.
void Weld::apply(std::size_t i, const Vec3& amount, const WeldSide& part, const WeldSide& other,
                 Points& of_part, Points& of_other) const {
  of_part.row(m_particles[i]) += part.inverse_masses->row(m_particles[i]).cwiseProduct(amount.transpose());
  for (int k = m_images.begin(static_cast<int>(i)); k < m_images.end(static_cast<int>(i)); ++k) {
    const int node = m_images.nodes[static_cast<std::size_t>(k)];
    of_other.row(node) -= m_images.weights[static_cast<std::size_t>(k)] *
                          other.inverse_masses->row(node).cwiseProduct(amount.transpose());
  }
}

double Weld::sweep(Points& of_part, Points& of_other) {
  if (!m_state.holds) return 0;
  if (!m_has_begun) {
    for (std::size_t i = 0; i < m_particles.size(); ++i)
      apply(i, m_state.sums[i], m_part, m_other, of_part, of_other);
    m_has_begun = true;
  }
  double change = 0;
  for (std::size_t i = 0; i < m_particles.size(); ++i) {
    const Vec3 apart = of_part.row(m_particles[i]).transpose() - m_images.at(static_cast<int>(i), of_other);
    Vec3 impulse = Vec3::Zero();
    for (int axis = 0; axis < 3; ++axis)
      if (m_inverse_masses[i][axis] > 0) impulse[axis] = -apart[axis] / m_inverse_masses[i][axis];
    m_state.sums[i] += impulse;
    apply(i, impulse, m_part, m_other, of_part, of_other);
    change = std::max(change, apart.norm());
  }
  return change;
}

void Weld::end(const WeldSide& part, const WeldSide& other) {
  if (!m_state.holds) return;
  Vec3 through = Vec3::Zero();
  for (std::size_t i = 0; i < m_particles.size(); ++i) {
    through += m_state.sums[i];
    const Vec3 apart =
        part.positions->row(m_particles[i]).transpose() - m_images.at(static_cast<int>(i), *other.positions);
    Vec3 back = Vec3::Zero();
    for (int axis = 0; axis < 3; ++axis)
      if (m_inverse_masses[i][axis] > 0) back[axis] = -k_weld_share * apart[axis] / m_inverse_masses[i][axis];
    apply(i, back, part, other, *part.positions, *other.positions);
  }
  m_state.recent = m_state.recent * std::exp(-m_state.dt / m_options.detach_time) + through;
  if (m_state.recent.norm() > m_options.detach_impulse) m_state.holds = false;
}

void Weld::set_state(State state) {
  if (state.sums.size() != m_particles.size()) throw InputError("the saved welds do not fit these bodies");
  m_state = std::move(state);
}

}  // namespace exemplar::shape_matching
