#include "meshless/peridynamics/contact.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "meshless/peridynamics/elements/cells.h"

namespace exemplar::peridynamics {

void ContactList::build(std::span<const Record> positions, std::span<const int> eligible, double radius) {
  const Cells cells(&positions[0].x, 4, eligible, radius);
  const double limit = radius * radius;
  const auto visit = [&](int i, const auto& found) {
    const Record& self = positions[i];
    cells.for_each_near(&self.x, [&](int j) {
      const double dx = self.x - positions[j].x, dy = self.y - positions[j].y, dz = self.z - positions[j].z;
      if (j != i && dx * dx + dy * dy + dz * dz < limit) found(j);
    });
  };
  m_begin.assign(positions.size() + 1, 0);
  parallel_for(eligible.size(),
               [&](std::size_t e) { visit(eligible[e], [&](int) { ++m_begin[eligible[e] + 1]; }); });
  for (std::size_t i = 0; i < positions.size(); ++i) m_begin[i + 1] += m_begin[i];
  m_candidates.resize(static_cast<std::size_t>(m_begin.back()));
  parallel_for(eligible.size(), [&](std::size_t e) {
    std::int64_t next = m_begin[eligible[e]];
    visit(eligible[e], [&](int j) { m_candidates[next++] = j; });
    std::sort(m_candidates.begin() + m_begin[eligible[e]], m_candidates.begin() + next);
  });
}

PairForce levine_contact(double r, double range, double stiffness, double volume) {
  const double overlap = range - r;
  if (!(overlap > 0)) return {};
  return {stiffness * volume * overlap * overlap, stiffness * volume * overlap * overlap * overlap / 3};
}

PairForce emu_contact(double r, double range, double bond_stiffness, double volume_product, double horizon) {
  const double overlap = range - r;
  if (!(overlap > 0)) return {};
  const double slope = 15 * bond_stiffness * volume_product / horizon;
  return {slope * overlap, 0.5 * slope * overlap * overlap};
}

}  // namespace exemplar::peridynamics
