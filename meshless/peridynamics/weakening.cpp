#include "meshless/peridynamics/weakening.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/random.h"

namespace exemplar::peridynamics {

std::vector<std::vector<Vec2>> crack_walks(const CrackPattern& pattern) {
  std::vector<std::vector<Vec2>> walks;
  const int steps = std::max(1, static_cast<int>(std::ceil(pattern.length / pattern.step)));
  for (int w = 0; w < pattern.count; ++w) {
    const std::uint64_t key = static_cast<std::uint64_t>(w) * 1'000'003;
    double angle = 2 * std::numbers::pi * (w + 0.6 * uniform_random(pattern.seed, key)) / pattern.count;
    std::vector<Vec2> walk = {Vec2::Zero()};
    for (int s = 0; s < steps; ++s) {
      angle += pattern.wander * normal_random(pattern.seed, key + 1 + static_cast<std::uint64_t>(s));
      walk.push_back(walk.back() + pattern.step * Vec2(std::cos(angle), std::sin(angle)));
    }
    walks.push_back(std::move(walk));
  }
  return walks;
}

namespace {

double cross(const Vec2& a, const Vec2& b) {
  return a.x() * b.y() - a.y() * b.x();
}

bool segments_cross(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const bool first = (cross(b - a, c - a) > 0) != (cross(b - a, d - a) > 0);
  return first && (cross(d - c, a - c) > 0) != (cross(d - c, b - c) > 0);
}

}  // namespace

std::function<bool(const Vec3&, const Vec3&)> crosses_crack(const CrackPattern& pattern) {
  const Vec3 axis = pattern.axis.normalized();
  const Vec3 u = axis.unitOrthogonal(), v = axis.cross(u);
  return [=, walks = crack_walks(pattern), centre = pattern.centre](const Vec3& from, const Vec3& to) {
    const Vec2 a(u.dot(from - centre), v.dot(from - centre)), b(u.dot(to - centre), v.dot(to - centre));
    const double reach = (b - a).norm() + pattern.step;
    for (const auto& walk : walks) {
      for (std::size_t s = 0; s + 1 < walk.size(); ++s) {
        if ((walk[s] - a).cwiseAbs().maxCoeff() > reach) continue;
        if (segments_cross(a, b, walk[s], walk[s + 1])) return true;
      }
    }
    return false;
  };
}

}  // namespace exemplar::peridynamics
