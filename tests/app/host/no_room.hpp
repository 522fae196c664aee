// A disk that is full, as far as a test can have one: no file of this process can grow.
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace paceline {

// No file can grow while this object lives.
class NoRoom {
  public:
    NoRoom() {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit none{0, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &none);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    NoRoom(const NoRoom&) = delete;
    NoRoom& operator=(const NoRoom&) = delete;
    ~NoRoom() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        (void)std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*handler_)(int);
};

}  // namespace paceline
