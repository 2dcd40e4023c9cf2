#include "core/world/rigid_state.h"

#include <string>

#include "core/base/errors.h"

namespace exemplar {

std::vector<double> pack(std::span<const RigidState> states) {
  std::vector<double> numbers;
  numbers.reserve(numbers_per_rigid_state * states.size());
  auto append = [&](const auto& v) { numbers.insert(numbers.end(), v.data(), v.data() + v.size()); };
  for (const RigidState& s : states) {
    append(s.position);
    append(s.orientation.coeffs());
    append(s.velocity);
    append(s.angular_velocity);
  }
  return numbers;
}

void unpack(std::span<const double> numbers, std::span<RigidState> states) {
  if (numbers.size() != numbers_per_rigid_state * states.size()) {
    throw InputError("the saved state holds " + std::to_string(numbers.size()) + " numbers for " +
                     std::to_string(states.size()) + " rigid bodies");
  }
  const double* n = numbers.data();
  for (RigidState& s : states) {
    s.position = Eigen::Map<const Vec3>(n);
    s.orientation.coeffs() = Eigen::Map<const Vec4>(n + 3);
    s.velocity = Eigen::Map<const Vec3>(n + 7);
    s.angular_velocity = Eigen::Map<const Vec3>(n + 10);
    n += numbers_per_rigid_state;
  }
}

}  // namespace exemplar
