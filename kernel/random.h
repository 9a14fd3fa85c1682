// Random numbers: NumPy's bit generators through their C interface, and the drawing functions of the kernel.
//
// A NumPy bit generator exposes a struct of function pointers in a capsule named "BitGenerator" (NumPy documentation,
// "Extending via C"). Calling those pointers needs no interpreter, so an island draws while the GIL is released; each
// island owns its generator, spawned from one SeedSequence, so the draws do not depend on how islands are scheduled.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace particletree {

// The layout of NumPy's `bitgen_t`, part of its public C API since 1.17.
struct BitGenerator {
  void* state;
  std::uint64_t (*next_uint64)(void*);
  std::uint32_t (*next_uint32)(void*);
  double (*next_double)(void*);
  std::uint64_t (*next_raw)(void*);
};

class Random {
 public:
  explicit Random(BitGenerator* generator) : generator_(generator) {}

  // Uniform on [0, 1).
  double uniform() { return generator_->next_double(generator_->state); }

  // 64 fair coin flips.
  std::uint64_t word() { return generator_->next_uint64(generator_->state); }

  // Uniform on {0, ..., n - 1}, exactly: Lemire's multiplication with rejection (ACM TOMACS 29(1), 2019).
  std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = std::uint64_t{draw32()} * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t excess = (0u - n) % n;
      while (static_cast<std::uint32_t>(product) < excess) product = std::uint64_t{draw32()} * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // The number of successes in n independent trials with probability p, 64 trials at a time: each compares a uniform
  // number with p bit by bit, from the highest bit, until the two differ, which takes about 8 random words.
  std::uint32_t successes(std::uint32_t n, double p) {
    std::uint32_t count = 0;
    if (n <= 8) {
      for (std::uint32_t i = 0; i < n; ++i) count += uniform() < p;
      return count;
    }
    if (p >= 1.0) return n;
    const auto bits = static_cast<std::uint64_t>(p * 0x1p64);
    for (; n > 0; n -= std::min(n, 64u)) {
      std::uint64_t undecided = n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
      for (std::uint64_t rest = bits; undecided != 0 && rest != 0; rest <<= 1) {
        const std::uint64_t word = generator_->next_uint64(generator_->state);
        const bool bit_of_p = rest >> 63;
        if (bit_of_p) count += static_cast<std::uint32_t>(std::popcount(undecided & ~word));
        undecided &= bit_of_p ? word : ~word;
      }
    }
    return count;
  }

  // Uniform on [low, high) for finite low < high.
  double between(double low, double high) { return point_at(uniform(), low, high); }

  // The point at a share of [low, high), without overflow for ranges beyond the largest double.
  static double point_at(double share, double low, double high) {
    const double length = high - low;
    const double x = std::isfinite(length) ? low + share * length : low * (1.0 - share) + high * share;
    // Rounding may give `high`, which would send its rows to the left and could leave no row on the right.
    return x < high ? std::max(x, low) : std::nextafter(high, low);
  }

 private:
  std::uint32_t draw32() { return generator_->next_uint32(generator_->state); }

  BitGenerator* generator_;
};

// A categorical distribution given by unnormalised log-weights, prepared once and drawn from many times.
class Categories {
 public:
  explicit Categories(std::span<const double> log_weights) : cumulative_(log_weights.size()) {
    const double top = *std::max_element(log_weights.begin(), log_weights.end());
    double sum = 0.0;
    for (std::size_t i = 0; i < log_weights.size(); ++i) {
      sum += std::exp(log_weights[i] - top);
      cumulative_[i] = sum;
    }
    log_total_ = top + std::log(sum);
  }

  // The log of the sum of the weights.
  double log_total() const { return log_total_; }

  std::size_t draw(Random& random) const { return at(random.uniform()); }

  // The category of a position in [0, 1), which is divided into intervals of the categories' probabilities.
  std::size_t at(double position) const {
    const double point = position * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), point);
    return std::min<std::size_t>(static_cast<std::size_t>(found - cumulative_.begin()), cumulative_.size() - 1);
  }

 private:
  std::vector<double> cumulative_;
  double log_total_ = 0.0;
};

}  // namespace particletree
