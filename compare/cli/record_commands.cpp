// exemplar validate and exemplar bench: run the registered cases, print one table, write JSON and Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/cli/commands.h"
#include "compare/cli/record_context.h"
#include "compare/results/work_precision.h"
#include "core/base/errors.h"
#include "core/base/stopwatch.h"
#include "core/output/atomic_file.h"
#include "core/output/target_file.h"
#include "core/run/runner.h"

namespace exemplar {

namespace {

template <class Case>
std::string full_name(const Case& item) {
  return item.group + "/" + item.name;
}

// Cases whose group or full name was asked for; every name must match something.
template <class Case>
std::vector<Case> chosen(const std::vector<Case>& all, const std::vector<std::string>& names) {
  std::vector<Case> result;
  std::vector<std::string> known;
  for (const Case& item : all) {
    known.push_back(item.group);
    known.push_back(full_name(item));
    const bool wanted =
        names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return name == item.group || name == full_name(item);
        });
    if (wanted) result.push_back(item);
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InputError("there is nothing called '" + name + "'" + did_you_mean(name, known));
    }
  }
  return result;
}

// Frames are made, as in a run, and thrown away; times of phases are kept.
struct TimingSink : RunSink {
  std::vector<std::vector<double>> phases;
  void frame(const FrameMetrics& metrics, std::vector<Geometry>) override {
    if (metrics.frame == 0) return;
    auto& row = phases.emplace_back();
    for (const auto& [name, seconds] : metrics.phases) row.push_back(seconds);
  }
  void checkpoint(const FrameMetrics&, const StateArrays&, bool) override {}
};

SceneTiming time_scene(const Registry& registry, const std::string& scene_name,
                       const std::string& method_name, const std::vector<std::string>& assignments,
                       double seconds) {
  const std::string path = data_directory() + "/scenes/" + scene_name + ".json";
  LiveRun run(read_scene(path, assignments, registry.descriptions()), registry, method_name);
  const TimeSettings& time = run.scene().time;
  TimingSink sink;
  RunOptions options;
  options.checkpoint_seconds = 1e9;
  options.frames = static_cast<int>(std::lround(std::min(seconds, time.duration) * time.fps));
  const RunSummary summary = simulate(run, sink, options);
  if (summary.status != Status::ok) throw std::runtime_error(scene_name + ": " + summary.message);
  const Notes notes = run.method().notes();
  return {summary.last.time, summary.wall_time, notes.empty() ? "" : notes.back().text,
          run.method().phase_times(), std::move(sink.phases)};
}

void check_targets(const RecordArguments& arguments) {
  for (const std::string& target : {arguments.json, arguments.markdown}) {
    if (!target.empty()) check_target(target, {arguments.overwrite, {}});
  }
  if (!arguments.directory.empty()) check_target_folder(arguments.directory, {arguments.overwrite, {}});
}

ValidationContext make_context(const RecordArguments& arguments, const Registry& registry) {
  ValidationContext context;
  context.time_scene = [&registry](const std::string& scene, const std::string& method,
                                   const std::vector<std::string>& assignments, double seconds) {
    return time_scene(registry, scene, method, assignments, seconds);
  };
  context.directory = arguments.directory.empty()
                          ? (std::filesystem::temp_directory_path() / "exemplar-records").string()
                          : arguments.directory;
  context.slow = arguments.slow;
  make_writable_directory(context.directory);
  mark_folder(context.directory);
  return context;
}

std::string short_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "—";
}

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// A bar would end the cell, an end of line the row.
std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "|";
    for (const std::string& cell : rows[r]) text += " " + markdown_cell(cell) + " |";
    text += "\n";
    if (r > 0) continue;
    text += "|";
    for (std::size_t k = 0; k < rows[r].size(); ++k) text += "---|";
    text += "\n";
  }
  return text;
}

void write_records(const RecordArguments& arguments, const Json& json,
                   const std::vector<std::vector<std::string>>& rows) {
  const WriteRule rule{arguments.overwrite, {}};
  if (!arguments.json.empty())
    write_target(arguments.json, rule, [&] { write_file_atomically(arguments.json, json.dump(2) + "\n"); });
  if (!arguments.markdown.empty())
    write_target(arguments.markdown, rule,
                 [&] { write_file_atomically(arguments.markdown, markdown_table(rows)); });
}

// A case that throws is a failed case, not the end of the others.
template <class Record, class Case>
std::vector<Record> run_case(const Case& item, const ValidationContext& context, const Record& failure) {
  try {
    std::vector<Record> records = item.run(context);
    if (!records.empty()) return records;
  } catch (const std::exception& error) {
    Record record = failure;
    if constexpr (requires { record.source; }) record.source = error.what();
    if constexpr (requires { record.settings; }) record.settings = error.what();
    return {record};
  }
  return {failure};
}

}  // namespace

int validate_command(const RecordArguments& arguments, const Registry& registry, const Terminal& terminal) {
  const std::vector<ValidationCase> cases = chosen(registry.cases(), arguments.names);
  check_targets(arguments);
  std::vector<std::vector<std::string>> rows{
      {"case", "quantity", "measured", "expected", "tolerance", "ok", "source"}};
  Json json = Json::array();
  const ValidationContext context = make_context(arguments, registry);
  int failed = 0, total = 0;
  for (const ValidationCase& item : cases) {
    if (arguments.list) {
      terminal.say(full_name(item) + (item.slow ? "  (--slow)" : ""));
      continue;
    }
    if (item.slow && !arguments.slow) continue;
    const Stopwatch start;
    const Json where = record_context();
    ValidationRecord failure{"could not be run", std::nan(""), std::nan(""), 0, false, ""};
    for (const ValidationRecord& r : run_case(item, context, failure)) {
      rows.push_back({full_name(item), r.quantity, short_number(r.measured), short_number(r.expected),
                      short_number(r.tolerance), r.ok ? "ok" : "FAILED", r.source});
      json.push_back({{"case", full_name(item)},
                      {"quantity", r.quantity},
                      {"measured", number_or_null(r.measured)},
                      {"expected", number_or_null(r.expected)},
                      {"tolerance", number_or_null(r.tolerance)},
                      {"ok", r.ok},
                      {"source", r.source},
                      {"context", where}});
      failed += r.ok ? 0 : 1;
      ++total;
    }
    terminal.note(fmt::format("{}: {:.1f} s", full_name(item), start.seconds()));
  }
  if (arguments.list) return k_exit_done;
  terminal.say(format_table(rows));
  terminal.say(fmt::format("{} of {} quantities ok; files in {}", total - failed, total, context.directory));
  if (total == 0) terminal.warn("nothing was measured: these cases are long, run them with --slow");
  write_records(arguments, json, rows);
  return failed == 0 && total > 0 ? k_exit_done : k_exit_failed_check;
}

namespace {

// The methods' own, and what takes several of them.
std::vector<Bench> all_benches(const Registry& registry) {
  std::vector<Bench> all = registry.benches();
  all.push_back({"integrators", "work-precision", [&registry](const ValidationContext& context) {
                   return bench_work_precision(registry, data_directory() + "/scenes/", context);
                 }});
  return all;
}

}  // namespace

int bench_command(const RecordArguments& arguments, const Registry& registry, const Terminal& terminal) {
  const std::vector<Bench> benches = chosen(all_benches(registry), arguments.names);
  check_targets(arguments);
  std::vector<std::vector<std::string>> rows{
      {"figure", "value", "unit", "goal", "met", "beside", "settings"}};
  Json json = Json::array();
  const ValidationContext context = make_context(arguments, registry);
  int met = 0, goals = 0;
  for (const Bench& item : benches) {
    if (arguments.list) {
      terminal.say(full_name(item));
      continue;
    }
    const Stopwatch start;
    const Json where = record_context();
    BenchRecord failure{"could not be run", std::nan(""), "", "", 0.0, false, ""};
    for (const BenchRecord& r : run_case(item, context, failure)) {
      goals += r.goal ? 1 : 0;
      met += r.goal && r.met ? 1 : 0;
      rows.push_back({item.group + ": " + r.figure, short_number(r.value), r.unit,
                      r.goal ? short_number(*r.goal) : "", r.goal ? (r.met ? "yes" : "NO") : "", r.anchor,
                      r.settings});
      json.push_back({{"figure", item.group + ": " + r.figure},
                      {"value", number_or_null(r.value)},
                      {"unit", r.unit},
                      {"anchor", r.anchor},
                      {"goal", r.goal ? Json(*r.goal) : Json(nullptr)},
                      {"met", r.goal ? Json(r.met) : Json(nullptr)},
                      {"settings", r.settings},
                      {"context", where}});
    }
    terminal.note(fmt::format("{}: {:.1f} s", full_name(item), start.seconds()));
  }
  if (arguments.list) return k_exit_done;
  terminal.say(format_table(rows));
  terminal.say(fmt::format("{} of {} goals met", met, goals));
  write_records(arguments, json, rows);
  return k_exit_done;
}

}  // namespace exemplar
