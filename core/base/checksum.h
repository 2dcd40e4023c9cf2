// A checksum of bytes that notices damage: FNV-1a over 64-bit words, faster than the disk. Any flipped bit changes it;
// not for adversaries. Little-endian words, like every machine we run on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace exemplar {

inline std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ULL ^ bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(sizeof word, bytes.size());
    std::memcpy(&word, bytes.data(), size);
    hash = (hash ^ word) * 1099511628211ULL;
    hash ^= hash >> 32;
    bytes.remove_prefix(size);
  }
  return hash;
}

}  // namespace exemplar
