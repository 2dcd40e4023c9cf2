// A run that one can hold on to: scene, method and clock, with snapshots, and with everything that may be changed while it
// runs. `exemplar run`, the studio and tests all drive this one.
//
// Changes go into the scene's document first, so that it always says what is simulated. A pull is read from the scene in each
// step. For everything else the method is made anew from the changed scene and goes on from the state it had (a setting that
// is described as live, FieldSpec::live) or from the start (any other). Energy that such a change gives or takes counts as
// external work. Units: s, m, N, kg, J.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/run/frame_metrics.h"
#include "core/run/registry.h"

namespace exemplar {

inline InterruptCheck never_interrupted() {
  return [] { return false; };
}

class LiveRun {
 public:
  // Makes scene and method. Throws InputError, also for bodies that start inside things.
  LiveRun(SceneFile file, const Registry& registry, const std::string& method);
  // On what was made elsewhere and outlives this; then nothing can be changed.
  LiveRun(const Scene& scene, Method& method);

  const SceneFile& file() const { return m_file; }
  const Scene& scene() const { return *m_scene; }
  const Method& method() const { return *m_method; }
  int frame() const { return m_frame; }             // the last one that is behind
  double time() const { return m_time; }            // s
  double wall_time() const { return m_wall_time; }  // s in steps so far

  // Both leave the state of the last good step where they do not come to their end.
  StepReport step_to(double time, const InterruptCheck& interrupted = never_interrupted());
  StepReport advance_frame(const InterruptCheck& interrupted = never_interrupted());

  // The state as it is.
  struct Frame {
    FrameMetrics metrics;  // steps and iterations: of the last advance
    std::vector<Geometry> geometries;
  };
  Frame measure() const;
  // Of all bodies, in scene order.
  Geometry surface() const;

  StateArrays state() const;
  struct Snapshot {
    std::string document;  // the scene's, then
    int frame = 0;
    double time = 0;
    // Of changes so far, see external_work and numerical_dissipation, J.
    double work = 0, numerical = 0;
    StateArrays state;
  };
  Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);
  // Goes on from a checkpoint of the same scene and method.
  void resume(int frame, double wall_time, const StateArrays& state);

  enum class Effect { at_once, restarted };
  // `path` as of --set, `value` JSON. Throws InputError with its place, and then nothing has changed.
  Effect set(const std::string& path, const std::string& value);

  struct Hold {
    std::string body;
    int triangle = 0;                 // of the body's surface
    Vec3 barycentric = Vec3::Zero();  // on it
  };
  // The place on the surfaces as they are now that is nearest to a point.
  Hold nearest(const Vec3& point) const;
  Vec3 place(const Hold& hold) const;
  // From now on; the number by which it is moved and released (of its load in the scene).
  int add_pull(const Hold& hold, const Vec3& target, double stiffness, std::optional<double> max_force);
  // A pull that keeps the point where it is now.
  int add_pin(const Hold& hold);
  // The target goes there within the next frame. Throws InputError for what is no pull that was added to this run.
  void move_pull(int pull, const Vec3& target);
  // Acts no more from now on, or from the next frame on if it was added at this one.
  void release_pull(int pull);
  // A free ball among the obstacles. Refused (InputError) inside of a body, now or in its initial state, and where the
  // method cannot take it up while it runs.
  void throw_ball(const Vec3& position, const Vec3& velocity, double radius, double mass);

 private:
  struct Made {
    SceneFile file;
    std::unique_ptr<Scene> scene;
    std::unique_ptr<Method> method;
  };
  enum class From { start, state };
  Made make(SceneFile file, From from) const;
  void take(Made made);
  void start_again(Made made);
  void go_on_with(Made made);
  SceneFile with_document(const std::string& document) const;
  void change_loads(const std::function<void(Json& loads)>& change);

  SceneFile m_file;
  MethodDescriptions m_descriptions;
  const MethodInfo* m_info = nullptr;  // null: nothing can be changed
  AnySettings m_settings;              // the method's: it may refer to them
  std::unique_ptr<Scene> m_own_scene;
  std::unique_ptr<Method> m_own_method;
  const Scene* m_scene;
  Method* m_method;
  int m_frame = 0;
  double m_time = 0;
  double m_wall_time = 0;
  StepReport m_last;                  // of the last advance
  double m_start_energy = k_unknown;  // J, stored_energy() of the initial state
  double m_work = 0, m_numerical = 0;
};

}  // namespace exemplar
