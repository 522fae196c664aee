#include "app/json/json_file.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"

namespace paceline::json_file_test {
namespace {

std::string problem_of(std::string_view text) {
    try {
        (void)parse_json(text, "file.json");
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no problem";
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string nested(int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
}

TEST_CASE("json file: keys keep the order of the file") {
    const Json json = parse_json(R"({"nodes": 1, "fabric": 2, "algorithm": 3})", "file.json");

    CHECK(json.dump() == R"({"nodes":1,"fabric":2,"algorithm":3})");
}

TEST_CASE("json file: invalid JSON is reported by line and column") {
    CHECK(problem_of("{\n  \"a\": 1,\n}")
              .starts_with("file.json: is not JSON at line 3, column 1: "));
    CHECK(problem_of("nonsense").starts_with("file.json: is not JSON at line 1, column "));
    CHECK(problem_of("").starts_with("file.json: is not JSON at line 1, column 1: "));
}

TEST_CASE("json file: lines end with a line feed, whether or not a carriage return stands before") {
    CHECK(contains(problem_of("{\r\n  \"a\": 1,\r\n}"), "at line 3, column 1: "));
}

TEST_CASE("json file: the parser's own numbering does not reach the user") {
    CHECK(!contains(problem_of("{"), "json.exception"));
    CHECK(!contains(problem_of("[1e400]"), "json.exception"));
}

TEST_CASE("json file: a number that no double can hold is refused") {
    CHECK(contains(problem_of("[1e400]"), "1e400"));
    CHECK(contains(problem_of("[-1e400]"), "-1e400"));
}

TEST_CASE("json file: nesting is accepted to its limit and refused beyond it") {
    CHECK(problem_of(nested(max_depth)) == "no problem");
    CHECK(contains(problem_of(nested(max_depth + 1)), "nested deeper than 32 levels"));
    CHECK(contains(problem_of(nested(1'000'000)), "nested deeper than 32 levels"));
}

TEST_CASE("json file: many values side by side are not deep") {
    std::string text = "[[]";
    for (int i = 0; i < 1000; ++i) text += ",[[]]";

    CHECK(problem_of(text + "]") == "no problem");
}

TEST_CASE("json file: a key that occurs twice in one object is refused") {
    CHECK(contains(problem_of(R"({"a": 1, "b": {"a": 2}, "a": 3})"), "the key \"a\" occurs twice"));
    CHECK(contains(problem_of(R"([{"a": 1, "\u0061": 2}])"), "the key \"a\" occurs twice"));
}

TEST_CASE("json file: the same key may occur in different objects") {
    CHECK(problem_of(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})") == "no problem");
}

TEST_CASE("json file: a UTF-8 byte order mark is skipped, as editors write it") {
    CHECK(parse_json("\xEF\xBB\xBF{\"a\": 1}", "file.json").dump() == R"({"a":1})");
}

TEST_CASE("json file: another encoding is named") {
    using namespace std::string_literals;
    for (const std::string& text : {"\xFF\xFE{\0}\0"s, "\xFE\xFF\0{\0}"s, "\0\0\xFE\xFF\0\0\0{"s})
        CHECK_THROWS_WITH_AS(parse_json(text, "file.json"),
                             "file.json: the file is UTF-16 or UTF-32; save it as UTF-8",
                             ConfigError);
}

TEST_CASE("json file: nothing may stand behind the value, not even behind a NUL byte") {
    using namespace std::string_view_literals;

    CHECK(contains(problem_of("{} {}"), "is not JSON"));
    CHECK(contains(problem_of("{}\0{}"sv), "is not JSON"));
    CHECK(contains(problem_of("{}\0"sv), "is not JSON"));
}

TEST_CASE("json file: bytes that are not UTF-8 are refused") {
    CHECK(contains(problem_of("[\"\xFF\"]"), "is not JSON at line 1"));
    CHECK(contains(problem_of("[\"\xC0\x80\"]"), "is not JSON at line 1"));
}

TEST_CASE("json file: a problem is told in one short line, whatever the file holds") {
    const std::string long_text = "[\"" + std::string(100'000, 'x');
    const std::string lines = "[\"a\nb\"]";

    CHECK(problem_of(long_text).size() < 700);
    CHECK(!contains(problem_of(lines), "\n"));
}

TEST_CASE("json file: a text may have 16 MiB and not a byte more") {
    CHECK(contains(problem_of(std::string(max_file_size, ' ')), "is not JSON"));
    CHECK(problem_of(std::string(max_file_size + 1, ' ')) == "file.json: is larger than 16 MiB");
}

}  // namespace
}  // namespace paceline::json_file_test
