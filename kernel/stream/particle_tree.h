// The trees of the particles of a stream, which rows extend in place (reference/streams.py has the theory).
//
// The walk of a new row x goes down from the root. At a node whose rows have the mass |S|, it is separated from them with
// probability e / (rate + |S| + e), where e is the mass of the questions that separate x from them and leave them whole;
// else it goes on to the side that the node's rule gives it, and at the leaf it joins. Where x is separated, a new parent
// with a rule drawn from those questions has the old subtree on one side, and a leaf of x alone on the other.
//
// All nodes live in one pool: a head, and in columns the extent of each feature and the leaf's statistics. Particles that
// come from one ancestor share its nodes. A node counts its references: if it and all nodes above it have one, it belongs
// to one particle, which changes it in place; else the particle copies the nodes of the walk, never the subtrees beside it.
// Particles with the same root have the same walk, which is found once, and draw their own ends.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../random.h"
#include "../require.h"
#include "../rule.h"
#include "level_sets.h"

namespace particletree {

// The measure on questions (measure.h), and the rate at which blocks become leaves.
struct StreamMeasure {
  std::vector<double> weights;           // of the features
  std::vector<std::uint8_t> has_levels;  // whether a feature has levels
  double rho;
  double rate;

  std::size_t n_features() const { return weights.size(); }
};

// A question. Of levels: the one level and the set of others between which it was drawn; all others have coins from the
// seed.
struct StreamRule {
  std::uint32_t feature = 0;
  bool is_of_levels = false;
  bool goes_left = false;  // of a cut: missing values; else the one level
  double threshold = 0.0;  // infinite: "is there a value?"
  std::uint32_t level = 0;
  std::uint32_t others = LevelSets::empty;
  std::uint64_t seed = 0;
};

template <class Leaf>
class ParticleTrees {
 public:
  using Observation = typename Leaf::Observation;
  using Row = std::span<const double>;  // numbers on the unit scale, levels as whole numbers, nan for missing
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t missing_level = std::numeric_limits<std::uint32_t>::max();

  struct Head {
    std::uint32_t n_references = 1;
    std::uint32_t n_rows = 0;
    std::array<std::uint32_t, 2> children{none, none};  // left, right; none in a leaf
    double mass = 0.0;                                  // |S|
    bool has_missing = false;                           // in any number
    StreamRule rule;

    bool is_leaf() const { return children[0] == none; }
  };

  ParticleTrees(StreamMeasure measure, Leaf leaf, std::size_t n_particles)
      : measure_(std::move(measure)), leaf_(std::move(leaf)), nothing_(leaf_.width(), 0.0), roots_(n_particles, none) {
    require(measure_.weights.size() == measure_.has_levels.size(), "each feature must have a weight and a kind");
    for (const double weight : measure_.weights) cuts_.push_back(weight * (1.0 - measure_.rho));
    any_levels_ = std::ranges::any_of(measure_.has_levels, [](std::uint8_t each) { return each != 0; });
    require(measure_.rate > 0 && measure_.rho >= 0 && measure_.rho <= 1, "the rate or rho is out of range");
  }

  std::size_t n_particles() const { return roots_.size(); }
  std::size_t n_nodes() const { return heads_.size() - free_.size(); }
  std::size_t n_level_sets() const { return sets_.n_alive(); }
  const Leaf& leaf() const { return leaf_; }
  const LevelSets& level_sets() const { return sets_; }
  std::uint32_t root(std::size_t particle) const { return roots_[particle]; }
  const Head& head(std::uint32_t node) const { return heads_[node]; }
  std::span<const double> statistics(std::uint32_t node) const { return {counts(node), leaf_.width()}; }

  // Extends all trees by a row, and writes the log factors of their weights. Adapted, the ends of the walks are drawn
  // from what the observation makes of them.
  void extend(Row row, const Observation& y, bool adapted, Random& random, std::span<double> log_factors) {
    look_at(row);
    std::uint32_t walked = none;
    const double log_alone = leaf_.log_predictive(nothing_.data(), y);
    for (std::size_t m = 0; m < roots_.size(); ++m) {
      if (roots_[m] == none) {
        random.uniform();  // the only end of the walk, as the reference draws it
        roots_[m] = new_leaf(row, y);
        log_factors[m] = log_alone;
        continue;
      }
      // A walk stays what it is: a particle that shares its root with another copies all nodes that it changes.
      if (roots_[m] != walked) walk(walked = roots_[m], row);
      const double log_joined = leaf_.log_predictive(counts(path_.back()), y);
      const double top = std::max(log_alone, log_joined);
      const double alone = adapted ? std::exp(log_alone - top) : 1.0,
                   joined = adapted ? std::exp(log_joined - top) : 1.0;
      const double total = separated_ * alone + reached_ * joined;
      double point = random.uniform() * total;
      std::size_t end = 0;  // the place on the path where the row is separated; beyond it, it joins
      while (end < path_.size() && point >= ends_[end] * alone) point -= ends_[end++] * alone;
      log_factors[m] = adapted ? top + std::log(total) : end < path_.size() ? log_alone : log_joined;
      insert(m, end, row, y, random);
    }
  }

  // Adds the mean of a row in a tree, times a weight.
  void add_mean(std::size_t particle, Row row, double weight, double* outputs) {
    if (roots_[particle] == none) return leaf_.add_mean(nothing_.data(), weight, outputs);
    look_at(row);
    walk(roots_[particle], row);
    leaf_.add_mean(nothing_.data(), weight * separated_, outputs);
    leaf_.add_mean(counts(path_.back()), weight * reached_, outputs);
  }

  // Replaces the trees by those of the survivors.
  void resample(std::span<const std::int64_t> survivors) {
    require(survivors.size() == roots_.size(), "there must be as many survivors as particles");
    std::vector<std::uint32_t> roots;
    for (const std::int64_t survivor : survivors) {
      require(survivor >= 0 && static_cast<std::size_t>(survivor) < roots_.size(), "a survivor is not a particle");
      roots.push_back(roots_[static_cast<std::size_t>(survivor)]);
      if (roots.back() != none) ++heads_[roots.back()].n_references;
    }
    for (const std::uint32_t root : roots_) release(root);
    roots_ = std::move(roots);
  }

 private:
  // Questions that separate a row from a node's rows in one way.
  struct Questions {
    double mass;
    std::uint32_t feature;
    enum class Kind : std::uint8_t {
      presence,
      gap_with_coin,
      gap_missing_right,
      gap_missing_left,
      level_left,
      level_right
    };
    Kind kind;
    double low = 0.0, high = 0.0;
  };
  using Kind = typename Questions::Kind;

  static std::uint32_t level_of(double value) {
    return std::isnan(value) ? missing_level : static_cast<std::uint32_t>(value);
  }

  double* counts(std::uint32_t node) { return counts_.data() + node * leaf_.width(); }
  const double* counts(std::uint32_t node) const { return counts_.data() + node * leaf_.width(); }
  std::size_t at(std::uint32_t node) const { return node * measure_.n_features(); }

  // Visits the questions that separate a row from a node's rows and leave these whole; their mass is e.
  template <class Visit>
  void separating(std::uint32_t node, Row row, Visit&& visit) {
    const std::size_t first = at(node);
    for (std::uint32_t f = 0; f < measure_.n_features(); ++f) {
      const double weight = measure_.weights[f], u = row[f];
      const double low = low_[first + f], high = high_[first + f];
      const std::uint32_t mark = mark_[first + f];
      if (measure_.has_levels[f]) {
        const std::uint32_t level = level_of(u);
        if (sets_.has(mark, level)) continue;
        const double mass = std::ldexp(weight, -static_cast<int>(sets_.size(mark) + 1));
        visit(Questions{mass, f, Kind::level_left});
        visit(Questions{mass, f, Kind::level_right});
        continue;
      }
      const double cuts = cuts_[f];
      const bool has_missing = mark != 0, has_numbers = low <= high;
      if (std::isnan(u) ? !has_missing : !has_numbers) {  // one has numbers only, the other none
        const double from = has_numbers ? low : u, to = has_numbers ? high : u;
        visit(Questions{weight * measure_.rho, f, Kind::presence});
        visit(Questions{cuts * from / 2, f, Kind::gap_missing_left, 0.0, from});
        visit(Questions{cuts * (1.0 - to) / 2, f, Kind::gap_missing_right, to, 1.0});
      } else if (u < low && has_numbers) {
        const double mass = cuts * (has_missing ? 0.5 : 1.0) * (low - u);
        visit(Questions{mass, f, has_missing ? Kind::gap_missing_right : Kind::gap_with_coin, u, low});
      } else if (u > high && has_numbers) {
        const double mass = cuts * (has_missing ? 0.5 : 1.0) * (u - high);
        visit(Questions{mass, f, has_missing ? Kind::gap_missing_left : Kind::gap_with_coin, high, u});
      }
    }
  }

  double separating_mass(std::uint32_t node, Row row) {
    double e = 0.0;
    if (row_is_plain_ && !heads_[node].has_missing) {  // the same sum without a branch: what is 0 does not change it
      const double *low = &low_[at(node)], *high = &high_[at(node)];
      for (std::size_t f = 0; f < cuts_.size(); ++f) e += cuts_[f] * std::max({0.0, low[f] - row[f], row[f] - high[f]});
      return e;
    }
    separating(node, row, [&](const Questions& questions) { e += questions.mass; });
    return e;
  }

  bool goes_left(const StreamRule& rule, Row row) const {
    const double u = row[rule.feature];
    if (!rule.is_of_levels) return std::isnan(u) ? rule.goes_left : u <= rule.threshold;
    const std::uint32_t level = level_of(u);
    if (level == rule.level) return rule.goes_left;
    return sets_.has(rule.others, level) ? !rule.goes_left : is_scattered_left(rule.seed, level);
  }

  void look_at(Row row) {
    row_is_plain_ = !any_levels_ && std::ranges::none_of(row, [](double u) { return std::isnan(u); });
  }

  // Finds the nodes of the walk of a row, and the probability to be separated at each.
  void walk(std::uint32_t node, Row row) {
    path_.clear();
    masses_.clear();
    ends_.clear();
    reached_ = 1.0;
    separated_ = 0.0;
    while (true) {
      const Head& head = heads_[node];
      const double e = separating_mass(node, row), p = e / (measure_.rate + head.mass + e);
      path_.push_back(node);
      masses_.push_back(e);
      ends_.push_back(reached_ * p);
      separated_ += reached_ * p;
      reached_ *= 1.0 - p;
      if (head.is_leaf()) return;
      node = head.children[goes_left(head.rule, row) ? 0 : 1];
    }
  }

  StreamRule draw_separating(std::uint32_t node, Row row, Random& random) {
    candidates_.clear();
    double total = 0.0;
    separating(node, row, [&](const Questions& questions) {
      if (questions.mass > 0.0) candidates_.push_back(questions);
      total += questions.mass;
    });
    double point = random.uniform() * total;
    std::size_t i = 0;
    while (i + 1 < candidates_.size() && point >= candidates_[i].mass) point -= candidates_[i++].mass;
    const Questions& drawn = candidates_[i];
    StreamRule rule{.feature = drawn.feature};
    if (drawn.kind == Kind::presence) {
      rule.threshold = std::numeric_limits<double>::infinity();
    } else if (drawn.kind == Kind::level_left || drawn.kind == Kind::level_right) {
      rule.is_of_levels = true;
      rule.goes_left = drawn.kind == Kind::level_left;
      rule.level = level_of(row[drawn.feature]);
      rule.others = sets_.refer(mark_[at(node) + drawn.feature]);
      rule.seed = random.word() >> 1;
    } else {
      rule.goes_left =
          drawn.kind == Kind::gap_with_coin ? random.uniform() < 0.5 : drawn.kind == Kind::gap_missing_left;
      rule.threshold = random.between(drawn.low, drawn.high);
    }
    return rule;
  }

  // Lets a row end its walk at a place on the path: it is separated there, or joins the leaf, beyond the last place.
  void insert(std::size_t particle, std::size_t end, Row row, const Observation& y, Random& random) {
    std::uint32_t parent = none;
    int side = 0;
    const auto link = [&](std::uint32_t node) {
      (parent == none ? roots_[particle] : heads_[parent].children[side]) = node;
    };
    for (std::size_t depth = 0;; ++depth) {
      std::uint32_t node = parent == none ? roots_[particle] : heads_[parent].children[side];
      if (depth == end) {
        const StreamRule rule = draw_separating(node, row, random);
        const std::uint32_t alone = new_leaf(row, y), above = copy_box(node);
        join(above, row, masses_[end]);
        Head& head = heads_[above];
        head.rule = rule;
        head.children = goes_left(rule, row) ? std::array{alone, node} : std::array{node, alone};
        link(above);
        return;
      }
      if (heads_[node].n_references > 1) {
        const std::uint32_t shared = node;
        node = copy_box(shared);
        heads_[node].rule = heads_[shared].rule;
        sets_.refer(heads_[node].rule.others);
        heads_[node].children = heads_[shared].children;
        for (const std::uint32_t child : heads_[node].children) {
          if (child != none) ++heads_[child].n_references;
        }
        std::copy_n(counts(shared), leaf_.width(), counts(node));
        --heads_[shared].n_references;
        link(node);
      }
      join(node, row, masses_[depth]);
      if (heads_[node].is_leaf()) {
        leaf_.add(counts(node), y);
        return;
      }
      side = goes_left(heads_[node].rule, row) ? 0 : 1;
      parent = node;
    }
  }

  // Adds a row, for which the node's walk has found e, to the box of a node.
  void join(std::uint32_t node, Row row, double e) {
    heads_[node].mass += e;
    ++heads_[node].n_rows;
    for (std::size_t f = 0, i = at(node); f < measure_.n_features(); ++f, ++i) {
      if (measure_.has_levels[f]) {
        sets_.release(std::exchange(mark_[i], sets_.with(mark_[i], level_of(row[f]))));
      } else if (std::isnan(row[f])) {
        mark_[i] = 1;
        heads_[node].has_missing = true;
      } else {
        low_[i] = std::min(low_[i], row[f]);
        high_[i] = std::max(high_[i], row[f]);
      }
    }
  }

  std::uint32_t new_leaf(Row row, const Observation& y) {
    const std::uint32_t node = allocate();
    const std::size_t first = at(node), n = measure_.n_features();
    heads_[node] = Head{};
    heads_[node].n_rows = 1;
    for (std::size_t f = 0; f < n; ++f) {
      const bool is_number = !measure_.has_levels[f] && !std::isnan(row[f]);
      low_[first + f] = is_number ? row[f] : std::numeric_limits<double>::infinity();
      high_[first + f] = is_number ? row[f] : -std::numeric_limits<double>::infinity();
      heads_[node].has_missing |= !measure_.has_levels[f] && !is_number;
      mark_[first + f] =
          measure_.has_levels[f] ? sets_.with(LevelSets::empty, level_of(row[f])) : std::uint32_t{std::isnan(row[f])};
    }
    std::ranges::fill_n(counts(node), static_cast<std::ptrdiff_t>(leaf_.width()), 0.0);
    leaf_.add(counts(node), y);
    return node;
  }

  // A new node with the box of another.
  std::uint32_t copy_box(std::uint32_t node) {
    const std::uint32_t fresh = allocate();
    const std::size_t n = measure_.n_features();
    heads_[fresh] = Head{};
    heads_[fresh].n_rows = heads_[node].n_rows;
    heads_[fresh].mass = heads_[node].mass;
    heads_[fresh].has_missing = heads_[node].has_missing;
    std::copy_n(&low_[at(node)], n, &low_[at(fresh)]);
    std::copy_n(&high_[at(node)], n, &high_[at(fresh)]);
    std::copy_n(&mark_[at(node)], n, &mark_[at(fresh)]);
    for (std::size_t f = 0; f < n; ++f) {
      if (measure_.has_levels[f]) sets_.refer(mark_[at(fresh) + f]);
    }
    return fresh;
  }

  std::uint32_t allocate() {
    if (!free_.empty()) {
      const std::uint32_t node = free_.back();
      free_.pop_back();
      return node;
    }
    const auto node = static_cast<std::uint32_t>(heads_.size());
    const std::size_t n = measure_.n_features();
    heads_.emplace_back();
    low_.resize(low_.size() + n);
    high_.resize(high_.size() + n);
    mark_.resize(mark_.size() + n);
    counts_.resize(counts_.size() + leaf_.width());
    return node;
  }

  void release(std::uint32_t node) {
    if (node != none) released_.push_back(node);
    while (!released_.empty()) {
      Head& head = heads_[node = released_.back()];
      released_.pop_back();
      if (--head.n_references > 0) continue;
      sets_.release(head.rule.others);
      for (std::size_t f = 0; f < measure_.n_features(); ++f) {
        if (measure_.has_levels[f]) sets_.release(mark_[at(node) + f]);
      }
      if (!head.is_leaf()) released_.insert(released_.end(), head.children.begin(), head.children.end());
      free_.push_back(node);
    }
  }

  StreamMeasure measure_;
  Leaf leaf_;
  LevelSets sets_;
  std::vector<double> nothing_;  // the statistics of no rows

  std::vector<std::uint32_t> roots_;  // of the particles
  std::vector<Head> heads_;
  std::vector<double> low_, high_;   // the range of the present numbers, for each node and feature
  std::vector<std::uint32_t> mark_;  // of numbers: whether some are missing; else the number of the set of levels
  std::vector<double> counts_;       // the statistics of each node; they count in leaves only
  std::vector<std::uint32_t> free_, released_;

  std::vector<double> cuts_;  // the share of cuts in the measure, for each feature
  bool any_levels_ = false;

  // The walk of the row at hand.
  bool row_is_plain_ = false;  // numbers only, and none is missing
  std::vector<std::uint32_t> path_;
  std::vector<double> masses_;  // e at each node of the path
  std::vector<double> ends_;    // the probability that it ends by a separation at each node of the path
  double reached_ = 1.0;        // that it joins the leaf
  double separated_ = 0.0;      // that it does not
  std::vector<Questions> candidates_;
};

}  // namespace particletree
