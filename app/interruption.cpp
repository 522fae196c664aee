#include "app/interruption.hpp"

#include <unistd.h>

namespace paceline {

Interruption::Interruption() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    listener_ = std::jthread([this](const std::stop_token& end) { listen(end); });
}

Interruption::~Interruption() {
    listener_.request_stop();
    pthread_kill(listener_.native_handle(), SIGHUP);  // only to wake it
    listener_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::listen(const std::stop_token& end) {
    while (true) {
        int signal = 0;
        sigwait(&signals_, &signal);
        if (end.stop_requested()) return;
        if (signal_ != 0) _exit(128 + signal);
        signal_ = signal;
        source_.request_stop();
    }
}

}  // namespace paceline
