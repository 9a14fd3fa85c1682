// A genealogy in which the lineages of the same parent that have no descendants at the end are merged into one record.
// Its size then grows with the surviving lineages rather than with particles times resamplings (Jacob, Murray &
// Rubenthaler, "Path storage in the particle filter", 2015).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "genealogy.h"

namespace particletree {

// The start of each generation, and the end of the last one.
inline std::vector<std::size_t> generation_starts(const std::vector<Descendant>& all) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].generation == starts.size()) starts.push_back(i);
  }
  starts.push_back(all.size());
  return starts;
}

// Which lineages have descendants in the last generation, computed backwards.
inline std::vector<std::uint8_t> have_descendants(const std::vector<Descendant>& all,
                                                  const std::vector<std::size_t>& starts) {
  std::vector<std::uint8_t> result(all.size(), 0);
  const std::size_t last = starts.size() - 2;
  for (std::size_t i = all.size(); i-- > 0;) {
    const std::size_t generation = all[i].generation;
    if (generation == last) result[i] = 1;
    if (result[i] && generation > 0) result[starts[generation - 1] + all[i].parent] = 1;
  }
  return result;
}

// For each generation, first the lineages that have descendants, then one record per parent for all others.
inline std::vector<Descendant> condensed(const std::vector<Descendant>& all) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const std::vector<std::size_t> starts = generation_starts(all);
  const std::vector<std::uint8_t> survives = have_descendants(all, starts);
  std::vector<Descendant> result;
  std::vector<std::uint32_t> place(all.size());  // of each lineage in its condensed generation
  std::vector<std::uint32_t> dead_of_parent;
  std::size_t n_parents = 1;
  for (std::uint32_t generation = 0; generation + 1 < starts.size(); ++generation) {
    const std::size_t first = result.size();
    const auto add = [&](std::uint32_t parent, std::uint32_t copies) {
      result.push_back({generation, parent, copies});
      return static_cast<std::uint32_t>(result.size() - 1 - first);
    };
    const auto parent_of = [&](std::size_t i) {
      return generation == 0 ? 0 : place[starts[generation - 1] + all[i].parent];
    };
    for (std::size_t i = starts[generation]; i < starts[generation + 1]; ++i) {
      if (survives[i]) place[i] = add(parent_of(i), all[i].copies);
    }
    dead_of_parent.assign(n_parents, none);
    for (std::size_t i = starts[generation]; i < starts[generation + 1]; ++i) {
      if (survives[i]) continue;
      std::uint32_t& dead = dead_of_parent[parent_of(i)];
      if (dead == none) dead = add(parent_of(i), 0);
      result[first + dead].copies += all[i].copies;
      place[i] = dead;
    }
    n_parents = result.size() - first;
  }
  return result;
}

}  // namespace particletree
