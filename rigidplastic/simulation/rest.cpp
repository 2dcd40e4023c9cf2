#include "rigidplastic/simulation/rest.h"

#include <algorithm>

namespace exemplar::rigid {

namespace {

constexpr double k_time = 0.5;    // s
constexpr double k_place = 2e-3;  // of twice the gyration radius
constexpr double k_fall =
    1e-3;  // of the way that a body falls in k_time: a pull below 0.001 of its weight goes unseen

double departure(const RestClock& clock, const RigidState& state, double gyration) {
  return (state.position - clock.position).norm() +
         gyration * clock.orientation.angularDistance(state.orientation);
}

bool moves(const RestingObject& object) {
  return object.state.velocity != Vec3::Zero() || object.state.angular_velocity != Vec3::Zero();
}

// Marks spread between free objects that meet, until none is new.
void spread(std::vector<bool>& marked, const std::vector<RestingObject>& objects, const ObjectPairs& pairs) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : pairs) {
      const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
      if (marked[i] == marked[j] || !objects[marked[i] ? j : i].free) continue;
      marked[i] = marked[j] = changed = true;
    }
  }
}

}  // namespace

void advance_clocks(std::vector<RestingObject>& objects, const ObjectPairs& pairs, double gravity,
                    double dt) {
  std::vector<bool> moved;
  for (const RestingObject& object : objects) {
    const double place = std::min(k_place * 2 * object.gyration, k_fall * 0.5 * gravity * k_time * k_time);
    moved.push_back(object.free
                        ? object.driven || departure(*object.clock, object.state, object.gyration) > place
                        : moves(object));
  }
  spread(moved, objects, pairs);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!objects[i].free) continue;
    objects[i].clock->time += dt;
    if (moved[i]) *objects[i].clock = {objects[i].state.position, objects[i].state.orientation, 0};
  }
}

std::vector<bool> at_rest(const std::vector<RestingObject>& objects, const ObjectPairs& pairs) {
  std::vector<bool> awake, borne;
  for (const RestingObject& object : objects) {
    awake.push_back(object.free ? object.clock->time < k_time : moves(object));
    borne.push_back(!object.free && !moves(object));
  }
  spread(awake, objects, pairs);
  spread(borne, objects, pairs);
  std::vector<bool> result;
  for (std::size_t i = 0; i < objects.size(); ++i) result.push_back(objects[i].free && borne[i] && !awake[i]);
  return result;
}

}  // namespace exemplar::rigid
