// Who descends from whom: the lineages that a resampling leaves, and those at the end.
//
// A generation is what survives one resampling; the last one is what there is at the end. Of each of its lineages stand
// here the copies, and the place of the lineage of the generation before from which it comes (its parent). Between two
// resamplings lineages divide, and nobody dies. The parent of the first generation is the root, with which all begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace particletree {

struct Descendant {
  std::uint32_t generation;
  std::uint32_t parent;  // its place in the generation before
  std::uint32_t copies;
};

class Genealogy {
 public:
  // Writes down the lineages, which are the parents of the generation to come.
  template <class Lineages>
  void add_generation(Lineages& lineages) {
    for (std::size_t i = 0; i < lineages.size(); ++i) {
      const std::uint32_t parent = std::exchange(lineages[i].ancestor, static_cast<std::uint32_t>(i));
      descendants_.push_back({n_generations_, parent, lineages[i].copies});
    }
    ++n_generations_;
  }

  const std::vector<Descendant>& descendants() const { return descendants_; }

 private:
  std::vector<Descendant> descendants_;
  std::uint32_t n_generations_ = 0;
};

}  // namespace particletree
