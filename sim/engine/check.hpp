// Assertions for programming errors, active in every build: PACELINE_CHECK(condition, "what must
// hold").
//
// A failed check throws LogicError with file and line; only main and the tests catch it. User
// errors never fail a check: they throw ConfigError (app/json/config_error.hpp). Simulated outcomes
// are returned as values, never thrown.
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
