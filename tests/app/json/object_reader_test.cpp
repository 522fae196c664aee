#include "app/json/object_reader.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/engine/check.hpp"

namespace paceline::object_reader_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr std::array<std::string_view, 3> keys{"nodes", "fabric", "seed"};
const std::string file = "file.json";

Place place_of(const Json& json, std::string path = "at") {
    return {&json, &file, std::move(path)};
}

std::string problem_of(const std::function<void()>& read) {
    try {
        read();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no problem";
}

Fault fault_of(const std::function<void()>& read) {
    try {
        read();
    } catch (const ConfigError& error) {
        return error.fault();
    }
    return {};
}

TEST_CASE("object reader: a fault has the value that stands there, and the name that was meant") {
    const Json unknown_key{{"nodse", 3}};
    const Fault of_key = fault_of([&] { ObjectReader(place_of(unknown_key), keys); });
    CHECK(of_key.value == "3");
    CHECK(of_key.suggestion == "nodes");

    const Json text = "many";
    const Fault of_value = fault_of([&] { (void)as_integer(place_of(text), 1, 8); });
    CHECK(of_value.value == "\"many\"");
    CHECK(of_value.suggestion.empty());

    const Json unit = "25 Gb/s";
    const Fault of_unit = fault_of([&] { (void)as_bandwidth(place_of(unit)); });
    CHECK(of_unit.suggestion == "25Gbps");
    CHECK(of_unit.value == "\"25 Gb/s\"");
}

TEST_CASE("object reader: a value that is large is no part of a fault") {
    const Json large = Json::array_t(10'000, 1);
    CHECK(fault_of([&] { (void)as_bool(place_of(large)); }).value.empty());
}

TEST_CASE("object reader: a number without a fraction is whole, however it is written") {
    for (const char* text : {"32", "32.0", "3.2e1", "320e-1", "3200.00e-2"}) {
        const Json json = Json::parse(text);
        CHECK(as_integer(place_of(json), 0, 32) == 32);
    }
    const Json zero = Json::parse("-0.0");
    CHECK(as_integer(place_of(zero), 0, 1) == 0);
    const Json large = Json::parse("9007199254740993");  // beyond what a double can hold
    CHECK(as_integer(place_of(large), 0, std::numeric_limits<std::int64_t>::max()) ==
          9007199254740993);
    for (const char* text : {"32.5", "31.999999999999996", "1e-300", "1e30", "-1e30", "9.3e18",
                             "18446744073709551615", "33.0", "-1.0", "true", "null", "\"32\""}) {
        const Json json = Json::parse(text);
        CHECK_THROWS_AS(static_cast<void>(as_integer(place_of(json), 0, 32)), ConfigError);
    }
}

TEST_CASE("object reader: known keys are read, with their place") {
    const Json json{{"nodes", 8}};
    const ObjectReader read(place_of(json, "cluster"), keys);

    const Place nodes = read.required("nodes", "how many");

    CHECK(read.has("nodes"));
    CHECK(!read.has("fabric"));
    CHECK(!read.optional("fabric"));
    CHECK(nodes.path == "cluster.nodes");
    CHECK(*nodes.json == 8);
}

TEST_CASE(
    "object reader: a file is named relative to the one that names it, whose sources have it") {
    const Json json{{"nodes", {"x.csv", 5}}};
    const std::string scenario = "folder/scenario.json";
    const Sources sources{.text = [](const std::string& name) { return "text of " + name; },
                          .data = {},
                          .available_memory = {}};
    const ObjectReader read({&json, &scenario, "", &sources}, keys);

    const Place nodes = read.required("nodes", "a list");

    CHECK(as_file(nodes.element(0)) == "folder/x.csv");
    CHECK(nodes.element(0).outside().text("x.csv") == "text of x.csv");
    CHECK_THROWS_WITH_AS(static_cast<void>(as_file(nodes.element(1))),
                         "folder/scenario.json: nodes[1]: 5 is not a string; put it in quotes",
                         ConfigError);
}

TEST_CASE("object reader: a path at the root has no dot in front") {
    const Json json{{"nodes", 8}};
    const ObjectReader read(place_of(json, ""), keys);

    CHECK(read.required("nodes", "how many").path == "nodes");
}

TEST_CASE("object reader: a key with the value null is there") {
    const Json json{{"nodes", nullptr}};
    const ObjectReader read(place_of(json), keys);

    CHECK(read.has("nodes"));
    CHECK(read.optional("nodes")->json->is_null());
}

TEST_CASE("object reader: an unknown key is refused before anything is read") {
    const Json json{{"nodes", 8}, {"nodse", 8}};

    CHECK(problem_of([&] { const ObjectReader read(place_of(json), keys); }) ==
          "file.json: at.nodse: \"nodse\" is not a key here; did you mean \"nodes\"? "
          "known: nodes, fabric, seed");
}

TEST_CASE("object reader: what is not an object is refused, with what would be") {
    const Json json{1, 2};

    CHECK(problem_of([&] { const ObjectReader read(place_of(json), keys); }) ==
          "file.json: at: [1,2] is not an object; write {\"nodes\": ...}");
}

TEST_CASE("object reader: a missing key is refused with what it is for") {
    const Json json = Json::object();
    const ObjectReader read(place_of(json), keys);

    CHECK(problem_of([&] { (void)read.required("nodes", "how many nodes"); }) ==
          "file.json: at: \"nodes\" is missing: how many nodes");
}

TEST_CASE("object reader: keys that exclude one another are refused only together") {
    const Json both{{"nodes", 1}, {"seed", 1}};
    const Json one{{"nodes", 1}};
    const ObjectReader read_both(place_of(both), keys);
    const ObjectReader read_one(place_of(one), keys);

    CHECK(problem_of([&] { read_one.not_both("nodes", "seed"); }) == "no problem");
    CHECK(problem_of([&] { read_both.not_both("nodes", "seed"); }) ==
          "file.json: at: \"nodes\" and \"seed\" exclude one another; remove one");
}

TEST_CASE("object reader: a reader that asks for a key outside its table is a programming error") {
    const Json json = Json::object();
    const ObjectReader read(place_of(json), keys);

    CHECK_THROWS_AS((void)read.has("colour"), LogicError);
    CHECK_THROWS_AS((void)read.optional("colour"), LogicError);
}

TEST_CASE("object reader: integers are accepted to the ends of their range and not beyond") {
    CHECK(as_integer(place_of(Json(1)), 1, 8) == 1);
    CHECK(as_integer(place_of(Json(8)), 1, 8) == 8);
    CHECK_THROWS_AS(as_integer(place_of(Json(0)), 1, 8), ConfigError);
    CHECK_THROWS_AS(as_integer(place_of(Json(9)), 1, 8), ConfigError);
}

TEST_CASE("object reader: the largest integers are read exactly") {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto beyond = static_cast<std::uint64_t>(most) + 1;

    CHECK(as_integer(place_of(Json(most)), 0, most) == most);
    CHECK(as_integer(place_of(Json(least)), least, most) == least);
    CHECK_THROWS_AS(as_integer(place_of(Json(beyond)), 0, most), ConfigError);
    CHECK_THROWS_AS(as_integer(place_of(Json(beyond)), least, most), ConfigError);
}

TEST_CASE("object reader: nothing but a whole number is an integer") {
    for (const Json& json :
         {Json(1.5), Json("1"), Json(true), Json(nullptr), Json::array({1}), Json::object()}) {
        CAPTURE(json.dump());

        CHECK_THROWS_AS(as_integer(place_of(json), 0, 100), ConfigError);
    }
}

TEST_CASE("object reader: a number is above its lower bound and at most its upper") {
    CHECK(as_number_above(place_of(Json(1)), 0, 1) == 1);
    CHECK(as_number_above(place_of(Json(1e-300)), 0, 1) == 1e-300);
    CHECK_THROWS_AS(as_number_above(place_of(Json(0)), 0, 1), ConfigError);
    CHECK_THROWS_AS(as_number_above(place_of(Json(-0.5)), 0, 1), ConfigError);
    CHECK_THROWS_AS(as_number_above(place_of(Json(1.0000001)), 0, 1), ConfigError);
    CHECK_THROWS_AS(as_number_above(place_of(Json(std::nan(""))), 0, 1), ConfigError);
    CHECK_THROWS_AS(as_number_above(place_of(Json("0.5")), 0, 1), ConfigError);
    CHECK_THROWS_AS(as_number_above(place_of(Json(true)), 0, 1), ConfigError);
}

TEST_CASE("object reader: texts and truth values are not taken from one another") {
    CHECK(as_string(place_of(Json("true"))) == "true");
    CHECK(as_bool(place_of(Json(true))));
    CHECK_THROWS_AS(as_string(place_of(Json(true))), ConfigError);
    CHECK_THROWS_AS(as_bool(place_of(Json("true"))), ConfigError);
    CHECK_THROWS_AS(as_bool(place_of(Json(1))), ConfigError);
}

TEST_CASE("object reader: quantities are strings with units") {
    CHECK(as_duration(place_of(Json("50us"))) == 50us);
    CHECK(as_bytes(place_of(Json("97MB"))) == 97_MB);
    CHECK(as_bandwidth(place_of(Json("10Gbps"))) == 10_Gbps);
    CHECK(as_bandwidth(place_of(Json("125MBps"))) == 1_Gbps);
}

TEST_CASE("object reader: a bare number is refused as a quantity, with an example") {
    CHECK(problem_of([] { (void)as_duration(place_of(Json(50))); }) ==
          "file.json: at: 50 is not a duration: write a string with a unit, for example \"50us\"");
    CHECK(problem_of([] { (void)as_bytes(place_of(Json(97))); }) ==
          "file.json: at: 97 is not a size: write a string with a unit, for example \"97MB\"");
    CHECK(problem_of([] { (void)as_bandwidth(place_of(Json(1))); }) ==
          "file.json: at: 1 is not a bandwidth: write a string with a unit, for example "
          "\"10Gbps\" (bits) or \"125MBps\" (bytes)");
}

TEST_CASE("object reader: a duration and a size may be zero, a bandwidth may not") {
    CHECK(as_duration(place_of(Json("0s"))) == 0s);
    CHECK(as_bytes(place_of(Json("0B"))) == Bytes{0});
    CHECK(problem_of([] { (void)as_bandwidth(place_of(Json("0Gbps"))); }) ==
          "file.json: at: must be above 0");
}

TEST_CASE("object reader: a long wrong value is told in part") {
    const Json json(std::string(10'000, 'x'));

    CHECK(problem_of([&] { (void)as_bool(place_of(json)); }).size() < 200);
    CHECK(problem_of([&] { (void)as_duration(place_of(json)); }).size() < 700);
}

TEST_CASE("object reader: a choice is one of its spellings") {
    constexpr auto spellings = std::to_array<Spelling<int>>({{"one", 1}, {"two", 2}});

    CHECK(as_choice(place_of(Json("two")), "a count", spellings) == 2);
    CHECK(problem_of([&] { (void)as_choice(place_of(Json("tow")), "a count", spellings); }) ==
          "file.json: at: \"tow\" is not a count; did you mean \"two\"? known: one, two");
}

TEST_CASE("object reader: the kind of an object is a text under \"kind\"") {
    const std::array<std::string_view, 2> names{"star", "torus"};
    const Json star{{"kind", "star"}};
    const Json none = Json::object();

    CHECK(kind_of(place_of(star), "a fabric", names).path == "at.kind");
    CHECK(problem_of([&] { (void)kind_of(place_of(none), "a fabric", names); }) ==
          "file.json: at: \"kind\" is missing: a fabric, one of star, torus");
    CHECK(problem_of([&] { (void)kind_of(place_of(Json("star")), "a fabric", names); }) ==
          "file.json: at: \"star\" is not an object; write {\"kind\": \"star\", ...}");
}

}  // namespace
}  // namespace paceline::object_reader_test
