// Where the camera stands in the pictures of a sheet, a film or a page: as the scene or the caller says, else so that
// what moves and deforms fits, not its whole path and not the ground; with close-ups where the bodies are small.
// Metres.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/stage/camera.h"
#include "compare/stage/stage.h"

namespace exemplar::stage {

// One moment of one run; without `shown` the run had ended.
struct Moment {
  const Geometry* shown = nullptr;
  const Geometry* obstacles = nullptr;  // those that are drawn; may be null
};
using Moments = std::vector<std::vector<Moment>>;  // by run, then by time

inline constexpr const char* k_no_close_up = "none";

// What a caller asks for; what it leaves open is as the scene says.
struct FramingWishes {
  std::optional<Vec3> direction;  // from the scene to the camera, for up = y
  Vec3 up = Vec3::UnitY();
  double zoom = 1;
  std::string follow;                  // a body
  std::vector<std::string> close_ups;  // bodies; k_no_close_up: the wide picture alone
  double aspect = 4.0 / 3;             // width over height of a picture
};

// One way of looking at all moments.
struct Shot {
  std::string name;  // of a close-up; empty: the wide picture
  // By run, then by time.
  std::vector<std::vector<Camera>> cameras;
  std::vector<std::vector<Box>> subjects;  // what is looked at: around it the ground is drawn
};

// The wide picture first. Throws InputError for bodies that are not there.
std::vector<Shot> frame_shots(const Moments& moments, const Stage& stage, const FramingWishes& wishes);

// Bodies whose change of shape is at least a quarter of the largest one, over their sizes; largest first;
// none where nothing deforms.
std::vector<int> deformed_bodies(const Moments& moments);

// Below this part of a wide picture that the deformed bodies take there is a close row.
inline constexpr double k_small_share = 0.08;

}  // namespace exemplar::stage
