// Notices bodies that are lost: that have gone through an obstacle or left the world, have no volume any more or many times
// their own, have fallen to their nodes, or been torn to many times their size. Methods without barriers can lose a body
// without any number becoming infinite, and a table of such a run means nothing: advance() then ends with Status::failed and
// the reason (LAMMPS stops at "lost atoms" for the same purpose). Lengths in metres, times in seconds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/state_member.h"
#include "core/run/method.h"
#include "core/scene/scene.h"

namespace exemplar {

// A warning for every body that starts inside an obstacle or another body, with the depth.
Notes overlap_notes(const Scene& scene);
// The part of it that is about bodies inside each other.
Notes body_overlap_notes(const Scene& scene);

struct WatchedBody {
  Points surface;         // vertices of the body's surface now
  Points particles;       // everything else that is simulated and belongs inside it; may be empty
  bool may_tear = false;  // has broken: its size and volume say nothing any more
  double whole = 1;       // share of what holds it together that has not broken
};

class BodyWatch {
 public:
  BodyWatch() = default;
  explicit BodyWatch(const Scene& scene);

  // The reason to stop, if there is one; call it where a frame ends. A body may be flat or inside out for a moment (the
  // worst of an impact), so that is said only after a tenth of a second or ten frames.
  std::optional<std::string> check(const std::vector<std::pair<Vec3, Quat>>& obstacle_poses,
                                   std::span<const WatchedBody> bodies, double time);

  struct State {
    std::vector<double>
        flat_since;  // s, per body: since when it has had next to no volume; < 0: it has its own

    static constexpr auto described() { return std::tuple(member("flat_since", &State::flat_since)); }
  };
  const State& state() const { return m_state; }
  // Throws InputError if it is another scene's.
  void set_state(State state);

 private:
  struct Rest {
    double volume = 0;  // m³; 0: not closed
    double size = 0;    // diagonal, m
  };
  std::optional<std::string> check_body(std::size_t index, const WatchedBody& body, double time);
  std::optional<std::string> check_place(std::size_t index, const WatchedBody& body) const;
  std::optional<std::string> check_volume(std::size_t index, const WatchedBody& body, double time);
  std::optional<std::string> check_obstacles(std::size_t index, const WatchedBody& body,
                                             const std::vector<ObstacleState>& states) const;

  const Scene* m_scene = nullptr;
  std::vector<Rest> m_rest;
  State m_state;
  double m_patience = 0.1;  // s
  double m_reach = 0;       // m: nothing of the scene gets farther away than this
};

}  // namespace exemplar
