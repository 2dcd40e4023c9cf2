// What every frame of a run cost in the rigid solver and in deformation (jones2016 Fig. 11), as a table and as a picture.
#pragma once

#include <string>
#include <vector>

namespace exemplar::lbs {

struct FrameCost {
  double bullet = 0, deformation = 0;  // ms
};

// Differences of the times since the start, `phase_frames` of a SceneTiming: {bullet, deformation, …} in seconds.
std::vector<FrameCost> frame_costs_of(const std::vector<std::vector<double>>& phase_frames);

std::string frame_cost_table(const std::vector<FrameCost>& costs);  // CSV
// SVG: deformation stacked on the solver, one column a frame.
std::string frame_cost_picture(const std::vector<FrameCost>& costs, const std::string& title);

}  // namespace exemplar::lbs
