// Turns Ctrl-C into a stop token. Until hold() is called there is nothing to lose, so SIGINT,
// SIGTERM or SIGHUP ends the process at once, whatever it reads or waits for. After that, the first
// signal requests a stop. The second ends the process at once, as it would have without this
// object. In a parallel job, one request to stop may arrive as several signals, from the launcher
// and from the batch system, and both kill processes that are slow to end. There, all signals but
// the first are ignored.
//
// A signal that was ignored before (nohup) stays ignored. The signals are blocked in the thread
// that creates this object and in the threads that it starts later; a dedicated thread waits for
// them. Create this object before any other thread.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <stop_token>
#include <thread>

namespace paceline {

enum class SecondSignal : std::uint8_t { ends_at_once, is_ignored };

class Interruption {
  public:
    explicit Interruption(SecondSignal second = SecondSignal::ends_at_once);
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;
    ~Interruption();

    /// From now on, the first signal requests a stop. Thread-safe.
    void hold() { holds_ = true; }

    [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
    /// Acts as if the signal had arrived. It does not count as the first one.
    void interrupt(int signal);
    /// Returns the signal that arrived; 0 if none.
    [[nodiscard]] int signal() const { return signal_; }

  private:
    void listen(const std::stop_token& end);

    SecondSignal second_;
    sigset_t signals_{};
    sigset_t before_{};
    std::stop_source source_;
    std::atomic<int> signal_ = 0;
    std::atomic<bool> holds_ = false;
    std::jthread listener_;
};

}  // namespace paceline
