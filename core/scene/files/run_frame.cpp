#include "core/scene/files/run_frame.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/base/input_file.h"
#include "core/output/geometry_file.h"
#include "core/output/pvd_file.h"
#include "core/scene/files/json_file.h"

namespace exemplar {

namespace {

// The body's place among those of the run's scene.
int body_index(const std::filesystem::path& run, const std::string& body) {
  const std::string path = (run / "run.json").string();
  const Json record = parse_json(read_input(path, k_largest_text_file), path);
  const Json settings = record.is_object() ? record.value("settings", Json::object()) : Json::object();
  const Json bodies = settings.is_object() ? settings.value("bodies", Json::array()) : Json::array();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].is_object() && bodies[i].value("name", Json()) == body) return static_cast<int>(i);
  }
  throw InputError(Problem{run.string(), "", "has no body called '" + body + "'"});
}

const FieldArray* point_array(const Geometry& geometry, const std::string& name) {
  for (const FieldArray& array : geometry.arrays) {
    if (array.name == name && array.on == Association::point) return &array;
  }
  return nullptr;
}

}  // namespace

Points read_run_surface(const std::string& run_directory, std::optional<int> frame, const std::string& body,
                        Eigen::Index vertex_count) {
  const std::filesystem::path run(run_directory);
  const std::vector<PvdEntry> entries = read_pvd(run / "surface.pvd");
  if (entries.empty()) throw InputError(Problem{run_directory, "", "has no frames"});
  const std::size_t chosen = frame ? static_cast<std::size_t>(*frame) : entries.size() - 1;
  if (chosen >= entries.size()) {
    throw InputError(
        Problem{run_directory, "", fmt::format("has frames 0 to {}, not {}", entries.size() - 1, chosen)});
  }
  const Geometry surface = read_geometry(entries[chosen].file);
  const FieldArray* bodies = point_array(surface, "body");
  if (!bodies) throw InputError(Problem{entries[chosen].file.string(), "", "has no point array 'body'"});
  const int wanted = body_index(run, body);
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < bodies->values.size(); ++i) {
    if (static_cast<int>(bodies->values[i]) == wanted) rows.push_back(static_cast<Eigen::Index>(i));
  }
  if (static_cast<Eigen::Index>(rows.size()) != vertex_count) {
    throw InputError(
        Problem{run_directory, "",
                fmt::format("body '{}' has {} vertices there and {} here", body, rows.size(), vertex_count)});
  }
  Points points(vertex_count, 3);
  for (std::size_t i = 0; i < rows.size(); ++i)
    points.row(static_cast<Eigen::Index>(i)) = surface.points.row(rows[i]);
  return points;
}

}  // namespace exemplar
