// exemplar rig: place handles and compute bounded biharmonic weights. exemplar pose: poses from moved handles, from
// a deformed mesh or from a frame of another run.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/cli/commands.h"
#include "compare/cli/mesh_input.h"
#include "compare/cli/rig_preview.h"
#include "core/base/errors.h"
#include "core/base/stopwatch.h"
#include "core/math/angles.h"
#include "core/math/rigid_fit.h"
#include "core/mesh/files/files.h"
#include "core/output/target_file.h"
#include "core/rig/handle_pose.h"
#include "core/rig/refined_fit.h"
#include "core/scene/body_rig.h"
#include "core/scene/rig_file.h"
#include "core/scene/runs/run_frame.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// "1,2,3" or "1,2,3,4,5,6": triples of numbers.
std::vector<Vec3> triples(const std::string& text, const std::string& option, std::size_t least) {
  std::vector<double> numbers;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    char* rest = nullptr;
    numbers.push_back(std::strtod(part.c_str(), &rest));
    if (part.empty() || *rest != 0 || !std::isfinite(numbers.back())) {
      throw InputError(Problem{"", option, fmt::format("'{}' is not a number in '{}'", part, text)});
    }
    begin = end + 1;
  }
  if (numbers.size() % 3 != 0 || numbers.size() < 3 * least) {
    throw InputError(
        Problem{"", option, fmt::format("'{}' should be at least {} numbers, in threes", text, 3 * least)});
  }
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    points.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
  }
  return points;
}

HandleRequest request_of(const RigArguments& arguments) {
  HandleRequest request;
  for (const std::string& point : arguments.points) request.points.push_back(triples(point, "--point", 1)[0]);
  for (const std::string& bone : arguments.bones) {
    const std::vector<Vec3> ends = triples(bone, "--bone", 2);
    request.bones.push_back({ends[0], ends[1]});
  }
  for (const std::string& cage : arguments.cages) request.cages.push_back(triples(cage, "--cage", 3));
  request.automatic = arguments.handles.value_or(request.empty() ? k_default_handles : 0);
  return request;
}

Json vector_json(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

Json rig_report(const Rig& rig, const LoadedMesh& mesh, double seconds) {
  const MatX weights = rig.volume.dense();
  Json report;
  report["vertices"] = mesh.volume.mesh.vertices.rows();
  report["tets"] = mesh.volume.mesh.tets.rows();
  report["cage"] = mesh.volume.cage;
  report["handles"] = rig.bones();
  report["weights_per_vertex"] =
      static_cast<double>(rig.volume.bone.size()) / static_cast<double>(weights.rows());
  report["smallest_weight"] = weights.minCoeff();
  report["largest_weight"] = weights.maxCoeff();
  report["row_sum_error"] = (weights.rowwise().sum().array() - 1).abs().maxCoeff();
  report["objective"] = rig.objective;
  report["residual"] = rig.residual;
  report["iterations"] = rig.iterations;
  report["seconds"] = seconds;
  return report;
}

void say_handles(const Rig& rig, const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{{"handle", "kind", "x [m]", "y [m]", "z [m]"}};
  for (const Handle& handle : rig.handles) {
    const Vec3 c = handle.centre();
    rows.push_back({handle.name, name_of(handle.kind), fmt::format("{:.4g}", c.x()),
                    fmt::format("{:.4g}", c.y()), fmt::format("{:.4g}", c.z())});
  }
  terminal.say(format_table(rows));
}

void say_values(const Json& report, const std::string& title, const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{{title, ""}};
  for (const auto& [key, value] : report.items()) {
    rows.push_back(
        {key, value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : value.dump()});
  }
  terminal.say(format_table(rows));
}

Rig rig_for(const std::string& file, const LoadedMesh& mesh, int handles) {
  if (!file.empty()) return read_rig(file, mesh.volume);
  HandleRequest request;
  request.automatic = handles;
  return cached_rig(mesh.volume, request);
}

// "NAME=dx,dy,dz" or "@x,y,z=dx,dy,dz": the handle nearest to a point.
HandleMove move_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw InputError(Problem{"", "--move", fmt::format("'{}' should be HANDLE=DX,DY,DZ", text)});
  }
  HandleMove move;
  const std::string handle = text.substr(0, equals);
  if (handle.starts_with("@")) {
    move.near = triples(handle.substr(1), "--move", 1)[0];
  } else {
    move.handle = handle;
  }
  move.by = triples(text.substr(equals + 1), "--move", 1)[0];
  return move;
}

// The deformed surface to be fitted, turned and moved back onto the rest shape.
Points target_of(const PoseArguments& arguments, const TriMesh& surface) {
  Points target;
  if (!arguments.fit.empty()) {
    target = read_surface(arguments.fit).vertices;
    if (target.rows() != surface.vertices.rows()) {
      throw InputError(
          Problem{arguments.fit, "",
                  fmt::format("has {} vertices; the mesh has {}", target.rows(), surface.vertices.rows())});
    }
  } else {
    target = read_run_surface(arguments.run, arguments.frame, arguments.body, surface.vertices.rows());
  }
  return transform(fit_rigid(target, surface.vertices), target);
}

void say_pose(const Rig& rig, const BonePose& pose, const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{{"handle", "moved [m]", "turned [deg]"}};
  for (std::size_t b = 0; b < pose.size(); ++b) {
    rows.push_back({rig.handles[b].name, fmt::format("{:.4g}", pose[b].translation.norm()),
                    fmt::format("{:.2f}", pose[b].rotation.angularDistance(Quat::Identity()) / k_degree)});
  }
  terminal.say(format_table(rows));
}

struct MadePose {
  Rig rig;
  BonePose pose;
  std::optional<Points> target;
};

MadePose pose_from_moves(const PoseArguments& arguments, const LoadedMesh& mesh, Json& report) {
  MadePose made{rig_for(arguments.rig, mesh, arguments.handles), {}, {}};
  HandlePoseSettings settings;
  settings.others_free = arguments.others_free;
  for (const std::string& move : arguments.moves) settings.move.push_back(move_of(move));
  made.pose = bones_of(settings, made.rig, mesh.volume.mesh);
  report["handles"] = made.rig.bones();
  report["moved"] = settings.move.size();
  return made;
}

MadePose pose_from_target(const PoseArguments& arguments, const LoadedMesh& mesh, Json& report,
                          const Terminal& terminal) {
  Points target = target_of(arguments, mesh.surface);
  const Points& rest = mesh.surface.vertices;
  const double diagonal = (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).norm();
  RefineOptions options;
  options.tolerance = arguments.tolerance.value_or(0.01 * diagonal);
  options.max_handles = arguments.max_handles;
  RefinedFit refined =
      fit_adding_handles(mesh.volume, rig_for(arguments.rig, mesh, arguments.handles), rest, target, options);
  for (std::size_t r = 0; r < refined.rms.size(); ++r) {
    terminal.say(fmt::format("{} handles: fit error {:.4g} m RMS ({:.3g} % of the diagonal)",
                             refined.handles[r], refined.rms[r], 100 * refined.rms[r] / diagonal));
  }
  report["handles"] = refined.rig.bones();
  report["deformation_rms_m"] = std::sqrt((target - rest).squaredNorm() / static_cast<double>(rest.rows()));
  report["fit_rms_m"] = refined.fit.rms;
  report["fit_max_m"] = refined.fit.max;
  report["tolerance_m"] = options.tolerance;
  report["tolerance_met"] = refined.fit.rms <= options.tolerance;
  return {std::move(refined.rig), std::move(refined.fit.pose), std::move(target)};
}

void check_sources(const PoseArguments& arguments) {
  const int sources =
      (arguments.moves.empty() ? 0 : 1) + (arguments.fit.empty() ? 0 : 1) + (arguments.run.empty() ? 0 : 1);
  if (sources != 1) throw InputError("a pose needs exactly one of --move, --fit and --run");
  if (!arguments.run.empty() && arguments.body.empty())
    throw InputError("--run needs --body, the body's name there");
}

WriteRule rule_of(const RigArguments& arguments) {
  return {arguments.overwrite, {arguments.input}};
}

WriteRule rule_of(const PoseArguments& arguments) {
  return {arguments.overwrite, {arguments.input, arguments.rig, arguments.fit, arguments.run}};
}

void check_targets(const std::vector<std::string>& files, const std::string& preview, const WriteRule& rule) {
  for (const std::string& file : files) {
    if (!file.empty()) check_target(file, rule);
  }
  if (!preview.empty()) check_preview(preview, rule);
}

}  // namespace

int rig_command(const RigArguments& arguments, const Terminal& terminal) {
  const HandleRequest request = request_of(arguments);
  const WriteRule rule = rule_of(arguments);
  check_targets({arguments.output}, arguments.preview, rule);
  const LoadedMesh mesh = load_mesh(arguments);
  for (const std::string& note : mesh.volume.notes) terminal.note(note);
  const Stopwatch start;
  const Rig rig = make_rig(mesh.volume, request);
  const Json report = rig_report(rig, mesh, start.seconds());
  for (const std::string& note : rig.notes) terminal.warn(note);
  if (!arguments.output.empty())
    write_target(arguments.output, rule, [&] { write_rig(arguments.output, rig, mesh.volume); });
  if (!arguments.preview.empty()) write_rig_preview(arguments.preview, rule, mesh.surface, rig);
  if (arguments.json) {
    Json all = report;
    all["handle_list"] = Json::array();
    for (const Handle& handle : rig.handles) {
      all["handle_list"].push_back({{"name", handle.name},
                                    {"kind", name_of(handle.kind)},
                                    {"start", vector_json(handle.start)},
                                    {"end", vector_json(handle.end)}});
    }
    terminal.say(all.dump(2));
  } else {
    say_handles(rig, terminal);
    say_values(report, "rig", terminal);
  }
  return rig.converged ? k_exit_done : k_exit_cannot_go_on;
}

int pose_command(const PoseArguments& arguments, const Terminal& terminal) {
  check_sources(arguments);
  const WriteRule rule = rule_of(arguments);
  check_targets({arguments.output, arguments.save_rig}, arguments.preview, rule);
  const LoadedMesh mesh = load_mesh(arguments);
  for (const std::string& note : mesh.volume.notes) terminal.note(note);
  Json report;
  const MadePose made = arguments.moves.empty() ? pose_from_target(arguments, mesh, report, terminal)
                                                : pose_from_moves(arguments, mesh, report);
  for (const std::string& note : made.rig.notes) terminal.warn(note);
  const Points posed = skin(mesh.surface.vertices, made.rig.centres(), made.rig.surface, made.pose);
  report["largest_displacement_m"] = (posed - mesh.surface.vertices).rowwise().norm().maxCoeff();
  if (!arguments.output.empty())
    write_target(arguments.output, rule, [&] {
      write_surface(arguments.output, {posed, mesh.surface.triangles});
    });
  if (!arguments.save_rig.empty())
    write_target(arguments.save_rig, rule, [&] { write_rig(arguments.save_rig, made.rig, mesh.volume); });
  if (!arguments.preview.empty()) {
    write_pose_preview(arguments.preview, rule, mesh.surface, made.rig, made.pose,
                       made.target ? &*made.target : nullptr);
  }
  if (arguments.json) {
    terminal.say(report.dump(2));
  } else {
    say_pose(made.rig, made.pose, terminal);
    say_values(report, "pose", terminal);
  }
  return k_exit_done;
}

}  // namespace exemplar
