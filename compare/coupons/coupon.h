// A coupon: one small specimen with one load whose answer is known in closed form, asked of every method at its default
// settings. Nothing of a method is set but how finely it divides the specimen (specimen.h). SI units.
//
// A coupon watches a few numbers of the specimen (a tip, a centre) frame by frame, and reads its quantities off their
// course when the run has ended. The closed form stands with its source beside each coupon (bars.cpp, balls.cpp, …).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/run/live_run.h"
#include "core/scene/files/json_file.h"

namespace exemplar::coupons {

inline constexpr int k_resolutions = 3;

// The capability that no flag of Capabilities says: see models_elasticity().
inline constexpr const char* k_elasticity = "elasticity";

// What a coupon is made for.
struct Subject {
  std::string method;
  Capabilities capabilities;
  int resolution = 1;         // 1 … k_resolutions
  bool takes_sheets = false;  // and nothing else
};

struct Quantity {
  std::string name;                         // of its column: "thick-sag"
  std::string title;                        // in a few words
  std::string unit;                         // of measured and expected; empty: a plain number
  std::string source;                       // the closed form, and where it comes from
  std::vector<std::string> needs;           // names of capabilities, and k_elasticity
  std::vector<std::string> warned_by = {};  // words of warnings that are about it
};

// Numbers watched in the frames of a run, from the start on.
struct Course {
  std::vector<double> times;              // s
  std::vector<std::vector<double>> rows;  // one per time
  double wanted = 0;                      // s, until when it was to go on

  std::vector<double> column(std::size_t k) const;
  bool is_whole() const { return !times.empty() && times.back() > wanted * (1 - 1e-9); }
};

// The error is (measured − expected) / scale.
struct Reading {
  double measured = 0;
  double expected = 0;
  double scale = 0;  // 0: |expected|
  std::string remark = {};

  double error() const;  // 0.1: ten per cent too much
};

struct Coupon {
  std::string name;
  std::string title;  // what is done to what
  std::vector<Quantity> quantities;
  std::function<Json(const Subject&)> scene;
  // The numbers that are watched, of the state as it is.
  std::function<std::vector<double>(const LiveRun&, const Points& surface)> watch;
  int every = 1;            // frames between two looks
  bool counts_cut = false;  // a course that the budget has cut short still says something
  // One reading for each quantity, in their order.
  std::function<std::vector<Reading>(const Subject&, const Course&)> read;
};

// In the order of their columns.
const std::vector<Coupon>& all_coupons();

// Methods that take a coefficient of restitution have no elasticity to bounce by, and the other way round
// (Capabilities::material_restitution): rigid methods deform for good or not at all.
bool models_elasticity(const Capabilities& capabilities);

// What flags of capabilities do not say of a method. An empty quantity: every one of the coupon.
struct LeftOut {
  const char* method;
  const char* coupon;
  const char* quantity;
  const char* reason;
};
std::span<const LeftOut> left_out();

// One of the warnings is about the quantity and names a number.
bool is_warned_of(const Quantity& quantity, const std::vector<std::string>& warnings);

// Why a method is not asked for a quantity; empty: it is.
std::string reason_left_out(const MethodInfo& method, const Coupon& coupon, const Quantity& quantity);

}  // namespace exemplar::coupons
