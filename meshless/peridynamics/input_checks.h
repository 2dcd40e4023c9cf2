// What peridynamics asks of its input, said with numbers: closed surfaces, enough particles across the
// thinnest part for the horizon, a step that is not above the stability limit.
//
//   λ  particle spacing [m]        δ  horizon, radius of the bonds [m]        N = δ/λ
#pragma once

#include <optional>
#include <string>

#include "core/mesh/mesh.h"

namespace exemplar::peridynamics {

// Refuses bodies so far from the origin that places of particles this far apart are rounded to each other.
void require_places(const TriMesh& surface, const std::string& body, double spacing);
// Refuses steps so short that their number in a scene step cannot be counted.
void require_countable(double steps, double step);
// Throws InputError naming the number of open edges. `path` is the body's place in the scene.
void require_closed(const TriMesh& surface, const std::string& body, const std::string& path);

// How thick the body is where it is thin: a tenth of its surface has less than this behind it [m], straight
// inwards to the other side.
double thin_part(const TriMesh& closed_surface);

// A warning if the thin part has fewer particles across than the horizon (levine2014 §4 uses more layers than
// N): bonds then bridge the whole thickness. Throws InputError if it has less than one. `particles`: the number asked
// for that gave this spacing.
std::optional<std::string> check_thickness(double thickness, double spacing, double horizon, int particles,
                                           const std::string& body);

// A warning above the bound of Silling and Askari; throws InputError above 2.2 times it, which is beyond the
// true limit (about twice the bound).
std::optional<std::string> check_step(double step, double bound);

// A horizon given as a length over the spacing; throws InputError where it is no radius of bonds.
double horizon_over_spacing(double length, double spacing);

}  // namespace exemplar::peridynamics
