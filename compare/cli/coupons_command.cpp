// exemplar coupons: small specimens with known answers × every method × three resolutions.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "compare/cli/commands.h"
#include "compare/cli/interrupt.h"
#include "compare/coupons/page.h"
#include "compare/coupons/scorecard.h"
#include "core/base/errors.h"
#include "core/base/stopwatch.h"
#include "core/output/atomic_file.h"
#include "core/output/target_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

void list_coupons(const std::vector<const coupons::Coupon*>& all, const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{{"coupon", "quantity", "unit", "", "expected"}};
  for (const coupons::Coupon* coupon : all) {
    for (const coupons::Quantity& quantity : coupon->quantities)
      rows.push_back({coupon->name, quantity.name, quantity.unit, quantity.title, quantity.source});
  }
  terminal.say(format_table(rows));
}

// One scene per coupon, method and resolution: DIR/<coupon>-<method>-<resolution>.json.
void write_scenes(const CouponsArguments& arguments, const coupons::MatrixOptions& options,
                  const Registry& registry, const Terminal& terminal) {
  check_target_folder(arguments.scenes, {arguments.overwrite, {}});
  make_writable_directory(arguments.scenes);
  mark_folder(arguments.scenes);
  int count = 0;
  for (const coupons::Coupon* coupon : options.coupons) {
    for (const std::string& method : options.methods) {
      const MethodInfo& info = registry.get(method);
      const auto asks = [&](const coupons::Quantity& q) { return reason_left_out(info, *coupon, q).empty(); };
      if (std::none_of(coupon->quantities.begin(), coupon->quantities.end(), asks)) continue;
      for (int k = 1; k <= options.finest; ++k, ++count) {
        const Json scene = scene_for(*coupon, coupons::subject_for(info, k));
        write_file_atomically(
            fs::path(arguments.scenes) / fmt::format("{}-{}-{}.json", coupon->name, method, k),
            scene.dump(2) + "\n");
      }
    }
  }
  terminal.say(fmt::format("{} scenes in {}: exemplar run FILE --method METHOD", count, arguments.scenes));
}

coupons::MatrixOptions options_of(const CouponsArguments& arguments, const Registry& registry,
                                  const Terminal& terminal) {
  coupons::MatrixOptions options;
  for (const std::string& name : arguments.methods) registry.get(name);
  for (const std::string& name : registry.method_names()) {
    const auto& asked = arguments.methods;
    if (asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end())
      options.methods.push_back(name);
  }
  options.coupons = coupons::coupons_called(arguments.coupons);
  options.finest = arguments.resolution;
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  options.threads = arguments.threads > 0 ? arguments.threads : processors;
  options.budget_seconds = arguments.budget;
  options.interrupted = interrupt_requested;
  options.progress = [&terminal](const std::string& line) { terminal.note(line); };
  return options;
}

void write_text_target(const std::string& path, bool overwrite, const std::string& text) {
  write_target(path, {overwrite, {}}, [&] { write_file_atomically(path, text); });
}

void write_results(const CouponsArguments& arguments, const coupons::Matrix& matrix, const std::string& page,
                   const Terminal& terminal) {
  if (!arguments.record.empty())
    write_text_target(arguments.record, arguments.overwrite,
                      csv_text(finest_cells(matrix.cells, matrix.methods)));
  if (arguments.output.empty()) return;
  const fs::path folder = arguments.output;
  write_file_atomically(folder / "coupons.csv", csv_text(matrix.cells));
  write_file_atomically(folder / "coupons.html", page);
  terminal.say(fmt::format("all of it in {}", (folder / "coupons.html").string()));
}

}  // namespace

int coupons_command(const CouponsArguments& arguments, const Registry& registry, const Terminal& terminal) {
  const coupons::MatrixOptions options = options_of(arguments, registry, terminal);
  if (!arguments.scorecard.empty()) {
    fmt::print("{}", coupons::scorecard_markdown(coupons::read_csv(arguments.scorecard)));
    return k_exit_done;
  }
  if (arguments.list) {
    list_coupons(options.coupons, terminal);
    return k_exit_done;
  }
  if (!arguments.scenes.empty()) {
    write_scenes(arguments, options, registry, terminal);
    return k_exit_done;
  }
  if (!arguments.record.empty()) check_target(arguments.record, {arguments.overwrite, {}});
  if (!arguments.output.empty()) {
    check_target_folder(arguments.output, {arguments.overwrite, {}});
    make_writable_directory(arguments.output);
    mark_folder(arguments.output);
  }
  const PolledInterrupts interrupts;
  const Stopwatch stopwatch;
  const coupons::Matrix matrix = run_matrix(registry, options);
  terminal.say(format_table(score_rows(matrix.cells, matrix.methods)));
  for (const std::string& line : remarks_on(matrix.cells, matrix.methods)) terminal.say(line);
  write_results(arguments, matrix, coupons_page(matrix, registry, stopwatch.seconds()), terminal);
  return interrupt_requested() ? k_exit_interrupted : k_exit_done;
}

}  // namespace exemplar
