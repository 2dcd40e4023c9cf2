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

// Force that bond b puts on particle i [N].
void add_bond_force(const BondList& bonds, const Record* records, int i, std::int64_t b, double* force) {
  const Record &self = records[i], &other = records[bonds.neighbour[b]];
  const double dx = self.x - other.x, dy = self.y - other.y, dz = self.z - other.z;
  const double r = std::sqrt(std::max(dx * dx + dy * dy + dz * dz, smallest_distance_squared));
  const double c = bonds.weight_of(b) * (bonds.inverse_length[b] - 1 / r);
  force[0] -= c * dx;
  force[1] -= c * dy;
  force[2] -= c * dz;
}

// Breaks the bond and keeps account of its energy; false if it is only near a weakened bond's limit.
bool try_break(BondList& bonds, const Record* records, int i, std::int64_t b, double strain, double limit,
               const Rules& rules, RowForce& out) {
  if (bonds.neighbour[b] == i) return false;  // padding: its limit can be below its 1e-12 only by τ < 1e-12
  const bool weak = !bonds.weak.empty() && bonds.weak[b];
  if (!(strain > (weak ? rules.weak_factor * limit : limit))) return false;
  out.released += 0.25 * bonds.weight_of(b) * strain * strain / bonds.inverse_length[b];
  out.broke = true;
  if (rules.break_order == BreakOrder::before_force) add_bond_force(bonds, records, i, b, out.lost);
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
    if (strain > factor * limit && try_break(bonds, records, i, b, strain, limit, rules, out) &&
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

// The kernel works with e = r²/r0² − 1 = ε (2 + ε), which needs neither a root nor a division. With it
// 1/r − 1/r0 = q/r0 where q = (1 + e)^(−1/2) − 1 = e P(e). P is the polynomial of degree 6 that is closest on
// |e| ≤ 1/64, to 7e-16: q is off by at most 1.1e-17, a tenth of the rounding of e. Beyond (|ε| > 0.78 %) the
// rare lanes below take a true root. The float estimate of 1/√, refined, has a chain of dependent
// instructions half as long again and made the whole loop 15 % slower.
constexpr double largest_e = 1.0 / 64;
constexpr double closest_p[7] = {-0.5,
                                 0.3750000000003127,
                                 -0.3125000000002953,
                                 0.2734374897543061,
                                 -0.24609374032347447,
                                 0.22566986332987313,
                                 -0.20955191976592094};

inline __m256d force_polynomial(__m256d e, __m256d e2) {
  const auto pair = [&](int k) {
    return _mm256_fmadd_pd(e, _mm256_set1_pd(closest_p[k + 1]), _mm256_set1_pd(closest_p[k]));
  };
  const __m256d high = _mm256_fmadd_pd(e2, _mm256_set1_pd(closest_p[6]), pair(4));
  return _mm256_fmadd_pd(e2, _mm256_fmadd_pd(e2, high, pair(2)), pair(0));
}

inline __m256d two_halves(const double* low, const double* high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(low)), _mm_load_pd(high), 1);
}

double strain_of(double e) {
  return std::isinf(e) ? e : e / (1 + std::sqrt(std::max(0.0, 1 + e)));
}

// Four bonds: difference vectors, 1/r0, e and strain limits.
struct FourBonds {
  __m256d dx, dy, dz, rest, e, limit;
};

// q of four bonds where some are strained beyond the polynomial or may break: a true root for the former lane
// by lane (both copies of a bond must get the same bits, whatever stands beside them), 0 for those that must
// not pull any more.
__attribute__((noinline)) __m256d rare_lanes(BondList& bonds, const Record* records, int i, std::int64_t b,
                                             int over, __m256d e, __m256d limit, __m256d q,
                                             const Rules& rules, RowForce& out) {
  const __m256d one = _mm256_set1_pd(1);
  const __m256d root = _mm256_sqrt_pd(_mm256_add_pd(one, e));
  const __m256d exact = _mm256_sub_pd(_mm256_div_pd(one, root), one);
  const __m256d far = _mm256_cmp_pd(_mm256_mul_pd(e, e), _mm256_set1_pd(largest_e * largest_e), _CMP_GT_OQ);
  q = _mm256_blendv_pd(q, exact, far);
  if (over == 0) return q;
  alignas(32) double es[4], limits[4], qs[4];
  _mm256_store_pd(es, e);
  _mm256_store_pd(limits, limit);
  _mm256_store_pd(qs, q);
  for (int l = 0; l < 4; ++l) {
    if ((over >> l & 1) == 0) continue;
    const bool broken = try_break(bonds, records, i, b + l, strain_of(es[l]), limits[l], rules, out);
    if (broken && rules.break_order == BreakOrder::before_force) qs[l] = 0;
  }
  return _mm256_load_pd(qs);
}

// The row's own particle in every lane.
struct SelfLanes {
  __m256d x, y, z, limit;
};

// Records of four neighbours, transposed on the way into the registers.
template <BreakRule rule>
inline FourBonds load_four(const SelfLanes& self, const Record* records, const int* neighbour,
                           const double* inverse_length) {
  const double* r0 = &records[neighbour[0]].x;
  const double* r1 = &records[neighbour[1]].x;
  const double* r2 = &records[neighbour[2]].x;
  const double* r3 = &records[neighbour[3]].x;
  const __m256d xy02 = two_halves(r0, r2), xy13 = two_halves(r1, r3);
  const __m256d zt02 = two_halves(r0 + 2, r2 + 2), zt13 = two_halves(r1 + 2, r3 + 2);
  FourBonds four;
  four.dx = _mm256_sub_pd(self.x, _mm256_unpacklo_pd(xy02, xy13));
  four.dy = _mm256_sub_pd(self.y, _mm256_unpackhi_pd(xy02, xy13));
  four.dz = _mm256_sub_pd(self.z, _mm256_unpacklo_pd(zt02, zt13));
  const __m256d tj = _mm256_unpackhi_pd(zt02, zt13);
  four.limit = rule == BreakRule::max ? _mm256_max_pd(self.limit, tj) : _mm256_min_pd(self.limit, tj);
  const __m256d flat = _mm256_fmadd_pd(four.dy, four.dy, _mm256_mul_pd(four.dx, four.dx));
  const __m256d squared =
      _mm256_max_pd(_mm256_fmadd_pd(four.dz, four.dz, flat), _mm256_set1_pd(smallest_distance_squared));
  four.rest = _mm256_load_pd(inverse_length);
  four.e = _mm256_fmsub_pd(_mm256_mul_pd(squared, four.rest), four.rest, _mm256_set1_pd(1));
  return four;
}

template <bool uniform, BreakRule rule, bool clamp>
RowForce vector_row(BondList& bonds, const Record* records, int i, const Rules& rules) {
  const Record own = records[i];
  const SelfLanes self{_mm256_set1_pd(own.x), _mm256_set1_pd(own.y), _mm256_set1_pd(own.z),
                       _mm256_set1_pd(own.w)};
  // ε > f τ  ⇔  e > f τ (2 + f τ)
  const double f = bonds.weak.empty() ? 1 : std::min(1.0, rules.weak_factor);
  const __m256d twice = _mm256_set1_pd(2 * f), square = _mm256_set1_pd(f * f);
  __m256d fx = _mm256_setzero_pd(), fy = fx, fz = fx;
  __m256d least = _mm256_set1_pd(clamp ? 0 : infinity);
  const int* neighbour = bonds.neighbour.data();
  const double* inverse_length = bonds.inverse_length.data();
  const double* weight = bonds.weight.data();
  RowForce out;
  const std::int64_t end = bonds.end(i);
  for (std::int64_t b = bonds.begin[i]; b < end; b += 4) {
    const FourBonds four = load_four<rule>(self, records, neighbour + b, inverse_length + b);
    const __m256d e2 = _mm256_mul_pd(four.e, four.e);
    __m256d q = _mm256_mul_pd(four.e, force_polynomial(four.e, e2));
    const __m256d highest = _mm256_mul_pd(four.limit, _mm256_fmadd_pd(four.limit, square, twice));
    const __m256d over = _mm256_cmp_pd(four.e, highest, _CMP_GT_OQ);
    const __m256d far = _mm256_cmp_pd(e2, _mm256_set1_pd(largest_e * largest_e), _CMP_GT_OQ);
    if (clamp) {
      least = _mm256_min_pd(least, four.e);
    } else {
      const __m256d padding = _mm256_cmp_pd(four.rest, _mm256_set1_pd(padding_limit), _CMP_GT_OQ);
      least = _mm256_min_pd(least, _mm256_blendv_pd(four.e, _mm256_set1_pd(infinity), padding));
    }
    if (_mm256_movemask_pd(_mm256_or_pd(over, far))) [[unlikely]] {
      q = rare_lanes(bonds, records, i, b, _mm256_movemask_pd(over), four.e, four.limit, q, rules, out);
    }
    __m256d c = _mm256_mul_pd(q, four.rest);
    if (!uniform) c = _mm256_mul_pd(c, _mm256_load_pd(weight + b));
    fx = _mm256_fmadd_pd(c, four.dx, fx);
    fy = _mm256_fmadd_pd(c, four.dy, fy);
    fz = _mm256_fmadd_pd(c, four.dz, fz);
  }
  const double w = uniform ? bonds.uniform_weight : 1;
  out.x = w * sum_lanes(fx);
  out.y = w * sum_lanes(fy);
  out.z = w * sum_lanes(fz);
  out.least_strain = strain_of(least_lane(least));
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
