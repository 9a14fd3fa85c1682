// The random drawing functions, for the tests of their distributions.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../random.h"
#include "../resampling.h"
#include "arrays.h"
#include "choices.h"
#include "module.h"

namespace particletree {

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

}  // namespace particletree
