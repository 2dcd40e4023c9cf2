// One shape-matched body in time: particles, levels of cells, plasticity, sleep. Knows arrays only; contact
// and scenes are the method's (method.cpp).
//
// A step of length h (bugbear2009 §3.1.2, eq. 2.21–2.22):
//   1. v ← v + h f/m; plastic flow of the finest cells
//   2. x̂ = x + θ h (v − rigid part of v): θ damps deformation and leaves rigid motion alone (stiffness.h)
//      A body that settles (stiffness.h) takes the mean of this deformation velocity and the last step's: friction
//      between two bodies kept cells at their edges swinging to and fro, the other way in every step, for ever.
//   3. goals: coarser levels first, y ← y + α_l (g(y) − y), then `iterations` passes over the finest level
//   (§3.2). After each pass contact has its say: what would be inside an obstacle is moved out of it before the
//   next pass, so that the body as a whole feels its support within the step
//   4. v ← v + (y − x̂)/h, less a rotation that takes out the angular momentum which look-ahead and repeated
//   passes would
//      add (one pass without look-ahead conserves it exactly; so does this); contact once more
//   5. x ← x + h v
// `conserve_volume`: besides T/∛det T of every cell (cell_set.h) the whole body keeps its volume, by the uniform
// pressure that brings the volume of its surface back in each step, after 4, in turns with contact: an obstacle that takes
// back its half of what the pressure did leaves the other half too small (a cube pressed to half its height kept 0.66). A cell whose
// T is a rotation keeps its volume anyway, and nothing in it answers when its particles are pressed together:
// without the pressure the setting did nothing at β = 0 and little below 0.99.
//
// Departure: the thesis collides particles after the goals. A lying body of several cells then never rests:
// its upper cells fall by g h² in each step and are pulled back in the next (0.2 m/s for ever, and a body that
// yields is ratcheted flat by it).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "meshless/shape_matching/cell_set.h"
#include "meshless/shape_matching/plasticity.h"
#include "meshless/shape_matching/rigid_motion.h"
#include "meshless/shape_matching/stiffness.h"
#include "meshless/shape_matching/surface_volume.h"

namespace exemplar::shape_matching {

struct SleepOptions {
  bool enabled = false;
  double speed = 5e-3;  // RMS speed of the deformation below which the body may fall asleep [m/s]
  double delay = 0.1;   // for how long [s]
};

struct BodyOptions {
  MatchOptions match;
  PlasticityOptions plasticity;
  SleepOptions sleep;
  int levels = 1;              // 1: only the cells given; each further level is about twice as coarse
  StiffnessRequest stiffness;  // dt and radii are filled in here
};

// A supported particle: which of its coordinates are held, and the velocity that they get.
struct HeldParticle {
  int particle = 0;
  std::array<bool, 3> held{true, true, true};
  Vec3 velocity = Vec3::Zero();  // m/s
};

class ShapeMatchingBody {
 public:
  ShapeMatchingBody(CellModel model, const BodyOptions& options);

  // `forces` (newtons, one row a particle) may be empty.
  void step(double dt, const Vec3& gravity, const Points& forces = {});
  // A step in parts, so that contact has its say between passes, with other bodies that are at the same pass too:
  //   begin_step(…);  while (next_pass()) { v = trial_velocities(); contact changes v; take(v's change); }
  //   end_passes();  contact changes velocities, in turns with keep_volume(dt);  move(dt).
  // `has_contact`: take() may be called, and the body may settle.
  void begin_step(double dt, const Vec3& gravity, const Points& forces = {}, bool has_contact = false);
  bool next_pass();                 // false: there is none left
  bool has_pass_left() const;       // after the one that next_pass made
  Points trial_velocities() const;  // the goals so far stand for the velocities that lead there
  void take(const Points& change);  // what contact added to them, m/s
  void end_passes();
  // `conserve_volume`: the pressure that brings the volume back; false if there was nothing to do. In turns with contact.
  bool keep_volume(double dt);
  // Of what this surface encloses, rather than the sum of the cells' volumes: that counts the linear part of a cell's
  // deformation only (a pressed cube of clusters kept 0.78 of its volume) and weighs cells by their mass.
  void keep_volume_of(SurfaceVolume surface) { m_surface = std::move(surface); }
  void move(double dt);

  // Held particles move as they are told, or stay where they are; they take part in every fit.
  void set_supports(std::vector<HeldParticle> particles);
  void set_held(const std::vector<int>& particles);
  void wake();
  // Awake for this step; falls asleep again at its end if it is quiet still.
  void rouse() { m_memory.is_asleep = false; }
  // Asleep and in contact: stays where it is.
  void lie_still();
  bool is_asleep() const { return m_memory.is_asleep; }

  Points positions, velocities;
  const Points& rest_positions() const { return m_model.rest_positions; }
  const VecX& masses() const { return m_model.masses; }
  const CellSet& cells() const { return m_levels.front(); }
  const std::vector<CellSet>& levels() const { return m_levels; }
  const CellPlasticity& plasticity() const { return m_plasticity; }
  const StiffnessPlan& plan(double dt);
  CloudMotion motion() const;
  double kinetic_energy() const;
  int flowing_cells() const { return m_memory.flowing_cells; }  // in the last step
  double largest_plastic_deformation() const;

  // What else of the last steps the next ones depend on.
  struct Memory {
    bool is_asleep = false, was_settling = false;
    double quiet_time = 0.0;  // s
    int flowing_cells = 0;
    Vec3 centre = Vec3::Zero();        // m
    Mat3 rotation = Mat3::Identity();  // of the whole body
    Points last_deformation;  // of a body that settles: v − rigid part at the start of the last step, m/s

    static constexpr auto described() {
      return std::tuple(
          member("is_asleep", &Memory::is_asleep), member("was_settling", &Memory::was_settling),
          member("quiet_time", &Memory::quiet_time), member("flowing_cells", &Memory::flowing_cells),
          member("centre", &Memory::centre), member("rotation", &Memory::rotation),
          member("last_deformation", &Memory::last_deformation));
    }
  };
  struct State {
    Points positions, velocities;
    Memory memory;
    CellPlasticity::State plasticity;
    std::vector<CellSet::State> levels;

    static constexpr auto described() {
      return std::tuple(member("positions", &State::positions), member("velocities", &State::velocities),
                        member("memory", &State::memory), member("plasticity", &State::plasticity),
                        member("levels", &State::levels));
    }
  };
  State state() const;
  // Throws InputError if it is another body's.
  void set_state(State state);

 private:
  static int active_levels(const StiffnessPlan& now);
  void look_ahead(const CloudMotion& motion, double time);
  bool is_single_pass(const StiffnessPlan& now) const;
  void blend(double alpha);
  void hold(Points& rates, bool moves) const;
  double volume_at(const Points& at, Points& gradient, double& rest) const;
  bool settles(const StiffnessPlan& now, const Vec3& gravity) const;
  template <class GoalOf>
  MomentumSum pull(const Points& ahead, double rate, const Vec3& gravity_step, const GoalOf& goal_of);
  void take_out(const MomentumSum& added, const CloudMotion& motion);
  void move_rigidly(double dt);
  void update_sleep(double dt);
  void flow(double dt);

  CellModel m_model;
  BodyOptions m_options;
  std::vector<CellSet> m_levels;  // finest first
  CellPlasticity m_plasticity;
  StiffnessPlan m_plan;
  double m_plan_dt = 0.0, m_plan_softness = 1.0;
  std::vector<HeldParticle> m_held;
  std::optional<SurfaceVolume> m_surface;
  Memory m_memory;
  Points m_ahead, m_goals, m_pass;  // x̂, y, and the last pass' goals
  // Between begin_step and end_passes.
  struct Step {
    double dt = 0;
    Vec3 gravity = Vec3::Zero();
    bool has_contact = false, is_plain = false, is_ahead = false;
    CloudMotion motion;
    std::size_t level = 0;  // the next pass is over this level; 0: the finest
    int pass = 0;           // passes over the finest so far
    Points before;          // y before them where α < 1
  } m_step;
  void calm(const CloudMotion& motion, bool settles, double dt);
  const Points& ahead() const { return m_step.is_ahead ? m_ahead : positions; }
  Points m_touched;  // what contact added to the velocities between passes
};

}  // namespace exemplar::shape_matching
