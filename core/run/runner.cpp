#include "core/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
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
  Loop(LiveRun& run, RunSink& sink, const RunOptions& options)
      : m_run(run), m_sink(sink), m_options(options) {}

  RunSummary run(const ResumePoint* resume) {
    m_summary.size = smallest_body(m_run.scene());
    const int frames = m_options.frames >= 0 ? m_options.frames : m_run.scene().frame_count();
    if (resume) {
      go_on_from(*resume);
    } else {
      show();
    }
    keep_state();
    m_last_checkpoint = Clock::now();
    const int period =
        m_options.checkpoint_frames > 0 ? m_options.checkpoint_frames : std::max(10, frames / 10);
    for (int frame = m_summary.last_frame + 1; frame <= frames; ++frame) {
      const StepReport report = advance();
      if (report.status != Status::ok) return stopped(report);
      if (const std::string odd = show(); !odd.empty()) return stopped({Status::failed, odd, 0, 0});
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
    m_summary.wall_time = m_run.wall_time();
    m_summary.steps = resume.steps;
    m_summary.iterations = resume.iterations;
    m_summary.worst_penetration = resume.worst_penetration;
    FrameMetrics metrics = m_run.measure().metrics;
    metrics.steps = resume.frame_steps;
    metrics.iterations = resume.frame_iterations;
    take(metrics);
  }

  StepReport advance() {
    const StepReport report = m_run.advance_frame(m_options.interrupted);
    m_summary.wall_time = m_run.wall_time();
    m_summary.steps += report.steps;
    m_summary.iterations += report.iterations;
    return report;
  }

  void take(const FrameMetrics& metrics) {
    m_summary.last_frame = metrics.frame;
    m_summary.last = metrics;
    m_summary.worst_penetration =
        std::fmax(m_summary.worst_penetration, metrics.diagnostics.deepest_penetration);
  }

  // Says why the frame is not shown, if it is not: nothing infinite is ever written.
  std::string show() {
    LiveRun::Frame frame = m_run.measure();
    std::string odd = frame.metrics.frame > 0 ? infinite_part(frame.metrics, frame.geometries) : "";
    if (!odd.empty()) return odd;
    take(frame.metrics);
    m_sink.frame(m_summary.last, std::move(frame.geometries));
    return odd;
  }

  void keep_state() { m_kept = m_run.state(); }

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

  LiveRun& m_run;
  RunSink& m_sink;
  const RunOptions& m_options;
  RunSummary m_summary;
  StateArrays m_kept;  // at the last good frame
  Clock::time_point m_last_checkpoint;
};

}  // namespace

RunSummary simulate(LiveRun& run, RunSink& sink, const RunOptions& options, const ResumePoint* resume) {
  Loop loop(run, sink, options);
  try {
    return loop.run(resume);
  } catch (const OutputError& error) {
    return loop.ended_by(error);
  }
}

}  // namespace exemplar
