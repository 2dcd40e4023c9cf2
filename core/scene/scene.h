// A scene ready to be simulated: surfaces made, placed and checked; volumes, embeddings and volumetric poses
// made once per body when first asked for, and cached on disk by content. Methods are built from this and
// never see JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/note.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/pieces.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "core/scene/scene_settings.h"
#include "core/world/controllers.h"
#include "core/world/loads.h"
#include "core/world/obstacle.h"
#include "core/world/pull.h"
#include "core/world/supports.h"

namespace exemplar {

// An example pose of the body's surface in its placement (rigid motions of it do not matter to any method).
struct Example {
  std::string name;
  bool elastic = true;          // shapes the example potential
  bool plastic = true;          // shapes plastic flow
  Points surface;               // one row per vertex of the body's surface
  std::vector<char> triangles;  // per triangle: takes part (everywhere 1 unless the example has a region)
};

// The same pose of the body's volume.
struct VolumeExample {
  Points nodes;            // one row per vertex of the body's tet mesh
  std::vector<char> tets;  // per tet: takes part
};

class Body {
 public:
  // Makes the surface (not the volume). Throws InputError whose paths start at `path`, e.g. bodies[0].
  Body(const BodySettings& settings, const std::string& directory, const std::string& path);

  const std::string& name() const { return m_settings.name; }
  const BodySettings& settings() const { return m_settings; }
  const Material& material() const { return m_settings.material; }
  const std::string& directory() const { return m_directory; }  // where the scene's relative files start
  const std::string& path() const { return m_path; }            // JSON path, e.g. bodies[0]; copies share it
  bool is_sheet() const { return m_settings.kind == BodyKind::sheet; }

  // The input surface at rest, placed in the world, the user's vertices in the user's order.
  const TriMesh& surface() const { return m_surface; }
  Eigen::Isometry3d placement() const { return m_placement; }

  // The reference volume (sheets: extruded by their thickness), placed in the world, with the surface
  // embedded.
  const Volume& volume() const;
  // What it is cut into beforehand; none where the scene says nothing.
  const Pieces& pieces() const;
  // Sheets need no volume for these.
  const std::vector<Example>& examples() const;
  // In the order of examples(), made when first asked for; refuses poses that turn elements inside out.
  const std::vector<VolumeExample>& volume_examples() const;
  const Example* find_example(const std::string& name) const;

  // Where the body starts: at rest or in `initial_pose`.
  const Points& initial_surface() const;
  const Points& initial_volume() const;
  // Initial velocity of a point of the body: v + ω × (x − centre of mass).
  Vec3 initial_velocity(const Vec3& point) const;

  // Exact; of the filled surface where it is closed, else of the volume. At rest.
  const MassProperties& mass_properties() const;
  double rest_volume() const { return mass_properties().measure; }

  const std::vector<Support>& supports() const { return m_supports; }
  const std::vector<Controller>& controllers() const { return m_controllers; }

  // What was repaired or chosen while making this body, so far: its volume's once it has been made.
  Notes notes() const;

 private:
  struct Lazy;
  Volume own_volume() const;  // in body coordinates
  BodySettings m_settings;
  std::string m_directory, m_path;
  Eigen::Isometry3d m_placement = Eigen::Isometry3d::Identity();
  TriMesh m_surface;
  std::vector<Support> m_supports;
  std::vector<Controller> m_controllers;
  Notes m_notes;
  std::shared_ptr<Lazy> m_lazy;
};

struct Scene {
  std::string title;
  TimeSettings time;
  Vec3 gravity = Vec3::Zero();  // m/s²
  std::uint64_t seed = 1;
  std::vector<Body> bodies;
  std::vector<ObstacleBody> obstacles;
  std::vector<std::string> obstacle_paths;  // JSON paths, e.g. obstacles[0]; copies share one
  std::vector<Load> loads;
  std::vector<Pull> pulls;  // loads[].pull

  int frame_count() const;  // frames after the initial one
  double frame_time(int frame) const { return frame / time.fps; }
  double step() const { return 1.0 / (time.fps * time.steps_per_frame); }
};

// Builds the scene; all problems at once as InputError with JSON paths. `directory`: where relative files
// start.
Scene make_scene(const SceneSettings& settings, const std::string& directory);

}  // namespace exemplar
