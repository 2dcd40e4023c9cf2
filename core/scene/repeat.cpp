#include "core/scene/repeat.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/base/random.h"
#include "core/scene/scene_settings.h"

namespace exemplar {

namespace {

constexpr int k_most_copies = 100000;

double spread(const RepeatSettings& repeat, int copy, int channel) {
  const auto key = static_cast<std::uint64_t>(8 * copy + channel);
  return 2 * uniform_random(static_cast<std::uint64_t>(repeat.seed), key) - 1;
}

Vec3 offset_of(const RepeatSettings& repeat, const IntVec3& place, int copy) {
  Vec3 offset = place.cast<double>().cwiseProduct(repeat.spacing);
  if (place.y() % 2 == 1) offset += repeat.stagger;
  for (int k = 0; k < 3; ++k) offset[k] += repeat.jitter[k] * spread(repeat, copy, k);
  return offset;
}

RotationSettings turned(const RotationSettings& rotation, const RepeatSettings& repeat, int copy) {
  if (repeat.turn == 0) return rotation;
  Vec3 axis(spread(repeat, copy, 3), spread(repeat, copy, 4), spread(repeat, copy, 5));
  if (axis.norm() < 1e-3) axis = Vec3::UnitX();
  const RotationSettings extra{axis.normalized(), repeat.turn * spread(repeat, copy, 6)};
  const Eigen::AngleAxisd both(rotation_of(extra) * rotation_of(rotation));
  return {both.axis(), both.angle() * 180 / std::numbers::pi};
}

void shift(BodySettings&, const Vec3&) {}
void shift(ObstacleSettings& obstacle, const Vec3& offset) {
  for (KeyframeSettings& keyframe : obstacle.keyframes) keyframe.position += offset;
}

template <class Thing>
std::vector<Thing> copies(const Thing& thing) {
  if (!thing.repeat) return {thing};
  const RepeatSettings& repeat = *thing.repeat;
  std::vector<Thing> result;
  IntVec3 place;
  for (place.z() = 0; place.z() < repeat.count.z(); ++place.z()) {
    for (place.y() = 0; place.y() < repeat.count.y(); ++place.y()) {
      for (place.x() = 0; place.x() < repeat.count.x(); ++place.x()) {
        const int copy = static_cast<int>(result.size());
        Thing& made = result.emplace_back(thing);
        const Vec3 offset = offset_of(repeat, place, copy);
        made.name = fmt::format("{}-{}", thing.name, copy + 1);
        made.repeat.reset();
        made.position += offset;
        made.rotation = turned(thing.rotation, repeat, copy);
        shift(made, offset);
      }
    }
  }
  return result;
}

}  // namespace

void describe(Describe<RepeatSettings>& d) {
  d.name("repeat");
  d.field("count", &RepeatSettings::count, "", "copies along x, y and z", at_least(1));
  d.field("spacing", &RepeatSettings::spacing, "m", "from one copy to the next along x, y and z");
  d.field("stagger", &RepeatSettings::stagger, "m", "added to every second layer along y");
  d.field("jitter", &RepeatSettings::jitter, "m", "every copy is displaced by up to this", non_negative());
  d.field("turn", &RepeatSettings::turn, "degrees",
          "every copy is turned by up to this about an axis of its own", between(0, 180));
  d.field("seed", &RepeatSettings::seed, "", "of jitter and turn", non_negative());
  d.check([](const RepeatSettings& repeat, const ProblemSink& problem) {
    if (repeat.count.cast<double>().prod() > k_most_copies)
      problem("count", fmt::format("asks for more than {} copies", k_most_copies));
  });
}

std::vector<BodySettings> copies_of(const BodySettings& body) {
  return copies(body);
}

std::vector<ObstacleSettings> copies_of(const ObstacleSettings& obstacle) {
  return copies(obstacle);
}

}  // namespace exemplar
