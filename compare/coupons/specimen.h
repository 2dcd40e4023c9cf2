// Scenes of coupons: bars, boxes and balls, divided as finely as a resolution asks for, in the terms of each method. This is
// the only thing that coupons set of a method:
//   tets (fem, fem-compatible, mass-spring)   bodies[].volume.grid, or the triangles of the surface
//   shell                                      the triangles of the sheet
//   shape-matching                             cell_counts; about 100 cells are its default
//   peridynamics                               particles: 250, 1000, 4000 (its default)
//   rigid methods                              the triangles of the surface
#pragma once

#include <array>

#include "compare/coupons/coupon.h"

namespace exemplar::coupons {

// Cells through the height of a bar: 1, 2, 4.
int cells_through(const Subject& subject);

struct Bar {
  double length = 1, height = 0.1, width = 0.1;  // m, along x, y, z
  double stub = 0.1;                             // m: held part behind x = 0
  int cells_along = 10;                          // cubes of one height, stub included, at resolution 1
  bool is_held_along_only = false;               // the held end may grow thinner
};

// Clamped at x = 0, free at x = length: a solid, or a sheet for methods that take nothing else.
Json bar_body(const Subject& subject, const Bar& bar, const Json& material);
// A box (a sheet of the box's height) with its lower side at y = 0. `cells`: along x, y, z at resolution 1.
Json box_body(const Subject& subject, const Vec3& size, const std::array<int, 3>& cells,
              const Json& material);
// A ball with its centre at `position`.
Json ball_body(const Subject& subject, double radius, const Vec3& position, const Json& material);

// A whole scene of one body, without title; frames per second are the scene format's own default.
Json scene_document(const Subject& subject, double duration, Json body);
// Watched: displacement of the end face, the mean over its vertices, m.
std::vector<double> tip_displacement(const LiveRun& run, const Points& surface);
// Between the faces that were lowest and highest at the start, along y, m.
double face_distance(const LiveRun& run, const Points& surface);
// Watched: the mean place of all vertices, m.
std::vector<double> centre_of(const LiveRun& run, const Points& surface);

Json floor_obstacle();
Json vector_json(const Vec3& v);

}  // namespace exemplar::coupons
