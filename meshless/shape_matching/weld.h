// A part that is welded to another body and may come off (bugbear2009 §1.2, §3.4: car models consist of several meshes,
// each with parameters of its own, that come off when their connection receives enough).
//
// Particles of the part that lie at the other body's surface are tied to it: each to an affine combination of the
// particles of that body's nearest cell, which is the same point at the start. Impulses hold the two together; they act
// at one point on both sides, so that linear and angular momentum are kept. They are sequential impulses like those of
// contact (carried_contact.h) and start a step with those of the last one.
//
// What has gone through the weld lately, J ← J exp(−h/τ) + Σ impulses of the step [N s], decides: above the weld's limit
// the part comes off. A blow that is short against τ counts with its impulse, whatever the step; a lasting force F
// counts with F τ.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/base/state_member.h"
#include "core/contact/particle_contact.h"
#include "meshless/shape_matching/cells.h"

namespace exemplar::shape_matching {

struct WeldOptions {
  double detach_impulse = std::numeric_limits<double>::infinity();  // N s
  double detach_time = 0.01;                                        // τ [s]
};

// One side of a weld: present positions and what moves them; borrowed.
struct WeldSide {
  Points* positions = nullptr;
  const Points* inverse_masses = nullptr;  // per coordinate; zero where it is held [1/kg]
};

class Weld {
 public:
  // `particles` of the part, tied to the cells of the other body.
  Weld(std::vector<int> particles, const Points& part_positions, const Cells& cells, const Points& positions,
       const WeldOptions& options);

  bool holds() const { return m_state.holds; }
  int points() const { return static_cast<int>(m_particles.size()); }
  double impulse() const { return m_state.recent.norm(); }  // J

  // A step of `dt`: begin, sweeps between the passes, end.
  void begin(const WeldSide& part, const WeldSide& other, double dt);
  // Once over all points; returns the largest change of a velocity between the two [m/s].
  double sweep(Points& of_part, Points& of_other);
  // After the move: takes back half of what the two are apart, without a velocity. Then the weld may break.
  void end(const WeldSide& part, const WeldSide& other);

  struct State {
    bool holds = true;
    double dt = 0;               // s, of the last step
    Vec3 recent = Vec3::Zero();  // J
    std::vector<Vec3> sums;      // N s, of the points in this step

    static constexpr auto described() {
      return std::tuple(member("holds", &State::holds), member("dt", &State::dt),
                        member("recent", &State::recent), member("sums", &State::sums));
    }
  };
  const State& state() const { return m_state; }
  // Throws InputError if it is another weld's.
  void set_state(State state);

 private:
  void apply(std::size_t point, const Vec3& amount, const WeldSide& part, const WeldSide& other,
             Points& of_part, Points& of_other) const;

  std::vector<int> m_particles;
  CarriedPoints m_images;  // on the other body
  WeldOptions m_options;
  std::vector<Vec3> m_inverse_masses;  // of the points
  State m_state;
  WeldSide m_part, m_other;
  bool m_has_begun = false;
};

// The point as an affine combination of the cell's particles.
void add_affine_point(const Vec3& point, std::span<const int> particles, const Points& positions,
                      CarriedPoints& out);

}  // namespace exemplar::shape_matching
