#include "compare/coupons/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/scene/json.h"
#include "core/sparse/cholesky.h"

namespace exemplar::coupons {

namespace {

// A method and a coupon at all resolutions, the coarsest first.
struct Task {
  const MethodInfo* method;
  const Coupon* coupon;
  std::vector<Cell> cells;
};

std::vector<Cell> empty_cells(const Task& task, int resolution) {
  std::vector<Cell> cells;
  for (const Quantity& quantity : task.coupon->quantities) {
    Cell cell;
    cell.method = task.method->name;
    cell.coupon = task.coupon->name;
    cell.quantity = quantity.name;
    cell.unit = quantity.unit;
    cell.resolution = resolution;
    cell.reason = reason_left_out(*task.method, *task.coupon, quantity);
    if (!cell.reason.empty()) cell.outcome = Outcome::left_out;
    cells.push_back(std::move(cell));
  }
  return cells;
}

void fill(Cell& cell, const CouponRun& run, const Coupon& coupon, std::size_t quantity) {
  cell.outcome = run.outcome;
  cell.cpu_seconds = run.cpu_seconds;
  cell.warnings = run.warnings;
  cell.is_warned = is_warned_of(coupon.quantities.at(quantity), run.warnings);
  cell.reason = run.reason;
  if (run.readings.empty()) return;
  const Reading& reading = run.readings.at(quantity);
  cell.measured = reading.measured;
  cell.expected = reading.expected;
  cell.error = reading.error();
  cell.has_reading = std::isfinite(cell.error);
  if (!cell.has_reading && cell.reason.empty()) cell.reason = "nothing could be read off";
  if (!reading.remark.empty()) cell.reason += (cell.reason.empty() ? "" : "; ") + reading.remark;
}

void run_task(Task& task, const Registry& registry, const MatrixOptions& options) {
  std::string stopped;
  for (int resolution = 1; resolution <= options.finest; ++resolution) {
    std::vector<Cell> cells = empty_cells(task, resolution);
    const bool is_asked =
        std::any_of(cells.begin(), cells.end(), [](const Cell& c) { return c.outcome != Outcome::left_out; });
    CouponRun run;
    run.outcome = Outcome::not_run;
    run.reason = stopped.empty() ? "interrupted" : stopped;
    if (is_asked && stopped.empty() && !options.interrupted()) {
      run = run_coupon(registry, *task.coupon, subject_for(*task.method, resolution),
                       {options.budget_seconds, options.interrupted});
      options.progress(fmt::format("{} {} {}: {} in {:.1f} s", task.coupon->name, task.method->name,
                                   resolution, to_string(run.outcome), run.cpu_seconds));
      if (run.outcome == Outcome::cut) stopped = fmt::format("resolution {} was cut already", resolution);
    }
    for (std::size_t q = 0; q < cells.size(); ++q) {
      if (cells[q].outcome != Outcome::left_out) fill(cells[q], run, *task.coupon, q);
      task.cells.push_back(std::move(cells[q]));
    }
  }
}

// Methods whose runs take longest are registered last.
std::vector<Task> all_tasks(const Registry& registry, const MatrixOptions& options) {
  std::vector<Task> tasks;
  for (auto name = options.methods.rbegin(); name != options.methods.rend(); ++name) {
    for (const Coupon* coupon : options.coupons) tasks.push_back({&registry.get(*name), coupon, {}});
  }
  return tasks;
}

void work_on(std::vector<Task>& tasks, const Registry& registry, const MatrixOptions& options) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k; (k = next++) < tasks.size();) run_task(tasks[k], registry, options);
  };
  std::vector<std::thread> helpers;
  for (int k = 1; k < options.threads; ++k) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace

bool is_unsaid(const Cell& cell) {
  return cell.has_reading && std::abs(cell.error) > k_large_error && !cell.is_warned;
}

Matrix run_matrix(const Registry& registry, const MatrixOptions& options) {
  const int threads_before = thread_count();
  set_thread_count(1);  // of each run
  set_blas_threads(1);
  std::vector<Task> tasks = all_tasks(registry, options);
  work_on(tasks, registry, options);
  set_thread_count(threads_before);
  Matrix matrix{options.methods, options.coupons, {}};
  for (const Coupon* coupon : options.coupons) {
    for (const Quantity& quantity : coupon->quantities) {
      for (const std::string& method : options.methods) {
        for (const Task& task : tasks) {
          if (task.method->name != method || task.coupon != coupon) continue;
          for (const Cell& cell : task.cells) {
            if (cell.quantity == quantity.name) matrix.cells.push_back(cell);
          }
        }
      }
    }
  }
  return matrix;
}

const Cell* finest_cell(const std::vector<Cell>& cells, const std::string& method,
                        const std::string& quantity) {
  const Cell* found = nullptr;
  for (const Cell& cell : cells) {
    if (cell.method != method || cell.quantity != quantity) continue;
    if (found == nullptr || cell.has_reading) found = &cell;
  }
  return found;
}

std::vector<const Coupon*> coupons_called(const std::vector<std::string>& names) {
  std::vector<const Coupon*> found;
  std::vector<std::string> known;
  for (const Coupon& coupon : all_coupons()) {
    known.push_back(coupon.name);
    if (names.empty() || std::find(names.begin(), names.end(), coupon.name) != names.end())
      found.push_back(&coupon);
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError("there is no coupon '" + name + "'" + did_you_mean(name, known) +
                       "; exemplar coupons --list names them");
  }
  return found;
}

}  // namespace exemplar::coupons
