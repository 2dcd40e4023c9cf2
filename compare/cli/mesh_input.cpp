#include "compare/cli/mesh_input.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/mesh/files/files.h"
#include "core/mesh/topology.h"
#include "core/scene/files/mesh_cache.h"
#include "core/scene/surface_settings.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// The parameters of a primitive after --set; problems with their paths.
SurfaceSettings primitive_settings(const MeshInput& input) {
  surface_of_primitive(input.input);  // an unknown name is reported here
  Json document = Json::object();
  document[input.input] = Json::object();
  for (const std::string& assignment : input.assignments) apply_assignment(document, assignment);
  SurfaceSettings settings;
  std::vector<Problem> problems;
  read_object(document, description_of<SurfaceSettings>(), &settings, "", problems);
  if (!problems.empty()) throw InputError(problems);
  return settings;
}

}  // namespace

bool is_tet_file(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  const bool may_hold_tets = extension == ".vtu" || extension == ".ele" || extension == ".node" ||
                             extension == ".msh" || extension == ".mesh" || extension == ".vtk";
  return may_hold_tets && has_tets(path);
}

TriMesh load_surface(const MeshInput& input) {
  if (fs::exists(input.input)) return read_surface(input.input);
  if (fs::path(input.input).has_extension()) throw InputError(Problem{input.input, "", "no such file"});
  return make_surface(primitive_settings(input), "");
}

Volume make_volume(const TriMesh& surface, const MeshInput& input) {
  VolumeOptions options;
  options.max_tet_volume = input.max_tet_volume.value_or(0);
  options.cage_cell = input.cage_cell.value_or(0);
  options.quality = input.quality;
  options.allow_cage = input.cage;
  options.force_cage = input.always_cage;
  return cached_volume(surface, options);
}

LoadedMesh load_mesh(const MeshInput& input) {
  LoadedMesh loaded;
  if (fs::exists(input.input) && is_tet_file(input.input)) {
    loaded.volume.mesh = read_tets(input.input);
    loaded.surface = boundary_surface(loaded.volume.mesh);
    loaded.volume.surface = embed(loaded.surface.vertices, loaded.volume.mesh);
    return loaded;
  }
  loaded.surface = load_surface(input);
  loaded.volume = make_volume(loaded.surface, input);
  return loaded;
}

}  // namespace exemplar
