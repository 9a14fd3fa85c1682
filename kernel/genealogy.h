// The genealogy of particles: the lineages after each resampling, and those at the end.
//
// A generation is the set of survivors of one resampling; the last one is the final set. For each lineage it has the
// number of copies, and the index of its parent, the lineage of the previous generation from which it descends. Between
// two resamplings lineages divide, but none dies out. The parent of the first generation is the root, with which all
// begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace particletree {

struct Descendant {
  std::uint32_t generation;
  std::uint32_t parent;  // its index in the previous generation
  std::uint32_t copies;
};

class Genealogy {
 public:
  // Records the lineages, which are the parents of the next generation.
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
