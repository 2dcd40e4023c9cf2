#include "meshless/peridynamics/bond_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define EXEMPLAR_PERIDYNAMICS_AVX2 1
#endif

namespace exemplar::peridynamics {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <BreakRule rule>
double limit_of(double a, double b) {
  return rule == BreakRule::max ? std::max(a, b) : std::min(a, b);
}

// Breaks the bond and keeps account of its energy; false if it is only near a weakened bond's limit.
bool try_break(BondList& bonds, int i, std::int64_t b, double strain, double limit, const Rules& rules,
               RowForce& out) {
  if (bonds.neighbour[b] == i) return false;  // padding: its limit can be below its 1e-12 only by τ < 1e-12
  const bool weak = !bonds.weak.empty() && bonds.weak[b];
  if (!(strain > (weak ? rules.weak_factor * limit : limit))) return false;
  out.released += 0.25 * bonds.weight_of(b) * strain * strain / bonds.inverse_length[b];
  out.broke = true;
  bonds.mark_broken(i, b);
  return true;
}

template <bool uniform, BreakRule rule, bool clamp>
RowForce portable_row(BondList& bonds, const Record* records, int i, const Rules& rules) {
  const Record self = records[i];
  const double factor = bonds.weak.empty() ? 1 : std::min(1.0, rules.weak_factor);
  RowForce out;
  out.least_strain = clamp ? 0 : infinity;
  const std::int64_t end = bonds.begin[i] + bonds.alive[i];
  for (std::int64_t b = bonds.begin[i]; b < end; ++b) {
    const Record& other = records[bonds.neighbour[b]];
    const double dx = self.x - other.x, dy = self.y - other.y, dz = self.z - other.z;
    const double r = std::sqrt(std::max(dx * dx + dy * dy + dz * dz, smallest_distance_squared));
    const double strain = r * bonds.inverse_length[b] - 1;
    double c = (uniform ? bonds.uniform_weight : bonds.weight[b]) * (bonds.inverse_length[b] - 1 / r);
    out.least_strain = std::min(out.least_strain, strain);
    const double limit = limit_of<rule>(self.w, other.w);
    if (strain > factor * limit && try_break(bonds, i, b, strain, limit, rules, out) &&
        rules.break_order == BreakOrder::before_force) {
      c = 0;
    }
    out.x -= c * dx;
    out.y -= c * dy;
    out.z -= c * dz;
  }
  if (out.broke) bonds.close_row(i);
  return out;
}

#ifdef EXEMPLAR_PERIDYNAMICS_AVX2

double sum_lanes(__m256d v) {
  const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

double least_lane(__m256d v) {
  const __m128d pair = _mm_min_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_min_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

// 1/√s to rounding: 12 bits from the float approximation, then one fifth-order step. With h = 1 − s y²:
// 1/√s = y (1 − h)^(−1/2) = y (1 + h/2 + 3h²/8 + 5h³/16 + 35h⁴/128 + …), |h| < 8e-4. A square root and a
// division would take longer than everything else in the loop.
inline __m256d inverse_root(__m256d s) {
  const __m256d y = _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(s)));
  const __m256d h = _mm256_fnmadd_pd(_mm256_mul_pd(s, y), y, _mm256_set1_pd(1));
  __m256d p = _mm256_fmadd_pd(h, _mm256_set1_pd(35.0 / 128), _mm256_set1_pd(5.0 / 16));
  p = _mm256_fmadd_pd(h, p, _mm256_set1_pd(3.0 / 8));
  p = _mm256_fmadd_pd(h, p, _mm256_set1_pd(0.5));
  return _mm256_fmadd_pd(_mm256_mul_pd(y, h), p, y);
}

inline __m256d two_halves(const double* low, const double* high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(low)), _mm_load_pd(high), 1);
}

// Breaks what is to break among four bonds; returns a mask of those that must not pull any more.
__attribute__((noinline)) __m256d break_lanes(BondList& bonds, int i, std::int64_t b, int lanes,
                                              __m256d strain, __m256d limit, const Rules& rules,
                                              RowForce& out) {
  alignas(32) double strains[4], limits[4];
  alignas(32) std::int64_t silent[4] = {0, 0, 0, 0};
  _mm256_store_pd(strains, strain);
  _mm256_store_pd(limits, limit);
  for (int l = 0; l < 4; ++l) {
    if ((lanes >> l & 1) == 0) continue;
    const bool broken = try_break(bonds, i, b + l, strains[l], limits[l], rules, out);
    if (broken && rules.break_order == BreakOrder::before_force) silent[l] = -1;
  }
  return _mm256_castsi256_pd(_mm256_load_si256(reinterpret_cast<const __m256i*>(silent)));
}

template <bool uniform, BreakRule rule, bool clamp>
RowForce vector_row(BondList& bonds, const Record* records, int i, const Rules& rules) {
  const Record self = records[i];
  const __m256d xi = _mm256_set1_pd(self.x), yi = _mm256_set1_pd(self.y), zi = _mm256_set1_pd(self.z);
  const __m256d ti = _mm256_set1_pd(self.w);
  const __m256d one = _mm256_set1_pd(1), floor = _mm256_set1_pd(smallest_distance_squared);
  const __m256d factor = _mm256_set1_pd(bonds.weak.empty() ? 1 : std::min(1.0, rules.weak_factor));
  __m256d w = _mm256_set1_pd(bonds.uniform_weight);
  __m256d fx = _mm256_setzero_pd(), fy = fx, fz = fx;
  __m256d least = _mm256_set1_pd(clamp ? 0 : infinity);
  const int* neighbour = bonds.neighbour.data();
  const double* inverse_length = bonds.inverse_length.data();
  const double* weight = bonds.weight.data();
  RowForce out;
  const std::int64_t end = bonds.end(i);
  for (std::int64_t b = bonds.begin[i]; b < end; b += 4) {
    // Rows of four records, transposed on the way into the registers.
    const double* r0 = &records[neighbour[b]].x;
    const double* r1 = &records[neighbour[b + 1]].x;
    const double* r2 = &records[neighbour[b + 2]].x;
    const double* r3 = &records[neighbour[b + 3]].x;
    const __m256d xy02 = two_halves(r0, r2), xy13 = two_halves(r1, r3);
    const __m256d zt02 = two_halves(r0 + 2, r2 + 2), zt13 = two_halves(r1 + 2, r3 + 2);
    const __m256d dx = _mm256_sub_pd(xi, _mm256_unpacklo_pd(xy02, xy13));
    const __m256d dy = _mm256_sub_pd(yi, _mm256_unpackhi_pd(xy02, xy13));
    const __m256d dz = _mm256_sub_pd(zi, _mm256_unpacklo_pd(zt02, zt13));
    const __m256d tj = _mm256_unpackhi_pd(zt02, zt13);
    __m256d squared = _mm256_fmadd_pd(dz, dz, _mm256_fmadd_pd(dy, dy, _mm256_mul_pd(dx, dx)));
    squared = _mm256_max_pd(squared, floor);
    const __m256d inverse = inverse_root(squared);
    const __m256d rest = _mm256_load_pd(inverse_length + b);
    const __m256d strain = _mm256_fmsub_pd(_mm256_mul_pd(squared, inverse), rest, one);
    const __m256d limit = rule == BreakRule::max ? _mm256_max_pd(ti, tj) : _mm256_min_pd(ti, tj);
    if (!uniform) w = _mm256_load_pd(weight + b);
    __m256d c = _mm256_mul_pd(w, _mm256_sub_pd(inverse, rest));
    if (clamp) {
      least = _mm256_min_pd(least, strain);
    } else {
      const __m256d padding = _mm256_cmp_pd(rest, _mm256_set1_pd(padding_limit), _CMP_GT_OQ);
      least = _mm256_min_pd(least, _mm256_blendv_pd(strain, _mm256_set1_pd(infinity), padding));
    }
    const __m256d over = _mm256_cmp_pd(strain, _mm256_mul_pd(factor, limit), _CMP_GT_OQ);
    if (const int lanes = _mm256_movemask_pd(over)) [[unlikely]] {
      c = _mm256_andnot_pd(break_lanes(bonds, i, b, lanes, strain, limit, rules, out), c);
    }
    fx = _mm256_fmadd_pd(c, dx, fx);
    fy = _mm256_fmadd_pd(c, dy, fy);
    fz = _mm256_fmadd_pd(c, dz, fz);
  }
  out.x = sum_lanes(fx);
  out.y = sum_lanes(fy);
  out.z = sum_lanes(fz);
  out.least_strain = least_lane(least);
  if (out.broke) bonds.close_row(i);
  return out;
}

#endif

template <bool uniform, BreakRule rule, bool clamp>
RowKernel pick(bool portable) {
#ifdef EXEMPLAR_PERIDYNAMICS_AVX2
  if (!portable) return vector_row<uniform, rule, clamp>;
#endif
  (void)portable;
  return portable_row<uniform, rule, clamp>;
}

template <bool uniform>
RowKernel pick(const Rules& rules, bool portable) {
  if (rules.break_rule == BreakRule::max) {
    return rules.clamp_strengthening ? pick<uniform, BreakRule::max, true>(portable)
                                     : pick<uniform, BreakRule::max, false>(portable);
  }
  return rules.clamp_strengthening ? pick<uniform, BreakRule::min, true>(portable)
                                   : pick<uniform, BreakRule::min, false>(portable);
}

}  // namespace

RowKernel choose_kernel(const BondList& bonds, const Rules& rules, bool portable) {
  return bonds.weight.empty() ? pick<true>(rules, portable) : pick<false>(rules, portable);
}

double row_energy(const BondList& bonds, const Record* records, int i) {
  const Record& self = records[i];
  double energy = 0;
  for (std::int64_t b = bonds.begin[i]; b < bonds.begin[i] + bonds.alive[i]; ++b) {
    const Record& other = records[bonds.neighbour[b]];
    const double dx = self.x - other.x, dy = self.y - other.y, dz = self.z - other.z;
    const double strain = std::sqrt(dx * dx + dy * dy + dz * dz) * bonds.inverse_length[b] - 1;
    energy += 0.25 * bonds.weight_of(b) * strain * strain / bonds.inverse_length[b];
  }
  return energy;
}

}  // namespace exemplar::peridynamics
