#include "analysis/measures/csv.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::analysis_csv_test {
namespace {

TEST_CASE("csv: plain text stands as it is") {
    CHECK(csv_field("resnet-50") == "resnet-50");
    CHECK(csv_field("two words") == "two words");
    CHECK(csv_field("").empty());
}

TEST_CASE("csv: a field with a comma, a quote or a line end is quoted, and its quotes doubled") {
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("say \"no\"") == "\"say \"\"no\"\"\"");
    CHECK(csv_field("two\nlines") == "\"two\nlines\"");
    CHECK(csv_field("carriage\rreturn") == "\"carriage\rreturn\"");
    CHECK(csv_field("\"") == "\"\"\"\"");
}

TEST_CASE("csv: a text that a spreadsheet would run is marked as a text") {
    CHECK(csv_field("=1+1") == "\"'=1+1\"");
    CHECK(csv_field("+x") == "\"'+x\"");
    CHECK(csv_field("-5ms") == "\"'-5ms\"");
    CHECK(csv_field("@SUM(A1)") == "\"'@SUM(A1)\"");
    CHECK(csv_field("\t=1") == "\"'\t=1\"");
    CHECK(csv_field("=\"a\",b") == "\"'=\"\"a\"\",b\"");
    CHECK(csv_field("'=1") == "\"''=1\"");
}

TEST_CASE("csv: a number with a sign, and a sign inside a text, stand as they are") {
    for (const char* text : {"-3", "+3", "-1e-3", "-inf", "-0.5", "a=b", "top-k", "'", "it's", ""})
        CHECK(csv_field(text) == text);
}

TEST_CASE("csv: rows are read as RFC 4180 says") {
    using Rows = std::vector<std::vector<std::string>>;
    CHECK(csv_rows("").empty());
    CHECK(csv_rows("a,b\n1,2\n") == Rows{{"a", "b"}, {"1", "2"}});
    CHECK(csv_rows("a,b\n1,") == Rows{{"a", "b"}, {"1", ""}});
    CHECK(csv_rows(",\n\nx\n") == Rows{{"", ""}, {""}, {"x"}});
    CHECK(csv_rows("\"a,b\",\"say \"\"no\"\"\"\n\"two\nlines\"\n") ==
          Rows{{"a,b", "say \"no\""}, {"two\nlines"}});
    CHECK(csv_rows("\"'=1+1\",it's,'\n") == Rows{{"=1+1", "it's", "'"}});
}

TEST_CASE("csv, property: every text and every row reads back as it was written") {
    std::mt19937_64 rng(2);
    constexpr std::string_view letters = "ab,\"\n\r'=+-@\t1. ";
    const auto up_to = [&](std::size_t most) { return static_cast<std::size_t>(rng() % most); };
    for (int i = 0; i < 5'000; ++i) {
        std::vector<std::vector<std::string>> rows(1 + up_to(4));
        std::string text;
        for (std::vector<std::string>& row : rows) {
            row.resize(1 + up_to(4));
            std::vector<std::string> fields;
            for (std::string& field : row) {
                for (std::size_t length = up_to(6); length > 0; --length)
                    field += letters[up_to(letters.size())];
                fields.push_back(csv_field(field));
            }
            text += csv_row(fields);
        }
        CAPTURE(text);
        CHECK(csv_rows(text) == rows);
    }
}

TEST_CASE("csv: a number has its shortest form") {
    CHECK(csv_field(0.1) == "0.1");
    CHECK(csv_field(64.0) == "64");
    CHECK(csv_field(-2.5) == "-2.5");
    CHECK(csv_field(1e-7) == "1e-07");
    CHECK(csv_field(1.0 / 3) == "0.3333333333333333");
}

TEST_CASE("csv, property: a number reads back as the same double") {
    std::mt19937_64 rng(1);
    for (int i = 0; i < 20'000; ++i) {
        const auto number = std::bit_cast<double>(std::uint64_t{rng()});
        if (!std::isfinite(number)) continue;
        CAPTURE(number);

        const std::string text = csv_field(number);

        const double back = std::strtod(text.c_str(), nullptr);
        REQUIRE(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(number));
    }
}

TEST_CASE("csv: what has no value is an empty field") {
    CHECK(csv_field(std::optional<double>()).empty());
    CHECK(csv_field(std::optional<double>(0.25)) == "0.25");
    CHECK(csv_field(std::optional<double>(0.0)) == "0");
}

TEST_CASE("csv: a row is its fields joined by commas and ended by one line feed") {
    const std::vector<std::string> fields{"dense", csv_field("a,b"), "", "3"};
    const std::vector<std::string> one{"alone"};

    CHECK(csv_row(fields) == "dense,\"a,b\",,3\n");
    CHECK(csv_row(one) == "alone\n");
}

}  // namespace
}  // namespace paceline::analysis_csv_test
