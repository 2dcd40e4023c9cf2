#include "fem/scene_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"

namespace exemplar::fem {

namespace {

bool everywhere(const std::vector<char>& in) {
  return std::all_of(in.begin(), in.end(), [](char c) { return c != 0; });
}

// Examples with the same region share their weights.
std::vector<ImplicitExamples> group_by_region(const Body& body, double stiffness) {
  std::vector<ImplicitExamples> groups;
  if (stiffness == 0) return groups;  // the potential is off
  for (std::size_t i = 0; i < body.examples().size(); ++i) {
    if (!body.examples()[i].elastic) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return body.volume_examples()[group.members.front()].tets == body.volume_examples()[i].tets;
    });
    if (same != groups.end()) {
      same->members.push_back(i);
    } else {
      groups.push_back({0, {i}});
    }
  }
  return groups;
}

ExampleSet make_set(const Body& body, const std::vector<std::size_t>& members, const Settings& settings) {
  ExampleSet set;
  set.stiffness = settings.examples.stiffness;
  set.on_simplex = !settings.examples.affine;
  set.initial_weights = VecX::Zero(static_cast<Eigen::Index>(members.size()));
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Example& example = body.examples()[members[k]];
    set.poses.push_back(body.volume_examples()[members[k]].nodes);
    if (body.settings().initial_pose == example.name) set.initial_weights[static_cast<Eigen::Index>(k)] = 1;
  }
  const std::vector<char>& in = body.volume_examples()[members.front()].tets;
  if (!everywhere(in)) {
    for (std::size_t t = 0; t < in.size(); ++t) {
      if (in[t]) set.tets.push_back(static_cast<int>(t));
    }
  }
  return set;
}

void check_material(const Body& body, const Settings& settings, Notes& notes) {
  const Material& material = body.material();
  if (settings.model != ElasticModel::modified_stvk) return;
  const double ratio = material.lame_lambda() / material.shear_modulus();
  if (ratio < 1 || ratio > 5) {
    notes.push_back(
        {Severity::warning,
         fmt::format("body {}: λ/μ = {:.3g}; with modified St. Venant–Kirchhoff, recovery from "
                     "inverted elements is certain only from 1 to 5 (Poisson's ratio 0.25 to 0.417)",
                     body.name(), ratio)});
  }
}

void check_upright(const Body& body, const SolidBody& solid) {
  if (!has_barrier(solid.energy)) return;
  const int inverted = count_inverted(TetElements(solid.mesh), solid.positions);
  if (inverted == 0) return;
  throw InputError(
      fmt::format("body {}: starts with {} elements inside out, which model neo-hookean-barrier "
                  "cannot start from; use another model or another initial_pose",
                  body.name(), inverted));
}

// Plastic flow keeps volumes, so that examples which change them are reached in part only.
void check_plastic_volume(const Body& body, std::size_t example, Notes& notes) {
  const TetMesh& mesh = body.volume().mesh;
  const VolumeExample& pose = body.volume_examples()[example];
  const VecX before = tet_volumes(mesh.vertices, mesh.tets), after = tet_volumes(pose.nodes, mesh.tets);
  double rest = 0, there = 0;
  for (std::size_t e = 0; e < pose.tets.size(); ++e) {
    if (!pose.tets[e]) continue;
    rest += before[to_row(e)];
    there += after[to_row(e)];
  }
  if (!(std::abs(there / rest - 1) > 0.05)) return;
  notes.push_back(
      {Severity::warning,
       fmt::format("body {}: plastic example {} has {:.3g} of the rest volume; plastic flow keeps volumes "
                   "and takes the rest of its shape only",
                   body.name(), body.examples()[example].name, there / rest)});
}

// Without the conventional potential an element outside every example set would have no stiffness at all.
void check_held_together(const Body& body, const SolidBody& solid) {
  if (solid.internal_stiffness > 0) return;
  std::vector<char> held(static_cast<std::size_t>(solid.mesh.tets.rows()), 0);
  for (const ExampleSet& set : solid.examples) {
    if (set.tets.empty()) return;
    for (const int tet : set.tets) held[static_cast<std::size_t>(tet)] = 1;
  }
  if (everywhere(held)) return;
  throw InputError(
      fmt::format("body {}: with internal_stiffness 0 every part of it needs an elastic example "
                  "(and a stiffness of the examples above 0)",
                  body.name()));
}

}  // namespace

SolidBody make_solid_body(const Body& body, const Settings& settings, std::vector<ImplicitExamples>& sets,
                          Notes& notes) {
  check_material(body, settings, notes);
  SolidBody solid;
  const Volume& volume = body.volume();
  solid.mesh = volume.mesh;
  if (volume.cage) solid.fill = volume.fill;
  solid.positions = body.initial_volume();
  solid.velocities.resize(solid.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < solid.positions.rows(); ++i) {
    solid.velocities.row(i) = body.initial_velocity(solid.positions.row(i).transpose()).transpose();
  }
  solid.density = body.material().density;
  solid.damping = body.material().damping;
  solid.energy = make_energy(settings.model, body.material().young, body.material().poisson);
  check_upright(body, solid);
  sets = group_by_region(body, settings.examples.stiffness);
  for (ImplicitExamples& set : sets) set.on_simplex = !settings.examples.affine;
  for (const ImplicitExamples& set : sets) solid.examples.push_back(make_set(body, set.members, settings));
  solid.internal_stiffness = settings.internal_stiffness;
  check_held_together(body, solid);

  const std::optional<double> yield =
      settings.plasticity.yield_stress ? settings.plasticity.yield_stress : body.material().yield_stress;
  if (yield) {
    PlasticBody plastic;
    plastic.parameters = {*yield, settings.plasticity.rate, settings.plasticity.distance_penalty};
    for (std::size_t i = 0; i < body.examples().size(); ++i) {
      if (!body.examples()[i].plastic || !settings.plasticity.use_examples) continue;
      plastic.poses.push_back(body.volume_examples()[i].nodes);
      plastic.takes_part.push_back(body.volume_examples()[i].tets);
      check_plastic_volume(body, i, notes);
    }
    solid.plastic = std::move(plastic);
  }
  return solid;
}

void check_whole_body_examples(const Body& body, std::size_t index,
                               const std::vector<ImplicitExamples>& sets) {
  std::vector<Problem> problems;
  for (const ImplicitExamples& set : sets) {
    for (const std::size_t i : set.members) {
      if (everywhere(body.volume_examples()[i].tets)) continue;
      problems.push_back({{},
                          fmt::format("bodies[{}].examples[{}].region", index, i),
                          "fem-compatible interpolates the pose of a whole body and cannot limit an elastic "
                          "example to a part of it; leave the region out or use method fem"});
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

Triangles boundary_triangles(const TetMesh& mesh) {
  Eigen::VectorXi to_tet_vertex;
  Triangles triangles = boundary_surface(mesh, &to_tet_vertex).triangles;
  for (Eigen::Index i = 0; i < triangles.size(); ++i)
    triangles.data()[i] = to_tet_vertex[triangles.data()[i]];
  return triangles;
}

ContactSurface contact_surface(const Body& body) {
  const Volume& volume = body.volume();
  ContactSurface surface;
  if (volume.cage) {
    surface.map = PointMap::embedded(volume.surface, volume.mesh.tets);
    surface.triangles = body.surface().triangles;
    surface.rest = body.surface().vertices;
    return surface;
  }
  surface.map = PointMap::identity(static_cast<int>(volume.mesh.vertices.rows()));
  surface.triangles = boundary_triangles(volume.mesh);
  surface.rest = volume.mesh.vertices;
  return surface;
}

}  // namespace exemplar::fem
