// The probability that a node splits: s = alpha / (1 + depth)^beta (paper, section 2), kept per depth.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace particletree {

class SplitPrior {
 public:
  struct AtDepth {
    double split;      // s
    double log_split;  // log s
    double log_stop;   // log(1 - s)
  };

  SplitPrior(double alpha, double beta) : alpha_(alpha), beta_(beta) {}

  const AtDepth& at(std::size_t depth) {
    while (depths_.size() <= depth) {
      const double split = alpha_ / std::pow(1.0 + static_cast<double>(depths_.size()), beta_);
      depths_.push_back({split, std::log(split), std::log1p(-split)});
    }
    return depths_[depth];
  }

 private:
  double alpha_;
  double beta_;
  std::vector<AtDepth> depths_;
};

}  // namespace particletree
