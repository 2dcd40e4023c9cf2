#include "core/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/output/atomic_file.h"
#include "core/run/surface_crossings.h"
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

// Nothing but gravity and resting obstacles acts on the bodies.
bool is_left_alone(const Scene& scene) {
  const auto rests = [](const ObstacleBody& o) { return o.kind() == ObstacleKind::fixed; };
  const auto is_free = [](const Body& b) { return b.supports().empty() && b.controllers().empty(); };
  return scene.loads.empty() && scene.pulls.empty() &&
         std::all_of(scene.obstacles.begin(), scene.obstacles.end(), rests) &&
         std::all_of(scene.bodies.begin(), scene.bodies.end(), is_free);
}

double known(double value) {
  return std::isnan(value) ? 0 : value;
}

// What nothing else accounts for is the time step's.
void close_balance(Diagnostics& d, double start_energy, const Scene& scene) {
  if (!std::isnan(d.numerical_dissipation) || std::isnan(start_energy)) return;
  if (d.is_static || std::isnan(d.damping_dissipation)) return;
  if (std::isnan(d.contact_dissipation) && !scene.obstacles.empty()) return;
  if (std::isnan(d.external_work) && is_left_alone(scene)) d.external_work = 0;
  if (std::isnan(d.external_work)) return;
  d.numerical_dissipation = start_energy + d.external_work - stored_energy(d) - known(d.plastic_dissipation) -
                            known(d.contact_dissipation) - d.damping_dissipation - known(d.fracture_energy);
}

// What of a frame is no longer a finite number, as a sentence; empty: nothing. Metrics may be unknown (NaN).
std::string infinite_part(const FrameMetrics& frame, const std::vector<Geometry>& geometries) {
  constexpr const char* advice =
      "the motion has diverged; try more steps per frame, lower speeds or smaller loads";
  for (const Metric& metric : metrics_of(frame)) {
    if (std::isinf(metric.value)) return fmt::format("{} has become infinite: {}", metric.name, advice);
  }
  for (const Geometry& geometry : geometries) {
    if (!geometry.points.allFinite())
      return fmt::format("points of the {} are no longer finite: {}", geometry.series, advice);
  }
  return {};
}

double smallest_body(const Scene& scene) {
  double size = std::numeric_limits<double>::infinity();
  for (const Body& body : scene.bodies) {
    const Points& x = body.initial_surface();
    size = std::min(size, (x.colwise().maxCoeff() - x.colwise().minCoeff()).norm());
  }
  return size;
}

// One run in progress: what the loop below needs at hand.
class Loop {
 public:
  Loop(Method& method, const Scene& scene, RunSink& sink, const RunOptions& options)
      : m_method(method), m_scene(scene), m_sink(sink), m_options(options) {}

  RunSummary run(const ResumePoint* resume) {
    m_summary.size = smallest_body(m_scene);
    const int frames = m_options.frames >= 0 ? m_options.frames : m_scene.frame_count();
    if (resume) {
      go_on_from(*resume);
    } else {
      m_start_energy = stored_energy(m_method.diagnostics());
      show(0, {});
    }
    keep_state();
    m_last_checkpoint = Clock::now();
    const int period =
        m_options.checkpoint_frames > 0 ? m_options.checkpoint_frames : std::max(10, frames / 10);
    for (int frame = m_summary.last_frame + 1; frame <= frames; ++frame) {
      const StepReport report = advance_to(frame);
      if (report.status != Status::ok) return stopped(report);
      if (const std::string odd = show(frame, report); !odd.empty())
        return stopped({Status::failed, odd, 0, 0});
      keep_state();
      const bool due =
          seconds_since(m_last_checkpoint) >= m_options.checkpoint_seconds || frame % period == 0;
      if (due || frame == frames) save_checkpoint(true);  // the last one: a run can be lengthened
      m_options.progress(m_summary.last, frames);
    }
    return m_summary;
  }

  RunSummary ended_by(const OutputError& error) {
    m_summary.status = Status::failed;
    m_summary.message = error.what();
    m_summary.output_failed = true;
    return m_summary;
  }

 private:
  void go_on_from(const ResumePoint& resume) {
    m_summary.wall_time = resume.wall_time;
    m_summary.steps = resume.steps;
    m_summary.iterations = resume.iterations;
    m_summary.worst_penetration = resume.worst_penetration;
    m_start_energy = resume.start_energy;
    measure(resume.frame, {});
  }

  StepReport advance_to(int frame) {
    const Clock::time_point start = Clock::now();
    StepReport report = m_method.advance(m_scene.frame_time(frame), m_options.interrupted);
    m_summary.wall_time += seconds_since(start);
    m_summary.steps += report.steps;
    m_summary.iterations += report.iterations;
    return report;
  }

  // Metrics of the state as it is, and its fields; becomes the summary's last frame.
  std::vector<Geometry> measure(int frame, const StepReport& report) {
    std::vector<Geometry> geometries = m_method.fields();
    const auto poses = m_method.obstacle_poses();
    FrameMetrics metrics;
    metrics.frame = frame;
    metrics.time = m_scene.frame_time(frame);
    metrics.diagnostics = m_method.diagnostics();
    close_balance(metrics.diagnostics, m_start_energy, m_scene);
    metrics.steps = report.steps;
    metrics.iterations = report.iterations;
    metrics.wall_time = m_summary.wall_time;
    metrics.phases = m_method.phase_times();
    if (const Geometry* surface = find_series(geometries, "surface")) {
      metrics.volume_ratio = surface_volume_ratio(m_scene, *surface);
      metrics.crossings = surface_crossings(*surface);
      double& depth = metrics.diagnostics.deepest_penetration;
      if (std::isnan(depth)) depth = deepest_penetration(m_scene, poses, surface->points);
    }
    if (!m_scene.obstacles.empty()) geometries.push_back(obstacle_geometry(m_scene, poses));
    m_summary.last_frame = frame;
    m_summary.last = metrics;
    m_summary.worst_penetration =
        std::fmax(m_summary.worst_penetration, metrics.diagnostics.deepest_penetration);
    return geometries;
  }

  // Says why the frame is not shown, if it is not: nothing infinite is ever written.
  std::string show(int frame, const StepReport& report) {
    const RunSummary before = m_summary;
    std::vector<Geometry> geometries = measure(frame, report);
    std::string odd = frame > 0 ? infinite_part(m_summary.last, geometries) : "";
    if (odd.empty()) {
      m_sink.frame(m_summary.last, std::move(geometries));
    } else {
      m_summary = before;
    }
    return odd;
  }

  void keep_state() {
    StateWriter state;
    m_method.save(state);
    m_kept = std::move(state);
  }

  void save_checkpoint(bool scheduled) {
    m_sink.checkpoint(m_summary.last, m_kept.arrays(), scheduled);
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
  double m_start_energy = k_unknown;
  StateWriter m_kept;  // state at the last good frame
  Clock::time_point m_last_checkpoint;
};

}  // namespace

double stored_energy(const Diagnostics& d) {
  return d.kinetic_energy + d.elastic_energy + d.gravitational_energy;
}

RunSummary simulate(Method& method, const Scene& scene, RunSink& sink, const RunOptions& options,
                    const ResumePoint* resume) {
  Loop loop(method, scene, sink, options);
  try {
    return loop.run(resume);
  } catch (const OutputError& error) {
    return loop.ended_by(error);
  }
}

namespace {

void add_vector(Metrics& metrics, const std::string& name, const char* unit, const Vec3& v) {
  for (int k = 0; k < 3; ++k) metrics.push_back({name + "_" + "xyz"[k], unit, v[k]});
}

}  // namespace

Metrics metrics_of(const FrameMetrics& frame) {
  const Diagnostics& d = frame.diagnostics;
  Metrics all{{"time", "s", frame.time}, {"mass", "kg", d.mass}};
  add_vector(all, "centre_of_mass", "m", d.centre_of_mass);
  add_vector(all, "linear_momentum", "kg m/s", d.linear_momentum);
  add_vector(all, "angular_momentum", "kg m²/s", d.angular_momentum);
  const Metrics scalars{{"kinetic_energy", "J", d.kinetic_energy},
                        {"elastic_energy", "J", d.elastic_energy},
                        {"gravitational_energy", "J", d.gravitational_energy},
                        {"plastic_dissipation", "J", d.plastic_dissipation},
                        {"contact_dissipation", "J", d.contact_dissipation},
                        {"damping_dissipation", "J", d.damping_dissipation},
                        {"fracture_energy", "J", d.fracture_energy},
                        {"numerical_dissipation", "J", d.numerical_dissipation},
                        {"external_work", "J", d.external_work},
                        {"volume_ratio", "", frame.volume_ratio},
                        {"plastic_measure", "", d.plastic_measure},
                        {"example_distance", "J", d.example_distance},
                        {"deepest_penetration", "m", d.deepest_penetration},
                        {"crossings", "", frame.crossings}};
  all.insert(all.end(), scalars.begin(), scalars.end());
  all.insert(all.end(), d.extra.begin(), d.extra.end());
  all.push_back({"steps", "", static_cast<double>(frame.steps)});
  all.push_back({"iterations", "", static_cast<double>(frame.iterations)});
  return all;
}

Metrics timings_of(const FrameMetrics& frame) {
  Metrics all{{"time", "s", frame.time}, {"wall_time", "s", frame.wall_time}};
  all.push_back({"real_time_factor", "", frame.wall_time > 0 ? frame.time / frame.wall_time : k_unknown});
  for (const auto& [name, seconds] : frame.phases) all.push_back({"time_" + name, "s", seconds});
  return all;
}

}  // namespace exemplar
