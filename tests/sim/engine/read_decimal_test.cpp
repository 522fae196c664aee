#include "sim/engine/read_decimal.hpp"

#include <charconv>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include <doctest/doctest.h>

namespace paceline::read_decimal_test {

TEST_CASE(
    "read_decimal: a number ends where std::from_chars ends, for random texts of its alphabet") {
    constexpr std::string_view alphabet = "0123456789.eE+-infatyINFN x";
    std::mt19937_64 random(7);
    std::size_t numbers = 0;
    for (int i = 0; i < 200'000; ++i) {
        std::string text;
        for (std::size_t length = random() % 12; text.size() < length;)
            text += alphabet[random() % alphabet.size()];
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const auto expected = error == std::errc::invalid_argument
                                  ? std::size_t{0}
                                  : static_cast<std::size_t>(end - text.data());
        CAPTURE(text);
        CHECK(extent_of_decimal(text) == expected);
        if (expected > 0) ++numbers;
    }
    CHECK(numbers > 10'000);
}

TEST_CASE("read_decimal: reads values and says what is wrong") {
    double number = 0;
    const auto read = [&](std::string_view text) { return read_decimal(text, number).ec; };
    CHECK(read("1.5e3Gbps") == std::errc{});
    CHECK(number == 1500);
    CHECK(read("-.25") == std::errc{});
    CHECK(number == -0.25);
    CHECK(read("0e-999") == std::errc{});
    CHECK(number == 0);
    CHECK(read("inf") == std::errc{});
    CHECK(number == std::numeric_limits<double>::infinity());
    number = 7;
    for (const std::string_view text : {"", "x", "+1", " 1", ".", "-", "e5"})
        CHECK(read(text) == std::errc::invalid_argument);
    for (const std::string_view text : {"1e999", "1e-999"})
        CHECK(read(text) == std::errc::result_out_of_range);
    CHECK(number == 7);
}

}  // namespace paceline::read_decimal_test
