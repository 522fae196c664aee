#include "app/host/terminal.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace paceline {

namespace {

std::string in_color(std::FILE* stream, int color, std::string_view text) {
    return shows_color(stream) ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : std::string(text);
}

}  // namespace

bool shows_color(std::FILE* stream) {
    const char* const no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
    const char* const terminal = std::getenv("TERM");      // NOLINT(concurrency-mt-unsafe)
    if (no_color != nullptr && *no_color != '\0') return false;
    if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
    return isatty(fileno(stream)) != 0;
}

std::string red(std::FILE* stream, std::string_view text) {
    return in_color(stream, 31, text);
}

std::string yellow(std::FILE* stream, std::string_view text) {
    return in_color(stream, 33, text);
}

}  // namespace paceline
