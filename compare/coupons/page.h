// coupons.html: the matrix, a performance profile and cost against error, in one self-contained page.
#pragma once

#include <string>

#include "compare/coupons/matrix.h"

namespace exemplar::coupons {

// `wall_seconds`: that the whole matrix took.
std::string coupons_page(const Matrix& matrix, const Registry& registry, double wall_seconds);

}  // namespace exemplar::coupons
