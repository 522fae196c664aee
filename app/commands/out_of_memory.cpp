#include "app/commands/out_of_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>

#include <unistd.h>

#include "app/commands/exit_codes.hpp"

namespace paceline {

namespace {

std::terminate_handler handler_before = nullptr;
std::atomic_flag is_logged = ATOMIC_FLAG_INIT;  // several threads may run out of memory at once

void write_line(const char* begin, const char* text) {
    for (const char* part : {begin, text, "\n"})
        if (write(STDERR_FILENO, part, std::strlen(part)) < 0) return;
}

// Allocates nothing. Other threads may hold the locks of the standard streams, so that the line
// goes to the descriptor and the program ends without flushing.
[[noreturn]] void on_terminate() {
    if (std::current_exception()) {  // without one, `throw` would come back here
        try {
            throw;
        } catch (const std::bad_alloc&) {
            while (is_logged.test_and_set()) pause();  // for the thread that logs it
            write_line("paceline: ", out_of_memory_text);
            _exit(point_failed);
        } catch (...) {  // NOLINT(bugprone-empty-catch): the handler before logs it
        }
    }
    if (handler_before != nullptr) handler_before();
    std::abort();
}

}  // namespace

void tell_memory_that_runs_out_in_unwinding() {
    handler_before = std::set_terminate(on_terminate);
}

}  // namespace paceline
