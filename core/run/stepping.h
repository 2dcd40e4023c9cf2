// What time stepping of every method has in common: steps that end on frames exactly, sums of momentum. Units: kg, m, s.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/stopwatch.h"
#include "core/run/method.h"

namespace exemplar {

// Goes on from `time` to `until` in steps of at most `step`, the last one ending on `until` itself. take(dt,
// report) takes one of them, in as many sub-steps as it needs, moves `time` and counts; finite() says whether
// the state still is.
template <class Take, class Finite>
StepReport advance_in_steps(double& time, double until, double step, const InterruptCheck& interrupted,
                            const Take& take, const Finite& finite) {
  StepReport report;
  while (time < until - 1e-9 * step) {
    if (interrupted()) {
      report.status = Status::interrupted;
      report.message = "interrupted";
      return report;
    }
    take(std::min(step, until - time), report);
    if (!finite()) {
      report.status = Status::failed;
      report.message = "positions are no longer finite; try more steps per frame";
      return report;
    }
  }
  time = until;
  return report;
}

// Steps from `from` to `until` that may be halved and doubled again: time is counted in pieces of the smallest
// step, so that it never drifts, and the last step ends on `until` itself.
class HalvingClock {
 public:
  // `level`: how often the first step is halved.
  HalvingClock(double from, double until, double step, int max_halvings, int level = 0)
      : m_from(from), m_until(until), m_whole(std::int64_t{1} << max_halvings), m_size(m_whole >> level) {
    if (!(until > from)) return;
    const double nominal = (until - from) / std::max(1.0, std::ceil((until - from) / step - 1e-9));
    m_piece = nominal / static_cast<double>(m_whole);
    m_total = static_cast<std::int64_t>(std::llround((until - from) / m_piece));
    m_size = std::min(m_size, m_total);
  }

  bool done() const { return m_done >= m_total; }
  double dt() const { return static_cast<double>(m_size) * m_piece; }  // of the next step
  double time() const { return m_done == m_total ? m_until : m_from + static_cast<double>(m_done) * m_piece; }
  bool can_halve() const { return m_size > 1; }
  void halve() { m_size /= 2; }
  int level() const {
    int level = 0;
    while (m_size << level < m_whole) ++level;
    return level;
  }
  // The step is taken; the next ones become longer again, on multiples of themselves.
  void advance() {
    m_done += m_size;
    while (double_if_aligned()) {
    }
  }
  // The same without becoming longer.
  void advance_at_size() { m_done += m_size; }
  bool double_if_aligned() {
    if (m_size >= m_whole || m_done % (2 * m_size) != 0) return false;
    m_size *= 2;
    return true;
  }

 private:
  double m_from, m_until, m_piece = 0;
  std::int64_t m_whole;  // pieces of a step that was not halved
  std::int64_t m_size;   // of the next step
  std::int64_t m_total = 0, m_done = 0;
};

// Mass, centre of mass, momenta and kinetic energy of mass points.
inline void set_motion(Diagnostics& d, const VecX& masses, const Points& positions,
                       const Points& velocities) {
  d.mass = masses.sum();
  d.centre_of_mass = positions.transpose() * masses / d.mass;
  d.linear_momentum = velocities.transpose() * masses;
  d.angular_momentum.setZero();
  d.kinetic_energy = 0;
  for (Eigen::Index i = 0; i < masses.size(); ++i) {
    const Vec3 x = positions.row(i).transpose(), v = velocities.row(i).transpose();
    d.angular_momentum += masses[i] * x.cross(v);
    d.kinetic_energy += 0.5 * masses[i] * v.squaredNorm();
  }
}

}  // namespace exemplar
