// Small experiments with one body whose outcome is known or compared: used by the validation cases and by the
// tests.
#pragma once

#include <array>

#include "core/mesh/mesh.h"
#include "meshless/shape_matching/body.h"

namespace exemplar::shape_matching {

// α = 1 at every usual step, one pass, damped.
BodyOptions stiff_options(double beta = 0.0);

// Largest distance of the particles from the rest shape after the best rigid motion [m].
double shape_error(const ShapeMatchingBody& body);

// Particles whose rest coordinate along an axis has the given value.
std::vector<int> particles_at(const ShapeMatchingBody& body, int axis, double value);

struct Scramble {
  int recovered = 0;      // seeds after which the shape is back to 1e-3 of the body's size
  double farthest = 0.0;  // any particle, in body sizes
};
// n³ cells, all particles thrown to random places in the body's box, 60 steps of 1/30 s.
Scramble scramble(int cells_per_side, int levels, int seeds);

// A column of five cubes in free spin at 30 rad/s for 10 s, with and without the plasticity's reference
// neighbours: cells that flowed, added up over all steps.
int cells_flowing_in_spin(PlasticityKind kind, PlasticityReference reference);

// Bodies without extent: a plate and a rod one particle thick, two particles, one. They are thrown spinning
// and, where there are enough particles, dented. Thin cells are hinged to each other, so what must come back
// is the distances within each cell: their largest error after two seconds [m]; and the relative change of
// momentum.
struct Degenerate {
  double distance_error = 0.0, momentum_change = 0.0;
};
Degenerate thrown_degenerate(const std::array<int, 3>& particles);

// Cells turned inside out: a body mirrored at a plane, at rest. The smallest determinant of any cell's
// rotation in any step, the farthest particle and the shape error in the end.
struct Flipped {
  double least_determinant = 1.0, farthest = 0.0, shape_error = 0.0;
};
Flipped mirrored_body(int cells_per_side);

// Fig. 3.9 and 3.10: five stacked cubes bent by 90°, released; the angle between the first and the last cube
// that remains [degrees].
double residual_bend(PlasticityKind kind, PlasticityReference reference);

// Fig. 3.6: a bar of n³ cells (4 × 1 × 1 m), clamped at one end, under its weight: how far the tip hangs down
// [m].
double bar_tip_deflection(int cells_per_side, int iterations, int levels = 1);
// Iterations with which n³ cells are about as stiff as one: stiffness grows with the passes and falls with
// the square of n.
int cluster_iterations(int cells_per_side);

// Stretch of a hanging bar over ρ g L²/(2E).
double hanging_bar_stretch(int cells_along);
// A bar of 1 m along y, n cubes long and two wide, each cut into six tets; corners moved at random by up to a quarter of
// a cube, those on faces within them.
TetMesh uneven_tet_bar(int cubes_along);
// How far the centre of mass of such a bar hangs down over ρ g L²/(3E), at a step that asks for so many passes less a half.
double hanging_tet_bar_stretch(int cubes_along, int passes);

// Volume over rest volume of a block squeezed to half its height between two smooth plates.
double squeezed_volume(bool conserve_volume, double beta = 0.99);

// Largest difference of a swinging soft bar's tip between step h / 2^halvings and h / 8, over the path's
// extent.
double step_size_difference(int halvings);

}  // namespace exemplar::shape_matching
