// How far a run still is from the limit of ever finer steps and meshes, from runs that are finer and finer (Richardson).
//
// A quantity on three levels of step, each half of the one before, moves by d1 and then by d2. Where d2 ≤ 0.7 d1 it
// converges, and what is left after the finest is the tail of a geometric series, d2 r / (1 − r) with r = d2 / d1; after
// the middle one d2 / (1 − r). r is taken as at least that of second order, 1/4 where steps are halved and 4^(−2/3) = 0.4 where
// the accuracy is divided by four: a lucky pair must not promise more. Steps that
// follow an accuracy fall where they will, and small differences scatter: where both are below a twentieth of the motion
// (a plank that leaps: 0.4 mm, then 1.7 of 56), three times the larger one is taken. Of the mesh there are two levels, and
// first order is assumed: with cells smaller by n what is left after the finer is d / (n − 1). A sheet's own triangles are
// halved (n = 2); its finer surface is compared at the vertices of the coarse one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/reference/reference_file.h"
#include "compare/results/run_data.h"

namespace exemplar {

inline constexpr double k_finer_mesh = 1.5;  // n of volumes
inline constexpr int k_finer_sheet = 2;      // n where the surface itself is refined

// r of a second-order method, where steps are halved and where their accuracy is divided by four.
inline constexpr double k_fastest_of_halves = 0.25, k_fastest_of_accuracy = 0.397;

// What is left after the middle level; nothing where it does not converge. Differences below `floor` are converged.
std::optional<double> left_after_middle(double first_difference, double second_difference, double floor,
                                        double fastest = k_fastest_of_halves);

// The same, and what is said of small differences that scatter. `size`: of the quantity itself.
std::optional<double> left_by_steps(double first_difference, double second_difference, double size,
                                    double fastest = k_fastest_of_halves);

// One run of the ladder and what it changes in the scene (--set).
struct RefinementLevel {
  std::string name;  // base, step-2, step-4, mesh
  std::vector<Setting> settings;
};

// The scene's own steps, half and a quarter of them, and the finer mesh at half. `scene` after the study's settings.
// A fixed number of steps per frame is multiplied; of steps that follow the accuracy that is divided by four a level, which
// makes them about 4^(1/3) = 1.6 times shorter (180, 283, 447 on the plank) and the error of a second-order method 2.5 times.
// Throws InputError when the scene has no volume that can be refined.
std::vector<RefinementLevel> refinement_ladder(const Json& scene);

// What is known of one frame.
struct FrameUncertainty {
  double time = 0;
  double step_rms = 0, mesh_rms = 0;    // m; NaN: does not converge
  double total_rms = 0, total_max = 0;  // m
  double total_shape = 0;               // m, RMS after the best rigid motion of each body
};

struct Certificate {
  ReferenceFile file;  // the run on the finer mesh
  std::vector<FrameUncertainty> frames;
};

// From the four finished runs of the ladder, in its order. Throws InputError when they do not fit together.
Certificate certify(const std::vector<RunData>& runs);

}  // namespace exemplar
