// An array of plain numbers that grows by realloc: the system moves a large one by remapping pages, so that growing
// needs no second copy, and memory that is reserved but never written is not used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace particletree {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() = default;
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() { std::free(data_); }

  T* data() { return data_; }
  std::size_t size() const { return size_; }

  void push_back(T value) {
    resize(size_ + 1);
    data_[size_ - 1] = value;
  }

  // New elements are not initialised.
  void resize(std::size_t size) {
    if (size > capacity_) reallocate(std::max(size, capacity_ + capacity_ / 2));
    size_ = size;
  }

  // Releases ownership of the memory, shrunk to fit; the caller must call std::free.
  T* release() {
    reallocate(std::max<std::size_t>(1, size_));
    size_ = capacity_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  void reallocate(std::size_t capacity) {
    void* moved = std::realloc(data_, capacity * sizeof(T));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace particletree
