// A body of the scene as `rigid-lbs` sees it: one rigid body, or one for each piece it is cut into, and the points
// of all pieces with their example weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rigidplastic/fracture/piece_bodies.h"
#include "rigidplastic/lbs/calibration.h"
#include "rigidplastic/lbs/deformable.h"
#include "rigidplastic/lbs/rigged_body.h"

namespace exemplar::lbs {

// Per point, N s.
struct Blows {
  Points recent;  // world, since the last frame
  Points struck;  // the body's axes: impulses above β since the start

  static constexpr auto described() {
    return std::tuple(member("recent", &Blows::recent), member("struck", &Blows::struck));
  }
};

struct LbsBody {
  const Body* body = nullptr;
  rigid::PieceSurfaces surfaces;
  std::vector<Cut> cuts;                 // between the pieces
  int first = 0;                         // rigid body of the first piece
  std::optional<Deformable> deformable;  // none: the material never yields
  std::vector<std::string> examples;     // without the rest shape
  Calibration calibration;
  std::vector<char> follows;         // per piece: mass properties follow the shape (its surface is closed)
  std::vector<double> rest_volumes;  // of the pieces' surfaces, m³
  Blows blows;
  std::vector<int> handle_points;  // per bone: the point that it is nearest to at rest, and goes with

  std::size_t pieces() const { return surfaces.pieces.size(); }
  const Points& points() const { return deformable ? deformable->points() : surfaces.points; }
  Points piece_points(std::size_t piece) const;
  // What collides: the piece's triangles, for sheets with their thickness.
  Points collision_points(std::size_t piece) const;
  // Centre and axes of a piece in its present shape; mass stays.
  rigid::BodyFrame frame(std::size_t piece, const rigid::RigidBody& now) const;
  // Edges that distances run along when these pairs of pieces hold together.
  Edges connected_edges(const std::vector<int>& components) const;
};

// `rigged`: none where the material never yields.
LbsBody make_lbs_body(const Body& body, const SharedRig* rigged, bool paper);

}  // namespace exemplar::lbs
