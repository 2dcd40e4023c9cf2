// Counter-based random numbers: the value depends on (seed, key) only, never on the order of calls, so
// results are the same for any number of threads. Mixing: SplitMix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace exemplar {

inline std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Uniform in [0, 1).
inline double uniform_random(std::uint64_t seed, std::uint64_t key) {
  return static_cast<double>(mix_bits(mix_bits(seed) ^ mix_bits(key * 2 + 1)) >> 11) * 0x1.0p-53;
}

// Standard normal (Box and Muller).
inline double normal_random(std::uint64_t seed, std::uint64_t key) {
  const double u = 1.0 - uniform_random(seed, 2 * key);
  const double v = uniform_random(seed, 2 * key + 1);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace exemplar
