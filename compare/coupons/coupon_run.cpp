#include "compare/coupons/coupon_run.h"

#include <fmt/format.h>
#include <time.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/errors.h"
#include "core/scene/checks/start_check.h"

namespace exemplar::coupons {

namespace {

constexpr std::pair<Outcome, const char*> k_outcomes[] = {{Outcome::measured, "measured"},
                                                          {Outcome::cut, "cut"},
                                                          {Outcome::failed, "failed"},
                                                          {Outcome::left_out, "not modelled"},
                                                          {Outcome::not_run, "not run"}};

// Processor time of this thread, s: runs side by side do not count for each other.
double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// One set-up at a time: TetGen keeps its tables for the whole program.
std::unique_ptr<LiveRun> set_up(const Registry& registry, const Coupon& coupon, const Subject& subject) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return std::make_unique<LiveRun>(
      parse_scene(scene_for(coupon, subject), coupon.name + ".json", registry.descriptions()), registry,
      subject.method);
}

void look(const Coupon& coupon, const LiveRun& run, Course& course) {
  course.times.push_back(run.time());
  course.rows.push_back(coupon.watch(run, run.surface().points));
}

// Frame by frame to the end, or as far as the budget goes.
class Watch {
 public:
  Watch(LiveRun& run, const Coupon& coupon, const Budget& budget, double start)
      : m_run(run), m_coupon(coupon), m_budget(budget), m_start(start) {}

  Course go_on(CouponRun& result) {
    const int frames = m_run.scene().frame_count();
    Course course;
    course.wanted = m_run.scene().frame_time(frames);
    look(m_coupon, m_run, course);
    while (m_run.frame() < frames) {
      const StepReport report = advance(result);
      if (report.status != Status::ok) {
        tell(report, result);
        break;
      }
      if (m_run.frame() % m_coupon.every == 0 || m_run.frame() == frames) look(m_coupon, m_run, course);
    }
    return course;
  }

 private:
  StepReport advance(CouponRun& result) {
    const double before = thread_seconds();
    const StepReport report = m_run.advance_frame(
        [&] { return thread_seconds() - m_start > m_budget.seconds || m_budget.interrupted(); });
    result.cpu_seconds += thread_seconds() - before;
    return report;
  }

  void tell(const StepReport& report, CouponRun& result) const {
    if (report.status == Status::failed) {
      result.outcome = Outcome::failed;
      result.reason = fmt::format("at {:.3g} s: {}", m_run.time(), report.message);
      return;
    }
    const bool by_user = m_budget.interrupted();
    result.outcome = by_user ? Outcome::not_run : Outcome::cut;
    result.reason = by_user ? "interrupted"
                            : fmt::format("cut after {:.3g} of {:.3g} s by the budget of {:.3g} s",
                                          m_run.time(), m_run.scene().time.duration, m_budget.seconds);
  }

  LiveRun& m_run;
  const Coupon& m_coupon;
  const Budget& m_budget;
  double m_start;
};

void add_warnings(const Notes& notes, CouponRun& result) {
  for (const Note& note : notes) {
    if (note.severity == Severity::warning) result.warnings.push_back(note.text);
  }
}

void run_through(LiveRun& run, const Coupon& coupon, const Subject& subject, const Budget& budget,
                 double start, CouponRun& result) {
  const Course course = Watch(run, coupon, budget, start).go_on(result);
  add_warnings(scene_warnings(run.scene()), result);
  for (const Body& body : run.scene().bodies) add_warnings(body.notes(), result);
  add_warnings(run.method().notes(), result);
  const bool counts = result.outcome == Outcome::measured ||
                      (result.outcome == Outcome::cut && coupon.counts_cut && course.times.size() > 2);
  if (counts) result.readings = coupon.read(subject, course);
}

}  // namespace

std::string to_string(Outcome outcome) {
  for (const auto& [value, text] : k_outcomes) {
    if (value == outcome) return text;
  }
  return "";
}

Outcome outcome_from(const std::string& text) {
  for (const auto& [value, name] : k_outcomes) {
    if (text == name) return value;
  }
  throw InputError("'" + text + "' is no outcome of a coupon");
}

Subject subject_for(const MethodInfo& method, int resolution) {
  return {method.name, method.capabilities, resolution, method.name == "shell"};
}

Json scene_for(const Coupon& coupon, const Subject& subject) {
  Json scene{{"title", coupon.title},
             {"description", fmt::format("Coupon {} for {}, resolution {} of {}.", coupon.name,
                                         subject.method, subject.resolution, k_resolutions)}};
  scene.update(coupon.scene(subject));
  return scene;
}

CouponRun run_coupon(const Registry& registry, const Coupon& coupon, const Subject& subject,
                     const Budget& budget) {
  CouponRun result;
  const double start = thread_seconds();
  try {
    const std::unique_ptr<LiveRun> run = set_up(registry, coupon, subject);
    run_through(*run, coupon, subject, budget, start, result);
  } catch (const InputError& error) {
    result.outcome = Outcome::failed;
    result.reason = error.what();
  }
  return result;
}

}  // namespace exemplar::coupons
