// Repulsion between particles that are not bonded (levine2014 eq. 6; or the EMU/LAMMPS short-range force).
//
//   levine  force density K_c (d_c − r)² for r < d_c, that is the force K_c V (d_c − r)² with V the mean
//   volume. Read
//           as a force density, as eq. 7; the default K_c = K/(2 d_c λ²) makes a contact about a quarter as
//           stiff as all bonds of a particle, so it needs no smaller step. (The paper's 1e8 is hardly felt at
//           centimetre scale.) The paper has d_c = λ/2; but the middle of four lattice particles is 0.71 λ
//           from each, so that pieces then slide into each other (observed with two cubes at 5 m/s). The
//           default is 0.9 λ.
//   emu     force density 15 k V_j (d_c − r)/δ for r < d_c = min(0.9 r0, 1.35 λ), also between bonded
//   particles.
//
// Contact never acts beyond a pair's rest distance: a bond that breaks would otherwise be repelled at once
// and energy would come from nothing. Only particles that can collide take part: on the original surface,
// with a broken bond, or (emu) all. Candidates come from a cell list with a skin and are summed in index
// order, so that the result does not depend on when the list was built.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshless/peridynamics/bond_kernel.h"

namespace exemplar::peridynamics {

class ContactList {
 public:
  // Candidate pairs among the eligible particles closer than the radius, both ways, each row in index order.
  void build(std::span<const Record> positions, std::span<const int> eligible, double radius);
  std::span<const int> near(std::size_t i) const {
    if (m_begin.empty()) return {};
    return {m_candidates.data() + m_begin[i], m_candidates.data() + m_begin[i + 1]};
  }
  std::size_t size() const { return m_candidates.size(); }
  std::size_t bytes() const {
    return m_begin.size() * sizeof(std::int64_t) + m_candidates.size() * sizeof(int);
  }

 private:
  std::vector<std::int64_t> m_begin;
  std::vector<int> m_candidates;
};

// Force law of one pair: force [N] along the line and energy [J] at distance r.
struct PairForce {
  double force = 0;
  double energy = 0;
};
PairForce levine_contact(double r, double range, double stiffness, double volume);
PairForce emu_contact(double r, double range, double bond_stiffness, double volume_product, double horizon);

}  // namespace exemplar::peridynamics
