// Trees of sums compiled for single rows.
//
// The trees of many draws have many splits but fewer distinct rules. So a row answers every rule once, and a split is 8
// bytes: the number of its rule, and how many splits are on its left. Rules that cut one feature are in the order of
// their thresholds, which the row's value divides: a binary search answers all of them. The splits of a tree are in
// preorder without its leaves, which are numbered from left to right:
//
//     x0 <= 1                 splits   (x0 <= 1, 1 on the left), (x2 <= 7, 0), (x3 <= 2, 0)
//       x2 <= 7    leaf 0, 1
//       x3 <= 2    leaf 2, 3
//
// Beyond a split with n splits on its left are n + 1 leaves on that side, and the right child is n + 1 places further.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../node.h"
#include "../rule.h"

namespace particletree {

class CompiledSums {
 public:
  using Answers = std::vector<std::uint8_t>;  // whether each rule sends a row left

  // Trees one after the other, each in preorder, with their leaves numbered in order.
  explicit CompiledSums(std::span<const Node> nodes) {
    std::vector<Question> questions;
    for (const Node& node : nodes) {
      if (node.is_leaf()) continue;
      questions.push_back({node.rule, node.feature, static_cast<std::uint32_t>(splits_.size())});
      const std::int32_t n_nodes_on_left = node.right - node.left;  // n splits and n + 1 leaves
      splits_.push_back({0, static_cast<std::uint32_t>(n_nodes_on_left / 2)});
    }
    std::sort(questions.begin(), questions.end());
    for (const Question& question : questions) {
      if (rules_.empty() || rules_.back() != question.rule || groups_.back().feature != question.feature) {
        if (groups_.empty() || !continues(groups_.back(), question)) groups_.push_back({question.feature, 0});
        rules_.push_back(question.rule);
        groups_.back().end = rules_.size();
      }
      splits_[question.split].rule = static_cast<std::uint32_t>(rules_.size() - 1);
    }
    splits_.push_back({0, 0});  // is read, and without effect, at a leaf after the last split
  }

  Answers answers(const double* row) const {
    Answers left(rules_.size() + 1);  // one at least
    auto first = rules_.begin();
    for (const Group& group : groups_) {
      const auto end = rules_.begin() + static_cast<std::ptrdiff_t>(group.end);
      const double value = row[group.feature];
      const auto lowest_left = std::partition_point(first, end, [=](auto& rule) { return !goes_left(value, rule); });
      std::fill(left.begin() + (lowest_left - rules_.begin()), left.begin() + (end - rules_.begin()), std::uint8_t{1});
      first = end;
    }
    return left;
  }

  // The number of the leaf in which a row is, in a tree that begins at this split and has so many. Most trees of a sum
  // have one split or two, and a branch on the way of a row would often be mispredicted: the first two steps
  // have none.
  std::size_t leaf(std::size_t split, std::size_t n_splits, const Answers& left) const {
    Place place{split, n_splits, 0};
    place = next(next(place, left), left);
    while (place.n_splits > 0) place = next(place, left);
    return place.leaf;
  }

 private:
  struct Split {
    std::uint32_t rule;
    std::uint32_t n_left;
  };

  // A subtree: its first split, the number of its splits, and its first leaf.
  struct Place {
    std::size_t split, n_splits, leaf;
  };

  // The side on which a row is; at a leaf, the same place.
  Place next(const Place& place, const Answers& left) const {
    const Split split = splits_[place.split];
    const std::size_t is_split = place.n_splits > 0, is_left = left[split.rule];
    const std::size_t to_left = 0 - (is_split & is_left),
                      to_right = 0 - (is_split & (1 - is_left));  // all bits or none
    const std::size_t skipped = (std::size_t{split.n_left} + 1) & to_right;
    return {place.split + skipped + (1 & to_left), (split.n_left & to_left) + ((place.n_splits - skipped) & to_right),
            place.leaf + skipped};
  }

  // The rule of a split.
  struct Question {
    ValueRule rule;
    std::int32_t feature;
    std::uint32_t split;

    bool operator<(const Question& other) const {
      if (feature != other.feature) return feature < other.feature;
      if (rule.kind() != other.rule.kind()) return rule.kind() < other.rule.kind();
      if (rule.is_set()) return rule.word() < other.rule.word();
      return std::strong_order(rule.threshold(), other.rule.threshold()) < 0;
    }
  };

  // Rules of a feature of which those from some place on send a row left: cuts of one kind, or one set.
  struct Group {
    std::int32_t feature;
    std::size_t end;
  };

  bool continues(const Group& group, const Question& next) const {
    const ValueRule& last = rules_.back();
    return group.feature == next.feature && last.kind() == next.rule.kind() && !last.is_set() &&
           last.threshold() <= next.rule.threshold();
  }

  std::vector<Split> splits_;
  std::vector<ValueRule> rules_;
  std::vector<Group> groups_;
};

}  // namespace particletree
