// Ctrl-C as a stop token: while this lives, the first SIGINT, SIGTERM or SIGHUP requests a stop, and
// the second ends the process at once, as it would have without.
//
// The signals are blocked in the thread that makes this and in those it starts later; a thread of
// its own waits for them. So make it before any other thread.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace paceline {

class Interruption {
  public:
    Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;
    ~Interruption();

    [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
    /// The signal that came; 0: none.
    [[nodiscard]] int signal() const { return signal_; }

  private:
    void listen(const std::stop_token& end);

    sigset_t signals_{};
    sigset_t before_{};
    std::stop_source source_;
    std::atomic<int> signal_ = 0;
    std::jthread listener_;
};

}  // namespace paceline
