#include "core/contact/settling.h"

#include <cmath>

namespace exemplar {

namespace {
constexpr double k_settling_ratio = 0.35;  // ζ
}

Settling::Settling(double wave_speed, double extent, double gravity) {
  if (!(wave_speed > 0) || !(extent > 0) || !std::isfinite(wave_speed)) return;
  const double slowest = M_PI * wave_speed / (2 * extent);
  m_rate = 2 * k_settling_ratio * slowest;
  m_slow = gravity / slowest;
  m_memory = 2 * M_PI / slowest;
}

double Settling::kept(double dt) const {
  return std::exp(-m_rate * dt);
}

}  // namespace exemplar
