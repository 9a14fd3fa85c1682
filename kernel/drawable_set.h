// A set of small numbers from which one can be drawn uniformly; all operations take O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "random.h"

namespace particletree {

class DrawableSet {
 public:
  std::size_t size() const { return members_.size(); }
  bool contains(std::uint32_t id) const { return id < place_.size() && place_[id] != absent; }
  std::uint32_t draw(Random& random) const { return members_[random.below(static_cast<std::uint32_t>(size()))]; }

  void set(std::uint32_t id, bool is_member) {
    if (is_member == contains(id)) return;
    if (is_member) {
      if (id >= place_.size()) place_.resize(id + std::size_t{1}, absent);
      place_[id] = static_cast<std::uint32_t>(members_.size());
      members_.push_back(id);
    } else {
      const std::uint32_t last = members_.back();
      members_[place_[id]] = last;
      place_[last] = place_[id];
      place_[id] = absent;
      members_.pop_back();
    }
  }

 private:
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> members_;
  std::vector<std::uint32_t> place_;
};

}  // namespace particletree
