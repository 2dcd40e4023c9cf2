// The inner loop: forces of one particle's bonds, breaking those that are stretched too far (levine2014 eqs.
// 2, 3, 5 and §3 "springforces"). AVX2 where the compiler has it, else plain C++ with the same results up to
// rounding.
//
// Both copies of a bond see the same bits (the difference vector only changes sign), so the two forces are
// exactly opposite and both copies break in the same pass.
//
// Two ways: row by row, four bonds of a particle at a time (any particles); or group by group, one bond each of four
// particles at a time (lattices, bond_groups.h). They add up the same forces in another order.
#pragma once

#include "meshless/peridynamics/bond_groups.h"
#include "meshless/peridynamics/bonds.h"

namespace exemplar::peridynamics {

// One aligned 32-byte load per neighbour. Of a position w is the strain limit of the previous pass, in the form in which
// the kernel compares it: squared_limit().
struct alignas(32) Record {
  double x, y, z, w;
};

// The kernel works with e = r²/r0² − 1 = ε (2 + ε), which needs neither a root nor a division: ε > f τ ⇔ e > f τ (2 + f τ).
// f is the fraction of its limit at which a bond is first looked at: 1, or less if some bonds are weakened.
double first_look(const BondList& bonds, const Rules& rules);
inline double squared_limit(double limit, double first_look) {
  return first_look * limit * (2 + first_look * limit);
}

struct RowForce {
  double x = 0, y = 0, z = 0;  // [N]
  double least_strain = 0;     // over the bonds alive at entry; ≤ 0 if clamped
  double released = 0;         // half the energy of the bonds that broke [J]
  double lost[3] = {0, 0, 0};  // force of the bonds that broke and no longer pull in this pass [N]
  bool broke = false;
};

// Computes row i; records hold x, y, z and squared_limit() of every particle. Writes to row i only.
using RowKernel = RowForce (*)(BondList& bonds, const Record* records, int i, const Rules& rules);

// The kernel for the rules and the list; `portable` picks the plain C++ one.
RowKernel choose_kernel(const BondList& bonds, const Rules& rules, bool portable = false);

// The records by column, for groups: readable for a group's width beyond both ends.
class Columns {
 public:
  void resize(std::size_t particles);
  bool empty() const { return m_values.empty(); }
  void set(std::size_t i, const Record& record) {
    double* const at = m_values.data() + margin + i;
    at[0] = record.x;
    at[m_stride] = record.y;
    at[2 * m_stride] = record.z;
    at[3 * m_stride] = record.w;
  }
  const double* x() const { return m_values.data() + margin; }
  const double* y() const { return x() + m_stride; }
  const double* z() const { return x() + 2 * m_stride; }
  const double* limit() const { return x() + 3 * m_stride; }
  std::size_t bytes() const { return m_values.size() * sizeof(double); }

 private:
  static constexpr std::size_t margin = 8;
  std::size_t m_stride = 0;
  AlignedVector<double> m_values;
};

// Computes the rows of a group's particles into out[0] … out[3]. Writes to them and to the group only.
using GroupKernel = void (*)(BondList& bonds, BondGroups& groups, const Record* records,
                             const Columns& columns, std::size_t group, const Rules& rules, RowForce* out);

// Null where the compiler has no AVX2.
GroupKernel choose_group_kernel(const Rules& rules);

// Elastic energy of row i, half of each bond [J].
double row_energy(const BondList& bonds, const Record* records, int i);

}  // namespace exemplar::peridynamics
