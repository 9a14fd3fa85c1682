// The samplers: their input, how they are run and stopped, and their results.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../condensed_genealogy.h"
#include "../monitor.h"
#include "../problem.h"
#include "../watch.h"
#include "arrays.h"
#include "choices.h"
#include "module.h"
#include "nodes.h"
#include "running.h"
#include "trees_to_python.h"

namespace particletree {

namespace {

nb::dict to_dict(Island&& island) {
  nb::dict result = to_dict(std::move(island.trees));
  result["log_evidence"] = island.log_evidence;
  result["truncated"] = island.truncated;
  result["trace_ess"] = column<double>(island.trace, [](const StageTrace& stage) { return stage.ess; });
  result["trace_resampled"] =
      column<std::uint8_t>(island.trace, [](const StageTrace& stage) { return stage.resampled; });
  result["trace_n_blocks"] =
      column<std::uint32_t>(island.trace, [](const StageTrace& stage) { return stage.n_blocks; });
  result["trace_log_evidence"] =
      column<double>(island.trace, [](const StageTrace& stage) { return stage.log_evidence; });
  const std::vector<Descendant> descendants = condensed(island.genealogy.descendants());
  result["genealogy_generation"] = column<std::uint32_t>(descendants, [](const Descendant& d) { return d.generation; });
  result["genealogy_parent"] = column<std::uint32_t>(descendants, [](const Descendant& d) { return d.parent; });
  result["genealogy_copies"] = column<std::uint32_t>(descendants, [](const Descendant& d) { return d.copies; });
  return result;
}

nb::dict to_dict(ChainResult&& chain) {
  nb::dict result = to_dict(std::move(chain.trees));
  using Iteration = IterationTrace;
  result["trace_iteration"] = column<std::uint32_t>(chain.trace, [](const Iteration& i) { return i.iteration; });
  result["trace_tree"] = column<std::int32_t>(chain.trace, [](const Iteration& i) { return i.tree; });
  result["trace_move"] = column<std::uint8_t>(chain.trace, [](const Iteration& i) { return i.move; });
  result["trace_accepted"] = column<std::uint8_t>(chain.trace, [](const Iteration& i) { return i.accepted; });
  result["trace_rows"] = column<std::uint32_t>(chain.trace, [](const Iteration& i) { return i.rows; });
  result["trace_visits"] = column<std::uint32_t>(chain.trace, [](const Iteration& i) { return i.visits; });
  result["trace_seconds"] = column<float>(chain.trace, [](const Iteration& i) { return i.seconds; });
  return result;
}

ProblemMaker* maker_named(const std::string& name) {
  for (const NamedLeafModel& leaf : leaf_models()) {
    if (name == leaf.name) return leaf.make_problem;
  }
  std::string message = "unknown leaf model: " + name + "; this build of the kernel has";
  for (const NamedLeafModel& leaf : leaf_models()) message += std::string(" ") + leaf.name;
  throw nb::value_error((message + " (docs/extending.md shows how to add one)").c_str());
}

// The data and the model of every sampler, with the arrays that own their memory.
class BoundProblem {
 public:
  using Ranks = RankArray;
  using TargetArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

  BoundProblem(Ranks ranks, Vector<double> values, Vector<std::int64_t> offsets, Vector<std::uint32_t> n_levels,
               TargetArray target, Vector<double> weights, const std::string& leaf, Vector<double> leaf_parameters,
               const std::string& prior, Vector<double> prior_parameters, Vector<double> feature_weights,
               const nb::dict& row_columns)
      : ranks_(std::move(ranks)),
        values_(std::move(values)),
        offsets_(std::move(offsets)),
        n_levels_(std::move(n_levels)),
        target_(std::move(target)),
        weights_(std::move(weights)) {
    for (const auto& [name, numbers] : row_columns) {
      row_columns_.emplace_back(nb::cast<std::string>(name), nb::cast<Vector<double>>(numbers));
    }
    const FeatureWeights of_features(view(feature_weights));
    std::shared_ptr<const TreePrior> of_trees = make_prior(prior, view(prior_parameters), of_features);
    const AnyTable table = table_for(*of_trees, view_ranks(ranks_), view(values_), view(offsets_), view(n_levels_));
    problem_ = maker_named(leaf)(table, std::move(of_trees), view_target(), view(leaf_parameters));
  }

  const Problem* operator->() const { return problem_.get(); }
  std::size_t n_features() const { return ranks_.shape(0); }

 private:
  // The leaf model checks the values of the target; here, only its length is checked.
  Target view_target() const {
    const std::size_t n_rows = ranks_.shape(1);
    require(target_.ndim() > 0 && target_.shape(0) == n_rows, "the target must have one entry per row");
    require(weights_.size() == 0 || weights_.size() == n_rows, "weights must have one entry per row");
    Target target;
    target.weights = view(weights_);
    for (const auto& [name, numbers] : row_columns_) {
      require(numbers.size() == n_rows, ("the row column " + name + " must have one entry per row").c_str());
      target.row_columns.push_back({name, view(numbers)});
    }
    if (target_.dtype() == nb::dtype<std::int32_t>()) {
      require(target_.ndim() == 1, "labels must be a vector");
      target.labels = {static_cast<const std::int32_t*>(target_.data()), n_rows};
      return target;
    }
    require(target_.dtype() == nb::dtype<double>(), "the target must be integers of 32 bits or floats of 64");
    require(target_.ndim() == 2 && target_.shape(1) > 0, "numbers must be a table, rows x targets");
    target.n_targets = target_.shape(1);
    target.numbers = {static_cast<const double*>(target_.data()), target_.size()};
    return target;
  }

  Ranks ranks_;
  Vector<double> values_;
  Vector<std::int64_t> offsets_;
  Vector<std::uint32_t> n_levels_;
  TargetArray target_;
  Vector<double> weights_;  // empty if every row counts once
  std::vector<std::pair<std::string, Vector<double>>> row_columns_;
  std::unique_ptr<Problem> problem_;
};

nb::dict run_island(const BoundProblem& problem, nb::object generator, Monitor& monitor, std::size_t island,
                    nb::kwargs settings) {
  NamedSettings given(settings);
  const FilterSettings filter{.n_particles = given.get<std::size_t>("n_particles"),
                              .proposal = proposal_named(given.get<std::string>("proposal")),
                              .n_candidates = given.get<std::uint32_t>("n_candidates", 10),
                              .expansion = expansion_named(given.get<std::string>("expansion")),
                              .priority = priority_named(given.get<std::string>("priority")),
                              .resampling = resampling_named(given.get<std::string>("resampling")),
                              .ess_threshold = given.get<double>("ess_threshold"),
                              .max_stages = given.get<std::size_t>("max_stages"),
                              .cache_bytes = given.get<std::size_t>("cache_bytes", 0)};
  given.check_all_known();
  require(filter.n_particles > 0 && filter.n_particles < std::numeric_limits<std::int32_t>::max(),
          "there must be at least one particle, and fewer than 2^31");
  require(filter.n_candidates > 0, "there must be at least one candidate");
  return to_dict(run_sampler(generator, monitor, island,
                             [&](Random& random, Watch& watch) { return problem->run_filter(filter, random, watch); }));
}

// Checks that nodes are a complete tree in preorder, with features that the data have. Whether its rules divide the
// rows is checked as it is grown (chain_tree.h).
void check_initial_tree(std::span<const Node> nodes, std::size_t n_features) {
  std::size_t n_open = 1;  // children of the nodes so far that are still to come
  for (const Node& node : nodes) {
    require(n_open > 0, "the initial tree has nodes after its last leaf");
    --n_open;
    if (node.is_leaf()) continue;
    require(static_cast<std::size_t>(node.feature) < n_features, "a feature of the initial tree is out of range");
    require(!node.rule.has_gap() || std::isfinite(node.rule.threshold()),
            "a threshold of the initial tree is not finite");
    n_open += 2;
  }
  require(n_open == 0, "the initial tree ends before its last leaf");
}

// Subtrees are regrown only if `regrow_share` is given; then the settings of the filter must be, too.
nb::dict run_chain(const BoundProblem& problem, NodeBytes initial_nodes, nb::object generator, Monitor& monitor,
                   std::size_t chain, nb::kwargs settings) {
  NamedSettings given(settings);
  ChainSettings chosen{.n_iterations = given.get<std::size_t>("n_iterations"),
                       .burn_in = given.get<std::size_t>("burn_in"),
                       .thin = given.get<std::size_t>("thin"),
                       .move_weights = move_weights(given)};
  if (given.has("regrow_share")) {
    chosen.regrow_share = given.get<double>("regrow_share");
    chosen.filter = conditional_filter(given);
  }
  given.check_all_known();
  require(chosen.regrow_share >= 0.0 && chosen.regrow_share <= 1.0, "regrow_share must be between 0 and 1");
  require(
      chosen.thin > 0 && chosen.burn_in < chosen.n_iterations && chosen.thin <= chosen.n_iterations - chosen.burn_in,
      "at least one iteration must be kept");
  const std::span<const Node> initial = view_nodes(initial_nodes);
  check_initial_tree(initial, problem.n_features());
  return to_dict(run_sampler(generator, monitor, chain, [&](Random& random, Watch& watch) {
    return problem->run_chain(chosen, initial, random, watch);
  }));
}

}  // namespace

void bind_samplers(nb::module_& m) {
  nb::class_<Monitor>(m, "Monitor", "Progress of the islands of a fit, and the switch that stops them.")
      .def(nb::init<std::size_t>(), nb::arg("n_islands"))
      .def("cancel", &Monitor::cancel)
      .def("n_running", &Monitor::n_running)
      .def("step", &Monitor::step, nb::arg("island"))
      .def("value", &Monitor::value, nb::arg("island"))
      .def("is_done", &Monitor::is_done, nb::arg("island"))
      // Another process gets a new monitor, which nothing reads there.
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(nb::cast<Monitor&>(self).n_islands()));
      });
  nb::class_<BoundProblem>(m, "Problem", "The data and the model that a sampler is given.")
      .def(nb::init<BoundProblem::Ranks, Vector<double>, Vector<std::int64_t>, Vector<std::uint32_t>,
                    BoundProblem::TargetArray, Vector<double>, const std::string&, Vector<double>, const std::string&,
                    Vector<double>, Vector<double>, const nb::dict&>(),
           nb::arg("ranks"), nb::arg("values"), nb::arg("offsets"), nb::arg("n_levels"), nb::arg("target"),
           nb::arg("weights"), nb::arg("leaf"), nb::arg("leaf_parameters"), nb::arg("prior"),
           nb::arg("prior_parameters"), nb::arg("feature_weights"), nb::arg("row_columns") = nb::dict());
  nb::list leaves, priors, proposals;
  for (const NamedLeafModel& leaf : leaf_models()) leaves.append(leaf.name);
  for (const NamedPrior& prior : particletree::priors()) priors.append(prior.name);
  for (const NamedProposal& proposal : named_proposals) proposals.append(proposal.name);
  m.attr("LEAF_MODELS") = nb::tuple(leaves);
  m.attr("PRIORS") = nb::tuple(priors);
  m.attr("PROPOSALS") = nb::tuple(proposals);
  m.def("run_island", &run_island, nb::arg("problem"), nb::arg("generator"), nb::arg("monitor"), nb::arg("island"),
        nb::arg("settings"),
        "Run the particle filter of one island and return its weighted trees in flat arrays. `cache_bytes` bounds what "
        "is kept of blocks to save work; 0 means about as much as the data take. The result does not depend on it.");
  m.def("run_chain", &run_chain, nb::arg("problem"), nb::arg("initial_nodes"), nb::arg("generator"), nb::arg("monitor"),
        nb::arg("chain"), nb::arg("settings"),
        "Run one Markov chain from an initial tree (in preorder) and return the trees that it visited.");
}

}  // namespace particletree
