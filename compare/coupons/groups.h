// The coupons, one function per file.
#pragma once

#include <vector>

#include "compare/coupons/coupon.h"

namespace exemplar::coupons {

std::vector<Coupon> bar_coupons();      // bars.cpp
std::vector<Coupon> plastic_coupons();  // plastic.cpp
std::vector<Coupon> ball_coupons();     // balls.cpp
std::vector<Coupon> floor_coupons();    // floors.cpp
std::vector<Coupon> other_coupons();    // others.cpp

}  // namespace exemplar::coupons
