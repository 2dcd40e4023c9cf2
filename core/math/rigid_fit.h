// Best rigid motion between two sets of points (Kabsch 1976), weighted, never a reflection.
#pragma once

#include "core/math/types.h"

namespace exemplar {

// x ↦ rotation · x + translation.
struct RigidTransform {
  Mat3 rotation = Mat3::Identity();
  Vec3 translation = Vec3::Zero();

  Vec3 apply(const Vec3& point) const { return rotation * point + translation; }
};

// Minimises Σ w_i ‖R from_i + t − to_i‖². Without weights every point counts the same.
RigidTransform fit_rigid(const Points& from, const Points& to, const VecX& weights = {});

Points transform(const RigidTransform& motion, const Points& points);

}  // namespace exemplar
