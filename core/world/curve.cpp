#include "core/world/curve.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/errors.h"
#include "core/world/rotation.h"

namespace exemplar {

namespace {

// Secant slope of interval k of samples (time(k), value(k)), and the Fritsch–Butland slope at key k.
template <class Time, class Value>
double secant(const Time& time, const Value& value, int k) {
  return (value(k + 1) - value(k)) / (time(k + 1) - time(k));
}

template <class Time, class Value>
double key_slope(const Time& time, const Value& value, int count, int k) {
  if (k == 0) return secant(time, value, 0);
  if (k == count - 1) return secant(time, value, count - 2);
  const double left = secant(time, value, k - 1), right = secant(time, value, k);
  if (left * right <= 0) return 0;
  const double hl = time(k) - time(k - 1), hr = time(k + 1) - time(k);
  const double wl = 2 * hr + hl, wr = hr + 2 * hl;
  return (wl + wr) / (wl / left + wr / right);
}

// Coefficients of the cubic on interval k in the local variable u = t − t_k: v + u (m + u (q + u c)).
struct Cubic {
  double v, m, q, c;
};

template <class Time, class Value>
Cubic interval(const Time& time, const Value& value, int count, int k, Interpolation interpolation) {
  const double h = time(k + 1) - time(k), s = secant(time, value, k);
  if (interpolation == Interpolation::linear || count == 2) return {value(k), s, 0, 0};
  const double m0 = key_slope(time, value, count, k), m1 = key_slope(time, value, count, k + 1);
  return {value(k), m0, (3 * s - 2 * m0 - m1) / h, (m0 + m1 - 2 * s) / (h * h)};
}

template <class Time, class Value>
CurveValue sample(const Time& time, const Value& value, int count, Interpolation interpolation, double t) {
  if (t < time(0)) return {value(0), 0};
  if (t >= time(count - 1)) return {value(count - 1), 0};
  int k = 0;
  while (k + 2 < count && t >= time(k + 1)) ++k;
  const double u = t - time(k);
  if (u == 0) return {value(k), interval(time, value, count, k, interpolation).m};
  const Cubic p = interval(time, value, count, k, interpolation);
  return {p.v + u * (p.m + u * (p.q + u * p.c)), p.m + u * (2 * p.q + 3 * u * p.c)};
}

// ∫₀^t of the ramp that goes from 0 to 1 within `ramp` seconds.
double ramp_integral(double t, double ramp) {
  if (t <= 0) return 0;
  if (t >= ramp) return t - 0.5 * ramp;
  return 0.5 * t * t / ramp;
}

}  // namespace

void check_curve(const Curve& curve) {
  if (curve.inputs.empty()) throw InputError("a curve needs at least one point");
  if (curve.inputs.size() != curve.values.size()) throw InputError("a curve needs as many values as inputs");
  for (std::size_t i = 0; i < curve.inputs.size(); ++i) {
    if (!std::isfinite(curve.inputs[i]) || !std::isfinite(curve.values[i]))
      throw InputError("a curve's numbers must be finite");
    if (i > 0 && !(curve.inputs[i] > curve.inputs[i - 1]))
      throw InputError("a curve's inputs must increase strictly");
  }
}

CurveValue evaluate(const Curve& curve, double input) {
  return sample([&](int k) { return curve.inputs[k]; }, [&](int k) { return curve.values[k]; },
                static_cast<int>(curve.inputs.size()), curve.interpolation, input);
}

double integrate(const Curve& curve, double from, double to) {
  if (to < from) return -integrate(curve, to, from);
  const auto time = [&](int k) { return curve.inputs[k]; };
  const auto value = [&](int k) { return curve.values[k]; };
  const int count = static_cast<int>(curve.inputs.size());
  double sum = value(0) * std::max(0.0, std::min(to, time(0)) - from);
  sum += value(count - 1) * std::max(0.0, to - std::max(from, time(count - 1)));
  for (int k = 0; k + 1 < count; ++k) {
    const double a = std::max(from, time(k)) - time(k), b = std::min(to, time(k + 1)) - time(k);
    if (b <= a) continue;
    const Cubic p = interval(time, value, count, k, curve.interpolation);
    const auto primitive = [&](double u) { return u * (p.v + u * (p.m / 2 + u * (p.q / 3 + u * p.c / 4))); };
    sum += primitive(b) - primitive(a);
  }
  return sum;
}

void check_keyframes(const std::vector<Keyframe>& keyframes) {
  if (keyframes.empty()) throw InputError("keyframed motion needs at least one keyframe");
  for (std::size_t i = 0; i < keyframes.size(); ++i) {
    const Keyframe& key = keyframes[i];
    if (!std::isfinite(key.time) || !key.position.allFinite() || !key.rotation.allFinite())
      throw InputError("a keyframe's numbers must be finite");
    if (i > 0 && !(key.time > keyframes[i - 1].time))
      throw InputError("keyframe times must increase strictly");
  }
}

RigidMotion evaluate(const std::vector<Keyframe>& keyframes, Interpolation interpolation, double time) {
  const auto key_time = [&](int k) { return keyframes[k].time; };
  const int count = static_cast<int>(keyframes.size());
  RigidMotion motion;
  Vec3 theta, theta_rate;
  for (int i = 0; i < 3; ++i) {
    const CurveValue p = sample(
        key_time, [&](int k) { return keyframes[k].position[i]; }, count, interpolation, time);
    const CurveValue r = sample(
        key_time, [&](int k) { return keyframes[k].rotation[i]; }, count, interpolation, time);
    motion.position[i] = p.value;
    motion.velocity[i] = p.slope;
    theta[i] = r.value;
    theta_rate[i] = r.slope;
  }
  motion.orientation = exp_quaternion(theta);
  motion.angular_velocity = left_jacobian(theta) * theta_rate;
  return motion;
}

double TimeWindow::at(double time) const {
  if (time < start || time >= end) return 0;
  if (curve) return evaluate(*curve, time).value;
  const double up = ramp_up > 0 ? (time - start) / ramp_up : 1;
  const double down = ramp_down > 0 ? (end - time) / ramp_down : 1;
  return std::min({1.0, up, down});
}

double TimeWindow::integral(double from, double to) const {
  if (curve) return integrate(*curve, std::clamp(from, start, end), std::clamp(to, start, end));
  const auto primitive = [&](double t) {
    const double inside = std::min(t, end);
    double sum = ramp_integral(inside - start, ramp_up);
    // What the falling ramp takes away: ∫ (1 − down) from end − ramp_down on.
    if (ramp_down > 0) {
      const double late = inside - (end - ramp_down);
      if (late > 0) sum -= 0.5 * late * late / ramp_down;
    }
    return sum;
  };
  return primitive(to) - primitive(from);
}

void check_window(const TimeWindow& window, const std::string& what) {
  const auto& [start, end, up, down, curve] = window;
  if (curve) check_curve(*curve);
  if (!(end > start)) throw InputError(what + " must end after it starts");
  if (!(up >= 0) || !(down >= 0) || up + down > end - start)
    throw InputError(what + "'s ramps must not be negative and must fit between its start and end");
  if (down > 0 && std::isinf(end)) throw InputError(what + " that ramps down needs an end");
}

}  // namespace exemplar
