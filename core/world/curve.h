// Curves over time: scalar curves for loads and controllers, keyframed rigid motion for obstacles and
// supports.
//
// Interpolation `smooth` is the monotone cubic of Fritsch and Carlson (1980) with the slopes of Fritsch and
// Butland (1984): once continuously differentiable, hits every key exactly and never overshoots between two
// keys, so that an obstacle told to stand still does. With two keys it is the straight line. Before the first
// key and after the last one the value is held.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

enum class Interpolation { linear, smooth };

struct Curve {
  std::vector<double> inputs;  // strictly increasing (seconds where the input is time)
  std::vector<double> values;  // as many
  Interpolation interpolation = Interpolation::linear;
};

struct CurveValue {
  double value = 0;
  double slope = 0;  // derivative with respect to the input; at a key the one towards later inputs
};

// Throws InputError when the curve is empty, sizes differ, inputs do not increase or a number is not finite.
void check_curve(const Curve& curve);
CurveValue evaluate(const Curve& curve, double input);
// ∫ value over [from, to], exact.
double integrate(const Curve& curve, double from, double to);

struct Keyframe {
  double time = 0;               // s
  Vec3 position = Vec3::Zero();  // m, world
  Vec3 rotation = Vec3::Zero();  // rotation vector, radians; may exceed π to say several turns about an axis
};

struct RigidMotion {
  Vec3 position = Vec3::Zero();  // m
  Quat orientation = Quat::Identity();
  Vec3 velocity = Vec3::Zero();          // m/s
  Vec3 angular_velocity = Vec3::Zero();  // rad/s, world axes
};

void check_keyframes(const std::vector<Keyframe>& keyframes);
// Rotation vectors are interpolated component by component; the angular velocity is that curve's exact one.
RigidMotion evaluate(const std::vector<Keyframe>& keyframes, Interpolation interpolation, double time);

// When something acts: p(t) is 0 before `start`, rises to 1 within `ramp_up`, stays there, falls within `ramp_down`
// and is 0 from `end` on. With a curve it is that between `start` and `end`.
struct TimeWindow {
  double start = 0;                                      // s
  double end = std::numeric_limits<double>::infinity();  // s
  double ramp_up = 0;                                    // s
  double ramp_down = 0;                                  // s
  std::optional<Curve> curve = std::nullopt;

  double at(double time) const;
  // ∫ p dt over [from, to], exact.
  double integral(double from, double to) const;
  // The mean over a step; of no length: p there.
  double mean(double from, double to) const {
    return to > from ? integral(from, to) / (to - from) : at(from);
  }
};

// Throws InputError for windows without length and ramps that do not fit; `what`: "a load".
void check_window(const TimeWindow& window, const std::string& what);

}  // namespace exemplar
