// Predictions: weighted trees, compiled or walked one by one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../compiled_forest.h"
#include "../forest_walk.h"
#include "../leaf_mixtures.h"
#include "../predict.h"
#include "arrays.h"
#include "module.h"

namespace particletree {

namespace {

// Checks that no walk down a tree leaves the arrays: children come after their parent, inside its tree.
ForestView view_forest(std::size_t n_features, std::size_t n_blocks, const Vector<std::int64_t>& offsets,
                       const Vector<std::int32_t>& feature, const Vector<double>& threshold,
                       const Vector<std::int32_t>& left, const Vector<std::int32_t>& right,
                       const Vector<std::int32_t>& block) {
  const auto n_nodes = static_cast<std::int64_t>(feature.size());
  for (const std::size_t size : {threshold.size(), left.size(), right.size(), block.size()}) {
    require(size == feature.size(), "the arrays of nodes differ in length");
  }
  require(offsets.size() > 0 && offsets.data()[0] == 0 && offsets.data()[offsets.size() - 1] == n_nodes,
          "offsets must lead from 0 to the number of nodes");
  for (std::size_t tree = 0; tree + 1 < offsets.size(); ++tree) {
    const std::int64_t first = offsets.data()[tree], n = offsets.data()[tree + 1] - first;
    require(n > 0 && first + n <= n_nodes, "offsets must increase");
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t node = first + i;
      require(block.data()[node] >= 0 && static_cast<std::size_t>(block.data()[node]) < n_blocks,
              "a block is out of range");
      if (feature.data()[node] < 0) continue;
      require(static_cast<std::size_t>(feature.data()[node]) < n_features, "a feature is out of range");
      require(left.data()[node] > i && left.data()[node] < n && right.data()[node] > i && right.data()[node] < n,
              "a child is out of range");
    }
  }
  return {offsets.data(), offsets.size() - 1, feature.data(), threshold.data(),
          left.data(),    right.data(),       block.data()};
}

// A posterior's trees, compiled once and asked many times.
class Predictor {
 public:
  Predictor(std::size_t n_features, Vector<std::int64_t> offsets, Vector<std::int32_t> feature,
            Vector<double> threshold, Vector<std::int32_t> left, Vector<std::int32_t> right, Vector<std::int32_t> block,
            Matrix<double> leaf_means, Vector<double> weights)
      : n_features_(n_features), n_trees_(weights.size()), leaf_means_(std::move(leaf_means)) {
    const ForestView forest =
        view_forest(n_features, leaf_means_.shape(0), offsets, feature, threshold, left, right, block);
    require(feature.size() < (std::size_t{1} << 31), "there are too many nodes for 32 bits");
    require(leaf_means_.shape(1) > 0, "there must be a class");
    require(weights.size() == forest.n_trees, "there must be one weight per tree");
    for (std::size_t tree = 0; tree < forest.n_trees; ++tree) {
      require(weights.data()[tree] >= 0, "a weight is negative or not a number");
    }
    nb::gil_scoped_release release;
    forest_ = ForestCompiler(forest, weights.data(), n_features, leaf_means_.data(), leaf_means_.shape(1)).compile();
  }

  std::size_t n_cuts() const { return forest_.cuts.size(); }
  std::size_t n_leaves() const { return forest_.leaves.size(); }

  nb::object means(const Matrix<double>& X) const {
    const std::size_t width = leaf_means_.shape(1);
    const RowsView rows = view_rows(X);
    std::vector<double> out(rows.n_rows * width, 0.0);
    {
      nb::gil_scoped_release release;
      add_means(forest_, rows, leaf_means_.data(), width, out.data());
    }
    return to_numpy(std::move(out), {rows.n_rows, width});
  }

  nb::tuple mixtures(const Matrix<double>& X) const {
    const RowsView rows = view_rows(X);
    LeafMixtures mixtures;
    {
      nb::gil_scoped_release release;
      mixtures = LeafMixer(forest_, n_trees_).mix(rows);
    }
    const std::size_t n_kinds = mixtures.n_kinds();
    std::size_t width = 1;
    for (std::size_t kind = 0; kind < n_kinds; ++kind) width = std::max(width, mixtures.leaves_of(kind).size());
    std::vector<double> weights(n_kinds * width, 0.0);
    std::vector<std::uint32_t> blocks(n_kinds * width, 0);
    for (std::size_t kind = 0; kind < n_kinds; ++kind) {
      std::size_t place = kind * width;
      for (const CompiledForest::Leaf& leaf : mixtures.leaves_of(kind)) {
        weights[place] = leaf.weight;
        blocks[place++] = leaf.block;
      }
    }
    return nb::make_tuple(to_numpy(std::move(mixtures.kind)), to_numpy(std::move(weights), {n_kinds, width}),
                          to_numpy(std::move(blocks), {n_kinds, width}));
  }

 private:
  RowsView view_rows(const Matrix<double>& X) const {
    require(X.shape(1) == n_features_, "X must have the features of the trees");
    return {X.data(), X.shape(0), X.shape(1)};
  }

  std::size_t n_features_;
  std::size_t n_trees_;
  Matrix<double> leaf_means_;
  CompiledForest forest_;
};

nb::object apply(Matrix<double> X, Vector<std::int64_t> offsets, Vector<std::int32_t> feature, Vector<double> threshold,
                 Vector<std::int32_t> left, Vector<std::int32_t> right, Vector<std::int32_t> block) {
  const std::size_t any_block = std::numeric_limits<std::int32_t>::max();
  const ForestView forest = view_forest(X.shape(1), any_block, offsets, feature, threshold, left, right, block);
  const std::size_t n_rows = X.shape(0);
  std::vector<std::int32_t> out(n_rows * forest.n_trees);
  {
    nb::gil_scoped_release release;
    for (std::size_t tree = 0; tree < forest.n_trees; ++tree) {
      for (std::size_t row = 0; row < n_rows; ++row) {
        out[row * forest.n_trees + tree] = leaf_block(forest, tree, X.data() + row * X.shape(1));
      }
    }
  }
  return to_numpy(std::move(out), {n_rows, forest.n_trees});
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<Predictor>(m, "Predictor", "Weighted trees, compiled for predictions.")
      .def(nb::init<std::size_t, Vector<std::int64_t>, Vector<std::int32_t>, Vector<double>, Vector<std::int32_t>,
                    Vector<std::int32_t>, Vector<std::int32_t>, Matrix<double>, Vector<double>>(),
           nb::arg("n_features"), nb::arg("offsets"), nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
           nb::arg("right"), nb::arg("block"), nb::arg("leaf_means"), nb::arg("weights"))
      .def_prop_ro("n_cuts", &Predictor::n_cuts, "How many cuts the trees have, those in common counted once.")
      .def_prop_ro("n_leaves", &Predictor::n_leaves, "How many leaves the trees have, those in common counted once.")
      .def("means", &Predictor::means, nb::arg("X"), "The weighted mean over trees of the means of the rows' leaves.")
      .def("mixtures", &Predictor::mixtures, nb::arg("X"),
           "The kind of each row, and each kind's leaves as weights and blocks; short ones are padded with weight 0.");
  m.def("apply", &apply, nb::arg("X"), nb::arg("offsets"), nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
        nb::arg("right"), nb::arg("block"), "The block of the leaf that each row falls into, for each tree.");
}

}  // namespace particletree
