// XXH64, Yann Collet's hash of 64 bits (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), with seed 0.
//
// A fast, non-cryptographic hash: it detects accidental differences, not deliberate collisions.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace particletree {

class XxHash64 {
 public:
  static std::uint64_t of(const std::uint8_t* bytes, std::size_t n) {
    const std::uint8_t* const end = bytes + n;
    std::uint64_t hash = n < stripe ? prime[4] : hash_stripes(bytes, n / stripe);
    bytes += n - n % stripe;
    hash += n;
    for (; end - bytes >= 8; bytes += 8) {
      hash = std::rotl(hash ^ mixed(0, read<std::uint64_t>(bytes)), 27) * prime[0] + prime[3];
    }
    for (; end - bytes >= 4; bytes += 4) {
      hash = std::rotl(hash ^ read<std::uint32_t>(bytes) * prime[0], 23) * prime[1] + prime[2];
    }
    for (; bytes < end; ++bytes) hash = std::rotl(hash ^ *bytes * prime[4], 11) * prime[0];
    return avalanche(hash);
  }

 private:
  static constexpr std::size_t stripe = 32;
  static constexpr std::array<std::uint64_t, 5> prime{0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                                                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5};

  template <class Word>
  static std::uint64_t read(const std::uint8_t* bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof(Word));
    return word;
  }

  static std::uint64_t mixed(std::uint64_t lane, std::uint64_t word) {
    return std::rotl(lane + word * prime[1], 31) * prime[0];
  }

  // Four independent lanes, each of which takes every fourth word, for instruction-level parallelism.
  static std::uint64_t hash_stripes(const std::uint8_t* bytes, std::size_t n_stripes) {
    std::array<std::uint64_t, 4> lanes{prime[0] + prime[1], prime[1], 0, 0 - prime[0]};
    for (std::size_t i = 0; i < n_stripes; ++i, bytes += stripe) {
      for (std::size_t k = 0; k < 4; ++k) lanes[k] = mixed(lanes[k], read<std::uint64_t>(bytes + 8 * k));
    }
    std::uint64_t hash =
        std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) hash = (hash ^ mixed(0, lane)) * prime[0] + prime[3];
    return hash;
  }

  static std::uint64_t avalanche(std::uint64_t hash) {
    hash = (hash ^ hash >> 33) * prime[1];
    hash = (hash ^ hash >> 29) * prime[2];
    return hash ^ hash >> 32;
  }
};

}  // namespace particletree
