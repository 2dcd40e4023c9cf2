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

// The entry of `sets` that names an example of the body; −1: none.
int set_naming(const ExamplePotentialSettings& settings, const Body& body, const std::string& example) {
  for (std::size_t k = 0; k < settings.sets.size(); ++k) {
    const ExampleSetSettings& set = settings.sets[k];
    if (!set.body.empty() && set.body != body.name()) continue;
    if (std::find(set.examples.begin(), set.examples.end(), example) != set.examples.end()) return to_int(k);
  }
  return -1;
}

// Of the set `named`, or of the examples that no set names.
double stiffness_of(const ExamplePotentialSettings& settings, const Body& body, int named) {
  if (named >= 0) return settings.sets[to_size(named)].stiffness.value_or(settings.stiffness);
  double stiffness = settings.stiffness;
  for (const ExampleSetSettings& set : settings.sets) {
    const bool of_rest = set.examples.empty() && (set.body.empty() || set.body == body.name());
    if (of_rest) stiffness = set.stiffness.value_or(stiffness);
  }
  return stiffness;
}

struct ExampleGroup {
  ImplicitExamples examples;
  int named = -1;  // entry of the settings' sets
  double stiffness = 1;
};

// Examples with the same region share their weights, unless a set of the settings takes some out.
std::vector<ExampleGroup> group_examples(const Body& body, const ExamplePotentialSettings& settings) {
  std::vector<ExampleGroup> groups;
  for (std::size_t i = 0; i < body.examples().size(); ++i) {
    if (!body.examples()[i].elastic) continue;
    const int named = set_naming(settings, body, body.examples()[i].name);
    const double stiffness = stiffness_of(settings, body, named);
    if (stiffness == 0) continue;  // the potential is off
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const ExampleGroup& group) {
      return group.named == named &&
             body.volume_examples()[group.examples.members.front()].tets == body.volume_examples()[i].tets;
    });
    if (same != groups.end()) {
      same->examples.members.push_back(i);
    } else {
      const auto is_split = [&](const ExampleGroup& group) { return named >= 0 && group.named == named; };
      if (std::any_of(groups.begin(), groups.end(), is_split))
        throw InputError(fmt::format("body {}: example {} shapes another region than the others of its set",
                                     body.name(), body.examples()[i].name));
      groups.push_back({{0, {i}, !settings.affine}, named, stiffness});
    }
  }
  return groups;
}

ExampleSet make_set(const Body& body, const ExampleGroup& group) {
  const std::vector<std::size_t>& members = group.examples.members;
  ExampleSet set;
  set.stiffness = group.stiffness;
  set.on_simplex = group.examples.on_simplex;
  set.initial_weights = VecX::Zero(to_row(members.size()));
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Example& example = body.examples()[members[k]];
    set.poses.push_back(body.volume_examples()[members[k]].nodes);
    if (body.settings().initial_pose == example.name) set.initial_weights[to_row(k)] = 1;
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
  const int inverted = count_inverted(TetElements(solid.mesh, 0, {}, solid.midsides), solid.positions);
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

void warn_of_idle_examples(const Body& body, Notes& notes) {
  const bool shows_flow = std::any_of(body.examples().begin(), body.examples().end(),
                                      [](const Example& e) { return e.plastic && !e.elastic; });
  if (shows_flow)
    notes.push_back({Severity::warning,
                     fmt::format("body {}: its plastic examples have no effect, as it has no yield stress",
                                 body.name())});
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
  solid.density = body.material().density;
  solid.damping = body.material().damping;
  solid.energy = make_energy(settings.model, body.material().young, body.material().poisson);
  sets.clear();
  for (const ExampleGroup& group : group_examples(body, settings.examples)) {
    solid.examples.push_back(make_set(body, group));
    sets.push_back(group.examples);
  }
  solid.internal_stiffness = settings.internal_stiffness;
  check_held_together(body, solid);

  const std::optional<YieldCurve> yield = yield_curve(body.material(), settings.plasticity.yield_stress);
  if (yield) {
    PlasticBody plastic;
    plastic.parameters = {*yield, settings.plasticity.rate, settings.plasticity.distance_penalty};
    plastic.carries_examples = settings.plasticity.carry_examples;
    for (std::size_t i = 0; i < body.examples().size(); ++i) {
      if (!body.examples()[i].plastic || !settings.plasticity.use_examples) continue;
      plastic.poses.push_back(body.volume_examples()[i].nodes);
      plastic.takes_part.push_back(body.volume_examples()[i].tets);
      check_plastic_volume(body, i, notes);
    }
    solid.plastic = std::move(plastic);
  } else {
    warn_of_idle_examples(body, notes);
  }
  if (settings.element == ElementOrder::quadratic) make_quadratic(solid);
  check_upright(body, solid);
  solid.velocities.resize(solid.positions.rows(), 3);
  for (Eigen::Index i = 0; i < solid.positions.rows(); ++i)
    solid.velocities.row(i) = body.initial_velocity(solid.positions.row(i).transpose()).transpose();
  return solid;
}

void check_example_sets(const Scene& scene, const ExamplePotentialSettings& settings,
                        const std::string& method) {
  std::vector<Problem> problems;
  const auto path = [&](std::size_t k) { return fmt::format("methods.{}.examples.sets[{}]", method, k); };
  for (std::size_t k = 0; k < settings.sets.size(); ++k) {
    const ExampleSetSettings& set = settings.sets[k];
    const auto is_meant = [&](const Body& body) { return set.body.empty() || body.name() == set.body; };
    if (std::none_of(scene.bodies.begin(), scene.bodies.end(), is_meant))
      problems.push_back({{}, path(k) + ".body", "there is no body " + set.body});
    for (const std::string& name : set.examples) {
      bool found = false;
      for (const Body& body : scene.bodies) {
        const auto has = [&](const Example& example) { return example.elastic && example.name == name; };
        if (!is_meant(body) || std::none_of(body.examples().begin(), body.examples().end(), has)) continue;
        found = true;
        if (set_naming(settings, body, name) != to_int(k))
          problems.push_back(
              {{}, path(k) + ".examples", "example " + name + " is named by another set already"});
      }
      if (!found) problems.push_back({{}, path(k) + ".examples", "there is no elastic example " + name});
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
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
  if (problems.empty() && sets.size() > 1)
    problems.push_back({{},
                        "methods.fem-compatible.examples.sets",
                        "fem-compatible interpolates one pose of a whole body: all examples of body " +
                            body.name() + " must share their weights; leave the sets out or use method fem"});
  if (!problems.empty()) throw InputError(std::move(problems));
}

Triangles boundary_triangles(const TetMesh& mesh, const Midsides& midsides) {
  Eigen::VectorXi to_tet_vertex;
  Triangles triangles = boundary_surface(mesh, &to_tet_vertex).triangles;
  for (Eigen::Index i = 0; i < triangles.size(); ++i)
    triangles.data()[i] = to_tet_vertex[triangles.data()[i]];
  return midsides.empty() ? triangles : subdivided(triangles, midsides);
}

PointMap surface_map(const Body& body, const SolidBody& solid) {
  const Embedding& surface = body.volume().surface;
  return solid.midsides.empty() ? PointMap::embedded(surface, solid.mesh.tets)
                                : embedded(surface, solid.mesh.tets, solid.midsides);
}

ContactSurface contact_surface(const Body& body, const SolidBody& solid) {
  ContactSurface surface;
  if (body.volume().cage) {
    surface.map = surface_map(body, solid);
    surface.triangles = body.surface().triangles;
    surface.rest = body.surface().vertices;
    return surface;
  }
  surface.map = PointMap::identity(to_int(solid.mesh.vertices.rows()));
  surface.triangles = boundary_triangles(solid.mesh, solid.midsides);
  surface.rest = solid.mesh.vertices;
  return surface;
}

}  // namespace exemplar::fem
