#include "app/scenario/cluster/background.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace paceline::app_background_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

std::vector<Background> read(const std::string& text) {
    static const std::string file = "file.json";
    const Json json = Json::parse(text);
    return read_background({&json, &file, "cluster.background"}, 8);
}

std::string refusal(const std::string& text) {
    try {
        (void)read(text);
    } catch (const ConfigError& error) {
        return error.path() + ": " + error.problem();
    }
    return "accepted";
}

TEST_CASE("background choice: a constant source has a rate and messages of 1 MB unless told") {
    const auto all = read(R"([{"kind": "constant", "from": 3, "to": 7, "rate": "500Mbps"},
        {"kind": "constant", "from": 1, "to": 0, "rate": "1Gbps", "message": "64kB"}])");

    REQUIRE(all.size() == 2);
    CHECK(all[0].from == 3);
    CHECK(all[0].to == 7);
    CHECK(all[0].source.rate == 500_Mbps);
    CHECK(all[0].source.message == 1_MB);
    CHECK(all[0].source.on == Duration::max());
    CHECK(all[1].source.message == Bytes{64'000});
}

TEST_CASE("background choice: times on and off are drawn unless they are fixed") {
    const std::string begin = R"([{"kind": "on-off", "from": 3, "to": 7, "rate": "1Gbps",
                                   "on": "2s", "off": "8s")";

    CHECK(read(begin + "}]")[0].source.drawn);
    CHECK(read(begin + R"(, "law": "exponential"}])")[0].source.drawn);
    CHECK(!read(begin + R"(, "law": "fixed"}])")[0].source.drawn);
    CHECK(read(begin + "}]")[0].source.on == 2s);
    CHECK(read(begin + "}]")[0].source.off == 8s);
}

TEST_CASE("background choice: what cannot be sent is refused") {
    CHECK(refusal("{}").starts_with("cluster.background: is not a list of sources"));
    CHECK(refusal(R"([{"kind": "constant", "from": 3, "to": 3, "rate": "1Gbps"}])") ==
          "cluster.background[0].to: node 3 sends to itself; traffic goes to another");
    CHECK(refusal(R"([{"kind": "constant", "from": 3, "to": 8, "rate": "1Gbps"}])")
              .starts_with("cluster.background[0].to: "));
    CHECK(refusal(R"([{"kind": "constant", "from": 3, "to": 7, "rate": "1Gbps",
                       "message": "0B"}])") ==
          "cluster.background[0].message: must be at least one byte");
    CHECK(refusal(R"([{"kind": "constant", "from": 3, "to": 7, "rate": "1Gbps", "on": "1s"}])")
              .find("\"on\" is not a key here") != std::string::npos);
    CHECK(refusal(R"([{"kind": "on-off", "from": 3, "to": 7, "rate": "1Gbps", "on": "0s",
                       "off": "1s"}])") == "cluster.background[0].on: takes time: above 0s");
    CHECK(refusal(R"([{"kind": "poisson"}])").find("known: constant, on-off") != std::string::npos);
}

}  // namespace
}  // namespace paceline::app_background_test
