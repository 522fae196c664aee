// Assertions for programming errors, in every build: PACELINE_CHECK(condition, "what must hold").
// A failed check throws LogicError with file and line; only main and tests catch it. A user's
// mistake is never a failed check (see app/config_error.hpp), and what the simulated world does
// never an exception.
#pragma once

#include <stdexcept>
#include <string>

namespace paceline {

struct LogicError : std::logic_error {
    using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const char* message, const char* file,
                               int line);

}  // namespace paceline

#define PACELINE_CHECK(condition, message)                                     \
    do {                                                                       \
        if (!(condition)) [[unlikely]]                                         \
            ::paceline::check_failed(#condition, message, __FILE__, __LINE__); \
    } while (false)
