// A 128-bit key of contents: two independent 64-bit mixes of bytes. For caches, not for secrets.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/random.h"

namespace exemplar {

class Hasher {
 public:
  template <class T>
  void add(const T* data, std::size_t count) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < count * sizeof(T); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min<std::size_t>(8, count * sizeof(T) - i));
      m_a = mix_bits(m_a ^ word);
      m_b = mix_bits(m_b + word * 0x9e3779b97f4a7c15ULL);
    }
  }
  template <class T>
  void add(T value) {
    add(&value, 1);
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", m_a, m_b); }

 private:
  std::uint64_t m_a = 1, m_b = 2;
};

}  // namespace exemplar
