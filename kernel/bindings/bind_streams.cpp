// Trees that rows extend in place.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../random.h"
#include "../stream/label_leaf.h"
#include "../stream/particle_tree.h"
#include "arrays.h"
#include "module.h"

namespace particletree {
namespace {

using LabelTrees = ParticleTrees<LabelLeaf>;

class BoundParticleTrees {
 public:
  BoundParticleTrees(Vector<double> weights, Vector<std::uint8_t> has_levels, double rho, double rate,
                     std::size_t n_classes, double concentration, std::size_t n_particles)
      : n_features_(weights.size()),
        trees_({{weights.data(), weights.data() + weights.size()},
                {has_levels.data(), has_levels.data() + has_levels.size()},
                rho,
                rate},
               LabelLeaf(n_classes, concentration), n_particles) {}

  std::size_t n_nodes() const { return trees_.n_nodes(); }
  std::size_t n_level_sets() const { return trees_.n_level_sets(); }

  nb::object extend(nb::object generator, Matrix<double> rows, Vector<std::uint32_t> labels, Vector<double> weights,
                    bool adapted) {
    check(rows);
    const std::size_t n_rows = rows.shape(0), n_particles = trees_.n_particles();
    require(labels.size() == n_rows && weights.size() == n_rows, "each row must have a label and a weight");
    for (std::size_t i = 0; i < n_rows; ++i) {
      require(labels.data()[i] < trees_.leaf().n_outputs(), "a label is not the number of a class");
    }
    Random random(bit_generator(generator));
    std::vector<double> log_factors(n_rows * n_particles);
    {
      nb::gil_scoped_release released;
      for (std::size_t i = 0; i < n_rows; ++i) {
        trees_.extend({rows.data() + i * n_features_, n_features_}, {labels.data()[i], weights.data()[i]}, adapted,
                      random, {log_factors.data() + i * n_particles, n_particles});
      }
    }
    return to_numpy(std::move(log_factors), {n_rows, n_particles});
  }

  nb::object means(Matrix<double> rows, Vector<double> weights) {
    check(rows);
    require(weights.size() == trees_.n_particles(), "each particle must have a weight");
    const std::size_t n_rows = rows.shape(0), n_outputs = trees_.leaf().n_outputs();
    std::vector<double> outputs(n_rows * n_outputs, 0.0);
    for (std::size_t i = 0; i < n_rows; ++i) {
      for (std::size_t m = 0; m < trees_.n_particles(); ++m) {
        trees_.add_mean(m, {rows.data() + i * n_features_, n_features_}, weights.data()[m], &outputs[i * n_outputs]);
      }
    }
    return to_numpy(std::move(outputs), {n_rows, n_outputs});
  }

  void resample(Vector<std::int64_t> survivors) { trees_.resample({survivors.data(), survivors.size()}); }

  // The tree of a particle: a leaf is (mass, statistics), a split (mass, rule, left, right), the tree of no rows None.
  nb::object tree(std::size_t particle) const {
    require(particle < trees_.n_particles(), "there is no such particle");
    return trees_.root(particle) == LabelTrees::none ? nb::none() : describe(trees_.root(particle));
  }

 private:
  void check(const Matrix<double>& rows) const {
    require(rows.shape(1) == n_features_, "a row must have a value for each feature");
  }

  nb::object describe(std::uint32_t node) const {
    const LabelTrees::Head& head = trees_.head(node);
    if (head.is_leaf()) {
      nb::list statistics;
      for (const double each : trees_.statistics(node)) statistics.append(each);
      return nb::make_tuple(head.mass, statistics);
    }
    const StreamRule& rule = head.rule;
    nb::object told = nb::make_tuple(rule.feature, rule.threshold, rule.goes_left);
    if (rule.is_of_levels) {
      nb::list one, others;
      one.append(rule.level);
      for (const std::uint32_t level : trees_.level_sets()[rule.others]) others.append(level);
      told = rule.goes_left ? nb::make_tuple(rule.feature, one, others, rule.seed)
                            : nb::make_tuple(rule.feature, others, one, rule.seed);
    }
    return nb::make_tuple(head.mass, told, describe(head.children[0]), describe(head.children[1]));
  }

  std::size_t n_features_;
  LabelTrees trees_;
};

}  // namespace

void bind_streams(nb::module_& m) {
  nb::class_<BoundParticleTrees>(m, "ParticleTrees", "The trees of the particles of a stream of labels.")
      .def(nb::init<Vector<double>, Vector<std::uint8_t>, double, double, std::size_t, double, std::size_t>(),
           nb::arg("weights"), nb::arg("has_levels"), nb::arg("rho"), nb::arg("rate"), nb::arg("n_classes"),
           nb::arg("concentration"), nb::arg("n_particles"))
      .def_prop_ro("n_nodes", &BoundParticleTrees::n_nodes)
      .def_prop_ro("n_level_sets", &BoundParticleTrees::n_level_sets)
      .def("extend", &BoundParticleTrees::extend, nb::arg("generator"), nb::arg("rows"), nb::arg("labels"),
           nb::arg("weights"), nb::arg("adapted") = true)
      .def("means", &BoundParticleTrees::means, nb::arg("rows"), nb::arg("weights"))
      .def("resample", &BoundParticleTrees::resample, nb::arg("survivors"))
      .def("tree", &BoundParticleTrees::tree, nb::arg("particle"));
}

}  // namespace particletree
