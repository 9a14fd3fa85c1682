// The kernel's face towards Python: arrays in, arrays out, the GIL released while it works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filter.h"
#include "log_gamma.h"
#include "monitor.h"
#include "predict.h"
#include "ranking.h"

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

// Looks up from time to time: has somebody cancelled the fit, or pressed Ctrl-C?
class Watch {
 public:
  Watch(Monitor& monitor, std::size_t island) : monitor_(monitor), island_(island) {}

  void stage(std::size_t n_stages, double ess) {
    monitor_.report(island_, n_stages, ess);
    breathe();
  }

  void breathe() {
    if (monitor_.is_cancelled()) throw Cancelled();
    const auto now = std::chrono::steady_clock::now();
    if (now - last_look_ < std::chrono::milliseconds(50)) return;
    last_look_ = now;
    nb::gil_scoped_acquire gil;  // Python runs its signal handlers only here, and only in the main thread
    if (PyErr_CheckSignals() != 0) {
      monitor_.cancel();
      throw nb::python_error();
    }
  }

 private:
  Monitor& monitor_;
  std::size_t island_;
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
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

nb::tuple rank_columns(nb::ndarray<const double, nb::ndim<2>, nb::device::cpu> X) {
  const std::size_t n_rows = X.shape(0), n_features = X.shape(1);
  std::vector<double> values;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint16_t> narrow(n_rows * n_features);
  std::vector<std::uint32_t> wide;  // used from the first feature on that has too many values for 16 bits
  {
    nb::gil_scoped_release release;
    ColumnRanker ranker(n_rows);
    std::vector<std::uint32_t> ranks(n_rows);
    for (std::size_t f = 0; f < n_features; ++f) {
      const double* column = X.data() + static_cast<std::ptrdiff_t>(f) * X.stride(1);
      const std::size_t n_distinct = ranker.rank(column, X.stride(0), values, ranks.data());
      offsets.push_back(static_cast<std::int64_t>(values.size()));
      if (wide.empty() && n_distinct > 65536) {
        wide.resize(n_rows * n_features);
        std::copy_n(narrow.begin(), f * n_rows, wide.begin());
        narrow = {};
      }
      const auto start = static_cast<std::ptrdiff_t>(f * n_rows);
      if (wide.empty()) {
        for (std::size_t row = 0; row < n_rows; ++row)
          narrow[f * n_rows + row] = static_cast<std::uint16_t>(ranks[row]);
      } else {
        std::copy(ranks.begin(), ranks.end(), wide.begin() + start);
      }
    }
  }
  nb::object ranks = wide.empty() ? to_numpy(std::move(narrow), {n_features, n_rows})
                                  : to_numpy(std::move(wide), {n_features, n_rows});
  return nb::make_tuple(ranks, to_numpy(std::move(values)), to_numpy(std::move(offsets)));
}

nb::object log_rising(double start, std::size_t n) {
  std::vector<double> table(n + 1);
  fill_log_rising(start, table);
  return to_numpy(std::move(table));
}

nb::dict to_dict(Island&& island, std::size_t n_classes) {
  nb::dict result;
  const std::size_t n_blocks = island.counts.size() / n_classes;
  std::vector<double> ess, log_evidence;
  std::vector<std::uint8_t> resampled;
  std::vector<std::uint32_t> n_considered;
  for (const StageTrace& stage : island.trace) {
    ess.push_back(stage.ess);
    resampled.push_back(stage.resampled);
    n_considered.push_back(stage.n_blocks);
    log_evidence.push_back(stage.log_evidence);
  }
  result["offsets"] = to_numpy(std::move(island.offsets));
  result["feature"] = to_numpy(std::move(island.feature));
  result["threshold"] = to_numpy(std::move(island.threshold));
  result["left"] = to_numpy(std::move(island.left));
  result["right"] = to_numpy(std::move(island.right));
  result["block"] = to_numpy(std::move(island.block));
  result["counts"] = to_numpy(std::move(island.counts), {n_blocks, n_classes});
  result["weights"] = to_numpy(std::move(island.weights));
  result["log_likelihoods"] = to_numpy(std::move(island.log_likelihoods));
  result["log_priors"] = to_numpy(std::move(island.log_priors));
  result["log_evidence"] = island.log_evidence;
  result["truncated"] = island.truncated;
  result["trace_ess"] = to_numpy(std::move(ess));
  result["trace_resampled"] = to_numpy(std::move(resampled));
  result["trace_n_blocks"] = to_numpy(std::move(n_considered));
  result["trace_log_evidence"] = to_numpy(std::move(log_evidence));
  return result;
}

// The labels of the training data and what the leaf model needs to know of them.
struct Labels {
  Vector<std::int32_t> labels;
  std::size_t n_classes;
  double concentration;
  Vector<double> class_terms;  // the Dirichlet tables, empty when there are weights
  Vector<double> total_terms;
  Vector<double> weights;  // empty when every row counts once
  bool is_flat;

  // Calls use(leaf model) with the model of the right type.
  template <class Use>
  Island with_leaf_model(Use use) const {
    if (weights.size() > 0) {
      const CategoricalWeights leaf(labels.data(), weights.data(), n_classes, concentration);
      return is_flat ? use(Flat(leaf)) : use(leaf);
    }
    const CategoricalCounts leaf(labels.data(), n_classes, {class_terms.data(), total_terms.data()});
    return is_flat ? use(Flat(leaf)) : use(leaf);
  }

  void check(std::size_t n_rows) const {
    require(n_rows > 0 && n_classes > 0, "there must be at least one row and one class");
    require(labels.size() == n_rows, "labels must have one entry per row");
    for (std::size_t i = 0; i < n_rows; ++i) {
      require(labels.data()[i] >= 0 && static_cast<std::size_t>(labels.data()[i]) < n_classes,
              "a label is out of range");
    }
    if (weights.size() > 0) {
      require(weights.size() == n_rows, "weights must have one entry per row");
    } else {
      require(class_terms.size() > n_rows && total_terms.size() > n_rows,
              "the Dirichlet tables must reach the number of rows");
    }
  }
};

template <class Rank>
nb::dict run_island(Matrix<Rank> ranks, Vector<double> values, Vector<std::int64_t> offsets, const Labels& labels,
                    double alpha, double beta, const FilterSettings& settings, nb::handle generator, Monitor& monitor,
                    std::size_t island) {
  const Table<Rank> table{ranks.data(), ranks.shape(1), ranks.shape(0), values.data(), offsets.data()};
  labels.check(table.n_rows);
  require(offsets.size() == table.n_features + 1, "offsets must have one entry more than there are features");
  require(island < monitor.n_islands(), "the monitor does not know this island");
  Random random(bit_generator(generator));
  Island result;
  const Presence presence(monitor);
  {
    nb::gil_scoped_release release;
    Watch watch(monitor, island);
    watch.breathe();
    result = labels.with_leaf_model([&]<class Leaf>(const Leaf& leaf) {
      return Filter<Table<Rank>, Leaf, Watch>(table, leaf, SplitPrior(alpha, beta), settings, random, watch).run();
    });
    monitor.finish(island);
  }
  return to_dict(std::move(result), labels.n_classes);
}

template <class Rank>
void bind_run_island(nb::module_& m) {
  m.def(
      "run_island",
      [](Matrix<Rank> ranks, Vector<double> values, Vector<std::int64_t> offsets, Vector<std::int32_t> labels,
         std::size_t n_classes, Vector<double> weights, Vector<double> class_terms, Vector<double> total_terms,
         double concentration, bool flat, double alpha, double beta, std::size_t n_particles,
         const std::string& proposal, const std::string& expansion, const std::string& priority,
         const std::string& resampling, double ess_threshold, std::size_t max_stages, nb::object generator,
         Monitor& monitor, std::size_t island) {
        require(n_particles > 0, "there must be at least one particle");
        const FilterSettings settings{
            n_particles,
            choose<Proposal>(
                proposal,
                {{"prior", Proposal::prior}, {"empirical", Proposal::empirical}, {"optimal", Proposal::optimal}}),
            choose<Expansion>(expansion, {{"node", Expansion::node}, {"layer", Expansion::layer}}),
            choose<Priority>(priority, {{"oldest", Priority::oldest}, {"likelihood", Priority::likelihood}}),
            resampling_named(resampling),
            ess_threshold,
            max_stages};
        return run_island<Rank>(ranks, values, offsets,
                                Labels{labels, n_classes, concentration, class_terms, total_terms, weights, flat},
                                alpha, beta, settings, generator, monitor, island);
      },
      nb::arg("ranks"), nb::arg("values"), nb::arg("offsets"), nb::arg("labels"), nb::arg("n_classes"),
      nb::arg("weights"), nb::arg("class_terms"), nb::arg("total_terms"), nb::arg("concentration"), nb::arg("flat"),
      nb::arg("alpha"), nb::arg("beta"), nb::arg("n_particles"), nb::arg("proposal"), nb::arg("expansion"),
      nb::arg("priority"), nb::arg("resampling"), nb::arg("ess_threshold"), nb::arg("max_stages"), nb::arg("generator"),
      nb::arg("monitor"), nb::arg("island"),
      "Run the particle filter of one island on ranked data and return its weighted trees in flat arrays.");
}

ForestView view_forest(const Vector<std::int64_t>& offsets, const Vector<std::int32_t>& feature,
                       const Vector<double>& threshold, const Vector<std::int32_t>& left,
                       const Vector<std::int32_t>& right, const Vector<std::int32_t>& block) {
  require(offsets.size() > 0, "offsets must not be empty");
  const auto n_nodes = static_cast<std::size_t>(offsets.data()[offsets.size() - 1]);
  require(feature.size() == n_nodes && threshold.size() == n_nodes && left.size() == n_nodes &&
              right.size() == n_nodes && block.size() == n_nodes,
          "the arrays of nodes differ in length");
  return {offsets.data(), offsets.size() - 1, feature.data(), threshold.data(),
          left.data(),    right.data(),       block.data()};
}

nb::object predict_proba(Matrix<double> X, Vector<std::int64_t> offsets, Vector<std::int32_t> feature,
                         Vector<double> threshold, Vector<std::int32_t> left, Vector<std::int32_t> right,
                         Vector<std::int32_t> block, Matrix<double> leaf_means, Vector<double> weights) {
  const ForestView forest = view_forest(offsets, feature, threshold, left, right, block);
  require(weights.size() == forest.n_trees, "there must be one weight per tree");
  const std::size_t n_rows = X.shape(0), width = leaf_means.shape(1);
  std::vector<double> out(n_rows * width, 0.0);
  {
    nb::gil_scoped_release release;
    weighted_mean(forest, weights.data(), X.data(), n_rows, X.shape(1), leaf_means.data(), width, out.data());
  }
  return to_numpy(std::move(out), {n_rows, width});
}

nb::object apply(Matrix<double> X, Vector<std::int64_t> offsets, Vector<std::int32_t> feature, Vector<double> threshold,
                 Vector<std::int32_t> left, Vector<std::int32_t> right, Vector<std::int32_t> block) {
  const ForestView forest = view_forest(offsets, feature, threshold, left, right, block);
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
        return to_numpy(resample(std::span(weights.data(), weights.size()), resampling_named(scheme), random));
      },
      nb::arg("generator"), nb::arg("weights"), nb::arg("scheme"));
}

}  // namespace

NB_MODULE(_kernel, m) {
  m.doc() = "The compiled kernel of particletree: it knows arrays and seeds, nothing above.";
  nb::class_<Monitor>(m, "Monitor", "Progress of the islands of a fit, and the switch that stops them.")
      .def(nb::init<std::size_t>(), nb::arg("n_islands"))
      .def("cancel", &Monitor::cancel)
      .def("n_running", &Monitor::n_running)
      .def("stage", &Monitor::stage, nb::arg("island"))
      .def("ess", &Monitor::ess, nb::arg("island"))
      .def("is_done", &Monitor::is_done, nb::arg("island"))
      // Another process gets a monitor of its own: it reports to nobody there, but the island runs all the same.
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(nb::cast<Monitor&>(self).n_islands()));
      });
  m.def("rank_columns", &rank_columns, nb::arg("X"),
        "Replace each column's values by their ranks among its distinct values.");
  m.def("log_rising", &log_rising, nb::arg("start"), nb::arg("n"),
        "log Gamma(start + i) - log Gamma(start) for i = 0..n.");
  m.def("log_gamma", &log_gamma, nb::arg("x"), "log Gamma(x) for positive x.");
  bind_run_island<std::uint16_t>(m);
  bind_run_island<std::uint32_t>(m);
  m.def("predict_proba", &predict_proba, nb::arg("X"), nb::arg("offsets"), nb::arg("feature"), nb::arg("threshold"),
        nb::arg("left"), nb::arg("right"), nb::arg("block"), nb::arg("leaf_means"), nb::arg("weights"),
        "The weighted mean over trees of the values of the leaves that rows fall into.");
  m.def("apply", &apply, nb::arg("X"), nb::arg("offsets"), nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
        nb::arg("right"), nb::arg("block"), "The block of the leaf that each row falls into, for each tree.");
  bind_random(m);
}
