// Progress of running islands, and their cancellation, from other threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace particletree {

struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("the fit was cancelled") {}
};

// One for all islands of a fit; thread-safe.
class Monitor {
 public:
  explicit Monitor(std::size_t n_islands) : n_islands_(n_islands), islands_(new Progress[n_islands]) {}

  std::size_t n_islands() const { return n_islands_; }
  void cancel() { cancelled_ = true; }
  bool is_cancelled() const { return cancelled_; }

  // The meaning of the step and the value is up to the sampler.
  void report(std::size_t island, std::uint64_t step, double value) {
    islands_[island].step = step;
    islands_[island].value = value;
  }
  void finish(std::size_t island) { islands_[island].done = true; }

  // Counts the islands that are still running: a cancelled fit waits until there are none.
  void enter() { ++n_running_; }
  void leave() { --n_running_; }
  std::size_t n_running() const { return n_running_; }

  std::uint64_t step(std::size_t island) const { return at(island).step; }
  double value(std::size_t island) const { return at(island).value; }
  bool is_done(std::size_t island) const { return at(island).done; }

 private:
  struct Progress {
    std::atomic<std::uint64_t> step{0};
    std::atomic<double> value{0.0};
    std::atomic<bool> done{false};
  };

  const Progress& at(std::size_t island) const {
    if (island >= n_islands_) throw std::out_of_range("the monitor does not know this island");
    return islands_[island];
  }

  std::size_t n_islands_;
  std::unique_ptr<Progress[]> islands_;
  std::atomic<bool> cancelled_{false};
  std::atomic<std::size_t> n_running_{0};
};

}  // namespace particletree
