#include "core/scene/rig_file.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/input_file.h"
#include "core/base/phase.h"
#include "core/output/atomic_file.h"
#include "core/scene/files/mesh_cache.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

constexpr const char* k_rig_format = "exemplar rig 1";
constexpr std::uint64_t k_rig_version = 2;  // raise when rigs are made differently
constexpr int k_snap_bits = 24;             // of the largest coordinate, about 7 digits

template <class Matrix>
void add_matrix(Hasher& hash, const Matrix& matrix) {
  hash.add(matrix.rows());
  hash.add(matrix.data(), static_cast<std::size_t>(matrix.size()));
}

// Coordinates on a grid: a body's volume comes back from its place in the world with other last bits than those of
// `exemplar rig`, and is the same mesh. Rigs that are kept are made from these points, so that they do not depend on
// which copy came first.
Points snapped(const Points& points) {
  const double largest = points.size() > 0 ? points.cwiseAbs().maxCoeff() : 0;
  if (!(largest > 0)) return points;
  const double step = std::ldexp(1.0, std::ilogb(static_cast<float>(largest)) - k_snap_bits);
  return (points / step).array().round() * step + 0.0;  // no −0
}

std::string mesh_key(const Volume& volume) {
  Hasher hash;
  add_matrix(hash, snapped(volume.mesh.vertices));
  add_matrix(hash, volume.mesh.tets);
  return hash.text();
}

Json vector_json(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

Vec3 vector_of(const Json& json) {
  return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>()};
}

HandleKind kind_of(const std::string& name) {
  for (const HandleKind kind :
       {HandleKind::point, HandleKind::bone, HandleKind::cage, HandleKind::automatic}) {
    if (name == name_of(kind)) return kind;
  }
  throw InputError("unknown kind of handle '" + name + "'");
}

Rig rig_of(const Json& json) {
  Rig rig;
  for (const Json& handle : json.at("handles")) {
    rig.handles.push_back({handle.at("name").get<std::string>(),
                           kind_of(handle.at("kind").get<std::string>()), vector_of(handle.at("start")),
                           vector_of(handle.at("end"))});
  }
  rig.fixed = json.at("fixed").get<std::vector<int>>();
  const Json& weights = json.at("weights");
  rig.volume.bones = rig.bones();
  rig.volume.start = weights.at("start").get<std::vector<int>>();
  rig.volume.bone = weights.at("bone").get<std::vector<int>>();
  rig.volume.weight = weights.at("weight").get<std::vector<double>>();
  rig.objective = json.at("objective").get<double>();
  rig.residual = json.at("residual").get<double>();
  rig.iterations = json.at("iterations").get<int>();
  rig.converged = json.at("converged").get<bool>();
  rig.notes = json.at("notes").get<std::vector<std::string>>();
  return rig;
}

// What is wrong with the weights, or nothing.
std::string problem_of(const SkinWeights& w, Eigen::Index vertices) {
  if (w.points() != vertices || w.start.front() != 0 || w.start.back() != static_cast<int>(w.bone.size()) ||
      w.bone.size() != w.weight.size()) {
    return "the lists do not fit together";
  }
  for (std::size_t i = 0; i + 1 < w.start.size(); ++i) {
    if (w.start[i + 1] <= w.start[i]) return fmt::format("row {} is empty", i);
    double sum = 0;
    for (int k = w.start[i]; k < w.start[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (w.bone[at] < 0 || w.bone[at] >= w.bones)
        return fmt::format("row {} names handle {}", i, w.bone[at]);
      if (!(w.weight[at] >= 0 && w.weight[at] <= 1)) return fmt::format("row {} leaves [0, 1]", i);
      sum += w.weight[at];
    }
    if (std::abs(sum - 1) > 1e-12) return fmt::format("row {} sums to {}", i, sum);
  }
  return "";
}

void check_rig(const Rig& rig, const std::string& file, const Volume& volume) {
  const std::string problem = problem_of(rig.volume, volume.mesh.vertices.rows());
  if (!problem.empty()) throw InputError(Problem{file, "weights", problem});
  for (const int vertex : rig.fixed) {
    if (vertex < 0 || vertex >= volume.mesh.vertices.rows()) {
      throw InputError(Problem{file, "fixed", fmt::format("there is no vertex {}", vertex)});
    }
  }
}

void check_mesh(const Json& json, const std::string& file, const Volume& volume) {
  const Json& mesh = json.at("mesh");
  if (mesh.at("key").get<std::string>() == mesh_key(volume)) return;
  throw InputError(Problem{
      file, "mesh",
      fmt::format(
          "is the rig of another mesh: {} vertices and {} tets there, {} and {} here; make it anew with "
          "`exemplar rig`",
          mesh.at("vertices").get<long>(), mesh.at("tets").get<long>(), volume.mesh.vertices.rows(),
          volume.mesh.tets.rows())});
}

std::string request_key(const Volume& volume, const HandleRequest& request) {
  Hasher hash;
  hash.add(k_rig_version);
  add_matrix(hash, volume.mesh.vertices);
  add_matrix(hash, volume.mesh.tets);
  hash.add(request.automatic);
  hash.add(request.points.size());
  for (const Vec3& point : request.points) hash.add(point.data(), 3);
  hash.add(request.bones.size());
  for (const HandleRequest::Bone& bone : request.bones) {
    hash.add(bone.start.data(), 3);
    hash.add(bone.end.data(), 3);
  }
  for (const std::vector<Vec3>& cage : request.cages) {
    hash.add(cage.size());
    for (const Vec3& corner : cage) hash.add(corner.data(), 3);
  }
  return hash.text();
}

Json rig_json(const std::string& text, const std::string& file) {
  Json json = parse_json(text, file);
  const bool is_rig = json.is_object() && json.contains("format") && json["format"] == k_rig_format;
  if (!is_rig)
    throw InputError(Problem{file, "format", fmt::format("is not \"{}\": not a rig", k_rig_format)});
  return json;
}

}  // namespace

std::string encode_rig(const Rig& rig, const Volume& volume) {
  Json json{{"format", k_rig_format}};
  json["mesh"] = {{"vertices", volume.mesh.vertices.rows()},
                  {"tets", volume.mesh.tets.rows()},
                  {"surface_vertices", volume.surface.tet.size()},
                  {"key", mesh_key(volume)}};
  json["handles"] = Json::array();
  for (const Handle& handle : rig.handles) {
    json["handles"].push_back({{"name", handle.name},
                               {"kind", name_of(handle.kind)},
                               {"start", vector_json(handle.start)},
                               {"end", vector_json(handle.end)}});
  }
  json["objective"] = rig.objective;
  json["residual"] = rig.residual;
  json["iterations"] = rig.iterations;
  json["converged"] = rig.converged;
  json["notes"] = rig.notes;
  json["fixed"] = rig.fixed;
  json["weights"] = {{"start", rig.volume.start}, {"bone", rig.volume.bone}, {"weight", rig.volume.weight}};
  return json.dump() + "\n";
}

Rig decode_rig(const std::string& text, const std::string& file, const Volume& volume) {
  const Json json = rig_json(text, file);
  try {
    check_mesh(json, file, volume);
    Rig rig = rig_of(json);
    check_rig(rig, file, volume);
    rig.surface = carried_weights(rig.volume, volume.mesh.tets, volume.surface);
    return rig;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(Problem{file, "", std::string("is damaged: ") + error.what()});
  }
}

void write_rig(const std::string& path, const Rig& rig, const Volume& volume) {
  write_file_atomically(path, encode_rig(rig, volume));
}

Rig read_rig(const std::string& path, const Volume& volume) {
  return decode_rig(read_input(path, k_largest_text_file), path, volume);
}

void check_rig_file(const std::string& path) {
  rig_json(read_input(path, k_largest_text_file), path);
}

Rig cached_rig(const Volume& exact, const HandleRequest& request) {
  Volume volume = exact;
  volume.mesh.vertices = snapped(volume.mesh.vertices);
  const auto path = cache_entry(request_key(volume, request) + ".rig");
  if (!path) return make_rig(volume, request);
  try {
    if (const auto text = read_cache_entry(*path)) return decode_rig(*text, path->string(), volume);
  } catch (const InputError&) {
    // A damaged entry is made anew.
  }
  const Phase phase(fmt::format("computing skinning weights of {} vertices", volume.mesh.vertices.rows()));
  Rig rig = make_rig(volume, request);
  write_cache_entry(*path, encode_rig(rig, volume));
  return rig;
}

}  // namespace exemplar
