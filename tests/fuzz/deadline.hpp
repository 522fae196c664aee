// Stops a run from another thread when its time of wall clock is up.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "sim/engine/simulation.hpp"

namespace paceline {

class Deadline {
  public:
    Deadline(Progress& progress, double seconds)
        : watcher_([&progress, seconds, this](const std::stop_token& stop) {
              std::unique_lock lock(mutex_);
              wake_.wait_for(lock, stop, std::chrono::duration<double>(seconds),
                             [] { return false; });
              if (!stop.stop_requested()) progress.stop = true;
          }) {}

  private:
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread watcher_;  // declared last: it uses the others
};

}  // namespace paceline
