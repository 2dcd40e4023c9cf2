#include "core/run/runner.h"

#include <algorithm>
#include <chrono>

#include "core/run/surface_fields.h"

namespace exemplar {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const Geometry* find_series(const std::vector<Geometry>& geometries, const std::string& series) {
  for (const Geometry& geometry : geometries) {
    if (geometry.series == series) return &geometry;
  }
  return nullptr;
}

// One run in progress: what the loop below needs at hand.
class Loop {
 public:
  Loop(Method& method, const Scene& scene, RunSink& sink, const RunOptions& options)
      : m_method(method), m_scene(scene), m_sink(sink), m_options(options) {}

  RunSummary run(const ResumePoint* resume) {
    const int frames = m_options.frames >= 0 ? m_options.frames : m_scene.frame_count();
    m_summary.last_frame = resume ? resume->frame : 0;
    m_summary.wall_time = resume ? resume->wall_time : 0;
    if (!resume) show(0, {});
    keep_state();
    m_last_checkpoint = Clock::now();
    for (int frame = m_summary.last_frame + 1; frame <= frames; ++frame) {
      const StepReport report = advance_to(frame);
      if (report.status != Status::ok) return stopped(report);
      show(frame, report);
      keep_state();
      if (seconds_since(m_last_checkpoint) >= m_options.checkpoint_seconds && frame < frames)
        save_checkpoint(true);
      m_options.progress(m_summary.last, frames);
    }
    return m_summary;
  }

 private:
  StepReport advance_to(int frame) {
    const Clock::time_point start = Clock::now();
    StepReport report = m_method.advance(m_scene.frame_time(frame), m_options.interrupted);
    m_summary.wall_time += seconds_since(start);
    m_summary.steps += report.steps;
    m_summary.iterations += report.iterations;
    return report;
  }

  // Fields and metrics of the state as it is → sink.
  void show(int frame, const StepReport& report) {
    std::vector<Geometry> geometries = m_method.fields();
    const auto poses = m_method.obstacle_poses();
    FrameMetrics metrics;
    metrics.frame = frame;
    metrics.time = m_scene.frame_time(frame);
    metrics.diagnostics = m_method.diagnostics();
    metrics.steps = report.steps;
    metrics.iterations = report.iterations;
    metrics.wall_time = m_summary.wall_time;
    metrics.phases = m_method.phase_times();
    if (const Geometry* surface = find_series(geometries, "surface")) {
      metrics.volume_ratio = surface_volume_ratio(m_scene, *surface);
      double& depth = metrics.diagnostics.deepest_penetration;
      if (std::isnan(depth)) depth = deepest_penetration(m_scene, poses, surface->points);
    }
    if (!m_scene.obstacles.empty()) geometries.push_back(obstacle_geometry(m_scene, poses));
    m_summary.last_frame = frame;
    m_summary.last = metrics;
    m_summary.worst_penetration =
        std::fmax(m_summary.worst_penetration, metrics.diagnostics.deepest_penetration);
    m_sink.frame(metrics, std::move(geometries));
  }

  void keep_state() {
    StateWriter state;
    m_method.save(state);
    m_kept = state.arrays();
  }

  void save_checkpoint(bool scheduled) {
    m_sink.checkpoint(m_summary.last, m_kept, scheduled);
    m_last_checkpoint = Clock::now();
  }

  RunSummary stopped(const StepReport& report) {
    m_summary.status = report.status;
    m_summary.message = report.message;
    m_summary.last.frame = m_summary.last_frame;
    save_checkpoint(false);
    return m_summary;
  }

  Method& m_method;
  const Scene& m_scene;
  RunSink& m_sink;
  const RunOptions& m_options;
  RunSummary m_summary;
  StateArrays m_kept;  // state at the last good frame
  Clock::time_point m_last_checkpoint;
};

}  // namespace

RunSummary simulate(Method& method, const Scene& scene, RunSink& sink, const RunOptions& options,
                    const ResumePoint* resume) {
  return Loop(method, scene, sink, options).run(resume);
}

namespace {

template <class Visitor>
void visit_metrics(const FrameMetrics& m, const Visitor& visit) {
  const Diagnostics& d = m.diagnostics;
  auto vector = [&](const std::string& name, const char* unit, const Vec3& v) {
    for (int k = 0; k < 3; ++k) visit(name + "_" + "xyz"[k] + " [" + unit + "]", v[k]);
  };
  visit("time [s]", m.time);
  visit("mass [kg]", d.mass);
  vector("centre_of_mass", "m", d.centre_of_mass);
  vector("linear_momentum", "kg m/s", d.linear_momentum);
  vector("angular_momentum", "kg m²/s", d.angular_momentum);
  visit("kinetic_energy [J]", d.kinetic_energy);
  visit("elastic_energy [J]", d.elastic_energy);
  visit("gravitational_energy [J]", d.gravitational_energy);
  visit("plastic_dissipation [J]", d.plastic_dissipation);
  visit("contact_dissipation [J]", d.contact_dissipation);
  visit("damping_dissipation [J]", d.damping_dissipation);
  visit("volume_ratio", m.volume_ratio);
  visit("plastic_measure", d.plastic_measure);
  visit("example_distance [J]", d.example_distance);
  visit("deepest_penetration [m]", d.deepest_penetration);
  for (const auto& [name, value] : d.extra) visit(name, value);
  visit("steps", m.steps);
  visit("iterations", m.iterations);
  visit("wall_time [s]", m.wall_time);
  visit("real_time_factor", m.wall_time > 0 ? m.time / m.wall_time : k_unknown);
  for (const auto& [name, seconds] : m.phases) visit("time_" + name + " [s]", seconds);
}

}  // namespace

std::vector<std::string> metric_columns(const FrameMetrics& metrics) {
  std::vector<std::string> columns;
  visit_metrics(metrics, [&](const std::string& name, double) { columns.push_back(name); });
  return columns;
}

std::vector<double> metric_values(const FrameMetrics& metrics) {
  std::vector<double> values;
  visit_metrics(metrics, [&](const std::string&, double value) { values.push_back(value); });
  return values;
}

}  // namespace exemplar
