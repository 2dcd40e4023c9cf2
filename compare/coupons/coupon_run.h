// One coupon by one method at one resolution, on the thread that asks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/coupons/coupon.h"

namespace exemplar::coupons {

enum class Outcome {
  measured,
  cut,       // the budget was used up before the end (a reading may be there all the same)
  failed,    // the simulation could not go on, or refused the scene
  left_out,  // not modelled
  not_run    // a coarser one was cut, or the matrix was interrupted
};
std::string to_string(Outcome outcome);
Outcome outcome_from(const std::string& text);  // of to_string(); throws InputError

struct CouponRun {
  Outcome outcome = Outcome::measured;
  std::vector<Reading> readings;  // of the coupon's quantities; empty: none
  double cpu_seconds = 0;
  std::string reason;
  std::vector<std::string> warnings;
};

struct Budget {
  double seconds = 60;  // processor time of the thread, set-up included
  std::function<bool()> interrupted = [] { return false; };
};

Subject subject_for(const MethodInfo& method, int resolution);
// The whole scene, with title and description.
Json scene_for(const Coupon& coupon, const Subject& subject);

CouponRun run_coupon(const Registry& registry, const Coupon& coupon, const Subject& subject,
                     const Budget& budget);

}  // namespace exemplar::coupons
