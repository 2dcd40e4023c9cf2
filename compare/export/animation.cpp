#include "compare/export/animation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/base/errors.h"
#include "core/mesh/bvh.h"
#include "core/output/geometry_file.h"
#include "core/output/metrics_file.h"
#include "core/output/pvd_file.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// The entries of a collection within the range; refuses numbers that are not there.
std::vector<PvdEntry> chosen(const fs::path& pvd, const FrameRange& range) {
  const std::vector<PvdEntry> all = read_pvd(pvd);
  if (all.empty()) throw InputError(Problem{pvd.string(), "", "has no frames"});
  const int last = static_cast<int>(all.size()) - 1;
  const int from = range.first.value_or(0), to = range.last.value_or(last);
  for (const int frame : {from, to}) {
    if (frame < 0 || frame > last)
      throw InputError(
          Problem{pvd.string(), "", fmt::format("there is no frame {}: 0 to {} are there", frame, last)});
  }
  if (from > to) throw InputError(fmt::format("the first frame ({}) comes after the last ({})", from, to));
  return {all.begin() + from, all.begin() + to + 1};
}

Triangles triangles_of(const Geometry& geometry, const fs::path& file) {
  if (geometry.kind != CellKind::triangles)
    throw InputError(Problem{file.string(), "", "is no triangle mesh"});
  Triangles triangles(static_cast<Eigen::Index>(geometry.connectivity.size() / 3), 3);
  std::copy(geometry.connectivity.begin(), geometry.connectivity.end(), triangles.data());
  return triangles;
}

// "weight_barrel_flat" of "weight_barrel-3_flat": copies of a body may share one column.
int find_weight(const MetricsTable& metrics, const std::string& name) {
  static const std::regex copy("-[0-9]+_");
  const int own = metrics.find(name);
  return own >= 0 ? own : metrics.find(std::regex_replace(name, copy, "_"));
}

// None where the run has no weights of its examples.
std::optional<AnimationExamples> read_examples(const fs::path& file, const MetricsTable& metrics,
                                               std::size_t first, std::size_t count) {
  const Geometry shape = read_geometry(file);
  AnimationExamples examples;
  examples.rest = shape.points;
  examples.triangles = triangles_of(shape, file);
  examples.weights.resize(count);
  std::map<int, std::size_t> targets;  // of a column
  for (const FieldArray& array : shape.arrays) {
    const int column = find_weight(metrics, array.name);
    if (array.components != 3 || column < 0 || !array.name.starts_with("weight_")) continue;
    const Points displacement = Eigen::Map<const Points>(array.values.data(), shape.points.rows(), 3);
    const auto [target, is_new] = targets.emplace(column, examples.names.size());
    if (!is_new) {
      examples.displacements[target->second] += displacement;
      continue;
    }
    examples.names.push_back(metrics.columns[static_cast<std::size_t>(column)].name.substr(7));
    examples.displacements.push_back(displacement);
    for (std::size_t f = 0; f < count; ++f) {
      const std::size_t row = std::min(first + f, metrics.rows.size() - 1);
      examples.weights[f].push_back(metrics.rows[row][static_cast<std::size_t>(column)]);
    }
  }
  if (examples.names.empty() || examples.rest.rows() == 0) return std::nullopt;
  return examples;
}

void add_examples(Animation& animation, const fs::path& directory, const std::string& prefix,
                  std::size_t first, std::size_t count) {
  const fs::path file = directory / "examples.vtp";
  if (!fs::is_regular_file(file) || !fs::is_regular_file(directory / "metrics.csv")) return;
  const MetricsTable metrics = read_metrics(directory / "metrics.csv", AtDamage::stop);
  if (metrics.rows.empty()) return;
  if (auto examples = read_examples(file, metrics, first, count)) {
    examples->name = prefix + "examples";
    animation.examples.push_back(std::move(*examples));
  }
}

AnimationTrack read_track(const std::string& name, const std::vector<PvdEntry>& entries) {
  AnimationTrack track;
  track.name = name;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Geometry geometry = read_geometry(entries[i].file);
    const Triangles triangles = triangles_of(geometry, entries[i].file);
    const bool goes_on = !track.parts.empty() && track.parts.back().triangles.rows() == triangles.rows() &&
                         track.parts.back().frames.back().rows() == geometry.points.rows() &&
                         track.parts.back().triangles == triangles;
    if (!goes_on) track.parts.push_back({i, triangles, {}});
    track.parts.back().frames.push_back(geometry.points);
  }
  return track;
}

void add_run(Animation& animation, const fs::path& directory, const std::string& prefix, const Vec3& colour,
             const FrameRange& range) {
  const std::vector<PvdEntry> entries = chosen(directory / "surface.pvd", range);
  if (entries.size() > animation.times.size()) {
    animation.times.clear();
    for (const PvdEntry& entry : entries) animation.times.push_back(entry.time - entries.front().time);
  }
  AnimationTrack surface = read_track(prefix + "surface", entries);
  surface.colour = colour;
  animation.tracks.push_back(std::move(surface));
  if (fs::is_regular_file(directory / "obstacles.pvd"))
    animation.tracks.push_back(read_track(prefix + "obstacles", chosen(directory / "obstacles.pvd", range)));
  add_examples(animation, directory, prefix, static_cast<std::size_t>(range.first.value_or(0)),
               entries.size());
}

Box bounds_of(const AnimationTrack& track) {
  Box box;
  for (const AnimationPart& part : track.parts) {
    for (const Points& points : part.frames) {
      if (points.rows() == 0) continue;
      box.extend(points.colwise().minCoeff().transpose());
      box.extend(points.colwise().maxCoeff().transpose());
    }
  }
  return box;
}

void shift(AnimationTrack& track, const Vec3& by) {
  for (AnimationPart& part : track.parts) {
    for (Points& points : part.frames) points.rowwise() += by.transpose();
  }
}

// Out of the way of what moves.
void move_examples_behind(Animation& animation) {
  Box box;
  for (const AnimationTrack& track : animation.tracks) {
    if (!track.name.ends_with("obstacles")) box.extend(bounds_of(track));
  }
  for (AnimationExamples& examples : animation.examples) {
    const double depth = examples.rest.col(2).maxCoeff() - examples.rest.col(2).minCoeff();
    const double by =
        box.min.z() - examples.rest.col(2).maxCoeff() - 0.2 * (depth + box.max.z() - box.min.z());
    examples.rest.col(2).array() += by;
  }
}

// "#rrggbb"; anything else is grey.
Vec3 colour_of(const std::string& hex) {
  unsigned r = 200, g = 200, b = 200;
  if (std::sscanf(hex.c_str(), "#%2x%2x%2x", &r, &g, &b) != 3) r = g = b = 200;
  return Vec3(r, g, b) / 255.0;
}

void add_comparison(Animation& animation, const Json& comparison, const fs::path& directory,
                    const FrameRange& range) {
  double edge = 0;
  for (const Json& run : comparison.value("runs", Json::array())) {
    const fs::path own = directory / run.value("directory", "");
    if (!fs::is_regular_file(own / "surface.pvd")) continue;  // a run that failed before its first frame
    const std::size_t before = animation.tracks.size(), examples_before = animation.examples.size();
    add_run(animation, own, run.value("name", "run") + " ", colour_of(run.value("colour", "")), range);
    const Box box = bounds_of(animation.tracks[before]);
    const double width = box.max.x() - box.min.x();
    const Vec3 by(before == 0 ? 0 : edge + 0.2 * width - box.min.x(), 0, 0);
    for (std::size_t t = before; t < animation.tracks.size(); ++t) shift(animation.tracks[t], by);
    for (std::size_t e = examples_before; e < animation.examples.size(); ++e)
      animation.examples[e].rest.rowwise() += by.transpose();
    edge = box.max.x() + by.x();
  }
  if (animation.tracks.empty())
    throw InputError(Problem{directory.string(), "", "none of its runs has frames"});
}

}  // namespace

Animation read_animation(const fs::path& directory, const FrameRange& range) {
  Animation animation;
  animation.title = directory.filename().string();
  if (fs::is_regular_file(directory / "comparison.json")) {
    const std::string file = (directory / "comparison.json").string();
    const Json comparison = read_json_file(file);
    try {
      add_comparison(animation, comparison, directory, range);
    } catch (const Json::exception& error) {
      throw InputError(Problem{file, "", std::string("is damaged: ") + error.what()});
    }
  } else if (fs::is_regular_file(directory / "surface.pvd")) {
    add_run(animation, directory, "", Vec3(0.0, 0.45, 0.7), range);
  } else {
    throw InputError(
        Problem{directory.string(), "", "is neither a run (surface.pvd) nor a comparison (comparison.json)"});
  }
  move_examples_behind(animation);
  const auto& times = animation.times;
  animation.fps =
      times.size() > 1 && times.back() > 0 ? static_cast<double>(times.size() - 1) / times.back() : 24;
  return animation;
}

}  // namespace exemplar
