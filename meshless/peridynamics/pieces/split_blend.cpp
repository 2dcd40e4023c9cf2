#include "meshless/peridynamics/pieces/split_blend.h"

#include "core/base/errors.h"

namespace exemplar::peridynamics {

namespace {

std::vector<std::vector<int>> members_of(const Fragments& fragments) {
  std::vector<std::vector<int>> members(fragments.count());
  for (std::size_t i = 0; i < fragments.of.size(); ++i)
    members[static_cast<std::size_t>(fragments.of[i])].push_back(static_cast<int>(i));
  return members;
}

}  // namespace

SplitBlend::SplitBlend(std::size_t particles, int frames)
    : m_offsets(frames > 0 ? particles : 0), m_frames(frames) {}

void SplitBlend::split(const Fragments& before, const std::vector<RigidTransform>& old_fits,
                       const Fragments& after, const std::vector<RigidTransform>& fits) {
  if (m_offsets.empty()) return;
  std::vector<int> size_before(before.count(), 0);
  for (const int f : before.of) ++size_before[static_cast<std::size_t>(f)];
  for (const std::vector<int>& group : members_of(after)) {
    const auto first = static_cast<std::size_t>(group[0]);
    const auto old = static_cast<std::size_t>(before.of[first]);
    if (size_before[old] == static_cast<int>(group.size())) continue;  // it is whole
    const RigidTransform& fit = fits[static_cast<std::size_t>(after.of[first])];
    const Offset& was = m_offsets[first];
    const Mat3 turn = old_fits[old].rotation * was.rotation.toRotationMatrix();
    const Vec3 shift = old_fits[old].apply(was.translation);
    Offset now;
    now.rotation = Quat(Mat3(fit.rotation.transpose() * turn)).normalized();
    now.translation = fit.rotation.transpose() * (shift - fit.translation);
    now.left = m_frames;
    for (const int i : group) m_offsets[static_cast<std::size_t>(i)] = now;
  }
}

void SplitBlend::fade(const Fragments& fragments, const Points& rest) {
  if (m_offsets.empty()) return;
  for (const std::vector<int>& group : members_of(fragments)) {
    Offset next = m_offsets[static_cast<std::size_t>(group[0])];
    if (next.left == 0) continue;
    Vec3 centre = Vec3::Zero();
    for (const int i : group) centre += Vec3(rest.row(i)) / static_cast<double>(group.size());
    const double share = (next.left - 1.0) / next.left;
    const Vec3 moved = next.rotation * centre + next.translation - centre;
    next.rotation = Quat::Identity().slerp(share, next.rotation);
    next.translation = centre + share * moved - next.rotation * centre;
    if (--next.left == 0) next = {};
    for (const int i : group) m_offsets[static_cast<std::size_t>(i)] = next;
  }
}

std::vector<RigidTransform> SplitBlend::shown(const Fragments& fragments,
                                              const std::vector<RigidTransform>& fits) const {
  std::vector<RigidTransform> out = fits;
  for (std::size_t i = 0; i < m_offsets.size(); ++i) {
    const Offset& offset = m_offsets[i];
    const auto f = static_cast<std::size_t>(fragments.of[i]);
    if (offset.left > 0)
      out[f] = {fits[f].rotation * offset.rotation.toRotationMatrix(), fits[f].apply(offset.translation)};
  }
  return out;
}

void SplitBlend::set_state(State state) {
  if (state.size() != m_offsets.size()) throw InputError("the saved state belongs to other particles");
  m_offsets = std::move(state);
}

}  // namespace exemplar::peridynamics
