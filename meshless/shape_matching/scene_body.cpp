#include "meshless/shape_matching/scene_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/volume/extrude.h"
#include "meshless/shape_matching/bending.h"

namespace exemplar::shape_matching {

namespace {

// Of the material's. Cubes are few and large, so that the first count of sub-steps past the half mostly has nearly all
// of it; tets are small, and each further sub-step adds so little that they would stop at the half.
constexpr double k_enough_stiffness = 1.0 - 1e-9, k_enough_stiffness_of_tets = 0.9, k_enough_damping = 0.95;
// Times as many sub-steps as the stiffness asks for: the material's damping may ask for any number.
constexpr int k_more_for_damping = 2;

struct Discretisation {
  CellModel model;
  CarriedPoints surface;
  std::vector<int> owner;
  double slenderness = 1.0;  // length over thickness of a cell
  Points pose;               // particle positions at the start
};

TriMesh closed_surface(const Body& body) {
  return body.is_sheet() ? extruded_surface(body.surface(), body.settings().thickness)
                         : facing_outwards(body.surface());
}

Discretisation divide_into_tets(const Body& body) {
  Discretisation out;
  const Volume& volume = body.volume();
  out.model = make_tet_cells(volume.mesh, body.material().density, volume.fill);
  // The mass is the surface's own: a cage's fill is only sampled.
  out.model.masses *= body.mass_properties().mass / out.model.masses.sum();
  out.surface = carried_by_tets(volume.surface, volume.mesh.tets);
  out.pose = body.initial_volume();
  return out;
}

// Where a rest-shape particle goes in the body's initial pose: it follows the nearest tet of the volume.
Points posed(const Body& body, const Points& rest) {
  if (!body.settings().initial_pose) return rest;
  const Embedding embedding = embed(rest, body.volume().mesh);
  return apply(embedding, body.volume().mesh.tets, body.initial_volume());
}

Discretisation divide_into_cubes(const Body& body, const Settings& settings) {
  const TriMesh surface = closed_surface(body);
  const Vec3 extent =
      (surface.vertices.colwise().maxCoeff() - surface.vertices.colwise().minCoeff()).transpose();
  CubicalOptions options;
  // About 100 cells over the bounding box unless told otherwise; flat directions get one layer.
  const double automatic = std::max(std::cbrt(extent.prod() / 100.0), extent.maxCoeff() / 64.0);
  options.cell_size = settings.cell_size > 0.0 ? settings.cell_size : automatic;
  options.cell_counts = {settings.cell_counts.x(), settings.cell_counts.y(), settings.cell_counts.z()};
  options.overlap = settings.overlap;
  options.subdivisions = settings.subdivisions;
  options.density = body.material().density;
  const SurfaceDistance distance(surface);
  CubicalModel cubes = make_cubical_cells(
      surface, [&](const Vec3& p) { return distance.inside(p); }, options);
  // The mass is the surface's own; sampling and the least share of a corner only say how it is spread.
  cubes.model.masses *= body.mass_properties().mass / cubes.model.masses.sum();
  Discretisation out;
  out.surface = embed_in_lattice(body.surface().vertices, cubes.lattice);
  out.slenderness = cubes.lattice.spacing.maxCoeff() / cubes.lattice.spacing.minCoeff();
  if (settings.embedding == SurfaceEmbedding::owning_cell && settings.cells == CellShape::cubes)
    out.owner = owning_cells(body.surface().vertices, cubes.lattice);
  out.model = std::move(cubes.model);
  out.model.square_radius = cube_square_radius(out.model);
  if (settings.cells == CellShape::regions) {
    out.model.square_radius = 0.0;
    out.model.regions = {};
    const int regions = settings.regions > 0 ? settings.regions : std::max(1, out.model.cells.count() / 4);
    out.model.cells =
        make_kmeans_regions(out.model.cells, out.model.rest_positions, regions, settings.region_overlap);
  }
  out.pose = posed(body, out.model.rest_positions);
  return out;
}

PlasticityOptions plasticity_of(const Body& body, const PlasticitySettings& settings, double reached) {
  PlasticityOptions out;
  const bool yields = body.material().yield_stress.has_value() || settings.yield > 0.0;
  switch (settings.model) {
    case PlasticityModel::none:
      break;
    case PlasticityModel::stretch:
      out.kind = PlasticityKind::stretch;
      break;
    case PlasticityModel::with_rotation:
      out.kind = PlasticityKind::with_rotation;
      break;
    case PlasticityModel::automatic:
      out.kind = yields ? PlasticityKind::with_rotation : PlasticityKind::none;
  }
  out.reference =
      settings.reference == Reference::body ? PlasticityReference::body : PlasticityReference::neighbours;
  // A body that is softer than its material strains more under the same stress, so it yields at a larger
  // strain.
  if (settings.yield > 0.0) {
    out.yield = settings.yield;
  } else if (body.material().yield_stress) {
    out.yield = std::min(0.5, *body.material().yield_stress / (body.material().young * reached));
  }
  out.creep = settings.creep;
  out.max = settings.max;
  return out;
}

BodyOptions options_of(const Body& body, const Settings& settings) {
  BodyOptions out;
  out.match.beta = settings.beta;
  // Not of single tets: what each wants of its corners, taken together, made a body at rest explode at β ≥ 0.95.
  out.match.conserve_volume = settings.conserve_volume && settings.cells != CellShape::tets;
  out.match.quadratic = settings.quadratic;
  if (settings.cells == CellShape::cubes && settings.overlap == 0)
    out.match.bend_share = 1.0 / (1.0 + 2.0 / (settings.subdivisions * settings.subdivisions));
  out.levels = std::max(1, settings.levels);
  out.stiffness.wave_speed = std::sqrt(body.material().young / body.material().density);
  if (settings.stiffness_time > 0.0) out.stiffness.frequency = 1.0 / settings.stiffness_time;
  out.stiffness.damping_ratio = settings.damping_ratio;
  out.stiffness.damping_time = body.material().damping;
  out.stiffness.iterations = settings.iterations;
  out.stiffness.max_iterations = settings.max_iterations;
  out.sleep.enabled = settings.sleep;
  return out;
}

double bending_of(const CellModel& model, const MatchOptions& match, const ShapeMatchingBody& body,
                  const Body& scene_body) {
  const double radius = model.square_radius > 0.0 ? model.square_radius : body.cells().mean_square_radius();
  // A single cell has no bends of its own but in quadratic mode.
  if (model.cells.count() < 2) return 1.0;
  return bending_factor(model, match, radius, scene_body.mass_properties());
}

// What the ranges of single settings cannot say.
void check_settings(const Settings& settings) {
  if (settings.quadratic && settings.beta == 0.0)
    throw InputError(Problem{{},
                             "methods.shape-matching.quadratic",
                             "has no effect at beta 0: cells then only turn; give beta (eq. 2.19)"});
  for (int axis = 0; axis < 3; ++axis) {
    if (settings.cell_counts[axis] >= 0) continue;
    throw InputError(Problem{{},
                             fmt::format("methods.shape-matching.cell_counts[{}]", axis),
                             fmt::format("expected a whole number of cells, or 0 for as many as their size "
                                         "asks for, got {}",
                                         settings.cell_counts[axis])});
  }
}

Eigen::RowVector3d cell_centre(const Cells& cells, int cell, const Points& positions) {
  Eigen::RowVector3d sum = Eigen::RowVector3d::Zero();
  for (const int p : cells.of(cell)) sum += positions.row(p);
  return sum / static_cast<double>(cells.of(cell).size());
}

std::string stiffness_advice(const Settings& settings) {
  return settings.substeps == 0 ? "a larger max_substeps or more steps per frame make it stiffer"
                                : "more substeps, iterations or steps per frame make it stiffer";
}

// Off by more than so much is said.
constexpr double k_bearable_stiffness = 1.15, k_bearable_damping = 0.85;

Notes stiffness_notes(const SceneBody& scene_body, const StiffnessPlan& plan, const Settings& settings) {
  Notes notes;
  const std::string& name = scene_body.body->name();
  const double bent = plan.reached * scene_body.bending;
  if (settings.stiffness_time == 0.0 && plan.reached < 1.0 / k_bearable_stiffness) {
    notes.push_back(
        {Severity::warning,
         fmt::format("{}: shape matching reaches {:.2g} of Young's modulus at this step, so that the body "
                     "deforms {:.3g} times as much as its material; {}",
                     name, plan.reached, 1.0 / plan.reached, stiffness_advice(settings))});
  }
  if (settings.stiffness_time == 0.0 &&
      std::max(scene_body.bending, 1.0 / scene_body.bending) > k_bearable_stiffness) {
    notes.push_back(
        {Severity::warning,
         fmt::format("{}: these cells are {:.2g} times as stiff in bending as in stretching, so that the "
                     "body bends {:.3g} times as much as its material; cubes without overlap are right",
                     name, scene_body.bending, 1.0 / bent)});
  }
  if (plan.damped < k_bearable_damping) {
    notes.push_back(
        {Severity::warning,
         fmt::format("{}: at this step {:.2g} of the material's damping is stable; a larger max_substeps "
                     "or more steps per frame let the body come to rest sooner",
                     name, plan.damped)});
  }
  return notes;
}

Notes notes_of(const SceneBody& scene_body, const PlasticityOptions& plasticity, const StiffnessPlan& plan,
               const Settings& settings) {
  const Body& body = *scene_body.body;
  const ShapeMatchingBody& matched = *scene_body.matched;
  Notes notes;
  notes.push_back(
      {Severity::note,
       fmt::format("{}: {} particles in {} cells, {} level(s), {} sub-step(s), α = {:.3g}, {} pass(es)",
                   body.name(), matched.positions.rows(), matched.cells().cells().count(),
                   matched.levels().size(), scene_body.substeps, plan.alphas[0], plan.iterations)});
  const Notes stiffness = stiffness_notes(scene_body, plan, settings);
  notes.insert(notes.end(), stiffness.begin(), stiffness.end());
  if (plasticity.kind != PlasticityKind::none) {
    notes.push_back({Severity::note, fmt::format("{}: cells flow above a deformation of {:.3g}", body.name(),
                                                 plasticity.yield)});
  }
  return notes;
}

}  // namespace

int enough_substeps(ShapeMatchingBody& body, double step, double enough, int least, int most) {
  int count = least;
  while (count < most && body.plan(step / count).by_finest < enough) ++count;
  const int most_for_damping = std::min(most, k_more_for_damping * count);
  while (count < most_for_damping && body.plan(step / count).damped < k_enough_damping) ++count;
  return count;
}

void adapt_substeps(SceneBody& body, double step) {
  const double softness = body.matched->plasticity().softness();
  if (softness == body.planned_softness) return;
  body.planned_softness = softness;
  body.substeps =
      enough_substeps(*body.matched, step, body.enough_stiffness, body.least_substeps, body.most_substeps);
}

double stiffness_share(const SceneBody& body, double dt) {
  const double stretched = body.matched->plan(dt).reached, bent = stretched * body.bending;
  return std::abs(std::log(bent)) > std::abs(std::log(stretched)) ? bent : stretched;
}

SceneBody make_scene_body(const Scene& scene, const Body& body, const Settings& settings) {
  check_settings(settings);
  Discretisation parts =
      settings.cells == CellShape::tets ? divide_into_tets(body) : divide_into_cubes(body, settings);
  SceneBody out;
  out.body = &body;
  out.surface = std::move(parts.surface);
  out.owner = std::move(parts.owner);
  BodyOptions options = options_of(body, settings);
  // A single cell is the thesis' own.
  if (parts.model.cells.count() == 1) options.match.bend_share = 1.0;
  // Stiffness grows with the square of the sub-steps.
  ShapeMatchingBody trial(parts.model, options);
  const bool is_free = settings.substeps == 0 && settings.stiffness_time == 0.0;
  const int asked = std::max(1, settings.substeps);
  out.most_substeps = is_free ? settings.max_substeps : asked;
  out.enough_stiffness = settings.cells == CellShape::tets ? k_enough_stiffness_of_tets : k_enough_stiffness;
  out.substeps = out.least_substeps =
      enough_substeps(trial, scene.step(), out.enough_stiffness, asked, out.most_substeps);
  const double reached = trial.plan(scene.step() / out.substeps).reached;
  out.has_given_stiffness = settings.stiffness_time > 0.0;
  out.bending = bending_of(parts.model, options.match, trial, body);
  options.plasticity = plasticity_of(body, settings.plasticity, reached);
  options.plasticity.reached = reached;
  if (settings.cells == CellShape::tets) {
    options.plasticity.bend_factor = std::numeric_limits<double>::infinity();
  } else if (settings.plasticity.yield == 0.0) {
    options.plasticity.bend_factor = 2.0 * std::sqrt(2.0) * parts.slenderness;
  }
  out.matched = std::make_unique<ShapeMatchingBody>(std::move(parts.model), options);
  ShapeMatchingBody& matched = *out.matched;
  if (settings.conserve_volume && !body.is_sheet())
    matched.keep_volume_of(surface_volume(out.surface, body.surface().triangles, matched.rest_positions()));
  matched.positions = parts.pose;
  for (Eigen::Index i = 0; i < matched.positions.rows(); ++i)
    matched.velocities.row(i) = body.initial_velocity(matched.positions.row(i).transpose()).transpose();
  if (!out.owner.empty()) {
    out.owner_offset = body.surface().vertices;
    for (std::size_t i = 0; i < out.owner.size(); ++i)
      out.owner_offset.row(static_cast<Eigen::Index>(i)) -=
          cell_centre(matched.cells().cells(), out.owner[i], matched.rest_positions());
  }
  out.rest_frames = rest_frames(body.surface());
  out.contact_points = with_inner_particles(
      with_triangle_samples(out.surface, body.surface(), contact_sample_spacing(scene.obstacles)),
      closed_surface(body), matched.rest_positions());
  const double spacing = 2.0 * std::sqrt(matched.cells().mean_square_radius());
  out.pulls = CarriedPulls(scene.pulls, body.name(), out.surface);
  CarriedSurface fine = refine_surface(out.surface, body.surface(), spacing);
  out.supports = carried_supports(body.supports(), body.name(), body.path(), fine, matched.positions);
  out.loads = CarriedLoads(scene.loads, body.name(), std::move(fine), matched.positions, matched.masses());
  out.contact_margin = 0.1 * spacing;
  out.notes = notes_of(out, options.plasticity, matched.plan(scene.step() / out.substeps), settings);
  return out;
}

Points surface_positions(const SceneBody& body) {
  const ShapeMatchingBody& matched = *body.matched;
  if (body.owner.empty()) return body.surface.apply(matched.positions);
  const Cells& cells = matched.cells().cells();
  const std::vector<Mat3> maps = cell_maps(cells, matched.rest_positions(), matched.positions);
  Points out(body.owner_offset.rows(), 3);
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const int cell = body.owner[static_cast<std::size_t>(i)];
    out.row(i) =
        body.owner_offset.row(i) * maps[cell].transpose() + cell_centre(cells, cell, matched.positions);
  }
  return out;
}

SurfaceFrames surface_frames(const SceneBody& body) {
  const ShapeMatchingBody& matched = *body.matched;
  const Cells& cells = matched.cells().cells();
  const bool owned = !body.owner.empty();
  const std::vector<Mat3> maps = owned ? cell_maps(cells, matched.rest_positions(), matched.positions)
                                       : particle_maps(cells, matched.rest_positions(), matched.positions);
  SurfaceFrames out = body.rest_frames;
  for (Eigen::Index v = 0; v < out.normals.rows(); ++v) {
    const int point = static_cast<int>(v);
    Mat3 map = Mat3::Zero();
    if (owned) {
      map = maps[body.owner[static_cast<std::size_t>(v)]];
    } else {
      for (int k = body.surface.begin(point); k < body.surface.end(point); ++k)
        map += body.surface.weights[k] * maps[body.surface.nodes[k]];
    }
    out.normals.row(v) = transformed_normal(map, out.normals.row(v)).transpose();
    const Vec3 carried = map * out.tangents.row(v).transpose();
    if (carried.norm() > 0.0) out.tangents.row(v) = carried.normalized().transpose();
  }
  return out;
}

}  // namespace exemplar::shape_matching
