// A body cut beforehand as rigid bodies, one for each piece, and what is written of it once it is broken.
// Units: m, kg, world coordinates at the start.
#pragma once

#include <vector>

#include "core/output/fields.h"
#include "rigidplastic/fracture/joints.h"
#include "rigidplastic/fracture/piece_surfaces.h"

namespace exemplar::rigid {

// The surfaces of a body's pieces and the cuts between them; one piece and no cuts where it is not cut.
struct CutBody {
  PieceSurfaces surfaces;
  std::vector<Cut> cuts;
};
CutBody cut_body(const Body& body);

// Where the points of the pieces start: at rest or in the body's initial pose.
Points initial_points(const Body& body, const PieceSurfaces& surfaces);

// Whether a piece's surface encloses the volume of its tets; that of a body in a cage, or with holes, need not.
bool is_filled(const PieceSurface& piece, const Points& points);

// In the order of the pieces, from points in their initial places. A body in one piece is `rigid`'s.
std::vector<RigidBody> make_piece_bodies(const Body& body, const PieceSurfaces& surfaces,
                                         const Points& points, int scene_body, CollisionGeometry geometry);

// The input's vertices with the body's loads; `first`, `count`: the rigid bodies of its pieces.
CarriedSurface loaded_surface(const Scene& scene, const std::vector<RigidBody>& rigid_bodies, int first,
                              std::size_t count);

// The input's vertices as the pieces carry them; `first`: rigid body of the first piece.
CarriedSurface carried_by_pieces(const PieceSurfaces& surfaces, const Points& points,
                                 const std::vector<RigidBody>& rigid_bodies, int first, const LoadSet& loads);

// The surfaces of all pieces with the arrays of core/run/surface_fields.h and `velocity`; `components`: of all rigid
// bodies (BreakableJoints).
Geometry piece_geometry(const PieceSurfaces& surfaces, const Points& points, int body, int first,
                        const std::vector<RigidBody>& rigid_bodies, const std::vector<int>& components);
// The same with points that are in the world already; the rigid body that carries each piece, and its fragment.
Geometry moved_piece_geometry(const PieceSurfaces& surfaces, const Points& world, int body,
                              const std::vector<RigidBody>& rigid_bodies, const std::vector<int>& carriers,
                              const std::vector<int>& fragments);

}  // namespace exemplar::rigid
