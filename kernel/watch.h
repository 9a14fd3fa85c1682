// Interrupts: samplers and long passes over the data call these checks regularly, so that they can be stopped.
#pragma once

#include <chrono>
#include <cstddef>

#include "monitor.h"

namespace particletree {

// Checks for signals (Ctrl-C), from time to time.
class SignalWatch {
 public:
  // `check_signals` throws if the work has to stop; it is called about every 50 ms.
  explicit SignalWatch(void (*check_signals)()) : check_signals_(check_signals) {}

  // To be called often; `work` is the amount of work since the last call, in units of about a nanosecond, because even
  // reading the clock costs more than processing a small block.
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
    check_signals_();
  }

 private:
  void (*check_signals_)();
  std::size_t work_ = 0;
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
};

// For a sampler: also reports to a monitor, and stops when another thread has cancelled the fit.
class Watch : private SignalWatch {
 public:
  Watch(void (*check_signals)(), Monitor& monitor, std::size_t island)
      : SignalWatch(check_signals), monitor_(monitor), island_(island) {}

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

// Counts an island as running while it exists.
class Presence {
 public:
  explicit Presence(Monitor& monitor) : monitor_(monitor) { monitor_.enter(); }
  ~Presence() { monitor_.leave(); }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  Monitor& monitor_;
};

}  // namespace particletree
