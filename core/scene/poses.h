// Example poses from their settings: as surfaces and, where a method asks for them, as volumes (schumacher2012
// §3; 00-product: one pose, several representations). A pose given only on the surface is extended to the
// volume by an elastic solve with the surface held.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/scene/scene.h"

namespace exemplar {

// What a pose is made from: the body at rest in its own coordinates.
struct PoseContext {
  const BodySettings* settings = nullptr;
  const TriMesh* surface = nullptr;  // the user's vertices, body coordinates
  std::function<Volume()> volume;    // body coordinates; made when a pose needs it
  std::string directory;             // where relative files start
  std::string path;                  // JSON path of the body
};

// All examples of a body in body coordinates. Throws InputError: unreadable files, other topology; for volumes
// also inverted elements.
std::vector<Example> make_examples(const PoseContext& context);
std::vector<VolumeExample> make_volume_examples(const PoseContext& context);

// How many tets a pose turns inside out, and the worst of them.
struct Inversions {
  int count = 0;
  int worst = -1;
  double worst_ratio = 1;  // smallest volume over rest volume
};
Inversions count_inversions(const TetMesh& rest, const Points& pose);

}  // namespace exemplar
