#include "rigidplastic/lbs/lbs_body.h"

#include <fmt/format.h>

#include <cmath>

#include "core/mesh/extrude.h"
#include "core/mesh/quality.h"

namespace exemplar::lbs {

namespace {

using rigid::BodyFrame;
using rigid::RigidBody;

constexpr double k_least_volume = 0.05;  // of that at rest: below it mass properties are kept
constexpr double k_closed_volume =
    0.02;  // a piece's surface is closed when its volume is that of its tets to this

bool holds_piece(const Support& support, const Points& points) {
  if (support.region.kind == RegionKind::all) return true;
  return !select_nodes(support.region, points).empty();
}

RigidBody make_piece(const LbsBody& body, std::size_t piece, double mass, rigid::CollisionGeometry geometry) {
  const rigid::PieceSurface& surface = body.surfaces.pieces[piece];
  const Points points = body.piece_points(piece);
  MassProperties properties = solid_mass_properties(points, surface.triangles, 1);
  properties.inertia *= mass / properties.mass;
  RigidBody made;
  made.name = fmt::format("{} piece {}", body.body->name(), piece + 1);
  made.mass = mass;
  made.frame = rigid::principal_frame(properties);
  made.friction = body.body->material().friction;
  made.restitution = body.body->material().restitution;
  made.start.position = made.frame.centre;
  made.start.orientation = Quat(made.frame.axes);
  made.start.velocity = body.body->initial_velocity(made.frame.centre);
  made.start.angular_velocity = body.body->settings().angular_velocity;
  made.state = made.start;
  made.shape = rigid::BulletShape::from_mesh({made.frame.to_local(points), surface.triangles}, geometry);
  for (const Support& support : body.body->supports()) {
    if (!made.support && holds_piece(support, points)) made.support = &support;
  }
  return made;
}

}  // namespace

Points LbsBody::piece_points(std::size_t piece) const {
  const rigid::PieceSurface& surface = surfaces.pieces[piece];
  return points().middleRows(surface.begin, surface.end - surface.begin);
}

Points LbsBody::collision_points(std::size_t piece) const {
  if (!body->is_sheet()) return piece_points(piece);
  return extruded_surface({piece_points(piece), surfaces.pieces[piece].triangles}, body->settings().thickness)
      .vertices;
}

BodyFrame LbsBody::frame(std::size_t piece, const RigidBody& now) const {
  if (!follows[piece]) return now.frame;
  const Triangles& triangles = surfaces.pieces[piece].triangles;
  const Points points = piece_points(piece);
  MassProperties mass = body->is_sheet()
                            ? sheet_mass_properties(points, triangles, body->settings().thickness, 1)
                            : solid_mass_properties(points, triangles, 1);
  if (mass.measure < k_least_volume * rest_volumes[piece]) return now.frame;
  mass.inertia *= now.mass / mass.mass;
  return rigid::principal_frame(mass, now.frame.axes);
}

Edges LbsBody::connected_edges(const std::vector<int>& components) const {
  std::vector<int> ends(surfaces.edges.data(), surfaces.edges.data() + surfaces.edges.size());
  for (std::size_t s = 0; s < surfaces.seam_pieces.size(); ++s) {
    const auto [a, b] = surfaces.seam_pieces[s];
    if (components[static_cast<std::size_t>(first + a)] != components[static_cast<std::size_t>(first + b)])
      continue;
    const auto row = static_cast<Eigen::Index>(s);
    ends.insert(ends.end(), {surfaces.seams(row, 0), surfaces.seams(row, 1)});
  }
  return Eigen::Map<const Edges>(ends.data(), static_cast<Eigen::Index>(ends.size() / 2), 2);
}

LbsBody make_lbs_body(const Body& body, const SharedRig* rigged, bool paper) {
  LbsBody made;
  made.body = &body;
  if (body.settings().pieces) {
    made.cuts = cuts_between(body.volume().mesh, body.pieces());
    made.surfaces = rigid::cut_surfaces(body, body.pieces(), made.cuts);
  } else {
    made.surfaces = rigid::whole_surface(body);
  }
  const SurfaceReport report = inspect(body.surface());
  const bool closed = report.closed && report.manifold && report.volume > 0;
  for (const rigid::PieceSurface& piece : made.surfaces.pieces) {
    const Points points = made.surfaces.points.middleRows(piece.begin, piece.end - piece.begin);
    const double volume = body.is_sheet() ? body.rest_volume() : signed_volume(points, piece.triangles);
    made.rest_volumes.push_back(volume);
    const bool filled = made.pieces() == 1 ? closed : std::abs(volume / piece.volume - 1) < k_closed_volume;
    made.follows.push_back(body.is_sheet() || filled);
  }
  made.impulses = MatX::Zero(made.surfaces.points.rows(), 3);
  made.struck = Points::Zero(made.surfaces.points.rows(), 3);
  if (!rigged) return made;
  made.examples = rigged->examples;
  int start = 0;
  for (std::size_t e = 0; e < made.examples.size(); ++e) {
    if (body.settings().initial_pose == made.examples[e]) start = static_cast<int>(e) + 1;
  }
  Parameters parameters;
  parameters.paper = paper;
  const std::vector<int> whole(made.pieces(), 0);
  made.deformable.emplace(rigged->placed(body, made.surfaces), made.connected_edges(whole), parameters,
                          start);
  const Skin& skin = made.deformable->skin();
  for (Eigen::Index b = 0; b < skin.centres().rows(); ++b) {
    Eigen::Index nearest = 0;
    (skin.rest().rowwise() - skin.centres().row(b)).rowwise().squaredNorm().minCoeff(&nearest);
    made.handle_points.push_back(static_cast<int>(nearest));
  }
  return made;
}

std::vector<RigidBody> make_rigid_bodies(const LbsBody& body, int scene_body,
                                         rigid::CollisionGeometry geometry) {
  std::vector<RigidBody> made;
  if (body.pieces() == 1) {
    made.push_back(rigid::make_rigid_body(*body.body, scene_body, geometry));
    return made;
  }
  double filled = 0;
  for (const rigid::PieceSurface& piece : body.surfaces.pieces) filled += piece.volume;
  const double density = body.body->mass_properties().mass / filled;
  for (std::size_t p = 0; p < body.pieces(); ++p) {
    made.push_back(make_piece(body, p, density * body.surfaces.pieces[p].volume, geometry));
    made.back().scene_body = scene_body;
  }
  return made;
}

}  // namespace exemplar::lbs
