// Predictions: weighted trees, compiled or evaluated one by one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../compiled_forest.h"
#include "../forest_walk.h"
#include "../leaf_mixtures.h"
#include "../predict.h"
#include "../sharing.h"
#include "../watch.h"
#include "arrays.h"
#include "module.h"
#include "nodes.h"
#include "signals.h"

namespace particletree {

namespace {

// Checks that all indices are within bounds and no path is infinite: children come before their parent.
void check_nodes(std::span<const Node> nodes, std::size_t n_blocks) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    require(node.block >= 0 && static_cast<std::size_t>(node.block) < n_blocks, "a block is out of range");
    if (node.is_leaf()) continue;
    for (const std::int32_t child : {node.left, node.right}) {
      require(child >= 0 && static_cast<std::size_t>(child) < i, "a child is out of range");
    }
  }
}

ForestView view_forest(const NodeBytes& bytes, const Vector<std::int32_t>& roots, std::size_t n_features,
                       std::size_t n_blocks) {
  const std::span<const Node> nodes = view_nodes(bytes);
  check_nodes(nodes, n_blocks);
  for (const Node& node : nodes) {
    require(node.is_leaf() || static_cast<std::size_t>(node.feature) < n_features, "a feature is out of range");
  }
  for (std::size_t tree = 0; tree < roots.size(); ++tree) {
    require(roots.data()[tree] >= 0 && static_cast<std::size_t>(roots.data()[tree]) < nodes.size(),
            "a root is out of range");
  }
  return {nodes, {roots.data(), roots.size()}};
}

nb::tuple share_nodes(const NodeBytes& bytes, const Vector<std::uint64_t>& row_hashes) {
  const std::span<const Node> nodes = view_nodes(bytes);
  check_nodes(nodes, row_hashes.size());
  SharedNodes shared = [&] {
    nb::gil_scoped_release release;
    return NodeSharer(nodes, {row_hashes.data(), row_hashes.size()}).share();
  }();
  return nb::make_tuple(to_numpy(std::move(shared.kept)), to_numpy(std::move(shared.number)),
                        to_numpy(std::move(shared.kept_blocks)), to_numpy(std::move(shared.block_number)));
}

// A posterior's trees, compiled once and used many times. If that would take far more memory than their nodes, as with
// thousands of different roots above one large subtree, each row is sent down each tree instead.
class Predictor {
 public:
  Predictor(std::size_t n_features, NodeBytes nodes, Vector<std::int32_t> roots, Matrix<double> leaf_means,
            Vector<double> weights)
      : n_features_(n_features),
        nodes_(std::move(nodes)),
        roots_(std::move(roots)),
        leaf_means_(std::move(leaf_means)),
        weights_(std::move(weights)),
        forest_(view_forest(nodes_, roots_, n_features, leaf_means_.shape(0))) {
    require(leaf_means_.shape(1) > 0, "there must be a class");
    require(weights_.size() == forest_.roots.size(), "there must be one weight per tree");
    for (std::size_t tree = 0; tree < forest_.roots.size(); ++tree) {
      require(weights_.data()[tree] >= 0, "a weight is negative or not a number");
    }
    const std::size_t most = std::max(always_allowed, allowed_per_node * forest_.nodes.size());
    nb::gil_scoped_release release;
    compiled_ =
        ForestCompiler(forest_, weights_.data(), n_features, leaf_means_.data(), leaf_means_.shape(1)).compile(most);
  }

  std::size_t n_cuts() const { return compiled_ ? compiled_->cuts.size() : 0; }
  std::size_t n_leaves() const { return compiled_ ? compiled_->leaves.size() : 0; }

  nb::object means(const Matrix<double>& X) const {
    const std::size_t width = leaf_means_.shape(1);
    const RowsView rows = view_rows(X);
    std::vector<double> out(rows.n_rows * width, 0.0);
    {
      nb::gil_scoped_release release;
      if (compiled_) {
        add_means(*compiled_, rows, leaf_means_.data(), width, out.data());
      } else {
        add_means_tree_by_tree(rows, out.data());
      }
    }
    return to_numpy(std::move(out), {rows.n_rows, width});
  }

  nb::tuple mixtures(const Matrix<double>& X) const {
    const RowsView rows = view_rows(X);
    LeafMixtures mixtures;
    {
      nb::gil_scoped_release release;
      mixtures = compiled_ ? LeafMixer(*compiled_, forest_.roots.size()).mix(rows) : mix_tree_by_tree(rows);
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

  // Calls use(row, leaf) for the leaf of each row in each tree.
  template <class Use>
  void for_each_leaf(const RowsView& rows, Use use) const {
    SignalWatch watch(check_signals);
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
      for (std::size_t tree = 0; tree < forest_.roots.size(); ++tree) {
        const double weight = weights_.data()[tree];
        if (weight == 0) continue;
        const std::int32_t block = leaf_block(forest_, tree, rows.values + row * n_features_);
        use(row, CompiledForest::Leaf{weight, static_cast<std::uint32_t>(block)});
        watch.check_interrupt(work_per_tree);
      }
    }
  }

  void add_means_tree_by_tree(const RowsView& rows, double* out) const {
    const std::size_t width = leaf_means_.shape(1);
    for_each_leaf(rows, [&](std::size_t row, const CompiledForest::Leaf& leaf) {
      for (std::size_t k = 0; k < width; ++k) {
        out[row * width + k] += leaf.weight * leaf_means_.data()[leaf.block * width + k];
      }
    });
  }

  LeafMixtures mix_tree_by_tree(const RowsView& rows) const {
    std::vector<std::vector<CompiledForest::Leaf>> leaves(rows.n_rows);
    for_each_leaf(rows, [&](std::size_t row, const CompiledForest::Leaf& leaf) { leaves[row].push_back(leaf); });
    LeafMixtures mixtures;
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
      mixtures.kind.push_back(static_cast<std::uint32_t>(row));
      mixtures.add_kind(leaves[row]);
    }
    return mixtures;
  }

  // Cuts, leaves and pending members, of about 50 bytes each. Trees of the samplers have at most 3 for each node.
  static constexpr std::size_t always_allowed = 1 << 20, allowed_per_node = 32;
  static constexpr std::size_t work_per_tree = 100;

  std::size_t n_features_;
  NodeBytes nodes_;
  Vector<std::int32_t> roots_;
  Matrix<double> leaf_means_;
  Vector<double> weights_;
  ForestView forest_;
  std::optional<CompiledForest> compiled_;
};

nb::object apply(Matrix<double> X, NodeBytes nodes, Vector<std::int32_t> roots) {
  const std::size_t any_block = std::numeric_limits<std::int32_t>::max();
  const ForestView forest = view_forest(nodes, roots, X.shape(1), any_block);
  const std::size_t n_trees = forest.roots.size();
  const std::size_t n_rows = X.shape(0);
  std::vector<std::int32_t> out(n_rows * n_trees);
  {
    nb::gil_scoped_release release;
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
      for (std::size_t row = 0; row < n_rows; ++row) {
        out[row * n_trees + tree] = leaf_block(forest, tree, X.data() + row * X.shape(1));
      }
    }
  }
  return to_numpy(std::move(out), {n_rows, n_trees});
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<Predictor>(m, "Predictor", "Weighted trees, compiled for predictions.")
      .def(nb::init<std::size_t, NodeBytes, Vector<std::int32_t>, Matrix<double>, Vector<double>>(),
           nb::arg("n_features"), nb::arg("nodes"), nb::arg("roots"), nb::arg("leaf_means"), nb::arg("weights"))
      .def_prop_ro("n_cuts", &Predictor::n_cuts,
                   "How many cuts the trees have, those in common counted once; 0 if they are not compiled.")
      .def_prop_ro("n_leaves", &Predictor::n_leaves,
                   "How many leaves the trees have, those in common counted once; 0 if they are not compiled.")
      .def("means", &Predictor::means, nb::arg("X"), "The weighted mean over trees of the means of the rows' leaves.")
      .def("mixtures", &Predictor::mixtures, nb::arg("X"),
           "The kind of each row, and each kind's leaves as weights and blocks; short ones are padded with weight 0.");
  m.def("apply", &apply, nb::arg("X"), nb::arg("nodes"), nb::arg("roots"),
        "The block of the leaf that each row falls into, for each tree.");
  m.def("share_nodes", &share_nodes, nb::arg("nodes"), nb::arg("row_hashes"),
        "Find equal subtrees: the first node of each kind ordered by height, the new number of each node, and the same "
        "of the blocks that they have.");
}

}  // namespace particletree
