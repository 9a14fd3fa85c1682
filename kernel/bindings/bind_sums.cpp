// Sums of trees: the chain that samples them, and their predictions.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../additive/sum_predict.h"
#include "../additive/sum_problem.h"
#include "../normal_draws.h"
#include "arrays.h"
#include "choices.h"
#include "module.h"
#include "nodes.h"
#include "running.h"
#include "trees_to_python.h"

namespace particletree {

namespace {

constexpr std::size_t largest_tree = SumTree<Table<std::uint16_t>>::most_nodes;

// The data and the prior, with the arrays that own their memory.
class BoundSumProblem {
 public:
  BoundSumProblem(RankArray ranks, Vector<double> values, Vector<std::int64_t> offsets, Vector<std::uint32_t> n_levels,
                  Vector<double> weights, const std::string& prior, Vector<double> prior_parameters,
                  Vector<double> feature_weights)
      : ranks_(std::move(ranks)),
        values_(std::move(values)),
        offsets_(std::move(offsets)),
        n_levels_(std::move(n_levels)),
        weights_(std::move(weights)),
        prior_(make_prior(prior, view(prior_parameters), FeatureWeights(view(feature_weights)))),
        problem_(table_for(*prior_, view_ranks(ranks_), view(values_), view(offsets_), view(n_levels_)), prior_,
                 view(weights_)) {
    require(weights_.size() == 0 || weights_.size() == ranks_.shape(1), "weights must have one entry per row");
    for (const double weight : view(weights_))
      require(weight > 0.0 && std::isfinite(weight), "a weight is not positive");
  }

  const SumProblem* operator->() const { return &problem_; }

 private:
  RankArray ranks_;
  Vector<double> values_;
  Vector<std::int64_t> offsets_;
  Vector<std::uint32_t> n_levels_;
  Vector<double> weights_;
  std::shared_ptr<const TreePrior> prior_;
  SumProblem problem_;
};

// Checks that a structure is one tree in preorder with numbered leaves. As each node is the child of one split, the
// tree is not larger than it looks.
void check_structure(std::span<const Node> tree, std::size_t n_features) {
  std::size_t n_before = (tree.size() + 1) / 2;  // leaves
  std::vector<std::size_t> subtrees;             // those that have no parent yet, the first on top
  for (std::size_t i = tree.size(); i-- > 0;) {
    const Node& node = tree[i];
    if (node.is_leaf()) {
      require(n_before > 0 && node.block >= 0 && static_cast<std::size_t>(node.block) == --n_before,
              "the leaves of a tree must be numbered in order");
    } else {
      require(static_cast<std::size_t>(node.feature) < n_features, "a feature is out of range");
      require(subtrees.size() >= 2 && std::cmp_equal(node.left, subtrees.back()) &&
                  std::cmp_equal(node.right, subtrees[subtrees.size() - 2]),
              "the nodes of a tree must be in preorder, each the child of one split");
      subtrees.resize(subtrees.size() - 2);
    }
    subtrees.push_back(i);
  }
  require(subtrees.size() == 1, "the nodes of a tree must be in preorder, each the child of one split");
}

void check_starts(std::span<const std::int64_t> starts, std::size_t n_nodes) {
  require(!starts.empty() && starts.front() == 0 && starts.back() == static_cast<std::int64_t>(n_nodes),
          "the trees must be all nodes");
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) require(starts[i] < starts[i + 1], "a tree has no nodes");
}

SumDraws view_draws(const NodeBytes& nodes, const Vector<std::int64_t>& starts,
                    const Matrix<std::int32_t>& structure_of, const Vector<double>& values, std::size_t n_features) {
  SumDraws draws{view_nodes(nodes), view(starts),          {structure_of.data(), structure_of.size()},
                 view(values),      structure_of.shape(1), {}};
  check_starts(draws.starts, draws.nodes.size());
  for (std::size_t i = 0; i < draws.n_structures(); ++i) check_structure(draws.structure(i), n_features);
  std::size_t n_values = 0;
  for (const std::int32_t structure : draws.structure_of) {
    require(structure >= 0 && static_cast<std::size_t>(structure) < draws.n_structures(), "a tree is out of range");
    draws.first_value.push_back(n_values);
    n_values += draws.n_leaves(static_cast<std::size_t>(structure));
  }
  require(n_values == draws.values.size(), "there must be a value for each leaf");
  return draws;
}

// Draws that have been checked once, with the arrays that own their memory; the arrays must not change afterwards.
class BoundSumDraws {
 public:
  BoundSumDraws(NodeBytes nodes, Vector<std::int64_t> starts, Matrix<std::int32_t> structure_of, Vector<double> values)
      : nodes_(std::move(nodes)),
        starts_(std::move(starts)),
        structure_of_(std::move(structure_of)),
        values_(std::move(values)),
        n_features_(features_needed(view_nodes(nodes_))),
        draws_(view_draws(nodes_, starts_, structure_of_, values_, n_features_)) {}

  nb::object predict(const Matrix<double>& X, std::size_t first, std::size_t last) const {
    check_rows(X);
    require(first <= last && last <= draws_.n_draws(), "the draws are out of range");
    std::vector<double> out(X.shape(0) * (last - first));
    {
      nb::gil_scoped_release release;
      SignalWatch watch(check_signals);
      if (X.shape(0) <= few_rows) {
        predict_sums_at_few(draws_, compiled(), X.data(), X.shape(0), X.shape(1), first, last, out.data(), watch);
      } else {
        predict_sums(draws_, X.data(), X.shape(0), X.shape(1), first, last, out.data(), watch);
      }
    }
    return to_numpy(std::move(out), {X.shape(0), last - first});
  }

  nb::object mean(const Matrix<double>& X) const {
    check_rows(X);
    require(draws_.n_draws() > 0, "there must be a draw");
    std::vector<double> out(X.shape(0));
    {
      nb::gil_scoped_release release;
      SignalWatch watch(check_signals);
      std::call_once(has_totals_, [&] { totals_ = total_values(draws_); });
      if (X.shape(0) <= few_rows) {
        predict_mean_at_few(draws_, compiled(), totals_, X.data(), X.shape(0), X.shape(1), out.data(), watch);
      } else {
        predict_mean_of_sums(draws_, totals_, X.data(), X.shape(0), X.shape(1), out.data(), watch);
      }
    }
    return to_numpy(std::move(out));
  }

 private:
  static std::size_t features_needed(std::span<const Node> nodes) {
    std::int32_t last = -1;
    for (const Node& node : nodes) last = std::max(last, node.feature);
    return static_cast<std::size_t>(last + 1);
  }
  const CompiledSums& compiled() const {
    std::call_once(is_compiled_, [&] { compiled_.emplace(draws_.nodes); });
    return *compiled_;
  }
  void check_rows(const Matrix<double>& X) const {
    require(X.shape(1) >= n_features_, "the rows must have the features of the trees");
  }

  NodeBytes nodes_;
  Vector<std::int64_t> starts_;
  Matrix<std::int32_t> structure_of_;
  Vector<double> values_;
  std::size_t n_features_;
  SumDraws draws_;
  mutable std::once_flag has_totals_, is_compiled_;  // threads predict batches of rows at the same time
  mutable std::vector<double> totals_;
  mutable std::optional<CompiledSums> compiled_;
};

SumState to_state(const nb::dict& dict, std::size_t n_features) {
  const auto nodes = nb::cast<NodeBytes>(dict["nodes"]);
  const auto starts = nb::cast<Vector<std::int64_t>>(dict["starts"]);
  const auto values = nb::cast<Vector<double>>(dict["values"]);
  const auto latent = nb::cast<Vector<double>>(dict["latent"]);
  const auto all = view_nodes(nodes);
  check_starts(view(starts), all.size());
  SumState state;
  state.nodes.assign(all.begin(), all.end());
  state.starts.assign(starts.data(), starts.data() + starts.size());
  state.values.assign(values.data(), values.data() + values.size());
  state.latent.assign(latent.data(), latent.data() + latent.size());
  state.noise_sd = nb::cast<double>(dict["noise_sd"]);
  for (std::size_t i = 0; i + 1 < state.starts.size(); ++i) {
    const auto first = static_cast<std::size_t>(state.starts[i]), end = static_cast<std::size_t>(state.starts[i + 1]);
    check_structure(all.subspan(first, end - first), n_features);
  }
  require(state.noise_sd > 0.0 && std::isfinite(state.noise_sd), "the noise of the state must be positive");
  return state;
}

nb::dict to_dict(SumState&& state) {
  nb::dict result;
  result["nodes"] = to_numpy_bytes(std::move(state.nodes));
  result["starts"] = to_numpy(std::move(state.starts));
  result["values"] = to_numpy(std::move(state.values));
  result["latent"] = to_numpy(std::move(state.latent));
  result["noise_sd"] = state.noise_sd;
  return result;
}

nb::dict to_dict(SumResult&& sums, std::size_t n_trees) {
  nb::dict result;
  result["nodes"] = to_numpy_bytes(std::move(sums.nodes));
  result["starts"] = to_numpy(std::move(sums.starts));
  result["structure_of"] = to_numpy(std::move(sums.structure_of), {sums.trace.size(), n_trees});
  result["values"] = to_numpy(std::move(sums.values));
  result["trace_iteration"] = column<std::uint32_t>(sums.trace, [](const SumTrace& t) { return t.iteration; });
  result["trace_noise_sd"] = column<double>(sums.trace, [](const SumTrace& t) { return t.noise_sd; });
  result["trace_log_likelihood"] = column<double>(sums.trace, [](const SumTrace& t) { return t.log_likelihood; });
  result["trace_n_leaves"] = column<std::uint32_t>(sums.trace, [](const SumTrace& t) { return t.n_leaves; });
  result["trace_seconds"] = column<float>(sums.trace, [](const SumTrace& t) { return t.seconds; });
  result["moves_proposed"] = to_numpy(std::vector<std::uint64_t>(sums.n_proposed.begin(), sums.n_proposed.end()));
  result["moves_accepted"] = to_numpy(std::vector<std::uint64_t>(sums.n_accepted.begin(), sums.n_accepted.end()));
  result["state"] = to_dict(std::move(sums.state));
  return result;
}

void check_settings(const SumSettings& settings, const SumProblem& problem, std::span<const double> target) {
  require(target.size() == problem.n_rows(), "the target must have one entry per row");
  for (const double y : target) require(std::isfinite(y), "the target must be finite");
  require(settings.n_trees > 0, "there must be a tree");
  require(settings.value_sd > 0.0 && settings.noise_sd > 0.0, "leaf_sd and noise_sd must be positive");
  require(settings.noise_df >= 0.0 && settings.noise_scale >= 0.0, "noise_df and noise_scale must be at least 0");
  require(settings.thin > 0 && settings.burn_in < settings.n_iterations &&
              settings.thin <= settings.n_iterations - settings.burn_in,
          "at least one iteration must be kept");
  require(settings.regrow_share >= 0.0 && settings.regrow_share <= 1.0, "regrow_share must be between 0 and 1");
  require(settings.most_nodes > 0 && settings.most_nodes <= largest_tree, "most_nodes is out of range");
}

nb::dict run_sum_of_trees(const BoundSumProblem& problem, Vector<double> target, nb::object initial,
                          nb::object generator, Monitor& monitor, std::size_t chain, nb::kwargs settings) {
  NamedSettings given(settings);
  const SumSettings chosen{.n_trees = given.get<std::size_t>("n_trees"),
                           .is_probit = given.get<bool>("is_probit"),
                           .offset = given.get<double>("offset"),
                           .value_sd = given.get<double>("leaf_sd"),
                           .noise_df = given.get<double>("noise_df"),
                           .noise_scale = given.get<double>("noise_scale"),
                           .noise_sd = given.get<double>("noise_sd"),
                           .n_start = given.get<std::size_t>("n_start"),
                           .n_before = given.get<std::size_t>("n_before"),
                           .n_iterations = given.get<std::size_t>("n_iterations"),
                           .burn_in = given.get<std::size_t>("burn_in"),
                           .thin = given.get<std::size_t>("thin"),
                           .move_weights = move_weights(given),
                           .regrow_share = given.get<double>("regrow_share"),
                           .most_nodes = given.get<std::size_t>("most_nodes", largest_tree),
                           .filter = conditional_filter(given)};
  given.check_all_known();
  check_settings(chosen, *problem.operator->(), view(target));
  std::optional<SumState> state;
  if (!initial.is_none()) state = to_state(nb::cast<nb::dict>(initial), problem->n_features());
  return to_dict(run_sampler(generator, monitor, chain,
                             [&](Random& random, Watch& watch) {
                               return problem->run(view(target), chosen, state ? &*state : nullptr, random, watch);
                             }),
                 chosen.n_trees);
}

// For the tests of the distributions.
template <class Draw>
nb::object draw_many(nb::handle generator, std::size_t n, Draw draw) {
  Random random(bit_generator(generator));
  NormalDraws draws(random);
  std::vector<double> values(n);
  for (double& value : values) value = draw(draws);
  return to_numpy(std::move(values));
}

}  // namespace

void bind_sums(nb::module_& m) {
  nb::class_<BoundSumProblem>(m, "SumProblem", "The data and the prior for a sum of trees.")
      .def(nb::init<RankArray, Vector<double>, Vector<std::int64_t>, Vector<std::uint32_t>, Vector<double>,
                    const std::string&, Vector<double>, Vector<double>>(),
           nb::arg("ranks"), nb::arg("values"), nb::arg("offsets"), nb::arg("n_levels"), nb::arg("weights"),
           nb::arg("prior"), nb::arg("prior_parameters"), nb::arg("feature_weights"));
  m.def("run_sum_of_trees", &run_sum_of_trees, nb::arg("problem"), nb::arg("target"), nb::arg("initial").none(),
        nb::arg("generator"), nb::arg("monitor"), nb::arg("chain"), nb::arg("settings"),
        "Run one chain over sums of trees and return the draws that are kept.");
  nb::class_<BoundSumDraws>(m, "SumDraws", "Draws of a sum of trees, checked once, for predictions.")
      .def(nb::init<NodeBytes, Vector<std::int64_t>, Matrix<std::int32_t>, Vector<double>>(), nb::arg("nodes"),
           nb::arg("starts"), nb::arg("structure_of"), nb::arg("values"))
      .def("predict", &BoundSumDraws::predict, nb::arg("X"), nb::arg("first_draw"), nb::arg("last_draw"),
           "Return the sum of the trees of each draw at each row, rows x draws.")
      .def("mean", &BoundSumDraws::mean, nb::arg("X"),
           "Return the mean over draws of the sum of their trees at each row.");
  m.def(
      "draw_normal",
      [](nb::object generator, std::size_t n) {
        return draw_many(generator, n, [](NormalDraws& draws) { return draws.normal(); });
      },
      nb::arg("generator"), nb::arg("n"));
  m.def(
      "draw_gamma",
      [](nb::object generator, double shape, std::size_t n) {
        require(shape > 0.0, "the shape must be positive");
        return draw_many(generator, n, [=](NormalDraws& draws) { return draws.gamma(shape); });
      },
      nb::arg("generator"), nb::arg("shape"), nb::arg("n"));
  m.def(
      "draw_truncated_normal",
      [](nb::object generator, double mean, bool is_positive, std::size_t n) {
        return draw_many(generator, n, [=](NormalDraws& draws) {
          return is_positive ? draws.positive_normal(mean) : draws.negative_normal(mean);
        });
      },
      nb::arg("generator"), nb::arg("mean"), nb::arg("is_positive"), nb::arg("n"));
}

}  // namespace particletree
