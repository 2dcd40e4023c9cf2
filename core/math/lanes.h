// Four numbers that are computed with as one: a scalar type for kernels that are written once and run for one
// element (double) or for four neighbours at a time (Lanes, one vector register). Eigen matrices of it work
// as usual. Written with the compiler's vector type, which becomes AVX where the processor has it and plain SSE
// otherwise.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>

namespace exemplar {

struct Lanes {
  using Register = double __attribute__((vector_size(32)));
  Register v;

  Lanes() = default;
  // NOLINTNEXTLINE: kernels write 2 * x and x - 1.
  Lanes(double s) : v{s, s, s, s} {}
  explicit Lanes(Register r) : v(r) {}

  Lanes& operator+=(Lanes o) { return v += o.v, *this; }
  Lanes& operator-=(Lanes o) { return v -= o.v, *this; }
  Lanes& operator*=(Lanes o) { return v *= o.v, *this; }
  Lanes& operator/=(Lanes o) { return v /= o.v, *this; }
  friend Lanes operator+(Lanes a, Lanes b) { return Lanes(a.v + b.v); }
  friend Lanes operator-(Lanes a, Lanes b) { return Lanes(a.v - b.v); }
  friend Lanes operator*(Lanes a, Lanes b) { return Lanes(a.v * b.v); }
  friend Lanes operator/(Lanes a, Lanes b) { return Lanes(a.v / b.v); }
  friend Lanes operator-(Lanes a) { return Lanes(-a.v); }
};

// Number of elements that a scalar type holds, and access to one of them.
template <class S>
inline constexpr int lane_count = 1;
template <>
inline constexpr int lane_count<Lanes> = 4;

inline double lane(const double& s, int) {
  return s;
}
inline double lane(const Lanes& s, int k) {
  return s.v[k];
}
// The numbers at the same offset from one address per lane.
template <class S>
using LanePointers = std::array<const double*, static_cast<std::size_t>(lane_count<S>)>;

inline double gather(const LanePointers<double>& from, int offset) {
  return from[0][offset];
}
inline Lanes gather(const LanePointers<Lanes>& from, int offset) {
  return Lanes(Lanes::Register{from[0][offset], from[1][offset], from[2][offset], from[3][offset]});
}

template <class S>
using Matrix3 = Eigen::Matrix<S, 3, 3>;

// One element's matrix out of those of all lanes.
template <class S, int Rows, int Cols>
Eigen::Matrix<double, Rows, Cols> lane(const Eigen::Matrix<S, Rows, Cols>& m, int k) {
  Eigen::Matrix<double, Rows, Cols> result;
  for (Eigen::Index i = 0; i < m.size(); ++i) result(i) = lane(m(i), k);
  return result;
}
template <int Rows, int Cols>
void set_lane(Eigen::Matrix<double, Rows, Cols>& m, int, const Eigen::Matrix<double, Rows, Cols>& one) {
  m = one;
}
template <int Rows, int Cols>
void set_lane(Eigen::Matrix<Lanes, Rows, Cols>& m, int k, const Eigen::Matrix<double, Rows, Cols>& one) {
  for (Eigen::Index i = 0; i < m.size(); ++i) m(i).v[k] = one(i);
}
// The same matrix of every lane, from where its numbers are stored.
template <class S>
Matrix3<S> gather_matrix(const LanePointers<S>& from) {
  Matrix3<S> result;
  for (int i = 0; i < 9; ++i) result(i) = gather(from, i);
  return result;
}

// What kernels need that work on registers themselves.
namespace lanes {

inline constexpr int width = 4;
using Lane = Lanes::Register;
using Mask = long long __attribute__((vector_size(32)));

inline Lane splat(double value) {
  return Lane{value, value, value, value};
}

inline Lane select(Mask mask, Lane yes, Lane no) {
  return mask ? yes : no;
}

// The two operations that the compiler does not find by itself.
#ifdef __AVX__
inline bool any(Mask mask) {
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(mask)) != 0;
}
inline Lane sqrt(Lane a) {
  return _mm256_sqrt_pd(a);
}
#else
inline bool any(Mask mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}
inline Lane sqrt(Lane a) {
  return Lane{std::sqrt(a[0]), std::sqrt(a[1]), std::sqrt(a[2]), std::sqrt(a[3])};
}
#endif

inline Lane load(const double* data) {
  Lane out;
  __builtin_memcpy(&out, data, sizeof(Lane));
  return out;
}

inline void store(double* data, Lane value) {
  __builtin_memcpy(data, &value, sizeof(Lane));
}

// A point's three coordinates; the fourth lane is zero and is not written back.
inline Lane load_three(const double* data) {
  return Lane{data[0], data[1], data[2], 0.0};
}

inline void store_three(double* data, Lane value) {
  for (int axis = 0; axis < 3; ++axis) data[axis] = value[axis];
}

// Rows (one per cell) to columns (one per component) and back: it is its own inverse.
inline void transpose(Lane& a, Lane& b, Lane& c, Lane& d) {
  const Lane ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6),
             ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lane cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6),
             cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

}  // namespace lanes

}  // namespace exemplar

namespace Eigen {

template <>
struct NumTraits<exemplar::Lanes> : GenericNumTraits<exemplar::Lanes> {
  using Real = exemplar::Lanes;
  using NonInteger = exemplar::Lanes;
  using Nested = exemplar::Lanes;
  using Literal = double;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 1,
    AddCost = 1,
    MulCost = 1
  };
};

}  // namespace Eigen
