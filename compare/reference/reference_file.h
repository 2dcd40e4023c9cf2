// A reference as one file: where the surface of a refined run was at every frame, its metrics, and how far both still are
// from the limit of ever finer steps and meshes. Comparisons measure against it instead of running the reference.
//
// On disk: one line of text that names the format, then a deflated block: the length of a JSON header, the header
// (everything but positions) and the positions as Float32, differences to the frame before, byte planes one by one.
// At most 2 MB: what would take more is rounded, to a hundredth of the uncertainty at most. A surface keeps its triangles: what breaks has no reference of this kind.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/output/fields.h"
#include "core/output/metrics_file.h"

namespace exemplar {

inline constexpr std::size_t k_most_reference_bytes = 2 << 20;

// A geometry whose points move: triangles and integer arrays are those of the first frame.
struct MovingGeometry {
  Geometry first;
  std::vector<Points> frames;  // m; the first frame's are those of `first`, rounded to Float32
};

struct ReferenceFile {
  // Where it comes from.
  std::string method, title, version, date, command, content_key;
  std::string settings;              // of the run, after defaults: JSON text
  double wall_time = 0;              // s, of the refined run
  std::vector<std::string> remarks;  // from when on which quantity does not converge, in words

  std::vector<double> times;  // s
  Points rest;                // of the surface, m
  MovingGeometry surface;
  std::optional<MovingGeometry> obstacles;
  MetricsTable metrics;  // a row for each of `times`
  // The same rows: "frame", "time", "surface_rms", "surface_max" and "surface_rms_aligned" (m), and those metrics whose uncertainty is known;
  // NaN where a value does not converge.
  MetricsTable uncertainty;
};

// Throws InputError when the frames do not fit together or the file would be larger than it may be, OutputError when it
// cannot be written.
void write_reference(const std::filesystem::path& path, const ReferenceFile& reference);
// Throws InputError when it is missing, damaged or of another version.
ReferenceFile read_reference(const std::filesystem::path& path);

// As a finished run: frames, metrics.csv, uncertainty.csv and run.json, so that everything that reads runs can show it.
// Throws OutputError.
void unpack_reference(const ReferenceFile& reference, const std::filesystem::path& directory);

}  // namespace exemplar
