// A vector that never moves its elements: references stay valid while it grows.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace particletree {

template <class T>
class StableVector {
 public:
  T& operator[](std::size_t i) { return chunks_[i / chunk_size][i % chunk_size]; }
  const T& operator[](std::size_t i) const { return chunks_[i / chunk_size][i % chunk_size]; }
  std::size_t size() const { return size_; }

  void push_back(T element) {
    if (size_ == chunks_.size() * chunk_size) chunks_.push_back(std::make_unique<T[]>(chunk_size));
    (*this)[size_++] = std::move(element);
  }

 private:
  static constexpr std::size_t chunk_size = 64;  // a power of two: the index is a shift and a mask

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace particletree
