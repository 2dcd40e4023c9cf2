// exemplar mesh: inspect, convert and tetrahedralise meshes; list vibration modes.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/cli/commands.h"
#include "compare/cli/mesh_input.h"
#include "compare/results/surface_distance.h"
#include "core/base/errors.h"
#include "core/elastic/modes.h"
#include "core/mesh/files/files.h"
#include "core/mesh/quality.h"
#include "core/mesh/repair.h"
#include "core/mesh/topology.h"
#include "core/output/geometry_file.h"
#include "core/output/target_file.h"
#include "core/scene/json.h"
#include "core/scene/material.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

Json report_json(const SurfaceReport& r) {
  return {{"vertices", r.vertices},
          {"triangles", r.triangles},
          {"parts", r.parts},
          {"closed", r.closed},
          {"manifold", r.manifold},
          {"boundary_edges", r.boundary_edges},
          {"non_manifold_edges", r.non_manifold_edges},
          {"non_manifold_vertices", r.non_manifold_vertices},
          {"degenerate_triangles", r.degenerate_triangles},
          {"duplicate_vertices", r.duplicate_vertices},
          {"self_intersections", r.self_intersections},
          {"genus", r.genus},
          {"smallest_angle_deg", r.min_angle},
          {"mean_edge_m", r.mean_edge},
          {"area_m2", r.area},
          {"volume_m3", r.volume},
          {"low", {r.bounds.min.x(), r.bounds.min.y(), r.bounds.min.z()}},
          {"high", {r.bounds.max.x(), r.bounds.max.y(), r.bounds.max.z()}}};
}

Json report_json(const TetReport& r) {
  return {{"vertices", r.vertices},
          {"tets", r.tets},
          {"parts", r.parts},
          {"smallest_dihedral_deg", r.min_dihedral},
          {"largest_dihedral_deg", r.max_dihedral},
          {"smallest_volume_m3", r.min_volume},
          {"largest_volume_m3", r.max_volume},
          {"volume_m3", r.volume},
          {"smallest_radius_ratio", r.min_radius_ratio},
          {"inverted", r.inverted}};
}

Json modes_json(const TetMesh& mesh, const MeshArguments& arguments) {
  const Material* material = nullptr;
  for (const MaterialPreset& preset : material_presets()) {
    if (preset.name == arguments.material) material = &preset.material;
  }
  if (!material) throw InputError("there is no material called '" + arguments.material + "'");
  const Modes modes =
      vibration_modes(mesh, material->young, material->poisson, material->density, arguments.modes);
  Json list = Json::array();
  for (Eigen::Index i = 0; i < modes.frequencies.size(); ++i) {
    list.push_back({{"mode", 7 + static_cast<int>(i)}, {"frequency_Hz", modes.frequencies[i]}});
  }
  return list;
}

void say_report(const Json& report, const Terminal& terminal) {
  for (const auto& [section, values] : report.items()) {
    if (values.is_object()) {
      std::vector<std::vector<std::string>> rows{{section, ""}};
      for (const auto& [key, value] : values.items()) rows.push_back({key, value.dump()});
      terminal.say(format_table(rows));
    } else if (values.is_array()) {
      std::vector<std::vector<std::string>> rows{{section, ""}};
      for (const Json& item : values) {
        rows.push_back(
            item.is_object()
                ? std::vector<std::string>{fmt::format("mode {}", item["mode"].get<int>()),
                                           fmt::format("{:.6g} Hz", item["frequency_Hz"].get<double>())}
                : std::vector<std::string>{item.get<std::string>(), ""});
      }
      terminal.say(format_table(rows));
    }
  }
}

WriteRule rule_of(const MeshArguments& arguments) {
  return {arguments.overwrite, {arguments.input, arguments.distance_to}};
}

void check_targets(const MeshArguments& arguments) {
  for (const std::string& target : {arguments.output, arguments.problems}) {
    if (!target.empty()) check_target(target, rule_of(arguments));
  }
}

void write_result(const MeshArguments& arguments, const TriMesh& surface, const TetMesh* mesh) {
  const std::string& path = arguments.output;
  if (path.empty()) return;
  const bool are_tets = fs::path(path).extension() == ".vtu";
  if (are_tets && !mesh) throw InputError("--surface-only has no tets to write into " + path);
  write_target(path, rule_of(arguments),
               [&] { are_tets ? write_tets(path, *mesh) : write_surface(path, surface); });
}

// A frame of a run with its bodies, or any other surface.
Geometry load_geometry(const MeshInput& input) {
  if (fs::exists(input.input) && fs::path(input.input).extension() == ".vtp")
    return read_geometry(input.input);
  const TriMesh mesh = load_surface(input);
  Geometry geometry;
  geometry.points = mesh.vertices;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    for (int k = 0; k < 3; ++k) geometry.connectivity.push_back(mesh.triangles(t, k));
  }
  return geometry;
}

Json distance_json(const MeshArguments& arguments) {
  const Geometry surface = load_geometry(arguments);
  MeshInput other;
  other.input = arguments.distance_to;
  const Geometry reference = load_geometry(other);
  if (surface.kind != CellKind::triangles || surface.kind != reference.kind ||
      surface.connectivity != reference.connectivity || surface.points.rows() != reference.points.rows())
    throw InputError(
        fmt::format("{} and {} have not the same triangles", arguments.input, arguments.distance_to));
  const SurfaceDistances d = SurfaceComparison(reference).between(surface, reference);
  return {
      {"rms_m", d.rms}, {"max_m", d.max}, {"rms_aligned_m", d.rms_aligned}, {"max_aligned_m", d.max_aligned}};
}

SurfaceProblems problems_of(const TriMesh& surface) {
  Repair repaired = repair_surface(surface);
  return find_problems(std::move(repaired.mesh), repaired.orientable);
}

}  // namespace

int mesh_command(const MeshArguments& arguments, const Terminal& terminal) {
  check_targets(arguments);
  Json report = Json::object();
  if (!arguments.distance_to.empty()) {
    report["distance"] = distance_json(arguments);
  } else if (fs::exists(arguments.input) && is_tet_file(arguments.input)) {
    const TetMesh mesh = read_tets(arguments.input);
    report["tets"] = report_json(inspect(mesh));
    if (arguments.modes > 0) report["modes"] = modes_json(mesh, arguments);
    write_result(arguments, boundary_surface(mesh), &mesh);
  } else {
    const TriMesh surface = load_surface(arguments);
    report["surface"] = report_json(inspect(surface));
    if (!arguments.problems.empty())
      write_target(arguments.problems, rule_of(arguments),
                   [&] { write_problems(arguments.problems, problems_of(surface)); });
    std::optional<Volume> volume;
    if (arguments.volume) {
      volume = make_volume(surface, arguments);
      report["volume"] = report_json(inspect(volume->mesh));
      report["volume"]["cage"] = volume->cage;
      const Points embedded = apply(volume->surface, volume->mesh.tets, volume->mesh.vertices);
      report["volume"]["embedding_error_m"] = (embedded - surface.vertices).rowwise().norm().maxCoeff();
      report["notes"] = volume->notes;
      if (arguments.modes > 0) report["modes"] = modes_json(volume->mesh, arguments);
    }
    write_result(arguments, surface, volume ? &volume->mesh : nullptr);
  }
  if (arguments.json) {
    terminal.say(report.dump(2));
  } else {
    say_report(report, terminal);
  }
  return k_exit_done;
}

}  // namespace exemplar
