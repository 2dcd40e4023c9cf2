// What `exemplar rig` and `exemplar pose` show: a folder like a run's, so that `scripts/render`, ParaView and the
// report's viewer open it. surface.pvd: the body's surface with its arrays; obstacles.pvd: the handles as balls.
#pragma once

#include <filesystem>
#include <vector>

#include "core/mesh/mesh.h"
#include "core/output/target_file.h"
#include "core/rig/bone_fit.h"
#include "core/rig/rig.h"

namespace exemplar {

// Before anything expensive: throws InputError when `directory` holds a run, or collections that may not be replaced.
void check_preview(const std::filesystem::path& directory, const WriteRule& rule);

// One frame per handle, with its weight as point array `weight`; in every frame also `strongest_handle`. The last
// frame shows the strongest handles alone (`weight`: the largest of the point).
void write_rig_preview(const std::filesystem::path& directory, const WriteRule& rule, const TriMesh& surface,
                       const Rig& rig);

// Frames from rest to the pose; arrays `displacement` and, when there is a target, `fit_error` [m].
void write_pose_preview(const std::filesystem::path& directory, const WriteRule& rule, const TriMesh& surface,
                        const Rig& rig, const BonePose& pose, const Points* target);

}  // namespace exemplar
