#include "core/scene/poses.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/base/errors.h"
#include "core/elastic/modes.h"
#include "core/elastic/static_solve.h"
#include "core/mesh/files/files.h"
#include "core/mesh/mass_properties.h"
#include "core/scene/body_rig.h"
#include "core/scene/files/run_frame.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

std::vector<PoseMap> maps_of(const ExampleSettings& settings) {
  if (!settings.maps.empty()) return settings.maps;
  return {static_cast<const PoseMap&>(settings)};
}

Points mapped(const ExampleSettings& settings, const PoseContext& context, const Points& points) {
  return apply_maps(maps_of(settings), points, bounds_of(context.surface->vertices));
}

// The node at which an embedded point sits, or −1.
int node_at(const Embedding& embedding, const Tets& tets, Eigen::Index point) {
  for (int k = 0; k < 4; ++k) {
    if (embedding.weights(point, k) > 1 - 1e-9) return tets(embedding.tet[point], k);
  }
  return -1;
}

// Which nodes are known when the surface is: those on which surface vertices sit. In a cage there are none;
// then each node of a tet that holds surface vertices takes their mean displacement.
void held_nodes(const PoseContext& context, const Volume& volume, const Points& pose, std::vector<int>& held,
                Points& targets) {
  const TetMesh& mesh = volume.mesh;
  const Embedding& embedding = volume.surface;
  const Points displacement = pose - context.surface->vertices;
  Points sum = Points::Zero(mesh.vertices.rows(), 3);
  VecX weight = VecX::Zero(mesh.vertices.rows());
  for (Eigen::Index p = 0; p < pose.rows(); ++p) {
    const int node = node_at(embedding, mesh.tets, p);
    for (int k = 0; k < 4; ++k) {
      const int v = mesh.tets(embedding.tet[p], k);
      const double w = node < 0 ? std::max(embedding.weights(p, k), 0.0) : (v == node ? 1e6 : 0.0);
      sum.row(v) += w * displacement.row(p);
      weight[v] += w;
    }
  }
  for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
    if (weight[v] > 0.05) held.push_back(static_cast<int>(v));
  }
  targets.resize(static_cast<Eigen::Index>(held.size()), 3);
  for (std::size_t i = 0; i < held.size(); ++i) {
    const int v = held[i];
    targets.row(static_cast<Eigen::Index>(i)) = mesh.vertices.row(v) + sum.row(v) / weight[v];
  }
}

// A surface pose as a volume.
Points extended(const PoseContext& context, const Volume& volume, const Points& pose) {
  std::vector<int> held;
  Points targets;
  held_nodes(context, volume, pose, held, targets);
  StaticResult result = extend_to_volume(volume.mesh, held, targets, context.settings->material.poisson);
  if (!result.summary.converged()) {
    throw InputError(
        "the pose of the surface could not be extended into the volume (" + result.summary.message() +
        "): its triangles may fold over each other; use a milder pose, or a pose of the volume's nodes "
        "(.vtu, .msh, .mesh, .ele)");
  }
  return std::move(result.positions);
}

Points placed_back(const PoseContext& context, const Points& world) {
  const Quat rotation = rotation_of(context.settings->rotation);
  return (world.rowwise() - context.settings->position.transpose()) * rotation.toRotationMatrix();
}

bool is_tet_file(const std::string& file) {
  const std::string extension = fs::path(file).extension().string();
  return extension == ".vtu" || extension == ".msh" || extension == ".mesh" || extension == ".ele";
}

// Cells by their corners in ascending order; cells without area or volume are left out.
template <class Cells>
std::vector<std::vector<int>> sorted_cells(const Cells& cells) {
  std::vector<std::vector<int>> all;
  for (Eigen::Index e = 0; e < cells.rows(); ++e) {
    std::vector<int> corners(cells.row(e).begin(), cells.row(e).end());
    std::sort(corners.begin(), corners.end());
    if (std::adjacent_find(corners.begin(), corners.end()) == corners.end())
      all.push_back(std::move(corners));
  }
  std::sort(all.begin(), all.end());
  return all;
}

// A pose tells where the body's own vertices go: the file must number and connect them as the body does. The
// order of cells and of their corners does not matter.
template <class Cells>
void check_same_mesh(const std::string& path, const std::string& part, const Points& points,
                     const Cells& cells, const Points& own_points, const Cells& own_cells) {
  if (points.rows() != own_points.rows()) {
    throw InputError(Problem{
        path, "",
        fmt::format("has {} vertices; the body's {} has {}", points.rows(), part, own_points.rows())});
  }
  if (cells.rows() == 0) return;  // a list of places only
  const auto theirs = sorted_cells(cells), ours = sorted_cells(own_cells);
  std::vector<std::vector<int>> shared;
  std::set_intersection(theirs.begin(), theirs.end(), ours.begin(), ours.end(), std::back_inserter(shared));
  if (shared.size() == ours.size()) return;
  throw InputError(Problem{
      path, "",
      fmt::format("connects its vertices differently: {} of the {} elements of the body's {} are not in "
                  "it. Vertex i "
                  "of the file must be vertex i of the body; save the pose with the order of vertices kept",
                  ours.size() - shared.size(), ours.size(), part)});
}

Points surface_from_file(const std::string& file, const PoseContext& context) {
  const std::string path = (fs::path(context.directory) / file).string();
  TriMesh mesh = read_surface(path);
  check_same_mesh(path, "surface", mesh.vertices, mesh.triangles, context.surface->vertices,
                  context.surface->triangles);
  return std::move(mesh.vertices);
}

Points volume_from_file(const std::string& file, const PoseContext& context, const TetMesh& own) {
  const std::string path = (fs::path(context.directory) / file).string();
  TetMesh mesh = read_tets(path);
  check_same_mesh(path, "volume", mesh.vertices, mesh.tets, own.vertices, own.tets);
  return std::move(mesh.vertices);
}

Points from_mode(const ModePose& mode, const PoseContext& context, const TetMesh& mesh) {
  const Material& material = context.settings->material;
  const Modes modes =
      vibration_modes(mesh, material.young, material.poisson, material.density, mode.index - 6);
  if (!modes.converged || static_cast<int>(modes.shapes.size()) < mode.index - 6) {
    throw InputError(fmt::format("vibration mode {} was not found", mode.index));
  }
  const Points& shape = modes.shapes[static_cast<std::size_t>(mode.index - 7)];
  const double diagonal = (mesh.vertices.colwise().maxCoeff() - mesh.vertices.colwise().minCoeff()).norm();
  const double amplitude = mode.amplitude.value_or(diagonal / 20);
  return mesh.vertices + shape * (amplitude / shape.rowwise().norm().maxCoeff());
}

Points from_frame(const FramePose& frame, const PoseContext& context) {
  const std::string run = (fs::path(context.directory) / frame.run).string();
  const Points world = read_run_surface(run, frame.frame, frame.body.value_or(context.settings->name),
                                        context.surface->vertices.rows());
  return placed_back(context, world);
}

struct PosedRig {
  Rig rig;
  BonePose bones;
};

PosedRig moved_handles(const HandlePoseSettings& handles, const PoseContext& context, const Volume& volume) {
  Rig rig = make_body_rig(context.settings->rig, volume, context.directory, context.path + ".rig");
  BonePose bones = bones_of(handles, rig, volume.mesh);
  return {std::move(rig), std::move(bones)};
}

// Whether a pose is given on the volume and the surface follows from it.
bool is_given_on_volume(const ExampleSettings& settings) {
  return settings.mode || (settings.file && is_tet_file(*settings.file));
}

Points surface_pose(const ExampleSettings& settings, const PoseContext& context);

Points volume_pose(const ExampleSettings& settings, const PoseContext& context, const Volume& volume) {
  if (settings.mode) return from_mode(*settings.mode, context, volume.mesh);
  if (is_given_on_volume(settings)) return volume_from_file(*settings.file, context, volume.mesh);
  if (settings.file || settings.frame) return extended(context, volume, surface_pose(settings, context));
  if (settings.handles) {
    const PosedRig posed = moved_handles(*settings.handles, context, volume);
    return skin(volume.mesh.vertices, posed.rig.centres(), posed.rig.volume, posed.bones);
  }
  return mapped(settings, context, volume.mesh.vertices);
}

Points surface_pose(const ExampleSettings& settings, const PoseContext& context) {
  if (is_given_on_volume(settings)) {
    const Volume volume = context.volume();
    return apply(volume.surface, volume.mesh.tets, volume_pose(settings, context, volume));
  }
  if (settings.file) return surface_from_file(*settings.file, context);
  if (settings.frame) return from_frame(*settings.frame, context);
  if (settings.handles) {
    const PosedRig posed = moved_handles(*settings.handles, context, context.volume());
    return skin(context.surface->vertices, posed.rig.centres(), posed.rig.surface, posed.bones);
  }
  return mapped(settings, context, context.surface->vertices);
}

// Cells (rows of vertices) whose centre is in the example's region.
template <class Cells>
std::vector<char> members(const ExampleSettings& settings, const Points& vertices, const Cells& cells) {
  std::vector<char> in(static_cast<std::size_t>(cells.rows()), 1);
  if (!settings.region) return in;
  for (Eigen::Index e = 0; e < cells.rows(); ++e) {
    Vec3 centre = Vec3::Zero();
    for (Eigen::Index k = 0; k < cells.cols(); ++k)
      centre += vertices.row(cells(e, k)).transpose() / static_cast<double>(cells.cols());
    const bool inside = (centre.array() >= settings.region->low.array()).all() &&
                        (centre.array() <= settings.region->high.array()).all();
    in[static_cast<std::size_t>(e)] = inside ? 1 : 0;
  }
  return in;
}

void check_inversions(const ExampleSettings& settings, const TetMesh& mesh, const Points& pose) {
  const Inversions inversions = count_inversions(mesh, pose);
  if (inversions.count == 0 || settings.allow_inverted) return;
  throw InputError(
      fmt::format("turns {} of {} elements inside out (the worst is {}, volume {:.3g} of its rest volume); "
                  "use a milder or smoother pose, another volume.max_tet_volume (a coarser one follows a "
                  "pose that folds finer "
                  "elements), or \"allow_inverted\": true",
                  inversions.count, mesh.tets.rows(), inversions.worst, inversions.worst_ratio));
}

}  // namespace

Inversions count_inversions(const TetMesh& rest, const Points& pose) {
  const VecX before = tet_volumes(rest.vertices, rest.tets);
  const VecX after = tet_volumes(pose, rest.tets);
  Inversions inversions;
  inversions.worst_ratio = std::numeric_limits<double>::infinity();
  for (Eigen::Index e = 0; e < before.size(); ++e) {
    const double ratio = after[e] / before[e];
    if (ratio <= 0) ++inversions.count;
    if (ratio < inversions.worst_ratio) {
      inversions.worst_ratio = ratio;
      inversions.worst = static_cast<int>(e);
    }
  }
  return inversions;
}

namespace {

// make(settings) of every example; problems of all of them at once, with their paths.
template <class Made, class Make>
std::vector<Made> for_each_example(const PoseContext& context, const Make& make) {
  std::vector<Made> made;
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < context.settings->examples.size(); ++i) {
    try {
      made.push_back(make(context.settings->examples[i]));
    } catch (const InputError& error) {
      for (Problem problem : error.problems()) {
        if (!problem.path.starts_with(context.path)) {
          problem.path = fmt::format("{}.examples[{}]{}{}", context.path, i, problem.path.empty() ? "" : ".",
                                     problem.path);
        }
        problems.push_back(problem);
      }
    }
  }
  if (!problems.empty()) throw InputError(problems);
  return made;
}

}  // namespace

std::vector<Example> make_examples(const PoseContext& context) {
  return for_each_example<Example>(context, [&](const ExampleSettings& settings) {
    return Example{settings.name, settings.use != ExampleUse::plastic, settings.use != ExampleUse::elastic,
                   surface_pose(settings, context),
                   members(settings, context.surface->vertices, context.surface->triangles)};
  });
}

std::vector<VolumeExample> make_volume_examples(const PoseContext& context) {
  if (context.settings->examples.empty()) return {};
  const Volume volume = context.volume();
  return for_each_example<VolumeExample>(context, [&](const ExampleSettings& settings) {
    Points pose = volume_pose(settings, context, volume);
    check_inversions(settings, volume.mesh, pose);
    return VolumeExample{std::move(pose), members(settings, volume.mesh.vertices, volume.mesh.tets)};
  });
}

}  // namespace exemplar
