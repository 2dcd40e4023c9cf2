#include "compare/reference/reference_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/output/geometry_file.h"
#include "core/output/pvd_file.h"
#include "core/scene/json.h"
#include "core/scene/runs/run_record.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_magic = "EXEMPLAR REFERENCE 1\n";
constexpr std::size_t k_most_unpacked = std::size_t(1) << 28;  // of a file that may be damaged

// ---- positions

using Bits = std::vector<std::uint32_t>;

Bits bits_of(const Points& points) {
  Bits bits(static_cast<std::size_t>(points.size()));
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    const auto value = static_cast<float>(points.data()[i]);
    std::memcpy(&bits[static_cast<std::size_t>(i)], &value, sizeof value);
  }
  return bits;
}

Points points_of(const Bits& bits, Eigen::Index rows) {
  Points points(rows, 3);
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    float value = 0;
    std::memcpy(&value, &bits[static_cast<std::size_t>(i)], sizeof value);
    points.data()[i] = value;
  }
  return points;
}

// Differences of the bits to the frame before: small numbers where little moves.
std::string encode_positions(const Points& rest, const std::vector<Points>& frames) {
  Bits before = bits_of(rest);
  std::string planes;
  for (const Points& frame : frames) {
    const Bits now = bits_of(frame);
    for (int plane = 0; plane < 4; ++plane) {
      for (std::size_t i = 0; i < now.size(); ++i)
        planes += static_cast<char>((now[i] - before[i]) >> (8 * plane) & 255u);
    }
    before = now;
  }
  return planes;
}

std::vector<Points> decode_positions(std::string_view planes, const Points& rest, std::size_t frames) {
  Bits before = bits_of(rest);
  const std::size_t count = before.size();
  if (planes.size() != frames * count * 4) throw InputError("positions are missing");
  std::vector<Points> decoded;
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t difference = 0;
      for (std::size_t plane = 0; plane < 4; ++plane)
        difference |= std::uint32_t(static_cast<unsigned char>(planes[(f * 4 + plane) * count + i]))
                      << (8 * plane);
      before[i] += difference;
    }
    decoded.push_back(points_of(before, rest.rows()));
  }
  return decoded;
}

// ---- header

Json table_json(const MetricsTable& table) {
  Json json{{"columns", Json::array()}, {"rows", Json::array()}};
  for (const MetricName& column : table.columns) json["columns"].push_back(column.title());
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const double value : row) cells.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    json["rows"].push_back(cells);
  }
  return json;
}

MetricsTable table_of(const Json& json) {
  MetricsTable table;
  for (const Json& title : json.at("columns"))
    table.columns.push_back(parse_metric_title(title.get<std::string>()));
  for (const Json& cells : json.at("rows")) {
    std::vector<double>& row = table.rows.emplace_back();
    for (const Json& cell : cells) row.push_back(cell.is_null() ? std::nan("") : cell.get<double>());
    if (row.size() != table.columns.size()) throw InputError("a row of metrics has the wrong length");
  }
  return table;
}

Json points_json(const Points& points) {
  Json list = Json::array();
  for (Eigen::Index i = 0; i < points.size(); ++i) list.push_back(static_cast<float>(points.data()[i]));
  return list;
}

Points points_of(const Json& json) {
  const auto values = json.get<std::vector<double>>();
  Points points(static_cast<Eigen::Index>(values.size() / 3), 3);
  std::copy_n(values.begin(), points.size(), points.data());
  return points;
}

Json geometry_json(const Geometry& geometry, const Points& start) {
  Json json{{"kind", static_cast<int>(geometry.kind)},
            {"start", points_json(start)},
            {"connectivity", geometry.connectivity},
            {"offsets", geometry.offsets},
            {"arrays", Json::array()}};
  for (const FieldArray& array : geometry.arrays) {
    if (!array.integer || array.components != 1) continue;
    json["arrays"].push_back({{"name", array.name},
                              {"cells", array.on == Association::cell},
                              {"values", std::vector<int>(array.values.begin(), array.values.end())}});
  }
  return json;
}

// Indices and lengths of a file from elsewhere are not believed.
void check_geometry(const Geometry& geometry) {
  for (const std::vector<int>* list : {&geometry.connectivity}) {
    for (const int index : *list) {
      if (index < 0 || index >= geometry.points.rows())
        throw InputError("a cell names a point that is not there");
    }
  }
  for (const FieldArray& array : geometry.arrays) {
    const std::size_t wanted = array.on == Association::cell
                                   ? cell_count(geometry)
                                   : static_cast<std::size_t>(geometry.points.rows());
    if (array.values.size() != wanted)
      throw InputError("the array '" + array.name + "' has the wrong length");
  }
}

Geometry geometry_of(const Json& json, const std::string& series) {
  Geometry geometry;
  geometry.series = series;
  const int kind = json.at("kind").get<int>();
  if (kind != static_cast<int>(CellKind::triangles) && kind != static_cast<int>(CellKind::polygons))
    throw InputError("a surface is made of neither triangles nor polygons");
  geometry.kind = static_cast<CellKind>(kind);
  geometry.points = points_of(json.at("start"));
  geometry.connectivity = json.at("connectivity").get<std::vector<int>>();
  geometry.offsets = json.at("offsets").get<std::vector<int>>();
  for (const Json& array : json.at("arrays")) {
    FieldArray field{array.at("name").get<std::string>(),
                     array.at("cells").get<bool>() ? Association::cell : Association::point,
                     1,
                     true,
                     {}};
    field.values = array.at("values").get<std::vector<double>>();
    geometry.arrays.push_back(std::move(field));
  }
  check_geometry(geometry);
  return geometry;
}

Json header_of(const ReferenceFile& r) {
  Json json{{"method", r.method},
            {"title", r.title},
            {"version", r.version},
            {"date", r.date},
            {"command", r.command},
            {"content_key", r.content_key},
            {"settings", r.settings},
            {"wall_time [s]", r.wall_time},
            {"remarks", r.remarks},
            {"times [s]", r.times},
            {"metrics", table_json(r.metrics)},
            {"uncertainty", table_json(r.uncertainty)}};
  json["surface"] = geometry_json(r.surface.first, r.rest);
  if (r.obstacles) json["obstacles"] = geometry_json(r.obstacles->first, r.obstacles->first.points);
  return json;
}

// ---- whole file

void check_frames(const ReferenceFile& r) {
  const auto fits = [&](const MovingGeometry& moving) {
    bool same = moving.frames.size() == r.times.size();
    for (const Points& frame : moving.frames) same = same && frame.rows() == moving.first.points.rows();
    return same;
  };
  if (r.times.empty() || !fits(r.surface) || r.rest.rows() != r.surface.first.points.rows() ||
      (r.obstacles && !fits(*r.obstacles)))
    throw InputError("a reference needs the same points at every one of its times");
  if (r.metrics.rows.size() != r.times.size() || r.uncertainty.rows.size() != r.times.size() ||
      r.metrics.find("time") < 0 || r.uncertainty.find("surface_rms") < 0 ||
      r.uncertainty.find("surface_max") < 0)
    throw InputError(
        "a reference needs metrics and uncertainties (surface_rms, surface_max) for every one of its times");
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
            static_cast<uLong>(bytes.size()), 9);
  packed.resize(size);
  return packed;
}

std::string inflated(std::string_view packed, std::size_t size) {
  if (size > k_most_unpacked) throw InputError("it claims to be far too large");
  std::string bytes(size, '\0');
  uLongf length = static_cast<uLongf>(size);
  const int status =
      uncompress(reinterpret_cast<Bytef*>(bytes.data()), &length,
                 reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (status != Z_OK || length != size) throw InputError("it is damaged or cut off");
  return bytes;
}

std::string number_bytes(std::uint64_t number) {
  std::string bytes;
  for (int k = 0; k < 8; ++k) bytes += static_cast<char>(number >> (8 * k) & 255u);
  return bytes;
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  if (bytes.size() < at + 8) throw InputError("it is cut off");
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < 8; ++k)
    number |= std::uint64_t(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
  return number;
}

ReferenceFile parse(std::string_view file) {
  if (!file.starts_with(k_magic))
    throw InputError("it is not a reference of this version: exemplar certify makes one");
  const std::uint64_t size = number_at(file, k_magic.size());
  const std::string bytes = inflated(file.substr(k_magic.size() + 8), size);
  const std::uint64_t length = number_at(bytes, 0);
  if (length > bytes.size() - 8) throw InputError("its header is cut off");
  const Json header = Json::parse(bytes.substr(8, length));
  ReferenceFile r;
  r.method = header.at("method").get<std::string>();
  r.title = header.at("title").get<std::string>();
  r.version = header.at("version").get<std::string>();
  r.date = header.at("date").get<std::string>();
  r.command = header.at("command").get<std::string>();
  r.content_key = header.at("content_key").get<std::string>();
  r.settings = header.at("settings").get<std::string>();
  r.wall_time = header.at("wall_time [s]").get<double>();
  r.remarks = header.at("remarks").get<std::vector<std::string>>();
  r.times = header.at("times [s]").get<std::vector<double>>();
  r.metrics = table_of(header.at("metrics"));
  r.uncertainty = table_of(header.at("uncertainty"));
  r.surface.first = geometry_of(header.at("surface"), "surface");
  r.rest = r.surface.first.points;
  std::string_view positions = std::string_view(bytes).substr(8 + length);
  const std::size_t own =
      std::min(positions.size(), r.times.size() * static_cast<std::size_t>(r.rest.size()) * 4);
  r.surface.frames = decode_positions(positions.substr(0, own), r.rest, r.times.size());
  if (header.contains("obstacles")) {
    MovingGeometry& obstacles = r.obstacles.emplace();
    obstacles.first = geometry_of(header.at("obstacles"), "obstacles");
    obstacles.frames = decode_positions(positions.substr(own), obstacles.first.points, r.times.size());
  }
  check_frames(r);
  return r;
}

// ---- as a run

void write_table(const fs::path& path, const MetricsTable& table) {
  std::string text;
  for (const MetricName& column : table.columns) text += (text.empty() ? "" : ",") + column.title();
  text += "\n";
  for (const auto& row : table.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i ? "," : "") + (std::isfinite(row[i]) ? fmt::format("{}", row[i]) : std::string());
    text += line + "\n";
  }
  write_file_atomically(path, text);
}

void write_frames(const fs::path& directory, const MovingGeometry& moving, const std::vector<double>& times,
                  const Points* rest) {
  const std::string series = moving.first.series;
  PvdFile collection(directory / (series + ".pvd"));
  for (std::size_t f = 0; f < times.size(); ++f) {
    Geometry frame = moving.first;
    frame.points = moving.frames[f];
    if (rest) frame.arrays.push_back(make_array("displacement", Association::point, frame.points - *rest));
    const fs::path file =
        fs::path("frames") / fmt::format("{}_{:05}{}", series, f, geometry_extension(frame.kind));
    write_geometry(directory / file, frame, times[f]);
    collection.add(times[f], file);
  }
  collection.save();
}

std::string file_of(const ReferenceFile& reference) {
  const std::string header = header_of(reference).dump();
  std::string bytes =
      number_bytes(header.size()) + header + encode_positions(reference.rest, reference.surface.frames);
  if (reference.obstacles)
    bytes += encode_positions(reference.obstacles->first.points, reference.obstacles->frames);
  return std::string(k_magic) + number_bytes(bytes.size()) + deflated(bytes);
}

void round_frames(std::vector<Points>& frames, double to) {
  for (Points& points : frames) points = (points.array() / to).round() * to;
}

// What need not be told: a hundredth of what is not known of the surface at the end. 0: nothing is unknown.
double of_no_interest(const ReferenceFile& reference) {
  double open = 0;
  if (reference.uncertainty.find("surface_rms") < 0) return open;
  for (const double value : reference.uncertainty.column("surface_rms")) {
    if (std::isfinite(value)) open = value;
  }
  return 0.01 * open;
}

}  // namespace

void write_reference(const fs::path& path, const ReferenceFile& reference) {
  check_frames(reference);
  std::string file = file_of(reference);
  // Rounded to ever larger powers of two positions take ever less room.
  constexpr double k_finest = 0x1p-20, k_coarser = 4;  // m
  ReferenceFile rounded = reference;
  for (double to = k_finest; file.size() > k_most_reference_bytes && to <= of_no_interest(reference);
       to *= k_coarser) {
    round_frames(rounded.surface.frames, to);
    if (rounded.obstacles) round_frames(rounded.obstacles->frames, to);
    file = file_of(rounded);
  }
  if (file.size() > k_most_reference_bytes)
    throw InputError(
        Problem{path.string(), "",
                fmt::format("would have {:.1f} MB, at most {} are allowed: take fewer frames",
                            1e-6 * static_cast<double>(file.size()), k_most_reference_bytes >> 20)});
  write_file_atomically(path, file, Durability::power_failure);
}

ReferenceFile read_reference(const fs::path& path) {
  if (!fs::is_regular_file(path)) throw InputError(Problem{path.string(), "", "there is no such file"});
  try {
    return parse(file_bytes(path));
  } catch (const InputError& error) {
    throw InputError(
        Problem{path.string(), "", std::string("cannot be read: ") + error.problems().front().message});
  } catch (const Json::exception& error) {
    throw InputError(Problem{path.string(), "", std::string("cannot be read: its header is damaged")});
  }
}

void unpack_reference(const ReferenceFile& reference, const fs::path& directory) {
  make_writable_directory(directory / "frames");
  write_frames(directory, reference.surface, reference.times, &reference.rest);
  if (reference.obstacles) write_frames(directory, *reference.obstacles, reference.times, nullptr);
  write_table(directory / "metrics.csv", reference.metrics);
  write_table(directory / "uncertainty.csv", reference.uncertainty);
  RunRecord record;
  record.version = reference.version;
  record.method = reference.method;
  record.title = reference.title;
  record.content_key = reference.content_key;
  record.status = RunStatus::done;
  record.frames = static_cast<int>(reference.times.size()) - 1;
  record.wall_time = reference.wall_time;
  record.settings.text = reference.settings;
  record.notes.push_back({Severity::note, "made on " + reference.date + " by " + reference.command});
  for (const std::string& remark : reference.remarks) record.notes.push_back({Severity::note, remark});
  write_run_record(directory, record);
}

}  // namespace exemplar
