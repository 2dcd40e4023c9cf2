// A start in which bodies neither overlap nor touch: the barrier of contact needs a gap between them. Bodies that
// the scene puts in exact touch are moved a little apart; bodies that overlap, and bodies that cut themselves, are
// refused with the place and the triangles that cross. Lengths in metres.
#pragma once

#include <span>
#include <string>

#include "core/base/errors.h"
#include "core/contact/contact_surface.h"
#include "core/output/fields.h"

namespace exemplar {

// Bad input with the triangles to look at.
class OverlapError : public InputError {
 public:
  OverlapError(Problem problem, Geometry triangles)
      : InputError(std::move(problem)), m_triangles(std::move(triangles)) {}
  const Geometry& triangles() const { return m_triangles; }

 private:
  Geometry m_triangles;
};

// A body where it starts.
struct PlacedBody {
  std::string name, path;  // JSON path, e.g. bodies[0]
  const ContactSurface* surface = nullptr;
  Points nodes;
  double reach = 0;           // of its contact
  Vec3 moved = Vec3::Zero();  // from where the scene puts it, m

  TriMesh mesh() const { return {surface->map.apply(nodes), surface->triangles}; }
};

// Shifts `body` so that the `share` of the smaller reach is left between it and each of `others`, and says by how much;
// zero when there is room already. Throws OverlapError when the scene puts it deeper into another one than five times the
// reach, or when the two cross.
Vec3 separate_from_bodies(PlacedBody& body, std::span<const PlacedBody> others, double share);

// Shifts `body` as the one of `others` was moved that it touches where the scene puts them, the farthest if several, and
// says by how much: what lies on something goes with it. Else a thin plate would find
// the one below, moved by half its thickness, nearer to its upper side and be pushed down.
Vec3 carry_along(PlacedBody& body, std::span<const PlacedBody> others);

enum class SelfCrossing {
  none,
  by_shape,  // the surface crosses itself at rest already: its contact with itself cannot be modelled
  by_pose    // only where it starts
};
SelfCrossing self_crossing(const PlacedBody& body);
[[noreturn]] void refuse_self_crossing(const PlacedBody& body);

}  // namespace exemplar
