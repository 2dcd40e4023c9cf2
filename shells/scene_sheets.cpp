#include "shells/scene_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/mesh/topology.h"

namespace exemplar::shells {

namespace {

bool everywhere(const std::vector<char>& in) {
  return std::all_of(in.begin(), in.end(), [](char c) { return c != 0; });
}

// Examples with the same region share their weights.
std::vector<ImplicitExamples> group_by_region(const std::vector<Example>& examples, double stiffness) {
  std::vector<ImplicitExamples> groups;
  if (stiffness == 0) return groups;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (!examples[i].elastic) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return examples[group.members.front()].triangles == examples[i].triangles;
    });
    if (same != groups.end()) {
      same->members.push_back(i);
    } else {
      groups.push_back({0, {i}});
    }
  }
  return groups;
}

// Which triangles of the sheet take part, from those of the body's surface.
std::vector<char> part_of_sheet(const SheetSurface& surface, const std::vector<char>& in) {
  std::vector<char> out;
  for (const int triangle : surface.triangles) out.push_back(in[to_size(triangle)]);
  return out;
}

SheetExamples make_set(const Body& body, const SheetSurface& surface, const std::vector<std::size_t>& members,
                       const ShellSettings& settings) {
  SheetExamples set;
  set.membrane = settings.examples.stiffness;
  set.bending = settings.examples.stiffness * settings.examples.bending;
  set.on_simplex = !settings.examples.affine;
  set.initial_weights = VecX::Zero(to_row(members.size()));
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Example& example = body.examples()[members[k]];
    set.poses.push_back(surface.simulated(example.surface));
    set.numbers.push_back(to_int(members[k]));
    if (body.settings().initial_pose == example.name) set.initial_weights[to_row(k)] = 1;
  }
  const std::vector<char> in = part_of_sheet(surface, body.examples()[members.front()].triangles);
  if (!everywhere(in)) set.takes_part = in;
  return set;
}

SheetPlasticity make_plastic(const Body& body, const SheetSurface& surface, const ShellSettings& settings,
                             double yield_stress) {
  SheetPlasticity plastic;
  plastic.yield_strain = yield_stress / body.material().young;
  plastic.full_section = settings.plasticity.section == YieldSection::full;
  for (std::size_t i = 0; i < body.examples().size(); ++i) {
    const Example& example = body.examples()[i];
    if (!example.plastic || !settings.plasticity.use_examples) continue;
    plastic.poses.push_back(surface.simulated(example.surface));
    plastic.takes_part.push_back(part_of_sheet(surface, example.triangles));
    plastic.numbers.push_back(to_int(i));
  }
  return plastic;
}

// Border edges with both ends in a clamped support.
Edges clamped_edges(const Body& body, const Triangles& triangles, const Points& start) {
  std::vector<char> held(to_size(start.rows()), 0);
  for (const Support& support : body.supports()) {
    if (!support.clamped) continue;
    for (const int node : select_nodes(support.region, start)) held[to_size(node)] = 1;
  }
  std::vector<std::pair<int, int>> found;
  const Edges border = boundary_edges(triangles);
  for (Eigen::Index e = 0; e < border.rows(); ++e) {
    if (held[to_size(border(e, 0))] && held[to_size(border(e, 1))])
      found.emplace_back(border(e, 0), border(e, 1));
  }
  Edges edges(to_row(found.size()), 2);
  for (std::size_t e = 0; e < found.size(); ++e) edges.row(to_row(e)) << found[e].first, found[e].second;
  return edges;
}

void warn_about_thickness(const Body& body, const TriMesh& mesh, Notes& notes) {
  const double thickness = body.settings().thickness;
  const SurfaceEdges all = surface_edges(mesh.triangles);
  double shortest = std::numeric_limits<double>::infinity();
  for (Eigen::Index e = 0; e < all.edges.rows(); ++e)
    shortest =
        std::min(shortest, (mesh.vertices.row(all.edges(e, 0)) - mesh.vertices.row(all.edges(e, 1))).norm());
  if (thickness > shortest)
    notes.push_back({Severity::warning,
                     fmt::format("body {}: its thickness {:.3g} m is above its shortest edge {:.3g} m; a "
                                 "shell's theory is for sheets that are thin beside their mesh",
                                 body.name(), thickness, shortest)});
}

// Without the conventional potential a triangle outside every example set would have no stiffness at all.
void check_held_together(const SheetInput& input, const std::string& body) {
  if (input.internal_stiffness > 0) return;
  std::vector<char> held(to_size(input.mesh.triangles.rows()), 0);
  for (const SheetExamples& set : input.examples) {
    if (set.takes_part.empty()) return;
    for (std::size_t t = 0; t < held.size(); ++t) held[t] = held[t] || set.takes_part[t];
  }
  if (everywhere(held)) return;
  throw InputError(
      Problem{"", input.path,
              fmt::format("body {}: with internal_stiffness 0 every part of it needs an elastic example "
                          "(and a stiffness of the examples above 0)",
                          body)});
}

}  // namespace

SheetInput make_sheet_input(const Body& body, const SheetSurface& surface, const std::string& path,
                            const ShellSettings& settings, std::vector<ImplicitExamples>& sets,
                            Notes& notes) {
  warn_about_thickness(body, surface.mesh, notes);
  SheetInput input;
  input.path = path;
  input.mesh = surface.mesh;
  input.positions = surface.simulated(body.initial_surface());
  input.velocities.resize(input.positions.rows(), 3);
  for (Eigen::Index i = 0; i < input.positions.rows(); ++i)
    input.velocities.row(i) = body.initial_velocity(input.positions.row(i).transpose()).transpose();
  input.density = body.material().density;
  input.material = {body.material().young, body.material().poisson, body.settings().thickness};
  input.model = settings.model;
  input.curved_membrane = settings.curved_membrane;
  input.stretching = settings.paper.stretching;
  input.area = settings.paper.area;
  input.bending = settings.paper.bending;
  input.internal_stiffness = settings.internal_stiffness;
  input.damping = body.material().damping;
  sets = group_by_region(body.examples(), settings.examples.stiffness);
  for (ImplicitExamples& set : sets) set.on_simplex = !settings.examples.affine;
  for (const ImplicitExamples& set : sets)
    input.examples.push_back(make_set(body, surface, set.members, settings));
  const std::optional<double> yield =
      settings.plasticity.yield_stress ? settings.plasticity.yield_stress : body.material().yield_stress;
  if (yield) input.plastic = make_plastic(body, surface, settings, *yield);
  check_held_together(input, body.name());
  input.clamped_edges = clamped_edges(body, surface.mesh.triangles, input.positions);
  return input;
}

}  // namespace exemplar::shells
