// Statics of single sheets for validation: loads in steps, held vertices, clamped borders.
#pragma once

#include <functional>
#include <vector>

#include "shells/sheet_model.h"

namespace exemplar::shells {

struct StaticSheet {
  SheetInput input;
  std::vector<SupportedNode> held;  // vertices, where they stay
  Points forces;                    // N per vertex at full load
  double tolerance = 1e-8;
};

struct StaticAnswer {
  Points positions;    // of the vertices
  bool ok = false;     // every load step converged
  int iterations = 0;  // Newton's, over all steps
  double locking = 0;  // κ l²/h
};

// Full load in `steps` equal steps, each split further when Newton's method does not converge. `watch` (if
// any) is called after every step with the part of the load and the positions.
StaticAnswer solve_static(const StaticSheet& problem, int steps,
                          const std::function<void(double, const Points&)>& watch = {});

std::vector<int> vertices_where(const Points& x, const std::function<bool(const Vec3&)>& inside);
// Border edges with both ends among `vertices`.
Edges border_among(const TriMesh& mesh, const std::vector<int>& vertices);
std::vector<SupportedNode> hold(const Points& x, const std::vector<int>& vertices, bool along_x = true,
                                bool along_y = true, bool along_z = true);
// Forces of a constant load per length along the border edges among `vertices`.
Points edge_load(const TriMesh& mesh, const std::vector<int>& vertices, const Vec3& per_length);

// Borders in the coordinate planes stay in them and at right angles to them: the sheet, of about this `size`,
// goes on as its mirror image.
void hold_planes_of_symmetry(StaticSheet& sheet, double size);

// A strip [0, length] along x, clamped at x = 0.
StaticSheet clamped_strip(TriMesh mesh, const PlateMaterial& material, bool curved);

}  // namespace exemplar::shells
