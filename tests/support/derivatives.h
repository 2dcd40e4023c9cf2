// The shared derivative checker: compares an analytic gradient with central differences of the value, and a
// Hessian with central differences of the gradient, at three step sizes. Below the round-off floor the error
// must fall like the square of the step; the Hessian must be symmetric and the compared quantities non-zero.
#pragma once

#include <functional>
#include <string>

#include "core/math/types.h"

namespace exemplar::testing {

struct DerivativeReport {
  bool ok = false;
  double best_error = 0;      // smallest relative error over the step sizes
  double observed_order = 0;  // log2 of error ratios while above the round-off floor; 2 expected
  double norm = 0;            // size of the analytic quantity; zero would make the check meaningless
  double asymmetry = 0;       // Hessian only
  std::string message;        // why it is not ok
};

using ValueFunction = std::function<double(const VecX&)>;
using GradientFunction = std::function<VecX(const VecX&)>;
using HessianFunction = std::function<MatX(const VecX&)>;

// `scale`: typical size of the entries of x, which sets the steps. `tolerance`: on the smallest relative
// error.
DerivativeReport check_gradient(const ValueFunction& value, const GradientFunction& gradient, const VecX& x,
                                double scale = 1.0, double tolerance = 1e-7);
DerivativeReport check_hessian(const GradientFunction& gradient, const HessianFunction& hessian,
                               const VecX& x, double scale = 1.0, double tolerance = 1e-7);

}  // namespace exemplar::testing
