// What of a scene a camera sees: a small picture with depth, drawn without graphics. By it pictures are framed, and by
// it tests know how much of a picture the bodies take.
#pragma once

#include <map>
#include <vector>

#include "compare/stage/camera.h"
#include "core/output/fields.h"

namespace exemplar::stage {

inline constexpr int k_nobody = -1, k_behind_obstacle = -2;

struct Visible {
  int width = 0, height = 0;
  std::vector<float> depth;  // m before the camera, row after row from the top
  std::vector<int> owner;    // body of each pixel, or one of the numbers above
  std::vector<float> value;  // of the point that is seen; 0 elsewhere

  // Part of the picture, 0 … 1.
  double share(int body) const;
  double share_of_bodies() const;
  std::map<int, double> values_of_bodies() const;
};

// `obstacles` may be null; planes hide nothing. `values`: one a point of `shown`, or none.
Visible look(const Camera& camera, double aspect, int height, const Geometry& shown,
             const Geometry* obstacles = nullptr, const VecX& values = {});

}  // namespace exemplar::stage
