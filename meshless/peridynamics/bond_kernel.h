// The inner loop: forces of one particle's bonds, breaking those that are stretched too far (levine2014 eqs.
// 2, 3, 5 and §3 "springforces"). AVX2 where the compiler has it, else plain C++ with the same results up to
// rounding.
//
// Two ways, which add up the same forces in another order:
// - Row by row, four bonds of a particle at a time (any particles). Both copies of a bond see the same bits (the difference
//   vector only changes sign), so the two forces are exactly opposite and both copies break in the same pass.
// - Group by group, one bond each of four particles at a time (lattices, bond_groups.h). Every bond is seen once; those that
//   break are named, and taken out of both rows after the pass.
#pragma once

#include <vector>

#include "core/base/state_member.h"
#include "meshless/peridynamics/bond_groups.h"
#include "meshless/peridynamics/bonds.h"

namespace exemplar::peridynamics {

// One aligned 32-byte load per neighbour. Of a position w is the strain limit of the previous pass, in the form in which
// the kernel compares it: squared_limit().
struct alignas(32) Record {
  double x, y, z, w;

  static constexpr auto described() {
    return std::tuple(member("x", &Record::x), member("y", &Record::y), member("z", &Record::z),
                      member("w", &Record::w));
  }
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

// Four numbers per particle by column, for groups: positions and squared_limit(), or forces and the least e. Can be read and
// written for a group's width beyond both ends.
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
  Record get(std::size_t i) const { return {column(0)[i], column(1)[i], column(2)[i], column(3)[i]}; }
  const double* column(std::size_t k) const { return m_values.data() + k * m_stride + margin; }
  double* column(std::size_t k) { return m_values.data() + k * m_stride + margin; }
  std::size_t bytes() const { return m_values.size() * sizeof(double); }

 private:
  static constexpr std::size_t margin = 8;
  std::size_t m_stride = 0;
  AlignedVector<double> m_values;
};

// A bond that broke, at the earlier of its particles.
struct BrokenBond {
  int i, j;
  double e;
};

// Adds the forces of the bonds of the groups [first, end) to both of their particles and names those that break. Writes to
// `forces` of their particles and of those up to the longest offset later.
using GroupKernel = void (*)(const BondList& bonds, const BondGroups& groups, const Columns& positions,
                             std::size_t first, std::size_t end, const Rules& rules, Columns& forces,
                             std::vector<BrokenBond>& broken);

// Null where the compiler has no AVX2.
GroupKernel choose_group_kernel(const Rules& rules);

// What `forces` of a particle are before the first group.
Record no_force(const Rules& rules);
// What they have become.
RowForce group_force(const Columns& forces, std::size_t i, const Rules& rules);
// Takes entry b out of row i, which is to be closed, and keeps account of its energy at e.
void break_bond(BondList& bonds, const Record* records, int i, std::int64_t b, double e, const Rules& rules,
                RowForce& out);

// Elastic energy of row i, half of each bond [J].
double row_energy(const BondList& bonds, const Record* records, int i);
// The same of the bonds of the groups [first, end), each added to both of its particles in column 0 of `energies`, which is
// written to as the forces are. Only where there is a GroupKernel.
void add_group_energies(const BondGroups& groups, const Columns& positions, std::size_t first,
                        std::size_t end, Columns& energies);

}  // namespace exemplar::peridynamics
