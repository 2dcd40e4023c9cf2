#include "rigidplastic/bend/variety.h"

#include <algorithm>

#include "core/world/rotation.h"

namespace exemplar::bend {

namespace {

// Rotation vectors of the joints, in the coordinates of the rest shape.
std::vector<Vec3> turns_of(const BendingBody& body) {
  std::vector<Vec3> turns;
  for (std::size_t j = 0; j < body.joints().size(); ++j) turns.push_back(log_rotation(body.turn(j)));
  return turns;
}

bool alike(const std::vector<Vec3>& a, const std::vector<Vec3>& b, double angle) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const Vec3& x, const Vec3& y) {
           return (x - y).norm() <= angle;
         });
}

}  // namespace

int different_bends(std::span<const BendingBody> bodies, double angle) {
  std::vector<std::vector<Vec3>> seen;
  for (const BendingBody& body : bodies) {
    const std::vector<Vec3> turns = turns_of(body);
    const bool bent =
        std::any_of(turns.begin(), turns.end(), [&](const Vec3& t) { return t.norm() > angle; });
    const bool known =
        std::any_of(seen.begin(), seen.end(), [&](const auto& other) { return alike(turns, other, angle); });
    if (bent && !known) seen.push_back(turns);
  }
  return static_cast<int>(seen.size());
}

}  // namespace exemplar::bend
