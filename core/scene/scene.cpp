#include "core/scene/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <mutex>

#include "core/base/errors.h"
#include "core/base/phase.h"
#include "core/mesh/distance.h"
#include "core/mesh/extrude.h"
#include "core/mesh/files/files.h"
#include "core/mesh/quality.h"
#include "core/mesh/repair.h"
#include "core/scene/files/mesh_cache.h"
#include "core/scene/make_world.h"
#include "core/scene/poses.h"
#include "core/scene/sheet_surface.h"

namespace exemplar {

namespace {

Points transformed(const Eigen::Isometry3d& placement, const Points& points) {
  return (points * placement.linear().transpose()).rowwise() + placement.translation().transpose();
}

VolumeOptions options_of(const VolumeSettings& settings) {
  VolumeOptions options;
  options.max_tet_volume = settings.max_tet_volume.value_or(0);
  options.quality = settings.quality;
  options.allow_cage = settings.cage;
  options.force_cage = settings.always_cage;
  options.cage_cell = settings.cage_cell.value_or(0);
  options.time_limit = settings.time_limit;
  return options;
}

Volume volume_of_mesh(TetMesh mesh, const TriMesh& surface) {
  Volume volume;
  volume.mesh = std::move(mesh);
  volume.fill = VecX::Ones(volume.mesh.tets.rows());
  volume.surface = embed(surface.vertices, volume.mesh);
  return volume;
}

Volume volume_from_file(const std::string& file, const TriMesh& surface) {
  int flipped = 0;
  Volume volume = volume_of_mesh(read_tets(file, &flipped), surface);
  if (flipped > 0)
    volume.notes.push_back(fmt::format("{} tets of {} had negative volume and were turned", flipped, file));
  return volume;
}

// In body coordinates.
Volume make_volume(const BodySettings& settings, const TriMesh& surface, const std::string& directory) {
  const Phase phase(
      fmt::format("{}: filling {} triangles with tets", settings.name, surface.triangles.rows()));
  if (settings.kind == BodyKind::sheet) return extrude_sheet(surface, settings.thickness);
  if (settings.volume.grid) {
    const Vec3 size = settings.surface.box->size * settings.surface.scale;
    return volume_of_mesh(box_tets(size, *settings.volume.grid, settings.volume.split), surface);
  }
  if (settings.volume.file) {
    const std::string separator = directory.empty() ? "" : "/";
    return volume_from_file(directory + separator + *settings.volume.file, surface);
  }
  return cached_volume(surface, options_of(settings.volume));
}

std::vector<int> read_labels(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw InputError("cannot read " + file);
  std::vector<int> labels;
  for (int label = 0; in >> label;) labels.push_back(label);
  if (!in.eof()) throw InputError(file + " holds something that is not a whole number");
  return labels;
}

Pieces make_pieces(const PiecesSettings& settings, const TetMesh& mesh, const std::string& directory) {
  Pieces pieces;
  if (settings.voronoi) {
    if (settings.voronoi->count > mesh.tets.rows())
      throw InputError(fmt::format("{} cells are more than the body has tets ({})", settings.voronoi->count,
                                   mesh.tets.rows()));
    pieces = cut_by_cells(mesh, settings.voronoi->count, static_cast<std::uint64_t>(settings.voronoi->seed));
  } else if (settings.labels) {
    pieces = cut_by_labels(mesh, read_labels((directory.empty() ? "" : directory + "/") + *settings.labels));
  } else {
    std::vector<CutPlane> planes;
    for (const RegionHalfSpace& plane : settings.planes) planes.push_back({plane.point, plane.normal});
    pieces = cut_by_planes(mesh, planes);
  }
  if (pieces.count < 2) throw InputError("the cuts leave the body in one piece");
  return pieces;
}

// Problems raised inside a body get its JSON path.
template <class Make>
auto with_path(const std::string& path, const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.path.empty()) problem.path = path;
    }
    throw InputError(problems);
  }
}

void check_surface(const TriMesh& surface) {
  if (surface.triangles.rows() == 0) throw InputError("the surface has no triangles");
  if (!surface.vertices.allFinite()) throw InputError("the surface has coordinates that are not finite");
}

}  // namespace

struct Body::Lazy {
  std::once_flag volume_once, pieces_once, examples_once, volume_examples_once, mass_once;
  TriMesh own_surface;  // body coordinates
  Volume volume;
  std::atomic<bool> has_volume = false;
  Pieces pieces;
  std::vector<Example> examples;
  std::vector<VolumeExample> volume_examples;
  MassProperties mass;
};

namespace {

// A bone may leave the body for a part of its way, but not everywhere: nothing would go with it.
void check_bones(const SkeletonSettings& skeleton, const TriMesh& surface, const std::string& path) {
  constexpr int k_samples = 16;
  const SurfaceDistance distance(surface);
  const double near =
      1e-3 * (surface.vertices.colwise().maxCoeff() - surface.vertices.colwise().minCoeff()).norm();
  std::vector<Problem> problems;
  for (std::size_t k = 0; k < skeleton.bones.size(); ++k) {
    const Vec3& from = skeleton.points[static_cast<std::size_t>(skeleton.bones[k].from)];
    const Vec3& to = skeleton.points[static_cast<std::size_t>(skeleton.bones[k].to)];
    bool inside = false;
    for (int i = 0; i <= k_samples && !inside; ++i)
      inside = distance.signed_distance(from + (to - from) * i / k_samples) < near;
    if (!inside)
      problems.push_back(
          {"", fmt::format("{}.bones[{}]", path, k), "lies wholly outside the body's surface"});
  }
  if (!problems.empty()) throw InputError(problems);
}

}  // namespace

Body::Body(const BodySettings& settings, const std::string& directory, const std::string& path)
    : m_settings(settings), m_directory(directory), m_path(path), m_lazy(std::make_shared<Lazy>()) {
  m_placement = Eigen::Translation3d(settings.position) * rotation_of(settings.rotation);
  const Phase phase(settings.name + ": making its surface");
  m_lazy->own_surface = with_path(path + ".surface", [&] {
    TriMesh mesh = make_surface(settings.surface, directory);
    check_surface(mesh);
    return mesh;
  });
  const bool is_sheet = settings.kind == BodyKind::sheet;
  const Repair repair = is_sheet ? repair_sheet(m_lazy->own_surface) : repair_surface(m_lazy->own_surface);
  const Eigen::Index triangles = m_lazy->own_surface.triangles.rows();
  if (repair.degenerate_triangles * 2 > triangles) {
    throw InputError(
        Problem{"", path + ".surface",
                fmt::format("{} of {} triangles are degenerate", repair.degenerate_triangles, triangles)});
  }
  if (is_sheet) with_path(path + ".surface", [&] { return check_sheet(repair.mesh), 0; });
  for (const std::string& note : repair.notes) m_notes.push_back({Severity::warning, name() + ": " + note});
  m_surface = {transformed(m_placement, m_lazy->own_surface.vertices), m_lazy->own_surface.triangles};
  for (const SupportSettings& support : settings.supports)
    m_supports.push_back(make_support(support, settings.name));
  for (const ControllerSettings& controller : settings.controllers) {
    m_controllers.push_back(make_controller(controller, settings.name));
  }
  if (settings.skeleton) check_bones(*settings.skeleton, m_lazy->own_surface, path + ".skeleton");
  if (settings.dent_map)
    m_settings.dent_map = read_dent_map(*settings.dent_map, directory, path + ".dent_map");
}

const Volume& Body::volume() const {
  std::call_once(m_lazy->volume_once, [this] {
    m_lazy->volume = with_path(m_path + ".volume",
                               [this] { return make_volume(m_settings, m_lazy->own_surface, m_directory); });
    m_lazy->volume.mesh.vertices = transformed(m_placement, m_lazy->volume.mesh.vertices);
    m_lazy->has_volume = true;
  });
  return m_lazy->volume;
}

Notes Body::notes() const {
  Notes notes = m_notes;
  if (!m_lazy->has_volume) return notes;
  const Volume& volume = m_lazy->volume;
  for (const std::string& text : volume.notes) {
    const std::string whole = name() + ": " + text;
    const bool is_known =
        std::any_of(notes.begin(), notes.end(), [&](const Note& n) { return n.text == whole; });
    if (!is_known) notes.push_back({volume.time_limited ? Severity::warning : Severity::note, whole});
  }
  const double asked = m_settings.volume.max_tet_volume.value_or(0);
  const double largest = asked > 0 ? tet_volumes(volume.mesh.vertices, volume.mesh.tets).maxCoeff() : 0;
  if (largest > 1.001 * asked)
    notes.push_back({Severity::note,
                     fmt::format("{}: the largest tet has {:.3g} m³, {:.3g} times max_tet_volume ({})",
                                 name(), largest, largest / asked,
                                 volume.cage ? "the cage's cells are larger; set cage_cell"
                                             : "the surface's own triangles are kept; use a finer surface")});
  return notes;
}

Volume Body::own_volume() const {
  Volume own = volume();
  own.mesh.vertices = transformed(m_placement.inverse(), own.mesh.vertices);
  return own;
}

const Pieces& Body::pieces() const {
  if (!m_settings.pieces) return m_lazy->pieces;
  const Volume own = own_volume();
  std::call_once(m_lazy->pieces_once, [&] {
    m_lazy->pieces =
        with_path(m_path + ".pieces", [&] { return make_pieces(*m_settings.pieces, own.mesh, m_directory); });
  });
  return m_lazy->pieces;
}

const std::vector<Example>& Body::examples() const {
  std::call_once(m_lazy->examples_once, [&] {
    m_lazy->examples = make_examples(
        {&m_settings, &m_lazy->own_surface, [this] { return own_volume(); }, m_directory, m_path});
    for (Example& example : m_lazy->examples) example.surface = transformed(m_placement, example.surface);
  });
  return m_lazy->examples;
}

const std::vector<VolumeExample>& Body::volume_examples() const {
  std::call_once(m_lazy->volume_examples_once, [&] {
    const Phase phase(name() + ": extending its examples to the volume");
    m_lazy->volume_examples = make_volume_examples(
        {&m_settings, &m_lazy->own_surface, [this] { return own_volume(); }, m_directory, m_path});
    for (VolumeExample& example : m_lazy->volume_examples)
      example.nodes = transformed(m_placement, example.nodes);
  });
  return m_lazy->volume_examples;
}

const Example* Body::find_example(const std::string& wanted) const {
  for (const Example& example : examples()) {
    if (example.name == wanted) return &example;
  }
  return nullptr;
}

const Points& Body::initial_surface() const {
  return m_settings.initial_pose ? find_example(*m_settings.initial_pose)->surface : m_surface.vertices;
}

const Points& Body::initial_volume() const {
  if (!m_settings.initial_pose) return volume().mesh.vertices;
  const Example* example = find_example(*m_settings.initial_pose);
  return volume_examples()[static_cast<std::size_t>(example - examples().data())].nodes;
}

Vec3 Body::initial_velocity(const Vec3& point) const {
  return m_settings.velocity + m_settings.angular_velocity.cross(point - mass_properties().centre);
}

const MassProperties& Body::mass_properties() const {
  std::call_once(m_lazy->mass_once, [this] {
    const double density = material().density;
    if (is_sheet()) {
      m_lazy->mass =
          sheet_mass_properties(m_surface.vertices, m_surface.triangles, m_settings.thickness, density);
      return;
    }
    const SurfaceReport report = inspect(m_surface);
    m_lazy->mass = report.closed && report.manifold && report.volume > 0
                       ? solid_mass_properties(m_surface.vertices, m_surface.triangles, density)
                       : solid_mass_properties(volume().mesh.vertices, volume().mesh.tets, density);
  });
  return m_lazy->mass;
}

int Scene::frame_count() const {
  return exemplar::frame_count(time);
}

namespace {

// The bodies that a load names: all copies of one that is repeated; all bodies where it names none.
std::vector<std::string> bodies_of(const LoadSettings& load, const std::vector<BodySettings>& bodies) {
  std::vector<std::string> names;
  for (const BodySettings& body : bodies) {
    if (load.body && *load.body != body.name) continue;
    for (const BodySettings& copy : copies_of(body)) names.push_back(copy.name);
  }
  if (names.empty() && load.body) names.push_back(*load.body);  // one of the copies
  return names;
}

// One for each copy of the body that it names; for every body it stays one.
void add_load(const LoadSettings& settings, const std::string& path, const std::vector<BodySettings>& bodies,
              std::vector<Load>& loads) {
  Load load = make_load(settings);
  load.path = path;
  if (!settings.body) return loads.push_back(std::move(load));
  for (const std::string& name : bodies_of(settings, bodies)) {
    load.body = name;
    loads.push_back(load);
  }
}

void add_pull(const LoadSettings& settings, const std::string& path,
              const std::vector<BodySettings>& settings_of_bodies, Scene& scene) {
  for (const std::string& name : bodies_of(settings, settings_of_bodies)) {
    const auto body = std::find_if(scene.bodies.begin(), scene.bodies.end(),
                                   [&](const Body& candidate) { return candidate.name() == name; });
    if (body == scene.bodies.end()) continue;  // could not be made, or is told by the checks of names
    Pull pull = make_pull(settings, name, body->initial_surface(), body->surface().triangles);
    pull.path = path;
    scene.pulls.push_back(std::move(pull));
  }
}

}  // namespace

Scene make_scene(const SceneSettings& settings, const std::string& directory) {
  Scene scene;
  scene.title = settings.title;
  scene.time = settings.time;
  scene.gravity = settings.gravity;
  scene.seed = static_cast<std::uint64_t>(settings.seed);
  std::vector<Problem> problems;
  auto collect = [&](const std::string& path, const auto& make) {
    try {
      make();
    } catch (const InputError& error) {
      for (Problem problem : error.problems()) {
        if (problem.path.empty()) problem.path = path;
        problems.push_back(problem);
      }
    }
  };
  for (std::size_t i = 0; i < settings.bodies.size(); ++i) {
    const std::string path = fmt::format("bodies[{}]", i);
    for (const BodySettings& copy : copies_of(settings.bodies[i])) {
      collect(path, [&] { scene.bodies.emplace_back(copy, directory, path); });
    }
  }
  const double friction = settings.bodies.empty() ? 0.5 : settings.bodies[0].material.friction;
  for (std::size_t i = 0; i < settings.obstacles.size(); ++i) {
    for (const ObstacleSettings& copy : copies_of(settings.obstacles[i])) {
      const std::string path = fmt::format("obstacles[{}]", i);
      collect(path, [&] {
        scene.obstacles.emplace_back(make_obstacle(copy, friction, directory));
        scene.obstacle_paths.push_back(path);
      });
    }
  }
  for (std::size_t k = 0; k < settings.loads.size(); ++k) {
    const LoadSettings& load = settings.loads[k];
    const std::string path = fmt::format("loads[{}]", k);
    if (!load.pull) add_load(load, path, settings.bodies, scene.loads);
    if (load.pull) collect(path + ".pull", [&] { add_pull(load, path, settings.bodies, scene); });
  }
  if (!problems.empty()) throw InputError(problems);
  return scene;
}

}  // namespace exemplar
