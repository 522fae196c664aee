// What `paceline compare` finds is held against tables written by hand: which rows and values
// differ is known because the test has put the differences there.
#include "app/questions/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/questions/compare/compare_text.hpp"

namespace paceline::questions_compare_compare_test {
namespace {

constexpr std::string_view header = "point,link,algorithm,nodes,outcome,step_time_s,speedup\n";

Result result_of(const std::string& name, const std::string& rows) {
    return {name, std::string(header) + rows};
}

std::string manifest_of(const std::string& version, const std::string& points) {
    return fmt::format(
        R"({{"program": "paceline", "version": "{}", "build": "b", "scenario": "s.json",
            "complete": true, "points": [{}]}})",
        version, points);
}

std::string refusal(const Result& before, const Result& after) {
    try {
        (void)compare(before, after);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

constexpr ProgramHistory history{"## Unreleased\n\n### Results\n\n- Rings are slower.\n", "0.2.0"};

TEST_CASE("compare: equal tables are the same") {
    const Result result = result_of("a", "0,1Gbps,dense,4,finished,0.5,2\n");
    const ResultComparison found = compare(result, result);

    CHECK(found.same());
    CHECK(found.rows == 1);
    CHECK(found.columns == 3);
    CHECK(has(comparison_text(found, history), "The same: 1 rows of 3 columns.\n"));
    CHECK(Json::parse(comparison_json(found, history)).at("same") == true);
}

TEST_CASE("compare: a value that moved is told with its change, the largest first") {
    const Result before = result_of("a",
                                    "0,1Gbps,dense,4,finished,0.5,2\n"
                                    "1,10Gbps,dense,4,finished,0.25,-4\n");
    const Result after = result_of("b",
                                   "0,1Gbps,dense,4,finished,0.55,2\n"
                                   "1,10Gbps,dense,4,finished,0.25,-1\n");
    const ResultComparison found = compare(before, after);

    REQUIRE(found.moves.size() == 2);
    CHECK(found.moves[0].column == "speedup");
    CHECK(found.moves[0].row == "link 10Gbps");
    CHECK(*found.moves[0].by == doctest::Approx(3));
    CHECK(*found.moves[0].relative == doctest::Approx(0.75));
    CHECK(found.moves[1].column == "step_time_s");
    CHECK(found.moves[1].row == "link 1Gbps");
    CHECK(*found.moves[1].by == doctest::Approx(0.05));
    CHECK(*found.moves[1].relative == doctest::Approx(0.1));
    CHECK_FALSE(found.same());
    const std::string text = comparison_text(found, history);
    CHECK(has(text, "2 of 6 values changed, in 2 of 3 columns.\n"));
    CHECK(text.find("speedup, link 10Gbps") < text.find("step_time_s, link 1Gbps"));
}

TEST_CASE("compare: what has no relative change comes first: outcomes, gaps and what was 0") {
    const Result before = result_of("a",
                                    "0,1,dense,4,finished,0.5,0\n"
                                    "1,2,dense,4,finished,0.5,2\n"
                                    "2,3,dense,4,finished,0.5,1\n");
    const Result after = result_of("b",
                                   "0,1,dense,4,finished,0.6,3\n"
                                   "1,2,dense,4,deadlock,,2\n"
                                   "2,3,dense,4,finished,0.5,1\n");
    const ResultComparison found = compare(before, after);

    REQUIRE(found.moves.size() == 4);
    CHECK(found.moves[0].column == "speedup");
    CHECK(*found.moves[0].by == 3);
    CHECK_FALSE(found.moves[0].relative);
    CHECK(found.moves[1].after == "deadlock");
    CHECK_FALSE(found.moves[1].by);
    CHECK(found.moves[2].after.empty());
    CHECK(found.moves[3].relative);
}

TEST_CASE("compare: rows are matched by their names, whatever their numbers and order") {
    const Result before = result_of("a",
                                    "0,1Gbps,dense,4,finished,0.5,2\n"
                                    "1,1Gbps,dgc,4,finished,0.3,3\n");
    const Result after = result_of("b",
                                   "0,1Gbps,dgc,4,finished,0.3,3\n"
                                   "1,1Gbps,qsgd,4,finished,0.7,1\n"
                                   "2,1Gbps,dense,4,finished,0.5,2\n");
    const ResultComparison found = compare(before, after);

    CHECK(found.moves.empty());
    CHECK(found.rows == 2);
    CHECK(found.rows_only_before.empty());
    CHECK(found.rows_only_after == std::vector<std::string>{"algorithm qsgd"});
    CHECK_FALSE(found.same());
}

TEST_CASE("compare: rows of one name are matched in their order") {
    const Result before = result_of("a", "0,1,dense,4,finished,1,2\n1,1,dense,4,finished,2,2\n");
    const Result after = result_of("b", "0,1,dense,4,finished,1,2\n1,1,dense,4,finished,3,2\n");
    const ResultComparison found = compare(before, after);

    REQUIRE(found.moves.size() == 1);
    CHECK(found.moves[0].row == "point 1");
    CHECK(found.moves[0].before == "2");
    const ResultComparison fewer = compare(before, result_of("b", "0,1,dense,4,finished,1,2\n"));
    CHECK(fewer.rows_only_before == std::vector<std::string>{"point 1"});
    CHECK(fewer.moves.empty());
}

TEST_CASE("compare: columns that one result lacks are named, and take no part") {
    const Result before{"a",
                        "point,algorithm,nodes,outcome,old_s,step_time_s\n0,d,4,finished,1,2\n"};
    const Result after{"b",
                       "point,link,algorithm,nodes,outcome,step_time_s,new_s\n"
                       "0,1Gbps,d,4,finished,2,7\n"};
    const ResultComparison found = compare(before, after);

    CHECK(found.columns_only_before == std::vector<std::string>{"old_s"});
    CHECK(found.columns_only_after == std::vector<std::string>{"link", "new_s"});
    CHECK(found.moves.empty());
    CHECK(found.rows == 1);
    CHECK_FALSE(found.same());
}

TEST_CASE("compare: rows that only a missing axis tells apart are refused by its name") {
    const Result before{"a", "point,algorithm,nodes,outcome,step_time_s\n0,d,4,finished,2\n"};
    const Result after = result_of("b", "0,1Gbps,d,4,finished,2,1\n1,2Gbps,d,4,finished,2,1\n");

    CHECK(has(refusal(before, after), "b: has 2 rows for each of a, which differ in link"));
    CHECK(has(refusal(after, before), "b: has 2 rows for each of a, which differ in link"));
}

TEST_CASE("compare: what is no result is refused by its name") {
    const Result good = result_of("good", "0,1Gbps,dense,4,finished,0.5,2\n");

    for (const char* text : {"", "a,b\n1,2\n", "point,algorithm\n0,dense\n",
                             "point,outcome,outcome\n0,finished,finished\n"}) {
        CAPTURE(text);
        CHECK(has(refusal(good, {"bad", text}), "bad: is not a results.csv of paceline run"));
        CHECK(has(refusal({"bad", text}, good), "bad: is not a results.csv of paceline run"));
    }
    for (const char* row : {"0,1Gbps,dense,4,finished,0.5\n", "x,1Gbps,dense,4,finished,0.5,2\n",
                            "0,1Gbps,dense,4,finished,0.5,2,3\n"})
        CHECK(has(refusal(good, result_of("bad", row)),
                  "bad: is not a results.csv of paceline run: row 1"));
    Result other = good;
    for (const char* manifest : {"", "[]", "{\"program\": \"another\"}"}) {
        other.manifest = manifest;
        CHECK(has(refusal(good, other), "its manifest.json was not written by paceline run"));
    }
}

TEST_CASE("compare: another table that differs makes a difference, from its first line on") {
    Result before = result_of("a", "0,1Gbps,dense,4,finished,0.5,2\n");
    Result after = before;
    before.timeline = "point\n0\n1\n2\n";
    after.timeline = "point\n0\n1\n3\n";
    before.links = "point\n0\n";  // of a run with --links; the other had none
    const ResultComparison found = compare(before, after);

    REQUIRE(found.tables.size() == 1);
    CHECK(found.tables[0].file == "timeline.csv");
    CHECK(found.tables[0].line == 4);
    CHECK_FALSE(found.same());
    CHECK(has(comparison_text(found, history), "timeline.csv differs, starting at line 4.\n"));
    after.links = "point\n0\n1\n";
    CHECK(compare(before, after).tables.size() == 2);
}

TEST_CASE("compare: keys of the scenarios that differ are told with both values and their points") {
    Result before = result_of("a",
                              "0,1,dense,4,finished,0.5,2\n"
                              "1,2,dense,4,finished,0.5,2\n");
    Result after = before;
    before.manifest = manifest_of("0.2.0", R"(
        {"point": 0, "scenario": {"a": {"b": 1, "c": [1, 2]}, "gone": true}},
        {"point": 1, "scenario": {"a": {"b": 1, "c": [1, 2]}}})");
    after.manifest = manifest_of("0.2.0", R"(
        {"point": 0, "scenario": {"a": {"b": 2, "c": [1, 3]}, "new": {"d": "x"}}},
        {"point": 1, "scenario": {"a": {"b": 2, "c": [1, 2, 3]}}})");
    const ResultComparison found = compare(before, after);

    std::map<std::string, std::pair<std::string, std::string>> keys;
    for (const KeyChange& key : found.keys) keys[key.path] = {key.before, key.after};
    CHECK(keys == std::map<std::string, std::pair<std::string, std::string>>{
                      {"a.b", {"1", "2"}},
                      {"a.c.1", {"2", "3"}},
                      {"a.c", {"[1,2]", "[1,2,3]"}},
                      {"gone", {"true", ""}},
                      {"new", {"", "{\"d\":\"x\"}"}}});
    const auto b = std::ranges::find(found.keys, "a.b", &KeyChange::path);
    CHECK(b->points == 2);
    CHECK(found.same());  // values are
    CHECK(has(comparison_text(found, history), "a.b: 1 -> 2 (2 points)\n"));
    CHECK(has(comparison_text(found, history), "new: not there -> {\"d\":\"x\"}\n"));
}

TEST_CASE(
    "compare: where versions differ the changelog is told, and where they do not, it is not") {
    Result before = result_of("a", "0,1,dense,4,finished,0.5,2\n");
    Result after = result_of("b", "0,1,dense,4,finished,0.6,2\n");
    before.manifest = manifest_of("0.1.0", "");
    after.manifest = manifest_of("0.2.0", "");
    const auto text = [&] { return comparison_text(compare(before, after), history); };

    CHECK(has(text(), "after 0.1.0 up to 0.2.0:\n\nUnreleased\n\n- Rings are slower.\n"));
    const Json json = Json::parse(comparison_json(compare(before, after), history));
    CHECK(json.at("changelog").at(0).at("results") == "- Rings are slower.");
    std::swap(before.manifest, after.manifest);
    CHECK(has(text(), "after 0.1.0 up to 0.2.0 (OLD is the newer one):\n\nUnreleased\n"));
    before.manifest = manifest_of("0.3.0", "");
    CHECK(has(text(), "This program is paceline 0.2.0"));
    before.manifest = after.manifest;
    CHECK_FALSE(has(text(), "changelog"));
    before.manifest.reset();
    CHECK(has(text(), "Without both manifests"));
    CHECK_FALSE(has(text(), "Rings are slower"));
}

TEST_CASE("compare: two builds of one version are told apart") {
    Result before = result_of("a", "0,1,dense,4,finished,0.5,2\n");
    Result after = result_of("b", "0,1,dense,4,finished,0.6,2\n");
    before.manifest = manifest_of("0.2.0", "");
    after.manifest = before.manifest;
    after.manifest->replace(after.manifest->find("\"b\""), 3, "\"c\"");

    const auto text = [&] { return comparison_text(compare(before, after), history); };
    const auto json = [&] { return Json::parse(comparison_json(compare(before, after), history)); };
    CHECK(has(text(), "different builds"));
    CHECK(has(text(), "Unreleased\n\n- Rings are slower.\n"));
    CHECK(json().at("changelog").at(0).at("version") == "Unreleased");

    before.manifest = after.manifest;
    CHECK_FALSE(has(text(), "Rings are slower"));
    CHECK(json().at("changelog").empty());
    before.manifest = manifest_of("0.1.0", "");
    after.manifest->replace(after.manifest->find("0.2.0"), 5, "0.1.0");
    CHECK(has(text(), "different builds"));
    CHECK_FALSE(has(text(), "Rings are slower"));
}

TEST_CASE("compare, property: it finds the changes that were made, and these alone") {
    std::mt19937_64 rng(48);
    const auto up_to = [&](std::size_t most) { return static_cast<std::size_t>(rng() % most); };
    for (int round = 0; round < 300; ++round) {
        const std::size_t rows = 1 + up_to(8);
        std::set<std::pair<std::size_t, std::size_t>> changed;  // row, column
        std::string before(header);
        std::string after(header);
        std::vector<std::string> shuffled;
        for (std::size_t r = 0; r < rows; ++r) {
            std::string old_row = fmt::format("{},{}Gbps,dense,4,finished", r, r);
            std::string new_row = old_row;
            for (std::size_t c = 0; c < 2; ++c) {
                const double value = static_cast<double>(1 + up_to(1000)) / 8;
                const double factor = up_to(4) == 0 ? 1 + static_cast<double>(1 + up_to(9)) : 1;
                if (factor != 1) changed.emplace(r, c);
                old_row += fmt::format(",{}", value);
                new_row += fmt::format(",{}", value * factor);
            }
            before += old_row + "\n";
            shuffled.push_back(new_row + "\n");
        }
        std::ranges::shuffle(shuffled, rng);
        for (const std::string& row : shuffled) after += row;
        CAPTURE(before);
        CAPTURE(after);
        const ResultComparison found = compare({"a", before}, {"b", after});

        std::set<std::pair<std::size_t, std::size_t>> told;
        double last = std::numeric_limits<double>::infinity();
        for (const Move& move : found.moves) {
            told.emplace(move.old_point, move.column == "step_time_s" ? 0 : 1);
            CHECK(*move.relative ==
                  doctest::Approx(std::stod(move.after) / std::stod(move.before) - 1));
            CHECK(std::abs(*move.relative) <= last);
            last = std::abs(*move.relative);
        }
        CHECK(told == changed);
        CHECK(told.size() == found.moves.size());
        CHECK(found.same() == changed.empty());
    }
}

}  // namespace
}  // namespace paceline::questions_compare_compare_test
