#include "compare/stage/stage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/errors.h"
#include "core/math/rigid_fit.h"
#include "core/scene/json.h"

namespace exemplar::stage {

namespace {

// The names of a body or an obstacle and of its copies.
void add_names(const Json& thing, std::vector<std::string>& names) {
  const std::string name = thing.is_object() ? thing.value("name", "") : "";
  const Json repeat = thing.is_object() ? thing.value("repeat", Json()) : Json();
  const Json count = repeat.is_object() ? repeat.value("count", Json()) : Json();
  if (!count.is_array()) {
    names.push_back(name);
    return;
  }
  int copies = 1;
  for (const Json& along : count) copies *= along.is_number_integer() ? along.get<int>() : 1;
  for (int copy = 1; copy <= copies; ++copy) names.push_back(name + "-" + std::to_string(copy));
}

// Nothing for what is absent or null.
double number_in(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                                               : std::nan("");
}

Look look_of(const Json& body) {
  if (!body.is_object()) return Look::plain;
  const Json material = body.value("material", Json());
  const double young = number_in(material, "young"), density = number_in(material, "density");
  const bool yields = number_in(material, "yield_stress") > 0;
  const double fracture = number_in(material, "fracture_energy");
  if (yields && density >= 2500) return Look::metal;
  if (young >= 4e10 && young < 1e11 && fracture < 50 && !yields) return Look::glass;
  if (body.value("kind", "") == "sheet") return Look::cloth;
  if (young < 5e7 && !yields) return Look::rubber;
  return Look::plain;
}

Json list_in(const Json& settings, const char* key) {
  return settings.is_object() && settings.contains(key) && settings[key].is_array() ? settings[key]
                                                                                    : Json::array();
}

}  // namespace

namespace {

Stage stage_of(const Json& json) {
  Stage stage;
  for (const Json& body : list_in(json, "bodies")) {
    add_names(body, stage.bodies);
    stage.looks.resize(stage.bodies.size(), look_of(body));
  }
  for (const Json& obstacle : list_in(json, "obstacles")) add_names(obstacle, stage.obstacles);
  if (json.is_object() && json.contains("camera") && json["camera"].is_object()) {
    std::vector<Problem> problems;
    CameraSettings camera;
    read_object(json["camera"], description_of<CameraSettings>(), &camera, "camera", problems);
    if (problems.empty()) stage.camera = camera;
  }
  return stage;
}

}  // namespace

Stage read_stage(const std::string& settings) {
  try {
    return stage_of(Json::parse(settings));
  } catch (const Json::exception&) {
    return {};
  }
}

std::vector<int> places_of(const std::vector<std::string>& names, const std::string& name) {
  std::vector<int> places, copies;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) places.push_back(static_cast<int>(i));
    const std::string end = names[i].starts_with(name + "-") ? names[i].substr(name.size() + 1) : "";
    if (!end.empty() && end.find_first_not_of("0123456789") == std::string::npos)
      copies.push_back(static_cast<int>(i));
  }
  return places.empty() ? copies : places;
}

std::vector<int> known_places(const std::vector<std::string>& names, const std::string& name,
                              const std::string& option) {
  std::vector<int> places = places_of(names, name);
  if (!places.empty()) return places;
  std::string known;
  for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
  throw InputError(option + ": there is nothing called '" + name +
                   "'; there are: " + (known.empty() ? "none" : known));
}

std::vector<int> hidden_obstacles(const Stage& stage, const std::vector<std::string>& wishes) {
  std::vector<int> hidden;
  const auto add = [&](const std::vector<int>& places) {
    hidden.insert(hidden.end(), places.begin(), places.end());
  };
  for (const std::string& name : stage.camera.hide) add(places_of(stage.obstacles, name));
  for (const std::string& name : wishes) {
    if (name != "obstacles") {
      add(known_places(stage.obstacles, name, "hide"));
      continue;
    }
    for (std::size_t i = 0; i < stage.obstacles.size(); ++i) hidden.push_back(static_cast<int>(i));
  }
  return hidden;
}

std::vector<int> body_of_points(const Geometry& shown) {
  std::vector<int> bodies(static_cast<std::size_t>(shown.points.rows()), 0);
  for (const FieldArray& array : shown.arrays) {
    if (array.name != "body" || array.on != Association::point || array.values.size() != bodies.size())
      continue;
    for (std::size_t i = 0; i < bodies.size(); ++i) bodies[i] = static_cast<int>(array.values[i]);
  }
  return bodies;
}

std::vector<int> cell_points(const Geometry& geometry, std::size_t cell) {
  const auto width = static_cast<std::size_t>(points_per_cell(geometry.kind));
  if (geometry.connectivity.empty()) return {static_cast<int>(cell)};  // points
  const std::size_t begin = width > 0   ? cell * width
                            : cell == 0 ? 0
                                        : static_cast<std::size_t>(geometry.offsets[cell - 1]);
  const std::size_t end = width > 0 ? begin + width : static_cast<std::size_t>(geometry.offsets[cell]);
  return {geometry.connectivity.begin() + static_cast<std::ptrdiff_t>(begin),
          geometry.connectivity.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::map<int, ObstacleBox> obstacle_boxes(const Geometry& obstacles) {
  std::map<int, ObstacleBox> boxes;
  const FieldArray *owner = nullptr, *plane = nullptr;
  for (const FieldArray& array : obstacles.arrays) {
    if (array.name == "obstacle" && array.on == Association::cell) owner = &array;
    if (array.name == "plane" && array.on == Association::cell) plane = &array;
  }
  for (std::size_t cell = 0; cell < cell_count(obstacles); ++cell) {
    ObstacleBox& one = boxes[owner ? static_cast<int>(owner->values[cell]) : 0];
    one.is_plane = one.is_plane || (plane && plane->values[cell] != 0);
    for (const int point : cell_points(obstacles, cell)) {
      one.points.push_back(point);
      one.box.include(obstacles.points.row(point).transpose());
    }
  }
  return boxes;
}

Geometry kept_cells(const Geometry& geometry, const std::vector<bool>& is_kept) {
  Geometry kept = geometry;
  kept.connectivity.clear();
  kept.offsets.clear();
  kept.rigid_parts.clear();
  for (FieldArray& array : kept.arrays) {
    if (array.on == Association::cell) array.values.clear();
  }
  for (std::size_t cell = 0; cell < is_kept.size(); ++cell) {
    if (!is_kept[cell]) continue;
    const std::vector<int> points = cell_points(geometry, cell);
    kept.connectivity.insert(kept.connectivity.end(), points.begin(), points.end());
    if (geometry.kind == CellKind::polygons)
      kept.offsets.push_back(static_cast<int>(kept.connectivity.size()));
    for (std::size_t a = 0; a < geometry.arrays.size(); ++a) {
      const FieldArray& from = geometry.arrays[a];
      if (from.on != Association::cell) continue;
      const auto begin = from.values.begin() + static_cast<std::ptrdiff_t>(cell) * from.components;
      kept.arrays[a].values.insert(kept.arrays[a].values.end(), begin, begin + from.components);
    }
  }
  return kept;
}

Geometry without_obstacles(const Geometry& obstacles, const std::vector<int>& hidden) {
  const FieldArray* owner = nullptr;
  for (const FieldArray& array : obstacles.arrays) {
    if (array.name == "obstacle" && array.on == Association::cell) owner = &array;
  }
  if (!owner || hidden.empty()) return obstacles;
  std::vector<bool> is_kept(cell_count(obstacles));
  for (std::size_t cell = 0; cell < is_kept.size(); ++cell)
    is_kept[cell] =
        std::find(hidden.begin(), hidden.end(), static_cast<int>(owner->values[cell])) == hidden.end();
  return kept_cells(obstacles, is_kept);
}

std::vector<int> moving_obstacles(const std::vector<const Geometry*>& over_time) {
  std::map<int, Box> first;
  std::set<int> moving;
  for (const Geometry* obstacles : over_time) {
    if (!obstacles) continue;
    for (const auto& [place, one] : obstacle_boxes(*obstacles)) {
      const auto [known, is_new] = first.emplace(place, one.box);
      const double moved =
          (known->second.low - one.box.low).norm() + (known->second.high - one.box.high).norm();
      if (!is_new && moved > 1e-3 * one.box.diagonal()) moving.insert(place);
    }
  }
  return {moving.begin(), moving.end()};
}

namespace {

// The best rigid motion by distances rather than their squares (weighted least squares, repeated): a dent stays where
// it is and does not turn the whole body.
Points laid_over(const Points& from, const Points& to) {
  Points over = transform(fit_rigid(from, to), from);
  for (int round = 0; round < 4; ++round) {
    const VecX distance = (to - over).rowwise().norm();
    const double most = distance.size() > 0 ? distance.maxCoeff() : 0;
    if (!(most > 0)) break;
    over = transform(fit_rigid(from, to, (distance.array() + 0.02 * most).inverse().matrix()), from);
  }
  return over;
}

}  // namespace

Points rest_over(const Geometry& shown) {
  const FieldArray* displacement = nullptr;
  for (const FieldArray& array : shown.arrays) {
    if (array.name == "displacement" && array.on == Association::point && array.components == 3)
      displacement = &array;
  }
  if (!displacement || !shown.points.allFinite()) return Points(0, 3);
  const Points rest =
      shown.points - Eigen::Map<const Points>(displacement->values.data(), shown.points.rows(), 3);
  std::map<int, std::vector<Eigen::Index>> members;
  const std::vector<int> bodies = body_of_points(shown);
  for (std::size_t i = 0; i < bodies.size(); ++i) members[bodies[i]].push_back(static_cast<Eigen::Index>(i));
  Points over = rest;
  for (const auto& [body, rows] : members) {
    const Points from = rest(rows, Eigen::all), to = shown.points(rows, Eigen::all);
    over(rows, Eigen::all) = laid_over(from, to);
  }
  return over;
}

VecX change_of_shape(const Geometry& shown) {
  const Points rest = rest_over(shown);
  if (rest.rows() != shown.points.rows()) return VecX::Zero(shown.points.rows());
  return (shown.points - rest).rowwise().norm();
}

std::string unit_of_array(const std::string& name) {
  static const std::map<std::string, std::string> k_units{
      {"von_mises_stress", "Pa"}, {"dent_depth", "m"},        {"impulse", "N s"},
      {"bending_energy", "J"},    {"membrane_energy", "J"},   {"plastic_curvature", "1/m"},
      {"example_energy", "J"},    {"contact_pressure", "Pa"}, {"elastic_energy", "J"},
      {"displacement", "m"},      {"velocity", "m/s"}};
  const auto found = k_units.find(name);
  return found == k_units.end() ? "" : found->second;
}

}  // namespace exemplar::stage
