#include "rigidplastic/lbs/lbs_body.h"

#include <utility>

#include "core/mesh/quality.h"
#include "core/mesh/volume/extrude.h"

namespace exemplar::lbs {

namespace {

using rigid::BodyFrame;
using rigid::RigidBody;

constexpr double k_least_volume = 0.05;  // of that at rest: below it mass properties are kept

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
  rigid::CutBody cut = rigid::cut_body(body);
  made.surfaces = std::move(cut.surfaces);
  made.cuts = std::move(cut.cuts);
  const SurfaceReport report = inspect(body.surface());
  const bool closed = report.closed && report.manifold && report.volume > 0;
  for (const rigid::PieceSurface& piece : made.surfaces.pieces) {
    const Points points = made.surfaces.points.middleRows(piece.begin, piece.end - piece.begin);
    const double volume = body.is_sheet() ? body.rest_volume() : signed_volume(points, piece.triangles);
    made.rest_volumes.push_back(volume);
    const bool filled = made.pieces() == 1 ? closed : rigid::is_filled(piece, points);
    made.follows.push_back(body.is_sheet() || filled);
  }
  made.blows.recent = made.blows.struck = Points::Zero(made.surfaces.points.rows(), 3);
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

}  // namespace exemplar::lbs
