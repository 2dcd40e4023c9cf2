#include "meshless/peridynamics/bond_kernel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define EXEMPLAR_PERIDYNAMICS_AVX2 1
#endif

namespace exemplar::peridynamics {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Which bonds move a particle's strain limit (eq. 5).
enum class Strengthening { none, compression, any };

template <BreakRule rule>
double limit_of(double a, double b) {
  return rule == BreakRule::max ? std::max(a, b) : std::min(a, b);
}

double strain_of(double e) {
  return std::isinf(e) ? e : e / (1 + std::sqrt(std::max(0.0, 1 + e)));
}

// r0/r − 1. Of two particles in one place it is large and finite, and what it is multiplied with is 0.
double shortening(double e) {
  return 1 / std::sqrt(std::max(1 + e, smallest_distance_squared)) - 1;
}

struct OneBond {
  double dx, dy, dz, e, pull, inverse_square;
};

OneBond one_bond(const BondList& bonds, const Record* records, int i, std::int64_t b) {
  const Record &self = records[i], &other = records[bonds.neighbour[b]];
  const BondKind kind = bonds.kind_of(b);
  OneBond bond{self.x - other.x, self.y - other.y, self.z - other.z, 0, kind.pull, kind.inverse_square};
  bond.e = (bond.dx * bond.dx + bond.dy * bond.dy + bond.dz * bond.dz) * kind.inverse_square - 1;
  return bond;
}

// Half of the bond's energy [J]: its other half is the other row's.
double half_energy(const OneBond& bond, double strain) {
  return 0.25 * bond.pull * strain * strain / bond.inverse_square;
}

// A bond that is over `limit`, a squared_limit(), breaks, but for weakened lists: there it may be only near a sound bond's.
bool breaks(const BondList& bonds, std::int64_t b, double e, double limit, const Rules& rules) {
  if (bonds.weak.empty()) return true;
  const double strength = strain_of(limit) / first_look(bonds, rules);
  return strain_of(e) > (bonds.weak[b] ? rules.weak_factor : 1) * strength;
}

bool try_break(BondList& bonds, const Record* records, int i, std::int64_t b, double e, double limit,
               const Rules& rules, RowForce& out) {
  if (bonds.neighbour[b] == i) return false;  // padding: its limit can be below its 1e-12 only by τ < 1e-12
  if (!breaks(bonds, b, e, limit, rules)) return false;
  break_bond(bonds, records, i, b, e, rules, out);
  return true;
}

template <BreakRule rule, Strengthening strengthening>
RowForce portable_row(BondList& bonds, const Record* records, int i, const Rules& rules) {
  RowForce out;
  double least = strengthening == Strengthening::any ? infinity : 0;
  const std::int64_t end = bonds.begin[i] + bonds.alive[i];
  for (std::int64_t b = bonds.begin[i]; b < end; ++b) {
    const OneBond bond = one_bond(bonds, records, i, b);
    double c = bond.pull * shortening(bond.e);
    least = std::min(least, bond.e);
    const double limit = limit_of<rule>(records[i].w, records[bonds.neighbour[b]].w);
    if (bond.e > limit && try_break(bonds, records, i, b, bond.e, limit, rules, out) &&
        rules.break_order == BreakOrder::before_force) {
      c = 0;
    }
    out.x += c * bond.dx;
    out.y += c * bond.dy;
    out.z += c * bond.dz;
  }
  out.least_strain = strengthening == Strengthening::none ? 0 : strain_of(least);
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

// Four bonds: difference vectors, e, strain limits, w/r0 and 1/r0².
struct FourBonds {
  __m256d dx, dy, dz, e, limit, pull, inverse_square;
};

// q of four bonds where some are strained beyond the polynomial: a true root for those, lane by lane (both copies of a
// bond must get the same bits, whatever stands beside them).
inline __m256d with_roots(__m256d e, __m256d q) {
  const __m256d one = _mm256_set1_pd(1);
  const __m256d ratio = _mm256_max_pd(_mm256_add_pd(one, e), _mm256_set1_pd(smallest_distance_squared));
  const __m256d root = _mm256_sqrt_pd(ratio);
  const __m256d exact = _mm256_sub_pd(_mm256_div_pd(one, root), one);
  const __m256d far = _mm256_cmp_pd(_mm256_mul_pd(e, e), _mm256_set1_pd(largest_e * largest_e), _CMP_GT_OQ);
  return _mm256_blendv_pd(q, exact, far);
}

// q with 0 for those of the lanes in `over` that must not pull any more. try_lane(lane, e, limit): whether it breaks.
template <class TryLane>
__m256d without_broken(int over, __m256d e, __m256d limit, __m256d q, const Rules& rules,
                       const TryLane& try_lane) {
  if (over == 0) return q;
  alignas(32) double es[4], limits[4], qs[4];
  _mm256_store_pd(es, e);
  _mm256_store_pd(limits, limit);
  _mm256_store_pd(qs, q);
  for (int l = 0; l < 4; ++l) {
    if ((over >> l & 1) == 0) continue;
    if (try_lane(l, es[l], limits[l]) && rules.break_order == BreakOrder::before_force) qs[l] = 0;
  }
  return _mm256_load_pd(qs);
}

__attribute__((noinline)) __m256d rare_lanes(BondList& bonds, const Record* records, int i, std::int64_t b,
                                             int over, __m256d e, __m256d limit, __m256d q,
                                             const Rules& rules, RowForce& out) {
  return without_broken(over, e, limit, with_roots(e, q), rules,
                        [&](int l, double lane_e, double lane_limit) {
                          return try_break(bonds, records, i, b + l, lane_e, lane_limit, rules, out);
                        });
}

// The row's own particle in every lane.
struct SelfLanes {
  __m256d x, y, z, limit;
};

// Where lengths and weights are read: taken out of the list once per row.
struct KindSource {
  const std::uint16_t* kind;
  const BondKind* kinds;
  const double *inverse_square, *pull;
};

template <bool has_kinds>
inline void load_kinds(const KindSource& source, std::int64_t b, FourBonds& four) {
  if constexpr (has_kinds) {
    const std::uint16_t* kind = source.kind + b;
    const BondKind* kinds = source.kinds;
    const __m256d k02 = two_halves(&kinds[kind[0]].inverse_square, &kinds[kind[2]].inverse_square);
    const __m256d k13 = two_halves(&kinds[kind[1]].inverse_square, &kinds[kind[3]].inverse_square);
    four.inverse_square = _mm256_unpacklo_pd(k02, k13);
    four.pull = _mm256_unpackhi_pd(k02, k13);
  } else {
    four.inverse_square = _mm256_load_pd(source.inverse_square + b);
    four.pull = _mm256_load_pd(source.pull + b);
  }
}

// Records of four neighbours, transposed on the way into the registers.
template <BreakRule rule, bool has_kinds, bool has_padding>
inline FourBonds load_four(const SelfLanes& self, const Record* records, const int* neighbour,
                           const KindSource& source, std::int64_t b) {
  const double* r0 = &records[neighbour[b]].x;
  const double* r1 = &records[neighbour[b + 1]].x;
  const double* r2 = &records[neighbour[b + 2]].x;
  const double* r3 = &records[neighbour[b + 3]].x;
  const __m256d xy02 = two_halves(r0, r2), xy13 = two_halves(r1, r3);
  const __m256d zt02 = two_halves(r0 + 2, r2 + 2), zt13 = two_halves(r1 + 2, r3 + 2);
  FourBonds four;
  load_kinds<has_kinds>(source, b, four);
  four.dx = _mm256_sub_pd(self.x, _mm256_unpacklo_pd(xy02, xy13));
  four.dy = _mm256_sub_pd(self.y, _mm256_unpackhi_pd(xy02, xy13));
  four.dz = _mm256_sub_pd(self.z, _mm256_unpacklo_pd(zt02, zt13));
  const __m256d other = _mm256_unpackhi_pd(zt02, zt13);
  four.limit = rule == BreakRule::max ? _mm256_max_pd(self.limit, other) : _mm256_min_pd(self.limit, other);
  const __m256d flat = _mm256_fmadd_pd(four.dy, four.dy, _mm256_mul_pd(four.dx, four.dx));
  __m256d squared = _mm256_fmadd_pd(four.dz, four.dz, flat);
  if (has_padding) squared = _mm256_max_pd(squared, _mm256_set1_pd(smallest_distance_squared));
  four.e = _mm256_fmsub_pd(squared, four.inverse_square, _mm256_set1_pd(1));
  return four;
}

// What a row adds up, four bonds at a time.
struct RowLanes {
  __m256d x, y, z, least;
};

template <BreakRule rule, Strengthening strengthening, bool has_kinds, bool has_padding>
inline void add_four(BondList& bonds, const Record* records, int i, const Rules& rules, const SelfLanes& self,
                     const int* neighbour, const KindSource& source, std::int64_t b, RowLanes& sum,
                     RowForce& out) {
  const FourBonds four = load_four<rule, has_kinds, has_padding>(self, records, neighbour, source, b);
  const __m256d e2 = _mm256_mul_pd(four.e, four.e);
  __m256d q = _mm256_mul_pd(four.e, force_polynomial(four.e, e2));
  const __m256d over = _mm256_cmp_pd(four.e, four.limit, _CMP_GT_OQ);
  const __m256d far = _mm256_cmp_pd(e2, _mm256_set1_pd(largest_e * largest_e), _CMP_GT_OQ);
  if constexpr (strengthening == Strengthening::compression) {
    sum.least = _mm256_min_pd(sum.least, four.e);
  } else if constexpr (strengthening == Strengthening::any) {
    const __m256d padding = _mm256_cmp_pd(four.inverse_square, _mm256_set1_pd(padding_limit), _CMP_GT_OQ);
    sum.least = _mm256_min_pd(sum.least, _mm256_blendv_pd(four.e, _mm256_set1_pd(infinity), padding));
  }
  if (_mm256_movemask_pd(_mm256_or_pd(over, far))) [[unlikely]] {
    q = rare_lanes(bonds, records, i, b, _mm256_movemask_pd(over), four.e, four.limit, q, rules, out);
  }
  const __m256d c = _mm256_mul_pd(q, four.pull);
  sum.x = _mm256_fmadd_pd(c, four.dx, sum.x);
  sum.y = _mm256_fmadd_pd(c, four.dy, sum.y);
  sum.z = _mm256_fmadd_pd(c, four.dz, sum.z);
}

template <BreakRule rule, Strengthening strengthening, bool has_kinds>
RowForce vector_row(BondList& bonds, const Record* records, int i, const Rules& rules) {
  const Record own = records[i];
  const SelfLanes self{_mm256_set1_pd(own.x), _mm256_set1_pd(own.y), _mm256_set1_pd(own.z),
                       _mm256_set1_pd(own.w)};
  RowLanes sum{_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(),
               _mm256_set1_pd(strengthening == Strengthening::any ? infinity : 0)};
  const int* neighbour = bonds.neighbour.data();
  const KindSource source{bonds.kind.data(), bonds.kinds.data(), bonds.inverse_square.data(),
                          bonds.pull.data()};
  RowForce out;
  const std::int64_t begin = bonds.begin[i], whole = begin + bonds.alive[i] / 4 * 4, end = bonds.end(i);
  for (std::int64_t b = begin; b < whole; b += 4) {
    add_four<rule, strengthening, has_kinds, false>(bonds, records, i, rules, self, neighbour, source, b, sum,
                                                    out);
  }
  if (whole < end) {
    add_four<rule, strengthening, has_kinds, true>(bonds, records, i, rules, self, neighbour, source, whole,
                                                   sum, out);
  }
  out.x = sum_lanes(sum.x);
  out.y = sum_lanes(sum.y);
  out.z = sum_lanes(sum.z);
  if (strengthening != Strengthening::none) out.least_strain = strain_of(least_lane(sum.least));
  if (out.broke) bonds.close_row(i);
  return out;
}

// Lane l of mask m: all bits if bit l of m is set.
alignas(32) constexpr std::uint64_t no = 0, yes = ~std::uint64_t{0};
alignas(32) constexpr std::uint64_t lane_masks[16][4] = {
    {no, no, no, no},   {yes, no, no, no},   {no, yes, no, no},   {yes, yes, no, no},
    {no, no, yes, no},  {yes, no, yes, no},  {no, yes, yes, no},  {yes, yes, yes, no},
    {no, no, no, yes},  {yes, no, no, yes},  {no, yes, no, yes},  {yes, yes, no, yes},
    {no, no, yes, yes}, {yes, no, yes, yes}, {no, yes, yes, yes}, {yes, yes, yes, yes}};

__attribute__((noinline)) __m256d rare_group_lanes(const BondList& bonds, int i, int j, int over, __m256d e,
                                                   __m256d limit, __m256d q, const Rules& rules,
                                                   std::vector<BrokenBond>& broken) {
  return without_broken(over, e, limit, with_roots(e, q), rules,
                        [&](int l, double lane_e, double lane_limit) {
                          const std::int64_t b = bonds.weak.empty() ? 0 : bonds.find(i + l, j + l);
                          if (!breaks(bonds, b, lane_e, lane_limit, rules)) return false;
                          broken.push_back({i + l, j + l, lane_e});
                          return true;
                        });
}

inline void add_lanes(double* to, __m256d value) {
  _mm256_store_pd(to, _mm256_add_pd(_mm256_load_pd(to), value));
}

inline void take_away(double* from, __m256d c, __m256d d) {
  _mm256_storeu_pd(from, _mm256_fnmadd_pd(c, d, _mm256_loadu_pd(from)));
}

// What counts for the particles' limits.
template <Strengthening strengthening>
__m256d strengthening_e(__m256d e, __m256d alive) {
  if (strengthening == Strengthening::compression) return e;
  return _mm256_blendv_pd(_mm256_set1_pd(infinity), e, alive);
}

// One group: see GroupKernel.
template <BreakRule rule, Strengthening strengthening>
inline void add_group(const BondList& bonds, const BondGroups& groups, const Columns& positions,
                      std::size_t group, const Rules& rules, Columns& forces,
                      std::vector<BrokenBond>& broken) {
  const std::size_t i = BondGroups::width * group;
  const double *xs = positions.column(0) + i, *ys = positions.column(1) + i, *zs = positions.column(2) + i,
               *limits = positions.column(3) + i;
  double *fxs = forces.column(0) + i, *fys = forces.column(1) + i, *fzs = forces.column(2) + i,
         *leasts = forces.column(3) + i;
  const SelfLanes self{_mm256_load_pd(xs), _mm256_load_pd(ys), _mm256_load_pd(zs), _mm256_load_pd(limits)};
  // Not a RowLanes: what has an address goes through memory in every round.
  __m256d fx = _mm256_setzero_pd(), fy = fx, fz = fx, least = _mm256_set1_pd(infinity);
  const BondGroups::Four* fours = groups.fours.data();
  for (const BondGroups::Entry entry : groups.of(group)) {
    const std::ptrdiff_t j = entry.offset;
    const BondGroups::Four& four = fours[entry.four()];
    const std::uint32_t lanes = entry.alive();
    const __m256d dx = _mm256_sub_pd(self.x, _mm256_loadu_pd(xs + j));
    const __m256d dy = _mm256_sub_pd(self.y, _mm256_loadu_pd(ys + j));
    const __m256d dz = _mm256_sub_pd(self.z, _mm256_loadu_pd(zs + j));
    const __m256d other = _mm256_loadu_pd(limits + j);
    const __m256d limit =
        rule == BreakRule::max ? _mm256_max_pd(self.limit, other) : _mm256_min_pd(self.limit, other);
    const __m256d flat = _mm256_fmadd_pd(dy, dy, _mm256_mul_pd(dx, dx));
    const __m256d squared = _mm256_fmadd_pd(dz, dz, flat);
    const __m256d alive = _mm256_load_pd(reinterpret_cast<const double*>(lane_masks[lanes]));
    // A lane without this bond has e = 0: no force, and nothing that could count as compression.
    const __m256d e = _mm256_and_pd(
        alive, _mm256_fmsub_pd(squared, _mm256_load_pd(four.inverse_square), _mm256_set1_pd(1)));
    const __m256d e2 = _mm256_mul_pd(e, e);
    __m256d q = _mm256_mul_pd(e, force_polynomial(e, e2));
    const __m256d over = _mm256_cmp_pd(e, limit, _CMP_GT_OQ);
    const __m256d far = _mm256_cmp_pd(e2, _mm256_set1_pd(largest_e * largest_e), _CMP_GT_OQ);
    if constexpr (strengthening != Strengthening::none) {
      const __m256d seen = strengthening_e<strengthening>(e, alive);
      least = _mm256_min_pd(least, seen);
      _mm256_storeu_pd(leasts + j, _mm256_min_pd(_mm256_loadu_pd(leasts + j), seen));
    }
    const auto lanes_of = [&](__m256d which) {
      return static_cast<std::uint32_t>(_mm256_movemask_pd(which)) & lanes;
    };
    if (lanes_of(_mm256_or_pd(over, far)) != 0) [[unlikely]] {
      q = rare_group_lanes(bonds, static_cast<int>(i), static_cast<int>(i) + entry.offset,
                           static_cast<int>(lanes_of(over)), e, limit, q, rules, broken);
    }
    const __m256d c = _mm256_mul_pd(q, _mm256_load_pd(four.pull));
    fx = _mm256_fmadd_pd(c, dx, fx);
    fy = _mm256_fmadd_pd(c, dy, fy);
    fz = _mm256_fmadd_pd(c, dz, fz);
    take_away(fxs + j, c, dx);
    take_away(fys + j, c, dy);
    take_away(fzs + j, c, dz);
  }
  add_lanes(fxs, fx);
  add_lanes(fys, fy);
  add_lanes(fzs, fz);
  if (strengthening != Strengthening::none)
    _mm256_store_pd(leasts, _mm256_min_pd(_mm256_load_pd(leasts), least));
}

template <BreakRule rule, Strengthening strengthening>
void add_groups(const BondList& bonds, const BondGroups& groups, const Columns& positions, std::size_t first,
                std::size_t end, const Rules& rules, Columns& forces, std::vector<BrokenBond>& broken) {
  for (std::size_t g = first; g < end; ++g)
    add_group<rule, strengthening>(bonds, groups, positions, g, rules, forces, broken);
}

// Half the energies of an entry's bonds; 0 in lanes that have none.
inline __m256d half_energies(const BondGroups::Four& four, __m256d alive, __m256d dx, __m256d dy,
                             __m256d dz) {
  const __m256d one = _mm256_set1_pd(1), inverse_square = _mm256_load_pd(four.inverse_square);
  const __m256d flat = _mm256_fmadd_pd(dy, dy, _mm256_mul_pd(dx, dx));
  const __m256d e = _mm256_fmsub_pd(_mm256_fmadd_pd(dz, dz, flat), inverse_square, one);
  const __m256d ratio = _mm256_max_pd(_mm256_setzero_pd(), _mm256_add_pd(one, e));
  const __m256d strain = _mm256_div_pd(e, _mm256_add_pd(one, _mm256_sqrt_pd(ratio)));
  const __m256d stiffness = _mm256_div_pd(_mm256_load_pd(four.pull), inverse_square);
  const __m256d squared = _mm256_mul_pd(_mm256_mul_pd(strain, strain), stiffness);
  return _mm256_and_pd(alive, _mm256_mul_pd(_mm256_set1_pd(0.25), squared));
}

void add_energies_of(const BondGroups& groups, const Columns& positions, std::size_t group,
                     double* energies) {
  const std::size_t i = BondGroups::width * group;
  const double *xs = positions.column(0) + i, *ys = positions.column(1) + i, *zs = positions.column(2) + i;
  const __m256d x = _mm256_load_pd(xs), y = _mm256_load_pd(ys), z = _mm256_load_pd(zs);
  __m256d sum = _mm256_setzero_pd();
  for (const BondGroups::Entry entry : groups.of(group)) {
    const std::ptrdiff_t j = entry.offset;
    const __m256d alive = _mm256_load_pd(reinterpret_cast<const double*>(lane_masks[entry.alive()]));
    const __m256d energy =
        half_energies(groups.fours[entry.four()], alive, _mm256_sub_pd(x, _mm256_loadu_pd(xs + j)),
                      _mm256_sub_pd(y, _mm256_loadu_pd(ys + j)), _mm256_sub_pd(z, _mm256_loadu_pd(zs + j)));
    sum = _mm256_add_pd(sum, energy);
    double* const to = energies + i + j;
    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), energy));
  }
  add_lanes(energies + i, sum);
}

#endif

template <BreakRule rule>
GroupKernel pick_group([[maybe_unused]] const Rules& rules) {
#ifdef EXEMPLAR_PERIDYNAMICS_AVX2
  if (rules.strengthening == 0) return add_groups<rule, Strengthening::none>;
  return rules.clamp_strengthening ? add_groups<rule, Strengthening::compression>
                                   : add_groups<rule, Strengthening::any>;
#else
  return nullptr;
#endif
}

template <BreakRule rule, Strengthening strengthening>
RowKernel pick(const BondList& bonds, bool portable) {
#ifdef EXEMPLAR_PERIDYNAMICS_AVX2
  if (!portable) {
    return bonds.kind.empty() ? vector_row<rule, strengthening, false>
                              : vector_row<rule, strengthening, true>;
  }
#endif
  (void)bonds;
  (void)portable;
  return portable_row<rule, strengthening>;
}

template <BreakRule rule>
RowKernel pick(const BondList& bonds, const Rules& rules, bool portable) {
  if (rules.strengthening == 0) return pick<rule, Strengthening::none>(bonds, portable);
  return rules.clamp_strengthening ? pick<rule, Strengthening::compression>(bonds, portable)
                                   : pick<rule, Strengthening::any>(bonds, portable);
}

}  // namespace

double first_look(const BondList& bonds, const Rules& rules) {
  // Bonds that break at any strain are looked at from a millionth of the limit on.
  return bonds.weak.empty() ? 1 : std::clamp(rules.weak_factor, 1e-6, 1.0);
}

RowKernel choose_kernel(const BondList& bonds, const Rules& rules, bool portable) {
  return rules.break_rule == BreakRule::max ? pick<BreakRule::max>(bonds, rules, portable)
                                            : pick<BreakRule::min>(bonds, rules, portable);
}

GroupKernel choose_group_kernel(const Rules& rules) {
  return rules.break_rule == BreakRule::max ? pick_group<BreakRule::max>(rules)
                                            : pick_group<BreakRule::min>(rules);
}

void break_bond(BondList& bonds, const Record* records, int i, std::int64_t b, double e, const Rules& rules,
                RowForce& out) {
  const OneBond bond = one_bond(bonds, records, i, b);
  out.released += half_energy(bond, strain_of(e));
  out.broke = true;
  if (rules.break_order == BreakOrder::before_force) {
    const double c = bond.pull * shortening(bond.e);
    out.lost[0] += c * bond.dx;
    out.lost[1] += c * bond.dy;
    out.lost[2] += c * bond.dz;
  }
  bonds.mark_broken(i, b);
}

Record no_force(const Rules& rules) {
  return {0, 0, 0, rules.strengthening != 0 && !rules.clamp_strengthening ? infinity : 0};
}

RowForce group_force(const Columns& forces, std::size_t i, const Rules& rules) {
  const Record sum = forces.get(i);
  RowForce out;
  out.x = sum.x;
  out.y = sum.y;
  out.z = sum.z;
  if (rules.strengthening != 0) out.least_strain = strain_of(sum.w);
  return out;
}

void Columns::resize(std::size_t particles) {
  constexpr std::size_t line = 8;  // doubles
  m_stride = (particles + line - 1) / line * line + 2 * margin;
  m_values.assign(4 * m_stride, 0);
}

double row_energy(const BondList& bonds, const Record* records, int i) {
  double energy = 0;
  for (std::int64_t b = bonds.begin[i]; b < bonds.begin[i] + bonds.alive[i]; ++b) {
    const OneBond bond = one_bond(bonds, records, i, b);
    energy += half_energy(bond, strain_of(bond.e));
  }
  return energy;
}

void add_group_energies([[maybe_unused]] const BondGroups& groups, [[maybe_unused]] const Columns& positions,
                        std::size_t first, std::size_t end, [[maybe_unused]] Columns& energies) {
#ifdef EXEMPLAR_PERIDYNAMICS_AVX2
  for (std::size_t g = first; g < end; ++g) add_energies_of(groups, positions, g, energies.column(0));
#else
  assert(first == end);
#endif
}

}  // namespace exemplar::peridynamics
