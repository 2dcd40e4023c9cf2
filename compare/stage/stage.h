// What pictures of a run need to know of its scene: how it is looked at, and who is who in its frames.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/stage/camera.h"
#include "core/output/fields.h"
#include "core/scene/scene_settings.h"

namespace exemplar::stage {

// What light does on a body's surface.
enum class Look { plain, metal, rubber, cloth, glass };

struct Stage {
  CameraSettings camera;
  // Copies one by one, in the order of the arrays `body` and `obstacle` of written frames.
  std::vector<std::string> bodies, obstacles;
  std::vector<Look> looks;  // of the bodies
};

// From the settings in run.json; what is missing or damaged there is left out.
Stage read_stage(const std::string& settings);

// Places of the one called `name`, or of all its copies ("name-1", "name-2", …).
std::vector<int> places_of(const std::vector<std::string>& names, const std::string& name);
// The same; throws InputError with `option` and the names there are when there is none.
std::vector<int> known_places(const std::vector<std::string>& names, const std::string& name,
                              const std::string& option);

// Places of the scene's hidden obstacles and of those named in `wishes` ("obstacles": all of them).
std::vector<int> hidden_obstacles(const Stage& stage, const std::vector<std::string>& wishes);

// Which body each point belongs to; 0 where the frame does not say.
std::vector<int> body_of_points(const Geometry& shown);

// Point indices of one cell.
std::vector<int> cell_points(const Geometry& geometry, std::size_t cell);

// Each obstacle of a frame.
struct ObstacleBox {
  Box box;
  std::vector<int> points;  // some of them more than once
  bool is_plane = false;
};
std::map<int, ObstacleBox> obstacle_boxes(const Geometry& obstacles);

// The same points with some of the cells.
Geometry kept_cells(const Geometry& geometry, const std::vector<bool>& is_kept);
// Without the cells of some obstacles.
Geometry without_obstacles(const Geometry& obstacles, const std::vector<int>& hidden);

// Places of obstacles that are not where they were, of one run over time.
std::vector<int> moving_obstacles(const std::vector<const Geometry*>& over_time);

// The shape at rest laid over each body where it is now (best rigid motion, by distances); no rows where the frame has no array
// `displacement`.
Points rest_over(const Geometry& shown);

// How far each point is from its shape at rest, m; zeros where that is not known.
VecX change_of_shape(const Geometry& shown);

// Of arrays whose unit is known; empty for plain numbers and all others.
std::string unit_of_array(const std::string& name);

}  // namespace exemplar::stage
