#include "compare/coupons/coupon.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compare/coupons/groups.h"
#include "compare/study/capability_names.h"

namespace exemplar::coupons {

namespace {

constexpr const char* k_towards_examples = "yields only towards example poses, and the specimen has none";
constexpr const char* k_no_ball = "simulates sheets, and a solid ball is none";
constexpr const char* k_no_crack = "breaks only along cuts that are made beforehand";
constexpr LeftOut k_left_out[] = {
    {"peridynamics", "thick-cantilever", "damping", "damping is not modelled, as its runs say"},
    {"mass-spring", "notched-strip", "", "has no way to say where a crack begins"},
    {"shell", "rebound", "", k_no_ball},
    {"shell", "roll", "", k_no_ball},
    {"shell", "rest-ball", "", k_no_ball},
    {"rigid-lbs", "notched-strip", "", k_no_crack},
    {"rigid-dent", "notched-strip", "", k_no_crack},
    {"rigid-bend", "notched-strip", "", k_no_crack},
    {"rigid-lbs", "limit-load", "", k_towards_examples},
    {"rigid-lbs", "taylor", "", k_towards_examples},
    {"rigid-lbs", "dent", "", k_towards_examples},
    {"rigid-dent", "limit-load", "", "yields only where something strikes it"},
    {"rigid-dent", "taylor", "", "dents leave the body as long as it is"},
    {"rigid-bend", "taylor", "", "bends at joints and never shortens"},
    {"rigid-bend", "dent", "", "dents only when methods.rigid-bend.dent asks for it"},
    {"shell", "dent", "", "a sheet has no depth to dent"},
    {"shell", "taylor", "", "a sheet folds where a rod is squashed"},
    {"fem", "dent", "", "the dent is smaller than its elements"},
    {"fem-compatible", "dent", "", "the dent is smaller than its elements"},
    {"shape-matching", "dent", "", "the dent is smaller than its cells"},
};

// Capabilities in words that the method lacks.
std::vector<std::string> missing(const Capabilities& capabilities, const std::vector<std::string>& needs) {
  std::vector<std::string> words = lacking(capabilities, needs);
  for (const std::string& need : needs) {
    if (need == k_elasticity && !models_elasticity(capabilities)) words.emplace_back(k_elasticity);
  }
  return words;
}

}  // namespace

std::vector<double> Course::column(std::size_t k) const {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::vector<double>& row : rows) values.push_back(row.at(k));
  return values;
}

double Reading::error() const {
  return (measured - expected) / (scale > 0 ? scale : std::abs(expected));
}

const std::vector<Coupon>& all_coupons() {
  static const std::vector<Coupon> all = [] {
    std::vector<Coupon> list;
    for (auto* group : {bar_coupons, plastic_coupons, ball_coupons, floor_coupons, other_coupons}) {
      std::vector<Coupon> more = group();
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }();
  return all;
}

bool models_elasticity(const Capabilities& capabilities) {
  return capabilities.deformation && !capabilities.material_restitution;
}

std::span<const LeftOut> left_out() {
  return k_left_out;
}

bool is_warned_of(const Quantity& quantity, const std::vector<std::string>& warnings) {
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& warning) {
    const auto holds = [&](const std::string& word) { return warning.find(word) != std::string::npos; };
    return warning.find_first_of("0123456789") != std::string::npos &&
           std::any_of(quantity.warned_by.begin(), quantity.warned_by.end(), holds);
  });
}

std::string reason_left_out(const MethodInfo& method, const Coupon& coupon, const Quantity& quantity) {
  const std::vector<std::string> words = missing(method.capabilities, quantity.needs);
  if (!words.empty()) return fmt::format("does not model {}", fmt::join(words, ", "));
  for (const LeftOut& item : k_left_out) {
    const bool same = item.method == method.name && item.coupon == coupon.name;
    if (same && (*item.quantity == '\0' || item.quantity == quantity.name)) return item.reason;
  }
  return "";
}

}  // namespace exemplar::coupons
