#include "rigidplastic/lbs/piece_fields.h"

#include "core/run/surface_fields.h"

namespace exemplar::lbs {

namespace {

// Each point as a corner of one of its input triangles; −1 on cuts.
void add_material_coordinates(Geometry& geometry, const LbsBody& body) {
  std::vector<int> triangle(static_cast<std::size_t>(body.points().rows()), -1);
  MatX barycentric = MatX::Zero(body.points().rows(), 3);
  std::size_t listed = 0;
  for (const rigid::PieceSurface& piece : body.surfaces.pieces) {
    for (int t = 0; t < piece.outer; ++t, ++listed) {
      for (int k = 0; k < 3; ++k) {
        const int point = piece.begin + piece.triangles(t, k);
        triangle[static_cast<std::size_t>(point)] = body.surfaces.input_triangle[listed];
        barycentric.row(point) = Vec3::Unit(k).transpose();
      }
    }
  }
  geometry.arrays.push_back(make_integer_array("original_triangle", Association::point, triangle));
  geometry.arrays.push_back(make_array("original_barycentric", Association::point, barycentric));
}

// Per point: the handle with the largest skinning weight (−1: none) and that weight.
MatX strongest_handles(const LbsBody& body) {
  MatX strongest = MatX::Zero(body.points().rows(), 2);
  strongest.col(0).setConstant(-1);
  if (!body.deformable) return strongest;
  const SkinWeights& weights = body.deformable->skin().weights();
  for (Eigen::Index i = 0; i < strongest.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (int k = weights.start[row]; k < weights.start[row + 1]; ++k) {
      const double weight = weights.weight[static_cast<std::size_t>(k)];
      if (weight > strongest(i, 1)) strongest.row(i) << weights.bone[static_cast<std::size_t>(k)], weight;
    }
  }
  return strongest;
}

}  // namespace

Geometry whole_geometry(const LbsBody& body, int index, const rigid::Simulation& simulation) {
  const Points positions = simulation.surface(static_cast<std::size_t>(index));
  Geometry geometry = body_geometry(*body.body, index, positions);
  geometry.arrays.push_back(
      make_array("velocity", Association::point,
                 simulation.surface_velocities(static_cast<std::size_t>(index), positions)));
  return geometry;
}

Geometry piece_geometry(const LbsBody& body, int index, const std::vector<rigid::RigidBody>& rigid_bodies,
                        const std::vector<int>& components) {
  Geometry geometry;
  geometry.series = "surface";
  geometry.points.resize(body.points().rows(), 3);
  MatX velocities(body.points().rows(), 3);
  std::vector<int> fragment;
  for (std::size_t p = 0; p < body.pieces(); ++p) {
    const rigid::PieceSurface& piece = body.surfaces.pieces[p];
    const auto r = static_cast<std::size_t>(body.first) + p;
    const rigid::RigidBody& rigid = rigid_bodies[r];
    const Points local = rigid.frame.to_local(body.piece_points(p));
    for (Eigen::Index i = 0; i < local.rows(); ++i) {
      const Vec3 world = rigid.state.to_world(local.row(i));
      geometry.points.row(piece.begin + i) = world.transpose();
      velocities.row(piece.begin + i) = rigid.state.velocity_at(world).transpose();
    }
    for (Eigen::Index t = 0; t < piece.triangles.rows(); ++t) {
      for (int k = 0; k < 3; ++k) geometry.connectivity.push_back(piece.begin + piece.triangles(t, k));
      fragment.push_back(components[r] - body.first);
    }
  }
  const auto points = static_cast<std::size_t>(body.points().rows());
  geometry.arrays.push_back(
      make_array("displacement", Association::point, geometry.points - body.surfaces.points));
  geometry.arrays.push_back(make_integer_array("body", Association::point, std::vector<int>(points, index)));
  geometry.arrays.push_back(
      make_integer_array("body", Association::cell, std::vector<int>(fragment.size(), index)));
  add_material_coordinates(geometry, body);
  geometry.arrays.push_back(make_integer_array("fragment", Association::cell, fragment));
  geometry.arrays.push_back(make_array("velocity", Association::point, velocities));
  return geometry;
}

void add_weights(Geometry& geometry, const LbsBody& body, const std::set<std::string>& names, bool by_piece) {
  auto listed = [&](const MatX& values) -> MatX {
    if (by_piece) return values;
    MatX rows(static_cast<Eigen::Index>(body.surfaces.carrier.size()), values.cols());
    for (std::size_t v = 0; v < body.surfaces.carrier.size(); ++v)
      rows.row(static_cast<Eigen::Index>(v)) = values.row(body.surfaces.carrier[v]);
    return rows;
  };
  for (const std::string& name : names) {
    MatX column = MatX::Zero(body.points().rows(), 1);
    for (std::size_t e = 0; e < body.examples.size(); ++e) {
      if (body.examples[e] == name) column = body.deformable->weights().col(static_cast<Eigen::Index>(e) + 1);
    }
    geometry.arrays.push_back(make_array("example_weight_" + name, Association::point, listed(column)));
  }
  geometry.arrays.push_back(make_array("impulse", Association::point, listed(body.blows.recent)));
  const MatX strongest = listed(strongest_handles(body));
  std::vector<int> handle;
  for (Eigen::Index i = 0; i < strongest.rows(); ++i) handle.push_back(static_cast<int>(strongest(i, 0)));
  geometry.arrays.push_back(make_integer_array("strongest_handle", Association::point, handle));
  geometry.arrays.push_back(make_array("strongest_weight", Association::point, strongest.col(1)));
}

Geometry handle_geometry(const std::vector<LbsBody>& bodies,
                         const std::vector<rigid::RigidBody>& rigid_bodies) {
  std::vector<Vec3> places;
  std::vector<int> owner, handle;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const LbsBody& body = bodies[b];
    for (std::size_t h = 0; h < body.handle_points.size(); ++h) {
      const int point = body.handle_points[h];
      std::size_t piece = 0;
      while (point >= body.surfaces.pieces[piece].end) ++piece;
      const rigid::RigidBody& rigid = rigid_bodies[static_cast<std::size_t>(body.first) + piece];
      const Skin& skin = body.deformable->skin();
      const Points place = body.points().row(point) + skin.centres().row(static_cast<Eigen::Index>(h)) -
                           skin.rest().row(point);
      places.push_back(rigid.state.to_world(rigid.frame.to_local(place).row(0).transpose()));
      owner.push_back(static_cast<int>(b));
      handle.push_back(static_cast<int>(h));
    }
  }
  Geometry geometry;
  geometry.series = "handles";
  geometry.kind = CellKind::points;
  geometry.points.resize(static_cast<Eigen::Index>(places.size()), 3);
  for (std::size_t i = 0; i < places.size(); ++i)
    geometry.points.row(static_cast<Eigen::Index>(i)) = places[i].transpose();
  geometry.arrays.push_back(make_integer_array("body", Association::point, owner));
  geometry.arrays.push_back(make_integer_array("handle", Association::point, handle));
  return geometry;
}

}  // namespace exemplar::lbs
