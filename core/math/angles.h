// Degrees are what users write, radians what everything computes with.
#pragma once

#include <numbers>

namespace exemplar {

inline constexpr double k_degree = std::numbers::pi / 180;  // rad

}  // namespace exemplar
