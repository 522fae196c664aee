#include "app/json/printable.hpp"

#include <doctest/doctest.h>

#include "app/json/config_error.hpp"

namespace paceline::printable_test {
namespace {

TEST_CASE("printable: letters of every language stand as they are") {
    for (const char* text :
         {"", "plain", "a\\b", "\u00e9\u00df", "\u20ac", "\u8abf\u5ea6", "\U0001F600", "\u00a0"})
        CHECK(printable(text) == text);
}

TEST_CASE("printable: what commands a terminal or reorders a line is spelled out") {
    CHECK(printable("\x1b[31m") == "\\x1b[31m");
    CHECK(printable("a\r\n\tb\x7f") == "a\\x0d\\n\\x09b\\x7f");
    CHECK(printable("\u009b31m") == "\\u009b31m");  // the 8-bit form of ESC [
    CHECK(printable("\u202egnp.exe") == "\\u202egnp.exe");
    CHECK(printable("\u2028\u2066\u200f") == "\\u2028\\u2066\\u200f");
    CHECK(printable(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("printable: bytes that are no UTF-8 are spelled out one by one") {
    CHECK(printable("\x9b") == "\\x9b");
    CHECK(printable("a\xff\xfe") == "a\\xff\\xfe");
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");  // a "/" of two bytes
    CHECK(printable("\xe2\x82") == "\\xe2\\x82");  // cut off
    CHECK(printable("\xe2"
                    "a") ==
          "\\xe2"
          "a");
}

TEST_CASE("printable: lines may stay lines") {
    CHECK(printable_lines("a\nb\x1b\n") == "a\nb\\x1b\n");
}

TEST_CASE("one line: a text is cut between characters") {
    CHECK(one_line("ab\u20ac", 5) == "ab\u20ac");
    CHECK(one_line("ab\u20ac", 4) == "ab");
    CHECK(one_line("abc", 2) == "ab");
    CHECK(one_line("\n\n", 3) == "\\n\\");
}

}  // namespace
}  // namespace paceline::printable_test
