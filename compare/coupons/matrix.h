// Every coupon × every method × the resolutions: runs them, one thread each and several side by side, and keeps what was
// measured, what it cost and what the runs themselves warned of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/coupons/coupon_run.h"

namespace exemplar::coupons {

// One quantity of one coupon by one method at one resolution.
struct Cell {
  std::string method, coupon, quantity, unit;
  int resolution = 1;
  Outcome outcome = Outcome::not_run;
  bool has_reading = false;
  double measured = 0, expected = 0, error = 0;  // error: a share, 0.1 is ten per cent too much
  double cpu_seconds = 0;                        // of the run's steps, without its set-up
  std::string reason;                            // why there is no reading; what is special about it
  std::vector<std::string> warnings;             // of the run
  bool is_warned = false;                        // one of them is about the quantity
};

// An error above this is to be warned of by the run itself.
inline constexpr double k_large_error = 0.15;
bool is_unsaid(const Cell& cell);

struct MatrixOptions {
  std::vector<std::string> methods;  // in the order of their rows
  std::vector<const Coupon*> coupons;
  int finest = k_resolutions;
  int threads = 1;             // runs side by side
  double budget_seconds = 60;  // processor time of one run
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct Matrix {
  std::vector<std::string> methods;
  std::vector<const Coupon*> coupons;
  std::vector<Cell> cells;  // by coupon, quantity, method, resolution
};

Matrix run_matrix(const Registry& registry, const MatrixOptions& options);

// The finest cell of a method and a quantity that has a reading, else one that says why there is none; null: not asked.
const Cell* finest_cell(const std::vector<Cell>& cells, const std::string& method,
                        const std::string& quantity);

// Those called so, all if there is no name. Throws InputError that suggests another name.
std::vector<const Coupon*> coupons_called(const std::vector<std::string>& names);

}  // namespace exemplar::coupons
