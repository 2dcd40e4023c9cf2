#include "core/scene/body_rig.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/errors.h"
#include "core/math/rigid_fit.h"
#include "core/rig/bone_fit.h"
#include "core/rig/handle_pose.h"
#include "core/scene/json.h"
#include "core/scene/rig_file.h"

namespace exemplar {

namespace {

HandleRequest request_of(const std::optional<RigSettings>& settings, int default_handles) {
  HandleRequest request;
  if (settings) {
    request.points = settings->points;
    for (const RigBone& bone : settings->bones) request.bones.push_back({bone.from, bone.to});
    for (const RigCage& cage : settings->cages) request.cages.push_back(cage.corners);
    request.automatic = settings->automatic.value_or(0);
  }
  if (request.empty()) request.automatic = default_handles;
  return request;
}

int handle_of(const HandleMove& move, const Rig& rig, const std::string& path) {
  if (move.near) return rig.nearest(*move.near);
  const int handle = rig.find(*move.handle);
  if (handle >= 0) return handle;
  std::vector<std::string> names;
  for (const Handle& known : rig.handles) names.push_back(known.name);
  throw InputError(Problem{
      "", path + ".handle",
      fmt::format("the rig has no handle called '{}'{}", *move.handle, did_you_mean(*move.handle, names))});
}

// The same motion seen from the body's placement.
BonePose in_placement(BonePose pose, const Eigen::Isometry3d& placement) {
  const Quat turn(placement.linear());
  for (BoneTransform& bone : pose) {
    bone = {turn * bone.translation, turn * bone.rotation * turn.conjugate()};
  }
  return pose;
}

Volume volume_in_body_coordinates(const Body& body) {
  Volume volume = body.volume();
  const Eigen::Isometry3d back = body.placement().inverse();
  volume.mesh.vertices =
      (volume.mesh.vertices * back.linear().transpose()).rowwise() + back.translation().transpose();
  return volume;
}

std::string fit_text(const std::string& example, const BoneFit& fit, const Points& rest) {
  const double diagonal = (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).norm();
  return fmt::format(
      "example '{}' fitted with {} bones: {:.3g} m RMS ({:.2g} % of the diagonal), {:.3g} m at most", example,
      fit.pose.size(), fit.rms, 100 * fit.rms / diagonal, fit.max);
}

}  // namespace

Rig make_body_rig(const std::optional<RigSettings>& settings, const Volume& volume,
                  const std::string& directory, const std::string& path, int default_handles) {
  try {
    if (settings && settings->file) {
      return read_rig((std::filesystem::path(directory) / *settings->file).string(), volume);
    }
    return cached_rig(volume, request_of(settings, default_handles));
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      const bool of_file = !problem.file.empty();
      if (of_file) problem.message = fmt::format("{}: {}", problem.file, problem.message);
      problem.path = of_file ? path + ".file" : problem.path.empty() ? path : path + "." + problem.path;
      problem.file.clear();
    }
    throw InputError(problems);
  }
}

BonePose bones_of(const HandlePoseSettings& settings, const Rig& rig, const TetMesh& mesh) {
  std::vector<HandleMotion> motions;
  for (std::size_t i = 0; i < settings.move.size(); ++i) {
    const HandleMove& move = settings.move[i];
    HandleMotion motion{handle_of(move, rig, fmt::format("handles.move[{}]", i)), move.by, {}};
    if (move.rotation) motion.rotation = rotation_of(*move.rotation);
    for (const HandleMotion& other : motions) {
      if (other.handle != motion.handle) continue;
      throw InputError(Problem{"", fmt::format("handles.move[{}]", i),
                               fmt::format("moves '{}' a second time",
                                           rig.handles[static_cast<std::size_t>(motion.handle)].name)});
    }
    motions.push_back(motion);
  }
  return pose_by_handles(mesh, rig, motions, settings.others_free).pose;
}

Skin RiggedBody::surface_skin(const Body& body) const {
  return {body.surface().vertices, centres, surface, examples};
}

Skin RiggedBody::volume_skin(const Body& body) const {
  return {body.volume().mesh.vertices, centres, volume, examples};
}

RiggedBody rig_body(const Body& body, int default_handles) {
  const Volume own = volume_in_body_coordinates(body);
  const Rig rig =
      make_body_rig(body.settings().rig, own, body.directory(), body.path() + ".rig", default_handles);
  RiggedBody rigged;
  rigged.centres = rig.centres();
  for (Eigen::Index b = 0; b < rigged.centres.rows(); ++b) {
    rigged.centres.row(b) = (body.placement() * Vec3(rigged.centres.row(b))).transpose();
  }
  rigged.surface = rig.surface;
  rigged.volume = rig.volume;
  rigged.examples.push_back(BonePose(static_cast<std::size_t>(rig.bones())));
  for (const std::string& note : rig.notes)
    rigged.notes.push_back({Severity::warning, body.name() + ": " + note});
  const std::vector<Example>& examples = body.examples();
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const ExampleSettings& settings = body.settings().examples[i];
    if (settings.handles) {
      rigged.examples.push_back(in_placement(bones_of(*settings.handles, rig, own.mesh), body.placement()));
      continue;
    }
    const Points& rest = body.surface().vertices;
    // Where the pose is and how it is turned does not matter, and bones that carry it would blend badly.
    const Points target = transform(fit_rigid(examples[i].surface, rest), examples[i].surface);
    const BoneFit fit = fit_bones(rest, rigged.centres, rigged.surface, target);
    rigged.examples.push_back(fit.pose);
    rigged.notes.push_back({Severity::note, body.name() + ": " + fit_text(settings.name, fit, rest)});
  }
  return rigged;
}

}  // namespace exemplar
