// Four numbers that are computed with as one: a scalar type for kernels that are written once and run for one
// element (double) or for four neighbours at a time (Lanes, one vector register). Eigen matrices of it work
// as usual.
#pragma once

#include <Eigen/Core>
#include <array>
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
// The same matrix of every lane, from where its numbers are stored.
template <class S>
Matrix3<S> gather_matrix(const LanePointers<S>& from) {
  Matrix3<S> result;
  for (int i = 0; i < 9; ++i) result(i) = gather(from, i);
  return result;
}

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
