#include "core/scene/poses.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/errors.h"
#include "core/elastic/modes.h"
#include "core/elastic/static_solve.h"
#include "core/mesh/files/files.h"
#include "core/mesh/mass_properties.h"
#include "core/scene/body_rig.h"
#include "core/scene/run_frame.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// Both forms of one pose.
struct PosePoints {
  Points surface, volume;
};

std::vector<PoseMap> maps_of(const ExampleSettings& settings) {
  if (!settings.maps.empty()) return settings.maps;
  return {static_cast<const PoseMap&>(settings)};
}

PosePoints mapped(const ExampleSettings& settings, const PoseContext& context) {
  const std::vector<PoseMap> maps = maps_of(settings);
  const Bounds bounds = bounds_of(context.surface->vertices);
  return {apply_maps(maps, context.surface->vertices, bounds),
          apply_maps(maps, context.volume->mesh.vertices, bounds)};
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
void held_nodes(const PoseContext& context, const Points& pose, std::vector<int>& held, Points& targets) {
  const TetMesh& mesh = context.volume->mesh;
  const Embedding& embedding = context.volume->surface;
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

PosePoints extended(const Points& pose, const PoseContext& context) {
  std::vector<int> held;
  Points targets;
  held_nodes(context, pose, held, targets);
  StaticResult result =
      extend_to_volume(context.volume->mesh, held, targets, context.settings->material.poisson);
  return {pose, std::move(result.positions)};
}

Points placed_back(const PoseContext& context, const Points& world) {
  const Quat rotation = rotation_of(context.settings->rotation);
  return (world.rowwise() - context.settings->position.transpose()) * rotation.toRotationMatrix();
}

PosePoints from_file(const std::string& file, const PoseContext& context) {
  const std::string path = (fs::path(context.directory) / file).string();
  const Eigen::Index surface_count = context.surface->vertices.rows();
  const Eigen::Index volume_count = context.volume->mesh.vertices.rows();
  const std::string extension = fs::path(path).extension().string();
  const bool tets = extension == ".vtu" || extension == ".msh" || extension == ".mesh" || extension == ".ele";
  const Points points = tets ? read_tets(path).vertices : read_surface(path).vertices;
  if (tets && points.rows() == volume_count) {
    return {apply(context.volume->surface, context.volume->mesh.tets, points), points};
  }
  if (!tets && points.rows() == surface_count) return extended(points, context);
  throw InputError(Problem{path, "",
                           fmt::format("has {} vertices; the body's surface has {} and its volume {}",
                                       points.rows(), surface_count, volume_count)});
}

PosePoints from_mode(const ModePose& mode, const PoseContext& context) {
  const Material& material = context.settings->material;
  const TetMesh& mesh = context.volume->mesh;
  const Modes modes =
      vibration_modes(mesh, material.young, material.poisson, material.density, mode.index - 6);
  if (!modes.converged || static_cast<int>(modes.shapes.size()) < mode.index - 6) {
    throw InputError(fmt::format("vibration mode {} was not found", mode.index));
  }
  const Points& shape = modes.shapes[static_cast<std::size_t>(mode.index - 7)];
  const double diagonal = (mesh.vertices.colwise().maxCoeff() - mesh.vertices.colwise().minCoeff()).norm();
  const double amplitude = mode.amplitude.value_or(diagonal / 20);
  const Points pose = mesh.vertices + shape * (amplitude / shape.rowwise().norm().maxCoeff());
  return {apply(context.volume->surface, mesh.tets, pose), pose};
}

PosePoints from_frame(const FramePose& frame, const PoseContext& context) {
  const std::string run = (fs::path(context.directory) / frame.run).string();
  const Points world = read_run_surface(run, frame.frame, frame.body.value_or(context.settings->name),
                                        context.surface->vertices.rows());
  return extended(placed_back(context, world), context);
}

PosePoints from_handles(const HandlePoseSettings& handles, const PoseContext& context) {
  const Rig rig =
      make_body_rig(context.settings->rig, *context.volume, context.directory, context.path + ".rig");
  const BonePose pose = bones_of(handles, rig, context.volume->mesh);
  return {skin(context.surface->vertices, rig.centres(), rig.surface, pose),
          skin(context.volume->mesh.vertices, rig.centres(), rig.volume, pose)};
}

PosePoints pose_of(const ExampleSettings& settings, const PoseContext& context) {
  if (settings.file) return from_file(*settings.file, context);
  if (settings.mode) return from_mode(*settings.mode, context);
  if (settings.frame) return from_frame(*settings.frame, context);
  if (settings.handles) return from_handles(*settings.handles, context);
  return mapped(settings, context);
}

// Tets whose centre is in the example's region.
std::vector<char> members(const ExampleSettings& settings, const TetMesh& mesh) {
  std::vector<char> in(static_cast<std::size_t>(mesh.tets.rows()), 1);
  if (!settings.region) return in;
  for (Eigen::Index e = 0; e < mesh.tets.rows(); ++e) {
    Vec3 centre = Vec3::Zero();
    for (int k = 0; k < 4; ++k) centre += 0.25 * mesh.vertices.row(mesh.tets(e, k)).transpose();
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
                  "use a milder pose, a "
                  "finer volume, or \"allow_inverted\": true",
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

std::vector<Example> make_examples(const PoseContext& context) {
  std::vector<Example> examples;
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < context.settings->examples.size(); ++i) {
    const ExampleSettings& settings = context.settings->examples[i];
    try {
      PosePoints pose = pose_of(settings, context);
      check_inversions(settings, context.volume->mesh, pose.volume);
      examples.push_back({settings.name, settings.use != ExampleUse::plastic,
                          settings.use != ExampleUse::elastic, std::move(pose.surface),
                          std::move(pose.volume), members(settings, context.volume->mesh)});
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
  return examples;
}

}  // namespace exemplar
