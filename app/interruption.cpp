#include "app/interruption.hpp"

#include <ctime>

#include <unistd.h>

namespace paceline {

Interruption::Interruption(SecondSignal second) : second_(second) {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    listener_ = std::jthread([this](const std::stop_token& end) { listen(end); });
}

Interruption::~Interruption() {
    listener_ = {};
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::interrupt(int signal) {
    int none = 0;
    signal_.compare_exchange_strong(none, signal);
    source_.request_stop();
}

void Interruption::listen(const std::stop_token& end) {
    constexpr timespec a_while{0, 50'000'000};
    bool first = true;
    while (!end.stop_requested()) {
        const int signal = sigtimedwait(&signals_, nullptr, &a_while);
        if (signal <= 0) continue;
        if (!first && second_ == SecondSignal::ends_at_once) _exit(128 + signal);
        first = false;
        interrupt(signal);
    }
}

}  // namespace paceline
