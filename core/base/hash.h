// A 128-bit hash of bytes, for keys of caches and of runs: two independent 64-bit mixes. The same on every machine
// with little-endian words; not for adversaries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

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
  // With its length, so that two texts in a row differ from their concatenation.
  void add_text(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    add(text.data(), text.size());
  }
  std::string text() const {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t half : {m_a, m_b}) {
      for (int shift = 60; shift >= 0; shift -= 4) text += digits[half >> shift & 15];
    }
    return text;
  }

 private:
  std::uint64_t m_a = 1, m_b = 2;
};

}  // namespace exemplar
