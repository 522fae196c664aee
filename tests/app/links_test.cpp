#include "app/links.hpp"

#include <chrono>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace paceline {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

Link link_of(const Json& json) {
    static const std::string file = "file.json";
    return read_link({&json, &file, "link"});
}

double payload_gbps(const Link& link) {
    return static_cast<double>(link.capacity().bits_per_second) * 1e-9;
}

TEST_CASE("links: explicit figures are those of one link, full rate and no latency by default") {
    const Link link = link_of({{"bandwidth", "10Gbps"}});

    CHECK(link.bandwidth == 10_Gbps);
    CHECK(link.latency == 0s);
    CHECK(link.efficiency == 1);
}

TEST_CASE("links: half of a preset's one-way latency belongs to each link of a star") {
    CHECK(link_of({{"preset", "1GbE-tcp"}}).latency == 25us);
    CHECK(link_of({{"preset", "10GbE-tcp"}}).latency == 15us);
    CHECK(link_of({{"preset", "100GbE-ideal"}}).latency == 0us);
    CHECK(link_of({{"preset", "infiniband-edr"}}).latency == 500ns);
}

TEST_CASE("links: TCP over Ethernet carries 1448 bytes of payload in 1538 on the wire") {
    CHECK(payload_gbps(link_of({{"preset", "1GbE-tcp"}})) == Approx(1448.0 / 1538).epsilon(1e-9));
    CHECK(payload_gbps(link_of({{"preset", "10GbE-tcp"}})) ==
          Approx(10 * 1448.0 / 1538).epsilon(1e-9));
    CHECK(payload_gbps(link_of({{"preset", "100GbE-tcp"}})) ==
          Approx(100 * 1448.0 / 1538).epsilon(1e-9));
}

TEST_CASE("links: an ideal preset carries its full rate") {
    CHECK(link_of({{"preset", "1GbE-ideal"}}).capacity() == 1_Gbps);
    CHECK(link_of({{"preset", "10GbE-ideal"}}).capacity() == 10_Gbps);
    CHECK(link_of({{"preset", "25GbE-ideal"}}).capacity() == 25_Gbps);
    CHECK(link_of({{"preset", "100GbE-ideal"}}).capacity() == 100_Gbps);
}

TEST_CASE("links: buses and InfiniBand reach about 12 GB/s") {
    CHECK(payload_gbps(link_of({{"preset", "infiniband-edr"}})) == Approx(96).epsilon(1e-9));
    CHECK(payload_gbps(link_of({{"preset", "pcie-3.0-x16"}})) == Approx(96).epsilon(0.01));
    CHECK(payload_gbps(link_of({{"preset", "nvlink-1"}})) == Approx(160).epsilon(1e-9));
}

TEST_CASE("links: explicit keys replace the figures of a preset, one by one") {
    const Link faster = link_of({{"preset", "10GbE-tcp"}, {"bandwidth", "20Gbps"}});
    const Link nearer = link_of({{"preset", "10GbE-tcp"}, {"latency", "1us"}});
    const Link full = link_of({{"efficiency", 1}, {"preset", "10GbE-tcp"}});

    CHECK(faster.bandwidth == 20_Gbps);
    CHECK(faster.latency == 15us);
    CHECK(nearer.bandwidth == 10_Gbps);
    CHECK(nearer.latency == 1us);
    CHECK(full.capacity() == 10_Gbps);
    CHECK(full.latency == 15us);
}

TEST_CASE("links: every preset has a name of its own, a rate, a source, and can be read") {
    std::set<std::string> names;
    for (const LinkPreset& preset : link_presets()) {
        CAPTURE(preset.name);
        const Link link = link_of({{"preset", preset.name}});

        CHECK(names.insert(preset.name).second);
        CHECK(link.bandwidth == preset.bandwidth);
        CHECK(2 * link.latency == preset.one_way_latency);
        CHECK(link.capacity().bits_per_second > 0);
        CHECK(link.capacity() <= link.bandwidth);
        CHECK(!preset.source.empty());
    }
}

TEST_CASE("links: a rate of which the efficiency leaves nothing is refused") {
    CHECK_THROWS_AS(link_of({{"bandwidth", "1bps"}, {"efficiency", 0.3}}), ConfigError);
    CHECK_THROWS_AS(link_of({{"bandwidth", "100Gbps"}, {"efficiency", 1e-300}}), ConfigError);
}

}  // namespace
}  // namespace paceline
