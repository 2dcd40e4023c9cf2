#include "compare/report/export.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

#include "compare/results/side_by_side.h"
#include "compare/stage/stage.h"
#include "core/base/errors.h"
#include "core/output/geometry_file.h"
#include "core/run/surface_fields.h"

namespace exemplar {

namespace {

// Fragments are written cell by cell: corners that are one point of one fragment become one vertex, and faces
// between two cells of a fragment, which nobody sees, are dropped. `kept` gives the vertices' points.
struct Welded {
  std::vector<int> kept;
  Triangles triangles;
};

std::vector<int> fragment_of_points(const Geometry& surface, const Triangles& triangles) {
  std::vector<int> fragments(static_cast<std::size_t>(surface.points.rows()), 0);
  for (const FieldArray& array : surface.arrays) {
    if (array.name != "fragment" || array.on != Association::cell) continue;
    for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
      for (int k = 0; k < 3; ++k) {
        fragments[static_cast<std::size_t>(triangles(t, k))] =
            static_cast<int>(array.values[static_cast<std::size_t>(t)]);
      }
    }
  }
  return fragments;
}

Triangles without_double_faces(const std::vector<std::array<int, 3>>& faces) {
  auto sorted = [](std::array<int, 3> face) {
    std::sort(face.begin(), face.end());
    return face;
  };
  std::map<std::array<int, 3>, int> count;
  for (const auto& face : faces) ++count[sorted(face)];
  std::vector<int> flat;
  for (const auto& face : faces) {
    if (count[sorted(face)] == 1) flat.insert(flat.end(), face.begin(), face.end());
  }
  return Eigen::Map<const Triangles>(flat.data(), static_cast<Eigen::Index>(flat.size() / 3), 3);
}

Welded weld(const Geometry& surface) {
  const Points rest = rest_positions(surface);
  const Triangles triangles = triangles_of(surface);
  const std::vector<int> fragments = fragment_of_points(surface, triangles);
  const double grain =
      1e-6 * std::max(1e-9, (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).maxCoeff());
  std::map<std::array<long long, 4>, int> vertex_at;
  Welded welded;
  std::vector<int> vertex_of(static_cast<std::size_t>(rest.rows()));
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    const std::array<long long, 4> key{std::llround(rest(i, 0) / grain), std::llround(rest(i, 1) / grain),
                                       std::llround(rest(i, 2) / grain),
                                       fragments[static_cast<std::size_t>(i)]};
    const auto [place, added] = vertex_at.try_emplace(key, static_cast<int>(welded.kept.size()));
    if (added) welded.kept.push_back(static_cast<int>(i));
    vertex_of[static_cast<std::size_t>(i)] = place->second;
  }
  std::vector<std::array<int, 3>> faces;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    std::array<int, 3> face;
    for (int k = 0; k < 3; ++k)
      face[static_cast<std::size_t>(k)] = vertex_of[static_cast<std::size_t>(triangles(t, k))];
    if (face[0] != face[1] && face[1] != face[2] && face[2] != face[0]) faces.push_back(face);
  }
  welded.triangles = without_double_faces(faces);
  return welded;
}

// The scalar arrays of one frame at the vertices that are shown.
std::vector<FieldFrames> shown_fields(const Geometry& surface, const std::vector<int>& vertices) {
  std::vector<FieldFrames> fields;
  if (surface.kind != CellKind::triangles) return fields;
  for (const FieldArray& array : surface.arrays) {
    if (array.integer || array.components != 1 || array.name == "bone") continue;
    const VecX values = array.on == Association::cell
                            ? cell_values_at_points(surface, array)
                            : Eigen::Map<const VecX>(array.values.data(), surface.points.rows());
    std::vector<float> kept;
    for (const int vertex : vertices) kept.push_back(static_cast<float>(values[vertex]));
    fields.push_back({array.name, {std::move(kept)}});
  }
  return fields;
}

// Turns a sequence of frames into a layer.
class LayerBuilder {
 public:
  explicit LayerBuilder(int max_vertices) : m_max_vertices(max_vertices) {}

  void add(const Geometry& surface) {
    const bool same = !m_layer.segments.empty() && surface.connectivity == m_connectivity &&
                      surface.points.rows() == m_points;
    if (!same) start_segment(surface);
    Points kept(static_cast<Eigen::Index>(m_kept.vertices.size()), 3);
    for (std::size_t i = 0; i < m_kept.vertices.size(); ++i) {
      kept.row(static_cast<Eigen::Index>(i)) = surface.points.row(m_kept.vertices[i]);
    }
    m_frames.push_back(std::move(kept));
    for (FieldFrames& field : shown_fields(surface, m_kept.vertices)) add_field(std::move(field));
    ++m_layer.segments.back().frames;
  }

  ExportLayer build() {
    set_bounds();
    std::string low, high;
    std::size_t frame = 0;
    for (const ExportSegment& segment : m_layer.segments) {
      std::vector<std::uint16_t> before(static_cast<std::size_t>(3 * segment.points), 0);
      for (int f = 0; f < segment.frames; ++f, ++frame)
        append_differences(m_frames[frame], before, low, high);
    }
    m_layer.positions = deflate_bytes(low + high);
    m_layer.indices = deflate_bytes(m_indices);
    return std::move(m_layer);
  }

 private:
  void add_field(FieldFrames&& field) {
    auto found = std::find_if(m_layer.values.begin(), m_layer.values.end(),
                              [&](const FieldFrames& other) { return other.name == field.name; });
    if (found == m_layer.values.end()) found = m_layer.values.insert(found, FieldFrames{field.name, {}});
    found->frames.resize(m_frames.size());
    found->frames.back() = std::move(field.frames[0]);
  }

  void start_segment(const Geometry& surface) {
    m_connectivity = surface.connectivity;
    m_points = surface.points.rows();
    m_kept = thinned(surface);
    if (m_layer.segments.empty()) m_layer.original_points = static_cast<int>(m_points);
    m_layer.segments.push_back(
        {0, static_cast<int>(m_kept.vertices.size()), static_cast<int>(m_kept.triangles.rows())});
    for (Eigen::Index i = 0; i < m_kept.triangles.size(); ++i) {
      const auto index = static_cast<std::uint32_t>(m_kept.triangles.data()[i]);
      for (int byte = 0; byte < 4; ++byte) m_indices += static_cast<char>(index >> (8 * byte) & 0xff);
    }
  }

  Decimated thinned(const Geometry& surface) const {
    const Points rest = rest_positions(surface);
    if (surface.points.rows() <= m_max_vertices)
      return decimate({rest, triangles_of(surface)}, m_max_vertices);
    const Welded welded = weld(surface);
    Decimated thin = decimate({rest(welded.kept, Eigen::all), welded.triangles}, m_max_vertices);
    for (int& vertex : thin.vertices) vertex = welded.kept[static_cast<std::size_t>(vertex)];
    return thin;
  }

  void set_bounds() {
    Box box;
    for (const Points& points : m_frames) {
      for (Eigen::Index i = 0; i < points.rows(); ++i) box.extend(Vec3(points.row(i).transpose()));
    }
    const bool empty = !(box.min.array() <= box.max.array()).all();
    m_layer.low = empty ? Vec3::Zero() : box.min;
    m_layer.high = empty ? Vec3::Ones() : box.max;
  }

  void append_differences(const Points& points, std::vector<std::uint16_t>& before, std::string& low,
                          std::string& high) const {
    for (Eigen::Index i = 0; i < points.size(); ++i) {
      const int axis = static_cast<int>(i % 3);
      const double extent = std::max(m_layer.high[axis] - m_layer.low[axis], 1e-12);
      const double unit = (points.data()[i] - m_layer.low[axis]) / extent;
      const auto value = static_cast<std::uint16_t>(std::lround(std::clamp(unit, 0.0, 1.0) * 65535));
      auto& previous = before[static_cast<std::size_t>(i)];
      const auto difference = static_cast<std::uint16_t>(value - previous);
      previous = value;
      low += static_cast<char>(difference & 0xff);
      high += static_cast<char>(difference >> 8);
    }
  }

  int m_max_vertices;
  std::vector<int> m_connectivity;
  Eigen::Index m_points = 0;
  Decimated m_kept;
  std::vector<Points> m_frames;
  std::string m_indices;
  ExportLayer m_layer;
};

// Which frames of the longest run are shown.
std::vector<double> shown_times(const Comparison& comparison, int limit, int& written) {
  const std::vector<PvdEntry>* longest = nullptr;
  for (const ComparedRun& run : comparison.runs) {
    if (!longest || run.data.surfaces.size() > longest->size()) longest = &run.data.surfaces;
  }
  std::vector<double> times;
  if (!longest || longest->empty()) return times;
  written = static_cast<int>(longest->size());
  const int count = std::min(limit, written);
  for (int i = 0; i < count; ++i) {
    const auto frame = static_cast<std::size_t>(
        count == 1 ? 0 : std::lround(static_cast<double>(i) * (written - 1) / (count - 1)));
    times.push_back((*longest)[frame].time);
  }
  return times;
}

// Obstacles much larger than the motion (grounds) are cut around it.
Geometry shown_obstacles(const Geometry& obstacles, const Box& bounds) {
  Box wide = bounds;
  const double margin = 0.45 * (bounds.max - bounds.min).norm();
  wide.min -= Vec3(margin, margin, margin);
  wide.max += Vec3(margin, margin, margin);
  return cut_to_shaft(obstacles, wide);
}

ExportedRun export_run(const ComparedRun& run, const Comparison& comparison, const std::vector<double>& times,
                       const ExportLimits& limits) {
  ExportedRun exported;
  LayerBuilder surface(limits.vertices), obstacles(limits.vertices);
  const std::vector<int> hidden =
      stage::hidden_obstacles(stage::read_stage(run.data.record.settings.text), {});
  for (const double time : times) {
    const PvdEntry* entry = entry_at(run.data.surfaces, time);
    if (!entry) break;
    const Geometry shown = read_geometry(entry->file);
    if (!shown.points.allFinite()) break;
    surface.add(shown);
    if (const PvdEntry* beside = entry_at(run.data.obstacles, time)) {
      const Geometry drawn = stage::without_obstacles(read_geometry(beside->file), hidden);
      if (cell_count(drawn) > 0) obstacles.add(shown_obstacles(drawn, comparison.view));
    }
    ++exported.frames;
  }
  exported.surface = surface.build();
  exported.obstacles = obstacles.build();
  return exported;
}

// The smallest and largest value of every array, those of most runs first; arrays that are the same number
// everywhere show nothing and are left out.
std::vector<FieldScale> scales_of(const Exported& exported, int limit) {
  std::map<std::string, std::pair<int, FieldScale>> found;
  for (const ExportedRun& run : exported.runs) {
    for (const FieldFrames& field : run.surface.values) {
      auto [place, added] = found.try_emplace(field.name, 0, FieldScale{field.name, 1e300, -1e300});
      ++place->second.first;
      FieldScale& scale = place->second.second;
      for (const std::vector<float>& frame : field.frames) {
        for (const float value : frame) {
          if (!std::isfinite(value)) continue;
          scale.low = std::min(scale.low, static_cast<double>(value));
          scale.high = std::max(scale.high, static_cast<double>(value));
        }
      }
    }
  }
  std::vector<std::pair<int, FieldScale>> list;
  for (auto& [name, entry] : found) {
    if (entry.second.high > entry.second.low) list.push_back(entry);
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<FieldScale> scales;
  for (const auto& entry : list) {
    if (static_cast<int>(scales.size()) < limit) scales.push_back(entry.second);
  }
  return scales;
}

std::string field_bytes(const FieldFrames& field, const ExportLayer& layer, const FieldScale& scale) {
  std::string bytes;
  std::size_t frame = 0;
  for (const ExportSegment& segment : layer.segments) {
    std::vector<unsigned char> before(static_cast<std::size_t>(segment.points), 0);
    for (int f = 0; f < segment.frames; ++f, ++frame) {
      for (std::size_t i = 0; i < before.size(); ++i) {
        const bool known = frame < field.frames.size() && i < field.frames[frame].size();
        const double value = known ? static_cast<double>(field.frames[frame][i]) : scale.low;
        const double unit = std::isfinite(value) ? (value - scale.low) / (scale.high - scale.low) : 0;
        const auto byte = static_cast<unsigned char>(std::lround(std::clamp(unit, 0.0, 1.0) * 255));
        bytes += static_cast<char>(byte - before[i]);
        before[i] = byte;
      }
    }
  }
  return deflate_bytes(bytes);
}

void quantise_fields(Exported& exported, int limit) {
  exported.fields = scales_of(exported, limit);
  for (ExportedRun& run : exported.runs) {
    for (const FieldScale& scale : exported.fields) {
      for (const FieldFrames& field : run.surface.values) {
        if (field.name == scale.name) run.surface.fields[scale.name] = field_bytes(field, run.surface, scale);
      }
    }
    run.surface.values.clear();
    run.obstacles.values.clear();
  }
}

}  // namespace

Exported export_frames(const Comparison& comparison, const ExportLimits& limits) {
  Exported exported;
  exported.times = shown_times(comparison, limits.frames, exported.written_frames);
  for (const ComparedRun& run : comparison.runs) {
    exported.runs.push_back(export_run(run, comparison, exported.times, limits));
  }
  quantise_fields(exported, limits.fields);
  return exported;
}

std::string deflate_bytes(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
            static_cast<uLong>(bytes.size()), 9);
  packed.resize(size);
  return packed;
}

std::string base64(const std::string& bytes) {
  static const char* const k_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : k_digits[group >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

}  // namespace exemplar
