#include "compare/results/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/output/geometry_file.h"
#include "core/output/pvd_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// Keeps the part of a convex polygon where sign·(p[axis] − limit) ≤ 0 (Sutherland and Hodgman 1974).
std::vector<Vec3> clipped(const std::vector<Vec3>& polygon, int axis, double limit, double sign) {
  std::vector<Vec3> kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec3& a = polygon[i];
    const Vec3& b = polygon[(i + 1) % polygon.size()];
    const double da = sign * (a[axis] - limit), db = sign * (b[axis] - limit);
    if (da <= 0) kept.push_back(a);
    if ((da < 0 && db > 0) || (da > 0 && db < 0)) kept.push_back(a + da / (da - db) * (b - a));
  }
  return kept;
}

void add_fan(Geometry& geometry, const std::vector<Vec3>& polygon) {
  if (polygon.size() < 3) return;
  const auto first = static_cast<int>(geometry.points.rows());
  geometry.points.conservativeResize(first + static_cast<int>(polygon.size()), 3);
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    geometry.points.row(first + static_cast<int>(i)) = polygon[i].transpose();
  }
  for (int i = 1; i + 1 < static_cast<int>(polygon.size()); ++i) {
    geometry.connectivity.insert(geometry.connectivity.end(), {first, first + i, first + i + 1});
  }
}

bool in_shaft(const std::vector<Vec3>& polygon, const Box& box) {
  return std::all_of(polygon.begin(), polygon.end(), [&](const Vec3& p) {
    return p.x() >= box.min.x() && p.x() <= box.max.x() && p.z() >= box.min.z() && p.z() <= box.max.z();
  });
}

std::vector<Vec3> cut_polygon(std::vector<Vec3> polygon, const Box& box) {
  for (const int axis : {0, 2}) {
    polygon = clipped(polygon, axis, box.max[axis], 1);
    polygon = clipped(polygon, axis, box.min[axis], -1);
  }
  return polygon;
}

// Adds triangles of `points` with only the corners they use.
void add_whole(Geometry& geometry, const Points& points, const std::vector<int>& triangles) {
  std::vector<int> place(static_cast<std::size_t>(points.rows()), -1);
  std::vector<int> used;
  for (const int corner : triangles) {
    int& at = place[static_cast<std::size_t>(corner)];
    if (at < 0) {
      at = static_cast<int>(used.size());
      used.push_back(corner);
    }
    geometry.connectivity.push_back(at);
  }
  geometry.points = points(used, Eigen::all);
}

void set_run(Geometry& geometry, std::size_t run, const Vec3& offset) {
  geometry.points.rowwise() += offset.transpose();
  geometry.arrays.push_back(make_integer_array(
      "method", Association::cell, std::vector<int>(cell_count(geometry), static_cast<int>(run))));
}

using Blocks = std::vector<std::pair<std::string, Geometry>>;

// The frame of that time; the last one where the run ended earlier.
const PvdEntry& shown_entry(const std::vector<PvdEntry>& entries, double time) {
  const PvdEntry* entry = entry_at(entries, time);
  return entry ? *entry : entries.back();
}

Blocks blocks_at(const Comparison& comparison, const std::vector<Vec3>& offsets, double time) {
  const Box box = display_box(comparison.bounds);
  Blocks blocks;
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const RunData& run = comparison.runs[i].data;
    if (!run.has_frames()) continue;
    Geometry surface = read_geometry(shown_entry(run.surfaces, time).file);
    set_run(surface, i, offsets[i]);
    blocks.emplace_back(run.plan.name, std::move(surface));
    if (run.obstacles.empty()) continue;
    Geometry obstacles = cut_to_shaft(read_geometry(shown_entry(run.obstacles, time).file), box);
    set_run(obstacles, i, offsets[i]);
    blocks.emplace_back(run.plan.name + ", obstacles", std::move(obstacles));
  }
  return blocks;
}

// The times of the run that came farthest.
std::vector<double> all_times(const Comparison& comparison) {
  std::vector<double> times;
  for (const ComparedRun& run : comparison.runs) {
    if (run.data.surfaces.size() <= times.size()) continue;
    times.clear();
    for (const PvdEntry& entry : run.data.surfaces) times.push_back(entry.time);
  }
  return times;
}

}  // namespace

Box display_box(const Box& bounds) {
  const Vec3 size = bounds.max - bounds.min;
  const double margin = 0.12 * std::max(size.x(), size.z());
  Box box = bounds;
  box.min -= Vec3(margin, 0, margin);
  box.max += Vec3(margin, 0, margin);
  return box;
}

std::vector<Vec3> side_by_side_offsets(std::size_t runs, const Box& bounds) {
  const Box box = display_box(bounds);
  const Vec3 size = box.max - box.min;
  const bool along_x = size.x() <= size.z();
  std::vector<Vec3> offsets;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::size_t whole_rows = i / 6;
    const double place = static_cast<double>(i % 6), row = static_cast<double>(whole_rows);
    const double gap = 1.04;  // shafts touch at 1
    offsets.push_back(along_x ? Vec3(gap * place * size.x(), 0, -gap * row * size.z())
                              : Vec3(gap * row * size.x(), 0, -gap * place * size.z()));
  }
  return offsets;
}

Geometry cut_to_shaft(const Geometry& surface, const Box& box) {
  Geometry cut;
  cut.series = surface.series;
  cut.kind = CellKind::triangles;
  cut.points.resize(0, 3);
  if (surface.kind != CellKind::triangles) return cut;
  std::vector<int> whole;  // triangles that need no cut keep their common corners
  std::vector<std::vector<Vec3>> pieces;
  for (std::size_t c = 0; c + 2 < surface.connectivity.size(); c += 3) {
    const int* corners = surface.connectivity.data() + c;
    std::vector<Vec3> polygon;
    for (int k = 0; k < 3; ++k) polygon.push_back(surface.points.row(corners[k]).transpose());
    if (in_shaft(polygon, box)) {
      whole.insert(whole.end(), corners, corners + 3);
    } else {
      pieces.push_back(cut_polygon(std::move(polygon), box));
    }
  }
  add_whole(cut, surface.points, whole);
  for (const std::vector<Vec3>& piece : pieces) add_fan(cut, piece);
  return cut;
}

std::vector<fs::path> write_side_by_side(const Comparison& comparison) {
  const fs::path folder = comparison.directory / "side_by_side";
  const std::vector<double> times = all_times(comparison);
  if (times.empty()) return {};
  make_writable_directory(folder);
  std::vector<fs::path> files{"side_by_side.pvd"};
  const std::vector<Vec3> offsets = side_by_side_offsets(comparison.runs.size(), comparison.bounds);
  PvdFile collection(comparison.directory / "side_by_side.pvd");
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string file = fmt::format("frame_{:05}.vtm", i);
    for (const fs::path& written :
         write_vtm(folder / file, times[i], blocks_at(comparison, offsets, times[i])))
      files.push_back(fs::path("side_by_side") / written);
    collection.add(times[i], fs::path("side_by_side") / file);
  }
  collection.save();
  return files;
}

}  // namespace exemplar
