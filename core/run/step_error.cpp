#include "core/run/step_error.h"

#include <cmath>

namespace exemplar {

namespace {

Points error_of_bdf2(const ImplicitState& start, const ImplicitState& end, double h) {
  if (start.last_dt == 0) return h / 2 * (end.velocities - start.velocities);
  const double before = start.last_dt;
  const Points third = 2 / (h + before) *
                       ((end.velocities - start.velocities) / h -
                        (start.velocities - start.last_velocities) / before);  // d³x/dt³
  return h * h * (h + before) * (h + before) / (6 * (2 * h + before)) * third;
}

Points error_of_tr_bdf2(const ImplicitState& start, const ImplicitState& end, double h) {
  const double part = 2 - std::sqrt(2.0);
  const double k = (-3 * part * part + 4 * part - 2) / (12 * (2 - part));
  return 2 * k * h *
         (start.velocities / part - end.last_velocities / (part * (1 - part)) + end.velocities / (1 - part));
}

}  // namespace

Points local_error(Integrator integrator, const ImplicitState& start, const ImplicitState& end, double dt) {
  switch (integrator) {
    case Integrator::implicit_euler:
      return dt / 2 * (end.velocities - start.velocities);
    case Integrator::bdf2:
      return error_of_bdf2(start, end, dt);
    case Integrator::tr_bdf2:
      return error_of_tr_bdf2(start, end, dt);
  }
  return {};
}

int order_of_local_error(Integrator integrator) {
  return integrator == Integrator::implicit_euler ? 2 : 3;
}

double weighted_rms(const Points& rows, const VecX& masses, int first, int count) {
  const auto weights = masses.segment(first, count);
  const double sum = rows.middleRows(first, count).rowwise().squaredNorm().dot(weights);
  return std::sqrt(sum / weights.sum());
}

}  // namespace exemplar
