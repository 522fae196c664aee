#include "app/json/printable.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace paceline {

namespace {

struct Character {
    std::size_t bytes;
    char32_t code;
    bool valid;
};

// Returns how many bytes a character has that begins with this one above 0x7F; 0: none does.
std::size_t bytes_of_character(unsigned char lead) {
    if (lead < 0xC2 || lead > 0xF4) return 0;
    if (lead < 0xE0) return 2;
    return lead < 0xF0 ? 3 : 4;
}

// Returns the first character of a text that is not empty. A byte that begins no whole character of
// UTF-8 counts as an invalid character of its own.
Character first_character(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {1, lead, true};
    const std::size_t bytes = bytes_of_character(lead);
    if (bytes == 0 || text.size() < bytes) return {1, lead, false};
    char32_t code = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return {1, lead, false};
        code = (code << 6U) | (byte(i) & 0x3FU);
    }
    return {bytes, code, true};
}

bool is_control(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

bool is_plain(char c) {
    return c >= 0x20 && c < 0x7F;
}

std::string spelled(const Character& c) {
    if (c.code == '\n') return "\\n";
    const auto number = static_cast<unsigned>(c.code);
    return c.valid && number >= 0x80 ? fmt::format("\\u{:04x}", number)
                                     : fmt::format("\\x{:02x}", number);
}

std::string without_controls(std::string_view text, bool lines) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const auto plain =
            static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
        shown += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        const Character c = first_character(text);
        const bool stays = c.valid && (!is_control(c.code) || (lines && c.code == '\n'));
        shown += stays ? std::string(text.substr(0, c.bytes)) : spelled(c);
        text.remove_prefix(c.bytes);
    }
    return shown;
}

}  // namespace

std::string printable(std::string_view text) {
    return without_controls(text, false);
}

std::string printable_lines(std::string_view text) {
    return without_controls(text, true);
}

}  // namespace paceline
