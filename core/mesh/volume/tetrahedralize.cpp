#include "core/mesh/volume/tetrahedralize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/quality.h"
#include "core/mesh/repair.h"
#include "core/mesh/topology.h"
#include "core/mesh/volume/cage.h"
#include "core/mesh/volume/tetgen_process.h"

namespace exemplar {

namespace {

std::string place(const Points& points, int vertex) {
  return fmt::format("({:.4g}, {:.4g}, {:.4g})", points(vertex, 0), points(vertex, 1), points(vertex, 2));
}

void check_input(const TriMesh& surface, const VolumeOptions& options) {
  if (surface.triangles.rows() == 0) throw InputError("the surface has no triangles");
  if (!surface.vertices.allFinite()) throw InputError("the surface has coordinates that are not finite");
  if (surface.triangles.minCoeff() < 0 || surface.triangles.maxCoeff() >= surface.vertices.rows()) {
    throw InputError("the surface has triangles with vertices that do not exist");
  }
  const auto check = [](double value, const char* name) {
    if (!std::isfinite(value) || value < 0)
      throw InputError(fmt::format("{} must be finite and not negative", name));
  };
  check(options.max_tet_volume, "max_tet_volume");
  check(options.cage_cell, "cage_cell");
  check(options.quality, "quality");
}

void refuse_if_huge(double volume, const VolumeOptions& options) {
  if (options.max_tet_volume <= 0) return;
  const double expected = 1.5 * volume / options.max_tet_volume;
  if (expected <= static_cast<double>(options.max_tets)) return;
  throw InputError(fmt::format(
      "tets of at most {:.3g} m³ in a body of {:.3g} m³ would be about {:.2g} (roughly {:.2g} GB to "
      "simulate); at most {} are allowed: ask for a larger max_tet_volume",
      options.max_tet_volume, volume, expected, expected * 4e-6, options.max_tets));
}

// A point in the empty space behind every cavity's wall.
std::vector<Vec3> cavity_points(const TriMesh& surface) {
  const Parts parts = connected_parts(surface.triangles, surface.vertices.rows());
  if (parts.count < 2) return {};
  const SurfaceDistance distance(surface);
  std::vector<Vec3> points;
  for (int p = 0; p < parts.count; ++p) {
    Triangles own(surface.triangles.rows(), 3);
    Eigen::Index count = 0;
    for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
      if (parts.of_element[t] == p) own.row(count++) = surface.triangles.row(t);
    }
    own.conservativeResize(count, 3);
    if (signed_volume(surface.vertices, own) >= 0) continue;
    // From the largest face along its normal to half the way to the next wall.
    Eigen::Index largest = 0;
    triangle_areas(surface.vertices, own).maxCoeff(&largest);
    const auto x = [&](int k) { return Vec3(surface.vertices.row(own(largest, k))); };
    const Vec3 centre = (x(0) + x(1) + x(2)) / 3;
    const Vec3 normal = (x(1) - x(0)).cross(x(2) - x(0)).normalized();
    const double start = 1e-6 * (x(1) - x(0)).norm();
    const auto hit = distance.ray_cast(centre + start * normal, normal);
    if (hit) points.push_back(centre + (start + 0.5 * hit->t) * normal);
  }
  return points;
}

// Empty when the tets can be used.
std::string defect(const TetMesh& mesh, double volume) {
  const VecX volumes = tet_volumes(mesh.vertices, mesh.tets);
  if (!mesh.vertices.allFinite()) return "TetGen returned points that are not finite";
  if (!(volumes.minCoeff() > 1e-14 * volumes.maxCoeff())) return "TetGen returned flat tets";
  if (std::abs(volumes.sum() - volume) > 1e-6 * volume) {
    return fmt::format("TetGen filled {:.6g} of {:.6g} m³", volumes.sum(), volume);
  }
  return {};
}

// Whether surface triangles are so much larger than the tets that keeping them would force slivers.
bool worth_splitting(const TriMesh& surface, double max_tet_volume) {
  const double tet_edge = std::cbrt(6 * std::sqrt(2.0) * max_tet_volume);
  const double area = surface_area(surface.vertices, surface.triangles);
  const double edge = std::sqrt(4 / std::sqrt(3.0) * area / static_cast<double>(surface.triangles.rows()));
  return edge > 1.3 * tet_edge;
}

bool keep_surface(const TriMesh& surface, const VolumeOptions& options, double max_tet_volume) {
  if (options.splitting == Splitting::automatic) return !worth_splitting(surface, max_tet_volume);
  return options.splitting == Splitting::keep;
}

// The asked settings first, then what is easier for TetGen. An empty mesh when nothing works.
TetMesh fill_with_tetgen(const TriMesh& surface, const VolumeOptions& options, Volume& about) {
  const double volume = signed_volume(surface.vertices, surface.triangles);
  TetgenSwitches wanted;
  wanted.quality = options.quality;
  wanted.min_dihedral = options.min_dihedral;
  wanted.max_tet_volume = options.max_tet_volume > 0 ? options.max_tet_volume : volume / 2000;
  wanted.keep_surface = keep_surface(surface, options, wanted.max_tet_volume);
  std::vector<TetgenSwitches> attempts{wanted};
  TetgenSwitches relaxed = wanted;
  relaxed.quality = 2.0;
  relaxed.min_dihedral = 0;
  relaxed.keep_surface = true;
  attempts.push_back(relaxed);
  const std::vector<Vec3> holes = cavity_points(surface);
  for (const TetgenSwitches& switches : attempts) {
    TetgenRun run = run_tetgen(surface, holes, switches, options.time_limit);
    if (run.failure.empty()) run.failure = defect(run.mesh, volume);
    if (run.failure.empty()) return std::move(run.mesh);
    about.notes.push_back(run.failure);
    about.time_limited = about.time_limited || run.is_late;
  }
  return {};
}

double cage_cell(const TriMesh& surface, const VolumeOptions& options) {
  if (options.cage_cell > 0) return options.cage_cell;
  if (options.max_tet_volume > 0) return std::cbrt(5 * options.max_tet_volume);
  return cell_for_count(surface, 1500);
}

// Points within rounding of a node are that node.
void snap(Embedding& embedding) {
  for (Eigen::Index i = 0; i < embedding.weights.rows(); ++i) {
    int k = 0;
    if (std::abs(embedding.weights.row(i).maxCoeff(&k) - 1) > 1e-11) continue;
    if ((embedding.weights.row(i).array().abs() > 1e-11).count() > 1) continue;
    embedding.weights.row(i).setZero();
    embedding.weights(i, k) = 1;
  }
}

void use_cage(const TriMesh& surface, const VolumeOptions& options, Volume& volume) {
  const bool exact = !volume.problems.any();
  Cage cage = build_cage(surface, cage_cell(surface, options), exact, options.max_tets);
  volume.cage = true;
  volume.notes.push_back(fmt::format("the surface is embedded in a cage of {} tets with cells of {:.3g} m",
                                     cage.mesh.tets.rows(), cage.cell));
  const int parts = connected_parts(cage.mesh.tets, cage.mesh.vertices.rows()).count;
  if (parts > 1) volume.notes.push_back(fmt::format("the cage has {} separate parts", parts));
  volume.mesh = std::move(cage.mesh);
  volume.fill = std::move(cage.fill);
}

// Why TetGen is not even tried; empty when it is.
std::string reason_for_cage(const TriMesh& surface, const SurfaceProblems& problems,
                            const VolumeOptions& options) {
  if (problems.any())
    return "the surface has " + problems.describe() + ", which `exemplar mesh --problems` shows";
  if (options.allow_cage && surface.triangles.rows() > options.max_surface_triangles) {
    return fmt::format("the surface has {} triangles, more than {}", surface.triangles.rows(),
                       options.max_surface_triangles);
  }
  if (options.force_cage) return "a cage was asked for";
  return {};
}

}  // namespace

bool SurfaceProblems::any() const {
  return boundary_edges.rows() > 0 || non_manifold_edges.rows() > 0 || !non_manifold_vertices.empty() ||
         crossings > 0 || !orientable;
}

std::string SurfaceProblems::describe() const {
  std::string text;
  const auto say = [&](std::size_t count, const char* what, int first_vertex) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} (the first at {})", count, what, place(surface.vertices, first_vertex));
  };
  const auto edges = [&](const Edges& list, const char* what) {
    say(static_cast<std::size_t>(list.rows()), what, list.rows() > 0 ? list(0, 0) : 0);
  };
  edges(boundary_edges, "border edges");
  edges(non_manifold_edges, "edges with more than two triangles");
  say(non_manifold_vertices.size(), "vertices where separate fans meet",
      non_manifold_vertices.empty() ? 0 : non_manifold_vertices[0]);
  say(crossings, "pairs of triangles that cross or touch",
      crossing_triangles.empty() ? 0 : surface.triangles(crossing_triangles[0], 0));
  if (!orientable) text += std::string(text.empty() ? "" : ", ") + "no consistent orientation";
  return text;
}

SurfaceProblems find_problems(TriMesh repaired, bool orientable) {
  SurfaceProblems problems;
  problems.surface = std::move(repaired);
  problems.orientable = orientable;
  const TriMesh& mesh = problems.surface;
  problems.boundary_edges = boundary_edges(mesh.triangles);
  problems.non_manifold_edges = non_manifold_edges(mesh.triangles);
  problems.non_manifold_vertices = non_manifold_vertices(mesh.triangles, mesh.vertices.rows());
  const auto pairs = self_intersections(mesh, static_cast<std::size_t>(-1));
  problems.crossings = pairs.size();
  for (const auto& [s, t] : pairs) {
    problems.crossing_triangles.push_back(s);
    problems.crossing_triangles.push_back(t);
  }
  auto& crossing = problems.crossing_triangles;
  std::sort(crossing.begin(), crossing.end());
  crossing.erase(std::unique(crossing.begin(), crossing.end()), crossing.end());
  return problems;
}

Volume build_volume(const TriMesh& surface, const VolumeOptions& options) {
  check_input(surface, options);
  Repair repaired = repair_surface(surface);
  if (repaired.mesh.triangles.rows() == 0) throw InputError("all triangles of the surface are degenerate");
  Volume volume;
  volume.notes = repaired.notes;
  volume.problems = find_problems(std::move(repaired.mesh), repaired.orientable);
  const TriMesh& clean = volume.problems.surface;
  refuse_if_huge(std::max(0.0, signed_volume(clean.vertices, clean.triangles)), options);
  std::string reason = reason_for_cage(clean, volume.problems, options);
  if (reason.empty()) {
    volume.mesh = fill_with_tetgen(clean, options, volume);
    if (volume.mesh.tets.rows() == 0) reason = "TetGen could not fill the surface";
  }
  if (!reason.empty()) {
    if (!options.allow_cage) throw InputError(reason + "; a cage around it would work but is not allowed");
    volume.notes.push_back(reason);
    use_cage(clean, options, volume);
  } else {
    volume.fill = VecX::Ones(volume.mesh.tets.rows());
  }
  volume.surface = embed(surface.vertices, volume.mesh);
  snap(volume.surface);
  return volume;
}

}  // namespace exemplar
