#include "core/mesh/models/primitive_checks.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/errors.h"

namespace exemplar {

void require_positive(const std::string& primitive, const std::string& field, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw InputError(fmt::format("{}: {} is {}, but must be positive", primitive, field, value));
}

void require_range(const std::string& primitive, const std::string& field, double value, double low,
                   double high) {
  if (value >= low && value <= high) return;
  throw InputError(fmt::format("{}: {} is {:.6g}, but must lie between {:.6g} and {:.6g}", primitive, field,
                               value, low, high));
}

void require_resolution(const std::string& primitive, const std::string& field, int value, int low,
                        int high) {
  if (value >= low && value <= high) return;
  throw InputError(
      fmt::format("{}: {} is {}, but must lie between {} and {}", primitive, field, value, low, high));
}

void require_triangles(const std::string& primitive, double count) {
  constexpr double k_most = 4e6;  // about half a gigabyte with what is derived from them
  if (count <= k_most) return;
  throw InputError(
      fmt::format("{}: would have about {:.2g} triangles (at most {:.0g} are made): use a lower resolution",
                  primitive, count, k_most));
}

}  // namespace exemplar
