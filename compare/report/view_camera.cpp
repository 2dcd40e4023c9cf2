#include "compare/report/view_camera.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compare/stage/framing.h"
#include "core/output/geometry_file.h"

namespace exemplar {

namespace {

constexpr std::size_t k_camera_times = 9;  // between them the camera moves straight
constexpr double k_view_aspect = 1.5;      // of the page's views

Json vector_json(const Vec3& v) {
  return Json::array({v.x(), v.y(), v.z()});
}

// Evenly over the longest run.
std::vector<double> camera_times(const Comparison& comparison) {
  const std::vector<PvdEntry>* longest = nullptr;
  for (const ComparedRun& run : comparison.runs) {
    if (!longest || run.data.surfaces.size() > longest->size()) longest = &run.data.surfaces;
  }
  std::vector<double> times;
  const std::size_t count = longest ? std::min(k_camera_times, longest->size()) : 0;
  for (std::size_t i = 0; i < count; ++i)
    times.push_back((*longest)[count == 1 ? 0 : i * (longest->size() - 1) / (count - 1)].time);
  return times;
}

// The frames of all runs at some times; nothing where a run had ended.
struct CameraFrames {
  std::vector<std::vector<std::optional<Geometry>>> surfaces, obstacles;

  stage::Moments moments() const {
    stage::Moments all;
    for (std::size_t r = 0; r < surfaces.size(); ++r) {
      auto& run = all.emplace_back();
      for (std::size_t t = 0; t < surfaces[r].size(); ++t)
        run.push_back(
            {surfaces[r][t] ? &*surfaces[r][t] : nullptr, obstacles[r][t] ? &*obstacles[r][t] : nullptr});
    }
    return all;
  }
};

CameraFrames read_camera_frames(const Comparison& comparison, const std::vector<double>& times) {
  CameraFrames frames;
  for (const ComparedRun& run : comparison.runs) {
    const std::vector<int> hidden =
        stage::hidden_obstacles(stage::read_stage(run.data.record.settings.text), {});
    auto& surfaces = frames.surfaces.emplace_back();
    auto& obstacles = frames.obstacles.emplace_back();
    for (const double time : times) {
      const PvdEntry* surface = entry_at(run.data.surfaces, time);
      const PvdEntry* obstacle = entry_at(run.data.obstacles, time);
      surfaces.push_back(surface ? std::optional(read_geometry(surface->file)) : std::nullopt);
      obstacles.push_back(obstacle
                              ? std::optional(stage::without_obstacles(read_geometry(obstacle->file), hidden))
                              : std::nullopt);
    }
  }
  return frames;
}

stage::Stage stage_of_runs(const Comparison& comparison) {
  for (const ComparedRun& run : comparison.runs) {
    stage::Stage stage = stage::read_stage(run.data.record.settings.text);
    if (!stage.bodies.empty()) return stage;
  }
  return {};
}

}  // namespace

Json view_camera_json(const Comparison& comparison) {
  const std::vector<double> times = camera_times(comparison);
  if (times.empty()) return nullptr;
  const CameraFrames frames = read_camera_frames(comparison, times);
  const stage::Stage stage = stage_of_runs(comparison);
  stage::FramingWishes wishes;
  wishes.close_ups = {stage::k_no_close_up};
  wishes.aspect = k_view_aspect;
  const stage::Shot shot = stage::frame_shots(frames.moments(), stage, wishes).front();
  const stage::Camera& first = shot.cameras[0][0];
  Json json{{"position", vector_json(first.position)},
            {"target", vector_json(first.target)},
            {"field_of_view", first.view_angle * 180 / M_PI},
            {"times", times},
            {"paths", Json::array()},
            {"cut", nullptr}};
  for (const auto& run : shot.cameras) {
    Json path = Json::array();
    for (const stage::Camera& camera : run) path.push_back(vector_json(camera.position - first.position));
    json["paths"].push_back(path);
  }
  if (stage.camera.cut)
    json["cut"] = {{"point", vector_json(stage.camera.cut->point)},
                   {"normal", vector_json(stage.camera.cut->normal)}};
  return json;
}

}  // namespace exemplar
