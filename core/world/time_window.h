// When something acts: p(t) is 0 before `start`, rises to 1 within `ramp_up`, stays there, falls within `ramp_down` and is 0
// from `end` on. Seconds.
#pragma once

#include <limits>
#include <string>

namespace exemplar {

struct TimeWindow {
  double start = 0;                                      // s
  double end = std::numeric_limits<double>::infinity();  // s
  double ramp_up = 0;                                    // s
  double ramp_down = 0;                                  // s

  double at(double time) const;
  // ∫ p dt over [from, to], exact.
  double integral(double from, double to) const;
  // The mean over a step; of no length: p there.
  double mean(double from, double to) const {
    return to > from ? integral(from, to) / (to - from) : at(from);
  }
};

// Throws InputError for windows without length and ramps that do not fit; `what`: "a load".
void check_window(const TimeWindow& window, const std::string& what);

}  // namespace exemplar
