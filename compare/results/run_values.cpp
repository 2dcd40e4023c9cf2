#include "compare/results/run_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/results/surface_values.h"
#include "core/base/errors.h"
#include "core/output/geometry_file.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

const ComparedRun* find_run(const Comparison& comparison, const std::string& name) {
  for (const ComparedRun& run : comparison.runs) {
    if (run.data.plan.name == name) return &run;
  }
  return nullptr;
}

// The body's place among those of the run's scene.
int body_index(const RunData& run, const std::string& body) {
  const std::vector<std::string> names = body_names(run);
  const auto found = std::find(names.begin(), names.end(), body);
  if (found == names.end())
    throw InputError(fmt::format("there is no body called '{}'{}", body, did_you_mean(body, names)));
  return static_cast<int>(found - names.begin());
}

std::optional<std::vector<double>> distance_column(const ComparedRun& run, const std::string& name) {
  std::vector<double> values;
  for (const SurfaceDistances& d : run.distances) {
    if (name == "surface_rms") values.push_back(d.rms);
    if (name == "surface_max") values.push_back(d.max);
    if (name == "surface_rms_aligned") values.push_back(d.rms_aligned);
    if (name == "surface_max_aligned") values.push_back(d.max_aligned);
  }
  if (values.size() != run.distances.size() || values.empty()) return std::nullopt;
  return values;
}

// The value at `moment`; of @t the nearest frame.
double pick(const std::vector<double>& times, const std::vector<double>& values, const RunValue& reference) {
  double best = k_unknown, nearest = std::numeric_limits<double>::infinity();
  if (reference.moment == Moment::end) return values.back();
  if (reference.moment == Moment::start) return values.front();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double gap = std::abs(times[i] - reference.time);
    const bool is_better = reference.moment == Moment::at     ? gap < nearest
                           : reference.moment == Moment::most ? !(values[i] <= best)
                                                              : !(values[i] >= best);
    if (!is_better || !std::isfinite(values[i])) continue;
    best = values[i];
    nearest = gap;
  }
  return best;
}

std::string unit_of_product(const std::string& a, const std::string& b, bool divides) {
  if (b.empty()) return a;
  if (divides) return a == b ? "" : a + "/" + b;
  return a.empty() ? b : a + " " + b;
}

// What a run has one of.
bool scalar(const ComparedRun& run, const std::string& name, Quantity& quantity) {
  const RunRecord& record = run.data.record;
  const Metrics known{{"status", "", static_cast<double>(record.status)},
                      {"wall_time", "s", run.wall_time()},
                      {"setup_time", "s", record.setup_time.value_or(k_unknown)},
                      {"cost_ratio", "", run.cost_ratio},
                      {"peak_memory", "MB", record.peak_memory.value_or(k_unknown)},
                      {"real_time_factor", "", record.real_time_factor.value_or(k_unknown)},
                      {"surface_rms_worst", "m", run.worst_rms()},
                      {"surface_rms_uncertainty", "m", run.final_uncertainty().rms},
                      {"surface_rms_aligned_uncertainty", "m", run.final_uncertainty().rms_aligned},
                      {"steps", "", static_cast<double>(record.steps)},
                      {"iterations", "", static_cast<double>(record.iterations)}};
  for (const Metric& metric : known) {
    if (metric.name != name) continue;
    quantity.value = metric.value;
    quantity.unit = metric.unit;
    return true;
  }
  return false;
}

}  // namespace

RunValues::Series RunValues::surface_series(const ComparedRun& run, const RunValue& reference) const {
  const std::optional<int> body =
      reference.body.empty() ? std::nullopt : std::optional(body_index(run.data, reference.body));
  std::vector<PvdEntry> entries = run.data.surfaces;
  if (entries.empty()) return {};
  if (reference.moment == Moment::end) entries = {entries.back()};
  if (reference.moment == Moment::start) entries = {entries.front()};
  if (reference.moment == Moment::at) {
    const PvdEntry* nearest = entry_at(entries, reference.time);
    if (!nearest) return {};
    entries = {PvdEntry(*nearest)};
  }
  Series series;
  for (const PvdEntry& entry : entries) {
    const std::optional<SurfaceValue> value = surface_value(read_geometry(entry.file), reference.name, body);
    if (!value) continue;
    series.times.push_back(entry.time);
    series.values.push_back(value->value);
    series.unit = value->unit;
  }
  return series;
}

RunValues::Series RunValues::series(const ComparedRun& run, const RunValue& reference) const {
  const std::string& name = reference.name;
  if (is_surface_value(name)) return surface_series(run, reference);
  if (name == "shape_change") return {run.change_times, run.shape_change, "m"};
  if (name == "displacement") return {run.change_times, run.displacement, "m"};
  if (const auto distances = distance_column(run, name)) return {run.times, *distances, "m"};
  if (name.starts_with("surface_")) return {};
  const MetricsTable& table = run.data.metrics;
  const int column = table.find(name);
  if (column < 0) {
    std::vector<std::string> names = value_names();
    for (const MetricName& known : table.columns) names.push_back(known.name);
    throw InputError(
        fmt::format("'{}' has no value '{}'{}", run.data.plan.name, name, did_you_mean(name, names)));
  }
  return {table.column("time"), table.column(name), table.columns[static_cast<std::size_t>(column)].unit};
}

Quantity RunValues::value(const RunValue& reference) const {
  Quantity quantity;
  const ComparedRun* run = find_run(m_comparison, reference.run);
  if (!run) {
    quantity.missing = fmt::format("'{}' is not part of this comparison", reference.run);
    return quantity;
  }
  if (reference.name == "status") {
    scalar(*run, reference.name, quantity);
    return quantity;
  }
  if (!run->data.is_done()) {
    quantity.missing = fmt::format("'{}' did not come to its end", reference.run);
    return quantity;
  }
  if (run->data.is_cut_short()) {
    quantity.missing = fmt::format("'{}' ran for {} frames only", reference.run, run->data.record.frames);
    return quantity;
  }
  if (scalar(*run, reference.name, quantity)) {
    if (!std::isfinite(quantity.value)) quantity.missing = "there is no " + reference.name;
    return quantity;
  }
  const Series found = series(*run, reference);
  quantity.unit = found.unit;
  if (!found.values.empty()) quantity.value = pick(found.times, found.values, reference);
  if (!std::isfinite(quantity.value))
    quantity.missing = fmt::format("'{}' does not know its {}", reference.run, reference.name);
  return quantity;
}

Quantity RunValues::evaluate(const Expression& expression) const {
  Quantity sum;
  sum.value = 0;
  bool is_first = true;
  for (const Term& term : expression.terms) {
    Quantity product;
    product.value = 1;
    for (const Factor& factor : term.factors) {
      const Quantity one =
          factor.operand.value ? value(*factor.operand.value) : Quantity{factor.operand.number, "", ""};
      if (!one.missing.empty()) return one;
      product.value = factor.divides ? product.value / one.value : product.value * one.value;
      product.unit = unit_of_product(product.unit, one.unit, factor.divides);
    }
    sum.value += term.is_subtracted ? -product.value : product.value;
    if (is_first || sum.unit.empty()) sum.unit = product.unit;
    is_first = false;
  }
  return sum;
}

}  // namespace exemplar
