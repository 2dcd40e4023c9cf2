// How a plain struct names its members, for state that is described once: see core/output/described_state.h, which
// needs more headers than a struct that is only described.
#pragma once

#include <tuple>

namespace exemplar {

template <class Struct, class Member>
struct StateMember {
  const char* name;
  Member Struct::*pointer;
};

template <class Struct, class Member>
constexpr StateMember<Struct, Member> member(const char* name, Member Struct::*pointer) {
  return {name, pointer};
}

}  // namespace exemplar
