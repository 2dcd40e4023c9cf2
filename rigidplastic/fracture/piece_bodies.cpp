#include "rigidplastic/fracture/piece_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace exemplar::rigid {

namespace {

Points part_of(const Points& points, const PieceSurface& piece) {
  return points.middleRows(piece.begin, piece.end - piece.begin);
}

bool holds_piece(const Support& support, const Points& points) {
  return support.region.kind == RegionKind::all || !select_nodes(support.region, points).empty();
}

MassProperties mass_of_piece(const Body& body, const PieceSurface& piece, const Points& points, int index) {
  if (is_filled(piece, points)) return solid_mass_properties(points, piece.triangles, 1);
  const Tets& all = body.volume().mesh.tets;
  Tets own(all.rows(), 4);
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < all.rows(); ++t) {
    if (body.pieces().of_tet[static_cast<std::size_t>(t)] == index) own.row(count++) = all.row(t);
  }
  return solid_mass_properties(body.initial_volume(), Tets(own.topRows(count)), 1);
}

RigidBody make_piece(const Body& body, const PieceSurface& piece, const Points& points,
                     MassProperties properties, double mass, CollisionGeometry geometry) {
  properties.inertia *= mass / properties.mass;
  RigidBody made;
  made.mass = mass;
  made.frame = principal_frame(properties);
  made.friction = body.material().friction;
  made.restitution = body.material().restitution;
  made.start.position = made.frame.centre;
  made.start.orientation = Quat(made.frame.axes);
  made.start.velocity = body.initial_velocity(made.frame.centre);
  made.start.angular_velocity = body.settings().angular_velocity;
  made.state = made.start;
  made.shape = BulletShape::from_mesh({made.frame.to_local(points), piece.triangles}, geometry);
  for (const Support& support : body.supports()) {
    if (!made.support && holds_piece(support, points)) made.support = &support;
  }
  return made;
}

// Each point as a corner of one of its input triangles; −1 on cuts.
void add_material_coordinates(Geometry& geometry, const PieceSurfaces& surfaces) {
  std::vector<int> triangle(surfaces.sources.size(), -1);
  MatX barycentric = MatX::Zero(static_cast<Eigen::Index>(surfaces.sources.size()), 3);
  std::size_t listed = 0;
  for (const PieceSurface& piece : surfaces.pieces) {
    for (int t = 0; t < piece.outer; ++t, ++listed) {
      for (int k = 0; k < 3; ++k) {
        const int point = piece.begin + piece.triangles(t, k);
        triangle[static_cast<std::size_t>(point)] = surfaces.input_triangle[listed];
        barycentric.row(point) = Vec3::Unit(k).transpose();
      }
    }
  }
  geometry.arrays.push_back(make_integer_array("original_triangle", Association::point, triangle));
  geometry.arrays.push_back(make_array("original_barycentric", Association::point, barycentric));
}

}  // namespace

bool is_filled(const PieceSurface& piece, const Points& points) {
  constexpr double k_tolerance = 0.02;  // cuts follow tets, the surface its own triangles
  return std::abs(signed_volume(points, piece.triangles) / piece.volume - 1) < k_tolerance;
}

CutBody cut_body(const Body& body) {
  if (!body.settings().pieces || body.is_sheet()) return {whole_surface(body), {}};
  CutBody made;
  made.cuts = cuts_between(body.volume().mesh, body.pieces());
  made.surfaces = cut_surfaces(body, body.pieces(), made.cuts);
  return made;
}

Points initial_points(const Body& body, const PieceSurfaces& surfaces) {
  Points points(static_cast<Eigen::Index>(surfaces.sources.size()), 3);
  for (std::size_t i = 0; i < surfaces.sources.size(); ++i) {
    const PointSource& source = surfaces.sources[i];
    points.row(static_cast<Eigen::Index>(i)) = source.vertex >= 0 ? body.initial_surface().row(source.vertex)
                                                                  : body.initial_volume().row(source.node);
  }
  return points;
}

std::vector<RigidBody> make_piece_bodies(const Body& body, const PieceSurfaces& surfaces,
                                         const Points& points, int scene_body, CollisionGeometry geometry) {
  std::vector<RigidBody> made;
  if (surfaces.pieces.size() == 1) {
    made.push_back(make_rigid_body(body, scene_body, geometry));
    return made;
  }
  double filled = 0;
  for (const PieceSurface& piece : surfaces.pieces) filled += piece.volume;
  const double density = body.mass_properties().mass / filled;
  for (std::size_t p = 0; p < surfaces.pieces.size(); ++p) {
    const PieceSurface& piece = surfaces.pieces[p];
    const Points own = part_of(points, piece);
    made.push_back(make_piece(body, piece, own, mass_of_piece(body, piece, own, static_cast<int>(p)),
                              density * piece.volume, geometry));
    made.back().name = fmt::format("{} piece {}", body.name(), p + 1);
    made.back().scene_body = scene_body;
  }
  return made;
}

CarriedSurface loaded_surface(const Scene& scene, const std::vector<RigidBody>& rigid_bodies, int first,
                              std::size_t count) {
  const auto begin = static_cast<std::size_t>(first);
  RigidBody whole;
  whole.frame = rigid_bodies[begin].frame;
  for (std::size_t p = 0; p < count; ++p) whole.mass += rigid_bodies[begin + p].mass;
  const Body& body = scene.bodies[static_cast<std::size_t>(rigid_bodies[begin].scene_body)];
  return make_carried_surface(scene, body, whole, first);
}

CarriedSurface carried_by_pieces(const PieceSurfaces& surfaces, const Points& points,
                                 const std::vector<RigidBody>& rigid_bodies, int first,
                                 const LoadSet& loads) {
  CarriedSurface carried;
  carried.loads = loads;
  carried.local.resize(static_cast<Eigen::Index>(surfaces.carrier.size()), 3);
  std::vector<int> piece_of(surfaces.sources.size(), 0);
  std::vector<Points> local;
  for (std::size_t p = 0; p < surfaces.pieces.size(); ++p) {
    const PieceSurface& piece = surfaces.pieces[p];
    std::fill(piece_of.begin() + piece.begin, piece_of.begin() + piece.end, static_cast<int>(p));
    local.push_back(rigid_bodies[static_cast<std::size_t>(first) + p].frame.to_local(part_of(points, piece)));
  }
  for (std::size_t v = 0; v < surfaces.carrier.size(); ++v) {
    const int point = surfaces.carrier[v], piece = piece_of[static_cast<std::size_t>(point)];
    carried.owner.push_back(first + piece);
    carried.local.row(static_cast<Eigen::Index>(v)) = local[static_cast<std::size_t>(piece)].row(
        point - surfaces.pieces[static_cast<std::size_t>(piece)].begin);
  }
  return carried;
}

Geometry moved_piece_geometry(const PieceSurfaces& surfaces, const Points& world, int body,
                              const std::vector<RigidBody>& rigid_bodies, const std::vector<int>& carriers,
                              const std::vector<int>& fragments) {
  Geometry geometry;
  geometry.series = "surface";
  geometry.points = world;
  MatX velocities(world.rows(), 3);
  std::vector<int> fragment;
  for (std::size_t p = 0; p < surfaces.pieces.size(); ++p) {
    const PieceSurface& piece = surfaces.pieces[p];
    const RigidState& state = rigid_bodies[static_cast<std::size_t>(carriers[p])].state;
    for (int i = piece.begin; i < piece.end; ++i)
      velocities.row(i) = state.velocity_at(world.row(i)).transpose();
    for (Eigen::Index t = 0; t < piece.triangles.rows(); ++t) {
      for (int k = 0; k < 3; ++k) geometry.connectivity.push_back(piece.begin + piece.triangles(t, k));
      fragment.push_back(fragments[p]);
    }
  }
  geometry.arrays.push_back(make_array("displacement", Association::point, world - surfaces.points));
  geometry.arrays.push_back(
      make_integer_array("body", Association::point, std::vector<int>(surfaces.sources.size(), body)));
  geometry.arrays.push_back(
      make_integer_array("body", Association::cell, std::vector<int>(fragment.size(), body)));
  add_material_coordinates(geometry, surfaces);
  geometry.arrays.push_back(make_integer_array("fragment", Association::cell, fragment));
  geometry.arrays.push_back(make_array("velocity", Association::point, velocities));
  return geometry;
}

Geometry piece_geometry(const PieceSurfaces& surfaces, const Points& points, int body, int first,
                        const std::vector<RigidBody>& rigid_bodies, const std::vector<int>& components) {
  Points world(points.rows(), 3);
  std::vector<int> carriers, fragments;
  for (std::size_t p = 0; p < surfaces.pieces.size(); ++p) {
    const PieceSurface& piece = surfaces.pieces[p];
    carriers.push_back(first + static_cast<int>(p));
    const auto r = static_cast<std::size_t>(carriers.back());
    fragments.push_back(components[r] - first);
    const Points local = rigid_bodies[r].frame.to_local(part_of(points, piece));
    for (Eigen::Index i = 0; i < local.rows(); ++i)
      world.row(piece.begin + i) = rigid_bodies[r].state.to_world(local.row(i)).transpose();
  }
  return moved_piece_geometry(surfaces, world, body, rigid_bodies, carriers, fragments);
}

}  // namespace exemplar::rigid
