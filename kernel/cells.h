// Counting for missing values and levels: one pass puts the rows of a block into cells, which no rule divides.
//
// The cells of a categorical column are its levels. Those of numbers with missing values are the missing rows and the
// intervals of ranks between the rules' cuts. The sides of a rule are sums over cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counting.h"
#include "leaf_model.h"
#include "rule.h"

namespace particletree {

template <class Rank, LeafModel Leaf>
class CellCounter {
 public:
  using Statistic = typename Leaf::Statistic;

  explicit CellCounter(const Leaf& leaf) : leaf_(leaf), bins_(leaf) {}

  // The levels of a block, in the order of the slice's list.
  void count_levels(const RankSlice<Rank>& slice, const BlockRows<Leaf>& block) {
    place_of_level_.resize(std::size_t{slice.high} + 1);
    for (std::uint32_t i = 0; i < slice.levels.size(); ++i) place_of_level_[slice.levels[i]] = i;
    cells_.assign(slice.levels.size() * leaf_.width(), Statistic{});
    fill_cells(leaf_, slice, block, [this](std::uint32_t rank) { return place_of_level_[rank]; }, cells_.data());
  }

  // The missing rows (cell 0), and the sums over the others up to each of some cuts and beyond it; one more cell after
  // the last cut has all of them.
  void count_with_missing(const RankSlice<Rank>& slice, const BlockRows<Leaf>& block,
                          std::span<const std::uint32_t> cuts) {
    const std::size_t width = leaf_.width(), n = bins_.set_bins(slice, cuts) + 1;
    cells_.assign((n + 1) * width, Statistic{});
    const auto cell_of = [this](std::uint32_t rank) { return rank == 0 ? 0 : 1 + bins_.bin(rank); };
    fill_cells(leaf_, slice, block, cell_of, cells_.data());
    up_to_.assign(cells_.begin() + static_cast<std::ptrdiff_t>(width), cells_.end());
    for (std::size_t i = width; i < up_to_.size(); ++i) up_to_[i] = up_to_[i - width] + up_to_[i];
    beyond_.assign(n * width, Statistic{});
    for (std::size_t i = (n - 1) * width; i-- > 0;) beyond_[i] = beyond_[i + width] + cells_[i + 2 * width];
  }

  const Statistic* cell(std::size_t i) const { return &cells_[i * leaf_.width()]; }

  // A number that differs for rules that divide the block's rows in different ways. Of numbers, some are missing.
  static std::uint64_t division(const Extent& extent, const Rule& rule) {
    if (!rule.is_set()) return std::uint64_t{rule.first} << 32 | std::clamp(rule.cut, extent.low - 1, extent.high);
    std::uint64_t hash = mix_bits(rule.feature);
    with_side_of_ranks(rule, [&](auto goes_left) {
      for (const std::uint32_t level : extent.levels) hash += goes_left(level) ? mix_bits(~std::uint64_t{level}) : 0;
    });
    return hash;
  }

  // Writes the statistics on both sides of a rule, one of those for which the cells were made.
  void add_up(const RankSlice<Rank>& slice, const Rule& rule, Statistic* left, Statistic* right) const {
    const std::size_t width = leaf_.width();
    if (rule.is_set()) {
      std::fill_n(left, width, Statistic{});
      std::fill_n(right, width, Statistic{});
      with_side_of_ranks(rule, [&](auto goes_left) {
        for (std::size_t i = 0; i < slice.levels.size(); ++i) add(goes_left(slice.levels[i]) ? left : right, cell(i));
      });
      return;
    }
    const std::size_t n = beyond_.size() / width, place = slice.has_inside(rule) ? bins_.bin(rule.cut) : n - 1;
    std::copy_n(&up_to_[place * width], width, left);
    std::copy_n(&beyond_[place * width], width, right);
    if (rule.cut < slice.low) std::swap_ranges(left, left + width, right);  // a cut below: all numbers are on the right
    add(rule.kind() == RuleKind::cut_missing_left ? left : right, cell(0));
  }

 private:
  void add(Statistic* sums, const Statistic* more) const {
    for (std::size_t k = 0; k < leaf_.width(); ++k) sums[k] += more[k];
  }

  const Leaf& leaf_;
  CutCounter<Rank, Leaf> bins_;
  std::vector<std::uint32_t> place_of_level_;
  std::vector<Statistic> cells_;
  std::vector<Statistic> up_to_, beyond_;  // of numbers with missing values
};

}  // namespace particletree
