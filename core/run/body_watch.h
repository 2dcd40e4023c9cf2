// Notices bodies that are lost: that have gone through an obstacle, turned inside out for good, or been torn to
// many times their size. Methods without barriers can lose a body without any number becoming infinite, and a
// table of such a run means nothing: advance() then ends with Status::failed and the reason (LAMMPS stops at
// "lost atoms" for the same purpose). Lengths in metres, times in seconds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

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
};

class BodyWatch {
 public:
  BodyWatch() = default;
  explicit BodyWatch(const Scene& scene);

  // The reason to stop, if there is one; call it where a frame ends. A body may be inside out for a moment (the
  // worst of an impact), so it is reported only after a tenth of a second or ten frames.
  std::optional<std::string> check(const std::vector<std::pair<Vec3, Quat>>& obstacle_poses,
                                   std::span<const WatchedBody> bodies, double time);

  // Since when each body has been inside out; < 0: it is not.
  std::vector<double> state() const { return m_inverted_since; }
  void set_state(std::vector<double> state) { m_inverted_since = std::move(state); }

 private:
  struct Rest {
    double volume = 0;  // m³; 0: not closed
    double size = 0;    // diagonal, m
  };
  std::optional<std::string> check_body(std::size_t index, const WatchedBody& body, double time);
  std::optional<std::string> check_obstacles(std::size_t index, const WatchedBody& body,
                                             const std::vector<ObstacleState>& states) const;

  const Scene* m_scene = nullptr;
  std::vector<Rest> m_rest;
  std::vector<double> m_inverted_since;
  double m_patience = 0.1;  // s
};

}  // namespace exemplar
