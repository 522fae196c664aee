#include "app/host/interruption.hpp"

#include <unistd.h>

namespace paceline {

namespace {

constexpr int waking = SIGUSR2;  // wakes the listener so that it ends

// Returns whether a signal is ignored, as nohup and shells arrange for background processes.
bool is_ignored(int signal) {
    struct sigaction before{};
    return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace

Interruption::Interruption(SecondSignal second) : second_(second) {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(signal)) sigaddset(&signals_, signal);
    sigaddset(&signals_, waking);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    listener_ = std::jthread([this](const std::stop_token& end) { listen(end); });
}

Interruption::~Interruption() {
    listener_.request_stop();
    pthread_kill(listener_.native_handle(), waking);
    listener_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::interrupt(int signal) {
    int none = 0;
    signal_.compare_exchange_strong(none, signal);
    source_.request_stop();
}

void Interruption::listen(const std::stop_token& end) {
    bool first = true;
    while (true) {
        int signal = 0;
        sigwait(&signals_, &signal);
        if (end.stop_requested()) return;
        if (signal == waking) continue;
        if (!holds_) _exit(128 + signal);
        if (!first && second_ == SecondSignal::ends_at_once) _exit(128 + signal);
        first = false;
        interrupt(signal);
    }
}

}  // namespace paceline
