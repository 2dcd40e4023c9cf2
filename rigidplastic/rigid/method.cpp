#include "rigidplastic/rigid/method.h"

#include <fmt/format.h>

#include "core/output/described_state.h"
#include "rigidplastic/simulation/simulation.h"

namespace exemplar::rigid {

namespace {

class RigidMethod : public Method {
 public:
  RigidMethod(const Scene& scene, const Settings& settings)
      : m_simulation(scene, {settings.max_step, settings.solver_iterations}) {
    m_simulation.add_scene_bodies(settings.collision);
  }

  StepReport advance(double until, const InterruptCheck& interrupted) override {
    return m_simulation.advance(until, interrupted);
  }
  std::vector<Geometry> fields() const override { return {m_simulation.surface_fields()}; }
  Diagnostics diagnostics() const override { return m_simulation.diagnostics(); }
  void save(StateWriter& out) const override { write_state(out, m_simulation.state()); }
  void load(StateReader& in) override {
    SimulationState state;
    read_state(in, state);
    m_simulation.restore(state);
  }
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override { return m_simulation.obstacle_poses(); }
  PhaseTimes phase_times() const override { return {{"bullet", m_simulation.bullet_seconds()}}; }
  Notes notes() const override;

 private:
  Simulation m_simulation;
};

Notes RigidMethod::notes() const {
  Notes notes;
  for (const RigidBody& body : m_simulation.bodies()) {
    notes.push_back({Severity::note, fmt::format("{}: {:.4g} kg, collides as its {}", body.name, body.mass,
                                                 body.shape.description())});
  }
  for (Note& note : m_simulation.support_notes()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<RigidMethod>(scene, settings);
}

}  // namespace exemplar::rigid
