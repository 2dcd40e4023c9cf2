// Fragments are drawn rigidly. When one splits, the motions that fit its parts best differ from the one that fitted
// the whole, by what it was strained, and the picture jumps. The difference is kept here and fades over a few
// frames: a part is drawn at M ∘ D, M its own fit and D → identity. Display only; nothing moves by it.
#pragma once

#include <span>
#include <vector>

#include "core/base/state_member.h"
#include "core/math/rigid_fit.h"
#include "meshless/peridynamics/pieces/fragments.h"

namespace exemplar::peridynamics {

class SplitBlend {
 public:
  // `frames`: how many the difference lasts; 0: not at all.
  SplitBlend(std::size_t particles, int frames);

  // Fragments `before`, fitted by `old_fits` to the positions of this moment, have become `after`.
  void split(const Fragments& before, const std::vector<RigidTransform>& old_fits, const Fragments& after,
             const std::vector<RigidTransform>& fits);
  // One frame later: what is left of the differences shrinks; `rest` places are turned about.
  void fade(const Fragments& fragments, const Points& rest);
  // How the fragments are drawn.
  std::vector<RigidTransform> shown(const Fragments& fragments,
                                    const std::vector<RigidTransform>& fits) const;

  struct Offset {
    Quat rotation = Quat::Identity();
    Vec3 translation = Vec3::Zero();  // m, of the rest space
    int left = 0;                     // frames

    static constexpr auto described() {
      return std::tuple(member("rotation", &Offset::rotation), member("translation", &Offset::translation),
                        member("left", &Offset::left));
    }
  };
  using State = std::vector<Offset>;
  const State& state() const { return m_offsets; }
  // Throws InputError if it is of other particles.
  void set_state(State state);

 private:
  State m_offsets;  // per particle; the same for all of a fragment
  int m_frames;
};

}  // namespace exemplar::peridynamics
