#include "compare/results/work_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/run/live_run.h"

namespace exemplar {

namespace {

struct Subject {
  std::string scene, method;
  double seconds;  // of simulated time; with slow: all
};

struct Way {
  std::string integrator;  // of the implicit methods
  int steps = 0;           // per frame; 0: by accuracy
  double accuracy = 0;

  std::string name() const {
    return steps > 0 ? fmt::format("{}, {} steps per frame", integrator, steps)
                     : fmt::format("auto, accuracy {:g}", accuracy);
  }
};

struct Outcome {
  std::vector<Points> surfaces;  // per frame
  double plastic = 0;            // J
  int iterations = 0;
};

constexpr int k_finest = 64;  // steps per frame

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const char* integrator : {"implicit-euler", "bdf2", "tr-bdf2"}) {
    for (const int steps : {1, 4, 16}) all.push_back({integrator, steps, 0});
  }
  for (const double accuracy : {1e-2, 2.5e-3}) all.push_back({"auto", 0, accuracy});
  return all;
}

struct Inputs {
  const Registry& registry;
  std::string scenes;
  bool slow;
};

Outcome outcome_of(const Inputs& inputs, const Subject& subject, const Way& way) {
  std::vector<std::string> assignments{
      fmt::format("methods.{}.integrator={}", subject.method, way.integrator),
      way.steps > 0 ? fmt::format("time.steps_per_frame={}", way.steps) : "time.steps_per_frame=auto"};
  if (way.steps == 0) assignments.push_back(fmt::format("time.accuracy={:g}", way.accuracy));
  const std::string scene = inputs.scenes + subject.scene + ".json";
  LiveRun run(read_scene(scene, assignments, inputs.registry.descriptions()), inputs.registry,
              subject.method);
  const TimeSettings& time = run.scene().time;
  const double seconds = inputs.slow ? time.duration : std::min(subject.seconds, time.duration);
  const int frames = static_cast<int>(std::lround(seconds * time.fps));
  Outcome outcome;
  for (int frame = 1; frame <= frames; ++frame) {
    const StepReport report = run.advance_frame();
    if (report.status != Status::ok) throw std::runtime_error(way.name() + ": " + report.message);
    outcome.iterations += report.iterations;
    outcome.surfaces.push_back(run.surface().points);
  }
  const double plastic = run.method().diagnostics().plastic_dissipation;
  outcome.plastic = std::isnan(plastic) ? 0 : plastic;
  return outcome;
}

// RMS over the surface, mean over the frames, m.
double mean_distance(const Outcome& a, const Outcome& b) {
  double sum = 0;
  for (std::size_t f = 0; f < a.surfaces.size(); ++f)
    sum += std::sqrt((a.surfaces[f] - b.surfaces[f]).rowwise().squaredNorm().mean());
  return sum / static_cast<double>(a.surfaces.size());
}

void add_scene(const Inputs& inputs, const Subject& subject, std::vector<BenchRecord>& records) {
  const Outcome finest = outcome_of(inputs, subject, {"tr-bdf2", k_finest, 0});
  std::vector<std::pair<Way, WorkPoint>> points;
  for (const Way& way : ways()) {
    const Outcome outcome = outcome_of(inputs, subject, way);
    const WorkPoint point{static_cast<double>(outcome.iterations), mean_distance(outcome, finest)};
    points.emplace_back(way, point);
    const std::string settings = fmt::format("{} iterations, plastic {:.3g} of {:.3g} J", outcome.iterations,
                                             outcome.plastic, finest.plastic);
    records.push_back(reported(fmt::format("{}: {}", subject.scene, way.name()), 1e3 * point.error, "mm",
                               fmt::format("tr-bdf2, {} steps per frame", k_finest), settings));
  }
  const WorkPoint chosen = points[points.size() - 2].second;  // auto at the default accuracy
  for (const char* integrator : {"implicit-euler", "bdf2", "tr-bdf2"}) {
    std::vector<WorkPoint> family;
    for (const auto& [way, point] : points) {
      if (way.integrator == integrator) family.push_back(point);
    }
    const double ratio = chosen.work / work_at_error(family, chosen.error);
    records.push_back(
        goal_at_most(fmt::format("{}: cost of auto over {} at equal error", subject.scene, integrator), ratio,
                     "", 0.5, "half of the fixed step's", "iterations, steps interpolated"));
  }
}

}  // namespace

double work_at_error(std::vector<WorkPoint> points, double error) {
  std::sort(points.begin(), points.end(),
            [](const WorkPoint& a, const WorkPoint& b) { return a.work < b.work; });
  std::size_t k = 1;
  while (k + 1 < points.size() && points[k].error > error) ++k;
  const WorkPoint &a = points[k - 1], &b = points[k];
  const double along = std::log(error / a.error) / std::log(b.error / a.error);
  return a.work * std::pow(b.work / a.work, along);
}

std::vector<BenchRecord> bench_work_precision(const Registry& registry, const std::string& scenes,
                                              const ValidationContext& context) {
  const Inputs inputs{registry, scenes, context.slow};
  std::vector<BenchRecord> records;
  for (const Subject& subject : {Subject{"plank", "fem", 0.1}, Subject{"barrel-drop", "fem", 0.25},
                                 Subject{"plate-impact", "fem", 0.03}, Subject{"sheet-impact", "shell", 0.04},
                                 Subject{"twist-release", "fem", 1}})
    add_scene(inputs, subject, records);
  return records;
}

}  // namespace exemplar
