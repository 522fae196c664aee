#include "sim/engine/check.hpp"

#include <fmt/format.h>

namespace paceline {

void check_failed(const char* condition, const char* message, const char* file, int line) {
    throw LogicError(fmt::format("{}:{}: {} (violated: {})", file, line, message, condition));
}

}  // namespace paceline
