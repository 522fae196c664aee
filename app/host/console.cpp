#include "app/host/console.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "app/json/printable.hpp"

namespace paceline {

namespace {

struct StandardStream {
    int error = 0;         // the first one; 0: none
    bool cut_off = false;  // the last text was written in part
};

struct Streams {
    std::mutex mutex;
    std::array<StandardStream, 3> of{};  // [descriptor]
};

Streams& streams() {
    static Streams all;
    return all;
}

// Writes text, and removes what has been written from it. Returns the error; 0 if there was none.
int write_whole(int descriptor, std::string_view& text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            pollfd ready{descriptor, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

void say_to(int descriptor, std::string_view text) {
    const std::scoped_lock lock(streams().mutex);
    StandardStream& stream = streams().of.at(static_cast<std::size_t>(descriptor));
    // After a text that was cut off, this one gets a line of its own.
    std::string_view line_end = stream.cut_off ? "\n" : "";
    std::string_view rest = text;
    int error = write_whole(descriptor, line_end);
    if (error == 0) {
        error = write_whole(descriptor, rest);
        stream.cut_off = error != 0 && rest.size() < text.size();
    }
    if (stream.error == 0) stream.error = error;
}

// Finds errors that a file system reports only when a file is closed.
void bring_to_the_disk(int descriptor) {
    const std::scoped_lock lock(streams().mutex);
    const int copy = ::dup(descriptor);
    if (copy < 0 || ::close(copy) == 0) return;
    StandardStream& stream = streams().of.at(static_cast<std::size_t>(descriptor));
    if (stream.error == 0) stream.error = errno;
}

void say_what_failed(int descriptor, std::string_view name, std::FILE* other) {
    const int error = streams().of.at(static_cast<std::size_t>(descriptor)).error;
    if (error == 0 || error == EPIPE) return;
    print(other, fmt::format("paceline: {} cannot be written: {}\n", name, std::strerror(error)));
}

}  // namespace

void prepare_streams() {
    (void)std::signal(SIGPIPE, SIG_IGN);
    (void)std::signal(SIGXFSZ, SIG_IGN);
    // The lowest closed descriptor is the one that open returns. Standard input cannot be read
    // then, the others cannot be written.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void print(std::FILE* stream, std::string_view text) {
    print_raw(stream, printable_lines(text));
}

void print_raw(std::FILE* stream, std::string_view text) {
    say_to(stream == stdout ? STDOUT_FILENO : STDERR_FILENO, text);
}

int code_after_printing(int code) {
    bring_to_the_disk(STDOUT_FILENO);
    bring_to_the_disk(STDERR_FILENO);
    say_what_failed(STDERR_FILENO, "standard error", stdout);
    say_what_failed(STDOUT_FILENO, "standard output", stderr);
    bool failed = false;
    for (const StandardStream& stream : streams().of) failed = failed || stream.error != 0;
    return failed && code == 0 ? 1 : code;
}

}  // namespace paceline
