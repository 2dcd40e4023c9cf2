#include "core/world/time_window.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace exemplar {

namespace {

// ∫₀^t of the ramp that goes from 0 to 1 within `ramp` seconds.
double ramp_integral(double t, double ramp) {
  if (t <= 0) return 0;
  if (t >= ramp) return t - 0.5 * ramp;
  return 0.5 * t * t / ramp;
}

}  // namespace

double TimeWindow::at(double time) const {
  if (time < start || time >= end) return 0;
  const double up = ramp_up > 0 ? (time - start) / ramp_up : 1;
  const double down = ramp_down > 0 ? (end - time) / ramp_down : 1;
  return std::min({1.0, up, down});
}

double TimeWindow::integral(double from, double to) const {
  const auto primitive = [&](double t) {
    const double inside = std::min(t, end);
    double sum = ramp_integral(inside - start, ramp_up);
    // What the falling ramp takes away: ∫ (1 − down) from end − ramp_down on.
    if (ramp_down > 0) {
      const double late = inside - (end - ramp_down);
      if (late > 0) sum -= 0.5 * late * late / ramp_down;
    }
    return sum;
  };
  return primitive(to) - primitive(from);
}

void check_window(const TimeWindow& window, const std::string& what) {
  const auto [start, end, up, down] = window;
  if (!(end > start)) throw InputError(what + " must end after it starts");
  if (!(up >= 0) || !(down >= 0) || up + down > end - start)
    throw InputError(what + "'s ramps must not be negative and must fit between its start and end");
  if (down > 0 && std::isinf(end)) throw InputError(what + " that ramps down needs an end");
}

}  // namespace exemplar
