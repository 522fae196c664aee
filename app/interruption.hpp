// Ctrl-C as a stop token: while this lives, the first SIGINT, SIGTERM or SIGHUP requests a stop, and
// the second ends the process at once, as it would have without. Not so in a parallel job: there one
// wish to stop may come as several signals, from the launcher and from the batch system, and what is
// slow to end they kill. There all but the first are passed over.
//
// A signal that was ignored before (nohup) stays so. The signals are blocked in the thread that makes this and in those it starts later; a thread of
// its own waits for them. So make it before any other thread.
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

    [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
    /// As if the signal had come; it does not count as the first.
    void interrupt(int signal);
    /// The signal that came; 0: none.
    [[nodiscard]] int signal() const { return signal_; }

  private:
    void listen(const std::stop_token& end);

    SecondSignal second_;
    sigset_t signals_{};
    sigset_t before_{};
    std::stop_source source_;
    std::atomic<int> signal_ = 0;
    std::jthread listener_;
};

}  // namespace paceline
