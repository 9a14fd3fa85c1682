// The kernel's face towards Python: arrays in, arrays out, the GIL released while it works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chain.h"
#include "filter.h"
#include "forest_walk.h"
#include "leaf_mixtures.h"
#include "log_gamma.h"
#include "monitor.h"
#include "predict.h"
#include "ranking.h"
#include "sharing.h"
#include "xxhash64.h"

namespace nb = nanobind;
using namespace particletree;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

// A NumPy array that owns the vector's memory.
template <class T>
nb::object to_numpy(std::vector<T>&& data, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(data));
  T* pointer = owned->data();
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(pointer, shape, owner));
}

template <class T>
nb::object to_numpy(std::vector<T>&& data) {
  const std::size_t size = data.size();
  return to_numpy(std::move(data), {size});
}

BitGenerator* bit_generator(nb::handle generator) {
  nb::object capsule = generator.attr("capsule");
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), "BitGenerator");
  if (!pointer) throw nb::python_error();
  return static_cast<BitGenerator*>(pointer);
}

template <class Choice>
Choice choose(const std::string& name, std::initializer_list<std::pair<const char*, Choice>> choices) {
  for (const auto& [known, choice] : choices) {
    if (name == known) return choice;
  }
  throw nb::value_error(("unknown choice: " + name).c_str());
}

Resampling resampling_named(const std::string& name) {
  return choose<Resampling>(name, {{"multinomial", Resampling::multinomial},
                                   {"systematic", Resampling::systematic},
                                   {"stratified", Resampling::stratified},
                                   {"residual", Resampling::residual}});
}

// Looks from time to time whether Ctrl-C was pressed, while the GIL is released.
class SignalWatch {
 public:
  // To be called often; `work` says how much was done since the last call, in steps of a nanosecond or so, because even
  // a look at the clock costs more than a small block.
  void check_interrupt(std::size_t work = enough_work) {
    if (is_due(work)) check_signals();
  }

 protected:
  static constexpr std::size_t enough_work = 20'000;

  bool is_due(std::size_t work) {
    work_ += work;
    if (work_ < enough_work) return false;
    work_ = 0;
    return true;
  }

  void check_signals() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_look_ < std::chrono::milliseconds(50)) return;
    last_look_ = now;
    nb::gil_scoped_acquire gil;  // Python runs its signal handlers only here, and only in the main thread
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  std::size_t work_ = 0;
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
};

// Of a sampler, which reports to a monitor and stops when another thread has cancelled the fit.
class Watch : private SignalWatch {
 public:
  Watch(Monitor& monitor, std::size_t island) : monitor_(monitor), island_(island) {}

  void stage(std::size_t n_stages, double ess) {
    monitor_.report(island_, n_stages, ess);
    check_interrupt(enough_work / 8);
  }

  void check_interrupt(std::size_t work = enough_work) {
    if (!is_due(work)) return;
    if (monitor_.is_cancelled()) throw Cancelled();
    try {
      check_signals();
    } catch (...) {
      monitor_.cancel();
      throw;
    }
  }

 private:
  Monitor& monitor_;
  std::size_t island_;
};

// Counts an island as running from its start until it holds the GIL again.
class Presence {
 public:
  explicit Presence(Monitor& monitor) : monitor_(monitor) { monitor_.enter(); }
  ~Presence() { monitor_.leave(); }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  Monitor& monitor_;
};

// A NumPy array that owns memory from malloc.
template <class T>
nb::object own_memory(void* data, std::initializer_list<std::size_t> shape) {
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(static_cast<T*>(data), shape, owner));
}

Placement placement_of(std::size_t n_rows, const Vector<std::uint32_t>& positions) {
  if (positions.size() == 0) return {nullptr, n_rows};
  require(positions.size() == n_rows, "positions must have one entry per row");
  const std::uint32_t* first = positions.data();
  const std::size_t n_left_out = static_cast<std::size_t>(std::count(first, first + n_rows, Placement::left_out));
  const std::size_t n_kept = n_rows - n_left_out;
  require(std::all_of(first, first + n_rows, [&](std::uint32_t p) { return p < n_kept || p == Placement::left_out; }),
          "a position is out of range");
  return {first, n_kept};
}

nb::tuple rank_columns(nb::ndarray<const double, nb::ndim<2>, nb::device::cpu> X, Vector<std::uint32_t> positions) {
  const std::size_t n_rows = X.shape(0), n_features = X.shape(1);
  require(n_rows < std::numeric_limits<std::uint32_t>::max(), "there are too many rows for 32 bits");
  const Placement placement = placement_of(n_rows, positions);
  SignalWatch watch;
  RankedTable table = [&] {
    nb::gil_scoped_release release;
    return RankedTable({X.data(), X.stride(0), X.stride(1), n_rows, n_features}, placement, watch);
  }();
  const std::size_t n_values = table.values.size();
  const std::initializer_list<std::size_t> shape{n_features, placement.n_kept};
  void* ranks = table.release_ranks();
  return nb::make_tuple(table.width() == 1   ? own_memory<std::uint8_t>(ranks, shape)
                        : table.width() == 2 ? own_memory<std::uint16_t>(ranks, shape)
                                             : own_memory<std::uint32_t>(ranks, shape),
                        own_memory<double>(table.values.release(), {n_values}), to_numpy(std::move(table.offsets)));
}

nb::object hash_stretches(Vector<std::uint8_t> bytes, Vector<std::int64_t> offsets) {
  require(offsets.size() > 0 && offsets.data()[0] >= 0 &&
              std::is_sorted(offsets.data(), offsets.data() + offsets.size()) &&
              static_cast<std::size_t>(offsets.data()[offsets.size() - 1]) <= bytes.size(),
          "offsets must increase and lie within the bytes");
  std::vector<std::uint64_t> hashes(offsets.size() - 1);
  {
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const std::int64_t first = offsets.data()[i], last = offsets.data()[i + 1];
      hashes[i] = XxHash64::of(bytes.data() + first, static_cast<std::size_t>(last - first));
    }
  }
  return to_numpy(std::move(hashes));
}

nb::object log_rising(double start, std::size_t n) {
  std::vector<double> table(n + 1);
  fill_log_rising(start, table);
  return to_numpy(std::move(table));
}

// Nodes as rows of bytes, of which Python makes records.
nb::object to_numpy_bytes(std::vector<Node>&& nodes) {
  auto owned = std::make_unique<std::vector<Node>>(std::move(nodes));
  const std::size_t n_nodes = owned->size();
  auto* pointer = reinterpret_cast<std::uint8_t*>(owned->data());
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<Node>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(pointer, {n_nodes, sizeof(Node)}, owner));
}

// The trees of an island or a chain by the names of their arrays.
nb::dict to_dict(Trees&& trees) {
  nb::dict result;
  const std::size_t n_blocks = trees.row_hashes.size();
  const std::size_t n_statistics = trees.statistics.size() / n_blocks;
  result["nodes"] = to_numpy_bytes(std::move(trees.nodes));
  result["roots"] = to_numpy(std::move(trees.roots));
  result["statistics"] = to_numpy(std::move(trees.statistics), {n_blocks, n_statistics});
  result["row_hashes"] = to_numpy(std::move(trees.row_hashes));
  result["weights"] = to_numpy(std::move(trees.weights));
  result["log_likelihoods"] = to_numpy(std::move(trees.log_likelihoods));
  result["log_priors"] = to_numpy(std::move(trees.log_priors));
  return result;
}

// One field of a trace, over all its entries.
template <class T, class Entry, class Field>
nb::object column(const std::vector<Entry>& trace, Field field) {
  std::vector<T> values(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) values[i] = static_cast<T>(field(trace[i]));
  return to_numpy(std::move(values));
}

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

// Several at a time, which the compiler does for neither std::max nor std::max_element.
template <class Rank>
Rank largest_of(const Rank* ranks, std::size_t n) {
  Rank largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = ranks[i] > largest ? ranks[i] : largest;
  return largest;
}

// The data and the model: what every sampler is given. Checked once, so that no index read from it leaves the arrays.
class Problem {
 public:
  struct Model {
    double alpha, beta, concentration;
    bool is_flat;
  };

  Problem(nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu> ranks, Vector<double> values,
          Vector<std::int64_t> offsets, Vector<std::int32_t> labels, std::size_t n_classes, Vector<double> weights,
          Vector<double> class_terms, Vector<double> total_terms, Model model)
      : ranks_(std::move(ranks)),
        values_(std::move(values)),
        offsets_(std::move(offsets)),
        labels_(std::move(labels)),
        weights_(std::move(weights)),
        class_terms_(std::move(class_terms)),
        total_terms_(std::move(total_terms)),
        n_classes_(n_classes),
        model_(model) {
    check_labels();
    check_offsets();
    check_ranks();
    count_identical_rows();
  }

  std::size_t n_classes() const { return n_classes_; }
  std::size_t n_features() const { return ranks_.shape(0); }
  SplitPrior prior() const { return SplitPrior(model_.alpha, model_.beta); }

  // Calls use(table, leaf model) with both of the right type.
  template <class Use>
  auto with_types(Use use) const {
    return with_table([&](const auto& table) { return with_leaf_model(table, use); });
  }

 private:
  std::size_t n_rows() const { return ranks_.shape(1); }

  template <class Rank>
  bool has_ranks() const {
    return ranks_.dtype() == nb::dtype<Rank>();
  }

  template <class Use>
  auto with_table(Use use) const {
    if (has_ranks<std::uint8_t>()) return use(table<std::uint8_t>());
    if (has_ranks<std::uint16_t>()) return use(table<std::uint16_t>());
    return use(table<std::uint32_t>());
  }

  template <class Rank>
  Table<Rank> table() const {
    return {static_cast<const Rank*>(ranks_.data()),
            n_rows(),
            n_features(),
            values_.data(),
            offsets_.data(),
            most_identical_};
  }

  template <class Table, class Use>
  auto with_leaf_model(const Table& table, Use use) const {
    if (weights_.size() > 0) {
      const CategoricalWeights leaf(labels_.data(), weights_.data(), n_classes_, model_.concentration);
      return model_.is_flat ? use(table, Flat(leaf)) : use(table, leaf);
    }
    const CategoricalCounts leaf(labels_.data(), n_classes_, {class_terms_.data(), total_terms_.data()});
    return model_.is_flat ? use(table, Flat(leaf)) : use(table, leaf);
  }

  void check_labels() const {
    require(n_rows() > 0 && n_features() > 0 && n_classes_ > 0, "there must be a row, a feature and a class");
    require(n_rows() < std::numeric_limits<std::uint32_t>::max(), "there are too many rows for 32 bits");
    require(labels_.size() == n_rows(), "labels must have one entry per row");
    const std::int32_t* labels = labels_.data();
    require(std::is_sorted(labels, labels + n_rows()), "the rows must be in the order of their labels");
    require(labels[0] >= 0 && static_cast<std::size_t>(labels[n_rows() - 1]) < n_classes_, "a label is out of range");
    if (weights_.size() > 0) {
      require(weights_.size() == n_rows(), "weights must have one entry per row");
    } else {
      require(class_terms_.size() > n_rows() && total_terms_.size() > n_rows(),
              "the Dirichlet tables must reach the number of rows");
    }
  }

  void check_offsets() const {
    require(offsets_.size() == n_features() + 1, "offsets must have one entry more than there are features");
    require(offsets_.data()[0] == 0 && offsets_.data()[n_features()] == static_cast<std::int64_t>(values_.size()),
            "offsets must go from 0 to the number of values");
    for (std::size_t f = 0; f < n_features(); ++f) {
      require(offsets_.data()[f] < offsets_.data()[f + 1], "every feature must have a value");
    }
  }

  void check_ranks() const {
    require(has_ranks<std::uint8_t>() || has_ranks<std::uint16_t>() || has_ranks<std::uint32_t>(),
            "ranks must be unsigned integers of 8, 16 or 32 bits");
    with_table([this]<class Rank>(const Table<Rank>& table) {
      for (std::size_t f = 0; f < table.n_features; ++f) {
        require(largest_of(table.column(f), table.n_rows) < offsets_.data()[f + 1] - offsets_.data()[f],
                "a rank is out of range");
      }
    });
  }

  void count_identical_rows() {
    most_identical_ = with_table([](const auto& table) { return bound_on_identical_rows(table); });
  }

  nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu> ranks_;
  Vector<double> values_;
  Vector<std::int64_t> offsets_;
  Vector<std::int32_t> labels_;
  Vector<double> weights_;      // empty when every row counts once
  Vector<double> class_terms_;  // the Dirichlet tables, empty when there are weights
  Vector<double> total_terms_;
  std::size_t n_classes_;
  Model model_;
  std::uint32_t most_identical_ = 0;
};

// Runs a sampler with the GIL released, and reports to the monitor.
template <class Sample>
auto run_sampler(const Problem& problem, nb::handle generator, Monitor& monitor, std::size_t island, Sample sample) {
  require(island < monitor.n_islands(), "the monitor does not know this island");
  Random random(bit_generator(generator));
  const Presence presence(monitor);
  nb::gil_scoped_release release;
  Watch watch(monitor, island);
  watch.check_interrupt();
  auto result =
      problem.with_types([&](const auto& table, const auto& leaf) { return sample(table, leaf, random, watch); });
  monitor.finish(island);
  return result;
}

nb::dict run_island(const Problem& problem, std::size_t n_particles, const std::string& proposal,
                    const std::string& expansion, const std::string& priority, const std::string& resampling,
                    double ess_threshold, std::size_t max_stages, nb::object generator, Monitor& monitor,
                    std::size_t island, std::size_t cache_bytes) {
  require(n_particles > 0 && n_particles < std::numeric_limits<std::int32_t>::max(),
          "there must be at least one particle, and fewer than 2^31");
  const FilterSettings settings{
      n_particles,
      choose<Proposal>(
          proposal, {{"prior", Proposal::prior}, {"empirical", Proposal::empirical}, {"optimal", Proposal::optimal}}),
      choose<Expansion>(expansion, {{"node", Expansion::node}, {"layer", Expansion::layer}}),
      choose<Priority>(priority, {{"oldest", Priority::oldest}, {"likelihood", Priority::likelihood}}),
      resampling_named(resampling),
      ess_threshold,
      max_stages,
      cache_bytes};
  return to_dict(
      run_sampler(problem, generator, monitor, island,
                  [&]<class Table, class Leaf>(const Table& table, const Leaf& leaf, Random& random, Watch& watch) {
                    return Filter<Table, Leaf, Watch>(table, leaf, problem.prior(), settings, random, watch).run();
                  }));
}

// Checks that the arrays are a whole tree in preorder, with features that the data have and finite thresholds. Whether
// its cuts divide the rows shows only as it grows (chain_tree.h).
void check_initial_tree(const Vector<std::int32_t>& feature, const Vector<double>& threshold, std::size_t n_features) {
  require(feature.size() == threshold.size(), "the initial tree's arrays differ in length");
  std::size_t n_open = 1;  // nodes that have been announced by their parents and have not come yet
  for (std::size_t i = 0; i < feature.size(); ++i) {
    require(n_open > 0, "the initial tree has nodes after its last leaf");
    --n_open;
    if (feature.data()[i] < 0) continue;
    require(static_cast<std::size_t>(feature.data()[i]) < n_features, "a feature of the initial tree is out of range");
    require(std::isfinite(threshold.data()[i]), "a threshold of the initial tree is not finite");
    n_open += 2;
  }
  require(n_open == 0, "the initial tree ends before its last leaf");
}

// Written so that it does not hold for numbers that are not numbers.
void check_move_weights(const Vector<double>& weights) {
  require(weights.size() == n_moves, "there must be four weights of moves");
  const double* first = weights.data();
  require(std::all_of(first, first + n_moves, [](double w) { return w >= 0.0 && std::isfinite(w); }),
          "the weights of moves must be finite and at least 0");
}

nb::dict run_chain(const Problem& problem, std::size_t n_iterations, std::size_t burn_in, std::size_t thin,
                   Vector<double> move_weights, Vector<std::int32_t> initial_feature, Vector<double> initial_threshold,
                   nb::object generator, Monitor& monitor, std::size_t chain) {
  check_move_weights(move_weights);
  require(thin > 0 && burn_in < n_iterations && thin <= n_iterations - burn_in, "at least one iteration must be kept");
  check_initial_tree(initial_feature, initial_threshold, problem.n_features());
  ChainSettings settings{n_iterations, burn_in, thin, {}};
  std::copy_n(move_weights.data(), n_moves, settings.move_weights.begin());
  return to_dict(
      run_sampler(problem, generator, monitor, chain,
                  [&]<class Table, class Leaf>(const Table& table, const Leaf& leaf, Random& random, Watch& watch) {
                    Chain<Table, Leaf, Watch> chain(table, leaf, problem.prior(), settings, random, watch);
                    chain.start_from(std::span(initial_feature.data(), initial_feature.size()),
                                     std::span(initial_threshold.data(), initial_threshold.size()));
                    return chain.run();
                  }));
}

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const Node> view_nodes(const Bytes& bytes) {
  require(bytes.shape(1) == sizeof(Node), "a node has another number of bytes");
  require(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Node) == 0, "the nodes are not aligned");
  require(bytes.shape(0) < (std::size_t{1} << 31), "there are too many nodes for 32 bits");
  return {reinterpret_cast<const Node*>(bytes.data()), bytes.shape(0)};
}

// Checks that no way down a tree leaves the arrays or has no end: children come before their parent.
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

ForestView view_forest(const Bytes& bytes, const Vector<std::int32_t>& roots, std::size_t n_features,
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

nb::tuple share_nodes(const Bytes& bytes, const Vector<std::uint64_t>& row_hashes) {
  const std::span<const Node> nodes = view_nodes(bytes);
  check_nodes(nodes, row_hashes.size());
  SharedNodes shared = [&] {
    nb::gil_scoped_release release;
    return NodeSharer(nodes, {row_hashes.data(), row_hashes.size()}).share();
  }();
  return nb::make_tuple(to_numpy(std::move(shared.kept)), to_numpy(std::move(shared.number)),
                        to_numpy(std::move(shared.kept_blocks)), to_numpy(std::move(shared.block_number)));
}

// A posterior's trees, compiled once and asked many times.
class Predictor {
 public:
  Predictor(std::size_t n_features, Bytes nodes, Vector<std::int32_t> roots, Matrix<double> leaf_means,
            Vector<double> weights)
      : n_features_(n_features), n_trees_(weights.size()), leaf_means_(std::move(leaf_means)) {
    const ForestView forest = view_forest(nodes, roots, n_features, leaf_means_.shape(0));
    require(leaf_means_.shape(1) > 0, "there must be a class");
    require(weights.size() == forest.roots.size(), "there must be one weight per tree");
    for (std::size_t tree = 0; tree < forest.roots.size(); ++tree) {
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

nb::object apply(Matrix<double> X, Bytes nodes, Vector<std::int32_t> roots) {
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

// The drawing functions, one by one, for the tests of their distributions.
void bind_random(nb::module_& m) {
  m.def(
      "draw_uniform",
      [](nb::object generator, std::size_t n) {
        Random random(bit_generator(generator));
        std::vector<double> draws(n);
        for (double& draw : draws) draw = random.uniform();
        return to_numpy(std::move(draws));
      },
      nb::arg("generator"), nb::arg("n"));
  m.def(
      "draw_below",
      [](nb::object generator, std::uint32_t bound, std::size_t n) {
        require(bound > 0, "the bound must be positive");
        Random random(bit_generator(generator));
        std::vector<std::uint32_t> draws(n);
        for (auto& draw : draws) draw = random.below(bound);
        return to_numpy(std::move(draws));
      },
      nb::arg("generator"), nb::arg("bound"), nb::arg("n"));
  m.def(
      "draw_successes",
      [](nb::object generator, std::uint32_t n_trials, double probability, std::size_t n) {
        Random random(bit_generator(generator));
        std::vector<std::uint32_t> draws(n);
        for (auto& draw : draws) draw = random.successes(n_trials, probability);
        return to_numpy(std::move(draws));
      },
      nb::arg("generator"), nb::arg("n_trials"), nb::arg("probability"), nb::arg("n"));
  m.def(
      "draw_between",
      [](nb::object generator, double low, double high, std::size_t n) {
        Random random(bit_generator(generator));
        std::vector<double> draws(n);
        for (double& draw : draws) draw = random.between(low, high);
        return to_numpy(std::move(draws));
      },
      nb::arg("generator"), nb::arg("low"), nb::arg("high"), nb::arg("n"));
  m.def(
      "draw_categories",
      [](nb::object generator, Vector<double> log_weights, std::size_t n) {
        require(log_weights.size() > 0, "there must be at least one category");
        Random random(bit_generator(generator));
        const Categories categories(std::span(log_weights.data(), log_weights.size()));
        std::vector<std::int64_t> draws(n);
        for (auto& draw : draws) draw = static_cast<std::int64_t>(categories.draw(random));
        return nb::make_tuple(to_numpy(std::move(draws)), categories.log_total());
      },
      nb::arg("generator"), nb::arg("log_weights"), nb::arg("n"));
  m.def(
      "resample",
      [](nb::object generator, Vector<double> weights, const std::string& scheme) {
        require(weights.size() > 0, "there must be at least one particle");
        Random random(bit_generator(generator));
        return to_numpy(
            resample(std::span(weights.data(), weights.size()), weights.size(), resampling_named(scheme), random));
      },
      nb::arg("generator"), nb::arg("weights"), nb::arg("scheme"));
}

}  // namespace

NB_MODULE(_kernel, m) {
  // What is still alive when the process ends is reported by nanobind; after Ctrl-C that can be a monitor that a thread
  // holds, and the report would be noise.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled kernel of particletree: it knows arrays and seeds, nothing above.";
  nb::class_<Monitor>(m, "Monitor", "Progress of the islands of a fit, and the switch that stops them.")
      .def(nb::init<std::size_t>(), nb::arg("n_islands"))
      .def("cancel", &Monitor::cancel)
      .def("n_running", &Monitor::n_running)
      .def("step", &Monitor::step, nb::arg("run"))
      .def("value", &Monitor::value, nb::arg("run"))
      .def("is_done", &Monitor::is_done, nb::arg("run"))
      // Another process gets a monitor of its own: it reports to nobody there, but the island runs all the same.
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(nb::cast<Monitor&>(self).n_islands()));
      });
  m.def("rank_columns", &rank_columns, nb::arg("X"), nb::arg("positions"),
        "Replace each column's values by their ranks among its distinct values; row i goes to place positions[i].\n\n"
        "A position of 2^32 - 1 leaves the row out; without positions all rows stay where they are.");
  m.def("hash_stretches", &hash_stretches, nb::arg("content"), nb::arg("offsets"),
        "The XXH64 hash of each stretch of the bytes, from one offset to the next.");
  m.def("log_rising", &log_rising, nb::arg("start"), nb::arg("n"),
        "log Gamma(start + i) - log Gamma(start) for i = 0..n.");
  m.def("log_gamma", &log_gamma, nb::arg("x"), "log Gamma(x) for positive x.");
  nb::class_<Problem>(m, "Problem", "The data and the model that a sampler is given.")
      .def(
          "__init__",
          [](Problem* self, nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu> ranks,
             Vector<double> values, Vector<std::int64_t> offsets, Vector<std::int32_t> labels, std::size_t n_classes,
             Vector<double> weights, Vector<double> class_terms, Vector<double> total_terms, double concentration,
             bool flat, double alpha, double beta) {
            new (self) Problem(ranks, values, offsets, labels, n_classes, weights, class_terms, total_terms,
                               {alpha, beta, concentration, flat});
          },
          nb::arg("ranks"), nb::arg("values"), nb::arg("offsets"), nb::arg("labels"), nb::arg("n_classes"),
          nb::arg("weights"), nb::arg("class_terms"), nb::arg("total_terms"), nb::arg("concentration"), nb::arg("flat"),
          nb::arg("alpha"), nb::arg("beta"));
  m.def("run_island", &run_island, nb::arg("problem"), nb::arg("n_particles"), nb::arg("proposal"),
        nb::arg("expansion"), nb::arg("priority"), nb::arg("resampling"), nb::arg("ess_threshold"),
        nb::arg("max_stages"), nb::arg("generator"), nb::arg("monitor"), nb::arg("island"), nb::arg("cache_bytes") = 0,
        "Run the particle filter of one island and return its weighted trees in flat arrays. `cache_bytes` bounds what "
        "is kept of blocks to save work; 0 means about as much as the data take. The result does not depend on it.");
  m.def("run_chain", &run_chain, nb::arg("problem"), nb::arg("n_iterations"), nb::arg("burn_in"), nb::arg("thin"),
        nb::arg("move_weights"), nb::arg("initial_feature"), nb::arg("initial_threshold"), nb::arg("generator"),
        nb::arg("monitor"), nb::arg("chain"),
        "Run one Markov chain from an initial tree (in preorder) and return the trees that it visited.");
  nb::class_<Predictor>(m, "Predictor", "Weighted trees, compiled for predictions.")
      .def(nb::init<std::size_t, Bytes, Vector<std::int32_t>, Matrix<double>, Vector<double>>(), nb::arg("n_features"),
           nb::arg("nodes"), nb::arg("roots"), nb::arg("leaf_means"), nb::arg("weights"))
      .def_prop_ro("n_cuts", &Predictor::n_cuts, "How many cuts the trees have, those in common counted once.")
      .def_prop_ro("n_leaves", &Predictor::n_leaves, "How many leaves the trees have, those in common counted once.")
      .def("means", &Predictor::means, nb::arg("X"), "The weighted mean over trees of the means of the rows' leaves.")
      .def("mixtures", &Predictor::mixtures, nb::arg("X"),
           "The kind of each row, and each kind's leaves as weights and blocks; short ones are padded with weight 0.");
  m.def("apply", &apply, nb::arg("X"), nb::arg("nodes"), nb::arg("roots"),
        "The block of the leaf that each row falls into, for each tree.");
  m.def("share_nodes", &share_nodes, nb::arg("nodes"), nb::arg("row_hashes"),
        "Find equal subtrees: the first node of each kind ordered by height, the new number of each node, and the same "
        "of the blocks that they have.");
  bind_random(m);
}
