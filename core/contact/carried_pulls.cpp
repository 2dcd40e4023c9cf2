#include "core/contact/carried_pulls.h"

#include <algorithm>

namespace exemplar {

CarriedPulls::CarriedPulls(const std::vector<Pull>& pulls, const std::string& body,
                           const CarriedPoints& surface)
    : m_pulls(pulls, body), m_surface(surface) {}

void CarriedPulls::begin(double from, double dt, const Points& positions, const Points& inverse_masses) {
  m_active.clear();
  if (empty()) return;
  m_dt = dt;
  m_points = {};
  m_inverse_masses = inverse_masses;
  for (const ActivePull& pull : m_pulls.active(from, from + dt)) {
    add_combination(m_surface, pull.point.vertices, pull.point.weights, m_points);
    const int point = m_points.size() - 1;
    Active active{pull.spring, m_points.at(point, positions), Vec3::Zero()};
    for (int k = m_points.begin(point); k < m_points.end(point); ++k)
      active.inverse_mass += m_points.weights[to_size(k)] * m_points.weights[to_size(k)] *
                             inverse_masses.row(m_points.nodes[to_size(k)]).transpose();
    m_active.push_back(active);
  }
}

double CarriedPulls::sweep(Points& velocities) {
  double largest = 0;
  for (std::size_t p = 0; p < m_active.size(); ++p) {
    Active& active = m_active[p];
    const int point = to_int(p);
    const Vec3 without = m_points.at(point, velocities) - active.inverse_mass.cwiseProduct(active.impulse);
    const Vec3 impulse =
        active.spring.impulse(active.position, without, active.inverse_mass.asDiagonal(), m_dt);
    const Vec3 change = impulse - active.impulse;
    active.impulse = impulse;
    for (int k = m_points.begin(point); k < m_points.end(point); ++k) {
      const int node = m_points.nodes[to_size(k)];
      velocities.row(node) +=
          m_points.weights[to_size(k)] * m_inverse_masses.row(node).cwiseProduct(change.transpose());
    }
    largest = std::max(largest, active.inverse_mass.cwiseProduct(change).norm());
  }
  return largest;
}

Points CarriedPulls::forces(Eigen::Index particles) const {
  Points out = Points::Zero(particles, 3);
  for (std::size_t p = 0; p < m_active.size(); ++p) {
    for (int k = m_points.begin(to_int(p)); k < m_points.end(to_int(p)); ++k)
      out.row(m_points.nodes[to_size(k)]) +=
          m_points.weights[to_size(k)] / m_dt * m_active[p].impulse.transpose();
  }
  return out;
}

double CarriedPulls::work(const Points& final_velocities) const {
  double sum = 0;
  for (std::size_t p = 0; p < m_active.size(); ++p)
    sum += m_active[p].impulse.dot(m_points.at(to_int(p), final_velocities));
  return sum;
}

}  // namespace exemplar
