// A damped oscillation about its rest place, fitted to what was watched:
//   x(t) = a + e^(−ζωt) (b cos ω_d t + c sin ω_d t),  ω_d = ω √(1 − ζ²)
// a: rest place, f = ω/2π: frequency without damping (Hz), ζ: damping ratio.
#pragma once

#include <vector>

namespace exemplar::coupons {

struct RingDown {
  double rest = 0;
  double frequency = 0;      // Hz; NaN where nothing swings
  double damping_ratio = 0;  // NaN likewise
};

// `frequency`: where to begin to look, Hz; found from a quarter to four times of it.
RingDown fit_ring_down(const std::vector<double>& times, const std::vector<double>& values, double frequency);

}  // namespace exemplar::coupons
