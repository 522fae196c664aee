#include "app/interruption.hpp"

#include <unistd.h>

namespace paceline {

Interruption::Interruption(SecondSignal second) : second_(second) {
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
        if (!first && second_ == SecondSignal::ends_at_once) _exit(128 + signal);
        first = false;
        interrupt(signal);
    }
}

}  // namespace paceline
