// How a surface hangs on the particles of a shape-matched body: with the trilinear weights of the cube that
// each vertex lies in (smooth across cells), with barycentric weights of a tet, or with the nearest particles
// of a region.
#pragma once

#include "core/contact/particle_contact.h"
#include "meshless/shape_matching/cells.h"

namespace exemplar::shape_matching {

// The particles of the lattice cube that holds each point; points outside take the nearest occupied cube and
// are extrapolated.
CarriedPoints embed_in_lattice(const Points& points, const Lattice& lattice);

// The cell that owns each point: the one of its cube.
std::vector<int> owning_cells(const Points& points, const Lattice& lattice);

// The linear map that carries each cell from its rest to its present particles: what the thesis accumulates
// as U, plastic flow included. Cells without extent in some direction keep it.
std::vector<Mat3> cell_maps(const Cells& cells, const Points& rest, const Points& positions);

// The same at the particles: the mean of their cells' maps.
std::vector<Mat3> particle_maps(const Cells& cells, const Points& rest, const Points& positions);

// Unit normal and, across it, unit tangent of each vertex. At rest: the mean of the triangles' normals by area,
// and the direction of the vertex' first edge.
struct SurfaceFrames {
  Points normals, tangents;
};
SurfaceFrames rest_frames(const TriMesh& surface);

// Normals turn with the inverse transpose (eq. 3.2); unit length. The old one where T is singular.
Vec3 transformed_normal(const Mat3& transformation, const Vec3& normal);

}  // namespace exemplar::shape_matching
