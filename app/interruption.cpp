#include "app/interruption.hpp"

#include <ctime>

#include <unistd.h>

namespace paceline {

Interruption::Interruption() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    listener_ = std::jthread([this](const std::stop_token& end) { listen(end); });
}

Interruption::~Interruption() {
    listener_ = {};
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::listen(const std::stop_token& end) {
    constexpr timespec a_while{0, 50'000'000};
    while (!end.stop_requested()) {
        const int signal = sigtimedwait(&signals_, nullptr, &a_while);
        if (signal <= 0) continue;
        if (signal_ != 0) _exit(128 + signal);
        signal_ = signal;
        source_.request_stop();
    }
}

}  // namespace paceline
