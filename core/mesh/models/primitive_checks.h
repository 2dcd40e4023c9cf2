// Checks of primitive parameters: each throws InputError naming the primitive, the field and what would be
// right.
#pragma once

#include <string>

namespace exemplar {

// The value must be finite and > 0.
void require_positive(const std::string& primitive, const std::string& field, double value);

// The value must lie in [low, high].
void require_range(const std::string& primitive, const std::string& field, double value, double low,
                   double high);

// The value must lie in [low, high]; without `high`, 4000 is the limit, so that a typing error does not fill
// the memory.
void require_resolution(const std::string& primitive, const std::string& field, int value, int low,
                        int high = 4000);

// About how many triangles it will have, before any is made.
void require_triangles(const std::string& primitive, double count);

}  // namespace exemplar
