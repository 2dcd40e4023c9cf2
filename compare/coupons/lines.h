// Least squares on a window of a course.
#pragma once

#include <vector>

namespace exemplar::coupons {

struct Line {
  double value = 0;  // at t = 0
  double slope = 0;

  double at(double time) const { return value + slope * time; }
};

// Of the values at times in [from, until]; NaN where there are fewer than two.
Line fit_line(const std::vector<double>& times, const std::vector<double>& values, double from, double until);

// a of x₀ + v t + a t²/2 through the values at times in [from, until]; NaN where there are fewer than three.
double fit_acceleration(const std::vector<double>& times, const std::vector<double>& values, double from,
                        double until);

}  // namespace exemplar::coupons
