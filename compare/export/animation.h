// The surfaces of runs over time, ready to be written in the formats of other programs. Lengths in metres,
// times in seconds, y up.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

// Consecutive frames with the same triangles: one for a body that stays whole, more for one that breaks.
struct AnimationPart {
  std::size_t first_frame = 0;  // index into Animation::times
  Triangles triangles;
  std::vector<Points> frames;
};

// The surface of a run, or its obstacles.
struct AnimationTrack {
  std::string name;
  Vec3 colour = Vec3(0.8, 0.8, 0.8);  // linear red, green, blue
  std::vector<AnimationPart> parts;
};

// Bodies at rest and their examples, which the run's weights w_i mix: rest + Σ w_i (example_i − rest).
struct AnimationExamples {
  std::string name;
  Triangles triangles;
  Points rest;
  std::vector<std::string> names;
  std::vector<Points> displacements;         // example − rest, m
  std::vector<std::vector<double>> weights;  // a frame, then an example
};

struct Animation {
  std::string title;
  std::vector<double> times;  // s, from 0 on
  double fps = 0;
  std::vector<AnimationTrack> tracks;
  std::vector<AnimationExamples> examples;  // behind the tracks (−z), one a run that has weights
};

struct FrameRange {
  std::optional<int> first, last;  // none: all
};

// A run directory, or a comparison with its runs side by side along x. Throws InputError for frames that are
// not there and for what is neither.
Animation read_animation(const std::filesystem::path& directory, const FrameRange& range);

// One function a format; each throws OutputError, and InputError for what the format cannot hold.
void write_glb(const std::filesystem::path& file, const Animation& animation);
void write_usda(const std::filesystem::path& file, const Animation& animation);

// The one surface of a run that stays whole, which is all that a point cache can hold; InputError otherwise.
const AnimationPart& only_part(const Animation& animation);
void write_pc2(const std::filesystem::path& file, const AnimationPart& part);
// The mesh that a point cache moves: its first frame as FILE.pc2.obj, a name that no mesh of the user's own has.
std::filesystem::path mesh_beside(const std::filesystem::path& point_cache);
void write_first_frame(const std::filesystem::path& file, const AnimationPart& part);

// .mp4 (1920 × 1080) or .gif (half of that) of a run, or of a comparison side by side, drawn by exemplar-render and
// encoded by ffmpeg. Throws InputError when one of them is not there.
void write_movie(const std::filesystem::path& file, const std::filesystem::path& directory,
                 const Animation& animation, const FrameRange& range);

}  // namespace exemplar
