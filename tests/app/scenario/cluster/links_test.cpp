#include "app/scenario/cluster/links.hpp"

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "analysis/forms/closed_forms.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::links_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const std::string file = "file.json";

Link link_of(const Json& json) {
    return read_link({&json, &file, "link"});
}
Cable cable_of(const Json& json) {
    return read_cable({&json, &file, "link"});
}
LinkPreset preset_of(const Json& json) {
    return read_link_preset({&json, &file, "links"});
}
FabricChoice star_of(const Json& link) {
    const Json json{{"kind", "star"}, {"link", link}};
    return read_fabric({&json, &file, "fabric"}, 3);
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
    CHECK(link_of({{"preset", "infiniband-edr"}}).latency == 525ns);
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
    CHECK(payload_gbps(link_of({{"preset", "infiniband-edr"}})) == Approx(96.8).epsilon(1e-9));
    CHECK(payload_gbps(link_of({{"preset", "pcie-3.0-x16"}})) == Approx(96).epsilon(0.01));
    CHECK(payload_gbps(link_of({{"preset", "nvlink-1"}})) == Approx(8 * 18.3).epsilon(1e-9));
}

// In GB/s, as the sources of the presets print them.
TEST_CASE("links: presets of buses carry what was measured, to a percent") {
    const auto payload = [](const char* preset) {
        return payload_gbps(link_of({{"preset", preset}})) / 8;
    };
    CHECK(payload("pcie-4.0-x16") == Approx(26.3).epsilon(0.01));
    CHECK(payload("pcie-5.0-x16") == Approx(54.3).epsilon(0.01));
    CHECK(payload("nvlink-2") == Approx(143.71).epsilon(0.01));
    CHECK(payload("nvlink-3") == Approx(272).epsilon(0.01));
    CHECK(payload("nvlink-4") == Approx(396).epsilon(0.01));
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
        const Cable cable = cable_of({{"preset", preset.name}});

        CHECK(names.insert(preset.name).second);
        CHECK(cable.down.bandwidth == preset.bandwidth);
        CHECK(cable.up.bandwidth == preset.bandwidth_up.value_or(preset.bandwidth));
        for (const Link& link : {cable.up, cable.down}) {
            CHECK(2 * link.latency == preset.one_way_latency);
            CHECK(link.capacity().bits_per_second > 0);
            CHECK(link.capacity() <= link.bandwidth);
        }
        CHECK(!preset.source.empty());
    }
}

TEST_CASE("links: the presets of access links have WebPageTest's rates and round trips") {
    struct Printed {
        std::string name;
        std::int64_t down_kbps;
        std::int64_t up_kbps;
        Duration round_trip;
    };
    for (const Printed& printed : std::vector<Printed>{{"cable", 5'000, 1'000, 28ms},
                                                       {"dsl", 1'500, 384, 50ms},
                                                       {"3g-slow", 400, 400, 400ms},
                                                       {"3g", 1'600, 768, 300ms},
                                                       {"3g-fast", 1'600, 768, 150ms},
                                                       {"4g", 9'000, 9'000, 170ms},
                                                       {"lte", 12'000, 12'000, 70ms},
                                                       {"edge", 240, 200, 840ms},
                                                       {"2g", 280, 256, 800ms},
                                                       {"dial-up", 49, 30, 120ms},
                                                       {"fios", 20'000, 5'000, 4ms}}) {
        CAPTURE(printed.name);

        const Cable cable = cable_of({{"preset", printed.name}});

        CHECK(cable.down.bandwidth.bits_per_second == 1'000 * printed.down_kbps);
        CHECK(cable.up.bandwidth.bits_per_second == 1'000 * printed.up_kbps);
        // A round trip: one link up and one link down in each direction.
        CHECK(2 * (cable.up.latency + cable.down.latency) == printed.round_trip);
        CHECK(cable.up.efficiency == 1);
    }
}

TEST_CASE("links: what the presets of 5G and WiFi assume is labelled") {
    const Cable cable = cable_of({{"preset", "5g"}});

    CHECK(cable.down.bandwidth.bits_per_second == 241'610'000);
    CHECK(cable.up.bandwidth.bits_per_second == 31'270'000);
    for (const LinkPreset& preset : link_presets())
        if (preset.name == "5g" || preset.name == "wifi")
            CHECK(preset.source.find("assumption") != std::string::npos);
}

TEST_CASE("links: a ring of 16 on FDR InfiniBand takes the time of the published fit") {
    const Link link = link_of({{"preset", "infiniband-fdr"}});
    const IdleStar star{link.capacity(), 2 * link.latency};

    const double small = to_seconds(ring_all_reduce_time(16, 16_B, star));
    const double large = to_seconds(ring_all_reduce_time(16, 1'600'000'000_B, star));

    CHECK(small == Approx(236e-6).epsilon(2e-3));
    CHECK((large - small) / 1.6e9 == Approx(4.06e-10).epsilon(2e-3));
}

TEST_CASE("links: a preset gives its latency one way or as a round trip, which is halved") {
    const Json base{{"name", "x"}, {"bandwidth", "1Mbps"}, {"efficiency", 1}, {"source", "test"}};
    Json one_way = base;
    one_way["one_way_latency"] = "30ms";
    Json round_trip = base;
    round_trip["round_trip"] = "30ms";
    Json both = one_way;
    both["round_trip"] = "60ms";

    CHECK(preset_of(one_way).one_way_latency == 30ms);
    CHECK(preset_of(round_trip).one_way_latency == 15ms);
    CHECK_THROWS_AS(preset_of(both), ConfigError);
    CHECK_THROWS_AS(preset_of(base), ConfigError);
}

TEST_CASE("links: both ways have one rate unless the way up has its own") {
    const Cable same = cable_of({{"bandwidth", "8Mbps"}});
    const Cable slower_up = cable_of({{"bandwidth", "8Mbps"}, {"bandwidth_up", "2Mbps"}});
    const Cable faster_down = cable_of({{"preset", "cable"}, {"bandwidth", "8Mbps"}});
    const Cable shared = cable_of({{"bandwidth", "8Mbps"},
                                   {"bandwidth_up", "2Mbps"},
                                   {"latency", "3ms"},
                                   {"efficiency", 0.5}});

    CHECK(same.up.bandwidth == 8_Mbps);
    CHECK(slower_up.up.bandwidth == 2_Mbps);
    CHECK(slower_up.down.bandwidth == 8_Mbps);
    CHECK(faster_down.up.bandwidth == 1_Mbps);
    CHECK(faster_down.down.bandwidth == 8_Mbps);
    CHECK(shared.up.capacity() == 1_Mbps);
    CHECK(shared.down.capacity() == 4_Mbps);
    CHECK(shared.up.latency == 3ms);
    CHECK(shared.down.latency == 3ms);
}

TEST_CASE("links: a star of unequal ways sends at one rate and receives at the other") {
    const FabricChoice star = star_of({{"preset", "cable"}});

    const Fabric fabric = star.make(3, 1);

    CHECK(fabric.links[star_up(2)].bandwidth == 1_Mbps);
    CHECK(fabric.links[star_down(2, 3)].bandwidth == 5_Mbps);
    CHECK(!star.as_idle_star);
    CHECK(star_of({{"preset", "lte"}}).as_idle_star.has_value());
}

TEST_CASE("links: where both ways must be equal, unequal ones are refused with both rates") {
    CHECK(link_of({{"preset", "lte"}}).bandwidth == 12_Mbps);
    CHECK(link_of({{"bandwidth", "1Gbps"}, {"bandwidth_up", "1Gbps"}}).bandwidth == 1_Gbps);
    try {
        (void)link_of({{"preset", "cable"}});
        FAIL("must be refused");
    } catch (const ConfigError& error) {
        CHECK(error.path() == "link.preset");
        CHECK(error.problem().find("1Mbps from the host and 5Mbps to it") != std::string::npos);
    }
    try {
        (void)link_of({{"bandwidth", "1Gbps"}, {"bandwidth_up", "2Gbps"}});
        FAIL("must be refused");
    } catch (const ConfigError& error) {
        CHECK(error.path() == "link.bandwidth_up");
    }
}

TEST_CASE("links: jitter and loss are those of both ways, and presets have none") {
    const Cable cable = cable_of({{"preset", "cable"},
                                  {"jitter", {{"kind", "normal"}, {"mean", "5ms"}, {"sd", "2ms"}}},
                                  {"loss", 0.01}});
    const Link late = link_of({{"bandwidth", "1Gbps"},
                               {"jitter", {{"kind", "pareto"}, {"scale", "1ms"}, {"shape", 2.5}}}});
    const Link later =
        link_of({{"bandwidth", "1Gbps"},
                 {"jitter", {{"kind", "log-normal"}, {"median", "1ms"}, {"sigma", 0}}}});

    CHECK(cable.up.jitter == LinkJitter{LinkJitterLaw::normal, 5ms, 2e-3});
    CHECK(cable.down.jitter == cable.up.jitter);
    CHECK(cable.up.loss == 0.01);
    CHECK(cable.down.loss == 0.01);
    CHECK(cable.down.capacity().bits_per_second == 4'950'000);
    CHECK(late.jitter == LinkJitter{LinkJitterLaw::pareto, 1ms, 2.5});
    CHECK(later.jitter == LinkJitter{LinkJitterLaw::log_normal, 1ms, 0});
    for (const LinkPreset& preset : link_presets()) {
        const Link link = cable_of({{"preset", preset.name}}).up;
        CHECK(link.loss == 0);
        CHECK(link.jitter == LinkJitter{});
    }
}

TEST_CASE("links: presets of satellites name who measured them, us-lte-2019 has its figures") {
    const Cable lte = cable_of({{"preset", "us-lte-2019"}});
    const Cable geo = cable_of({{"preset", "satellite-geo"}});

    CHECK(lte.down.bandwidth.bits_per_second == 21'300'000);
    CHECK(lte.up.bandwidth.bits_per_second == 6'300'000);
    CHECK(2 * (lte.up.latency + lte.down.latency) == 55ms);
    CHECK(2 * (geo.up.latency + geo.down.latency) == 600ms);
    for (const LinkPreset& preset : link_presets())
        if (preset.name.starts_with("satellite-"))
            CHECK(preset.source.find("Ookla") != std::string::npos);
}

TEST_CASE("links: a rate of which the efficiency leaves nothing is refused") {
    CHECK_THROWS_AS(link_of({{"bandwidth", "1bps"}, {"efficiency", 0.3}}), ConfigError);
    CHECK_THROWS_AS(link_of({{"bandwidth", "100Gbps"}, {"efficiency", 1e-300}}), ConfigError);
    CHECK_THROWS_AS(
        cable_of({{"bandwidth", "1Gbps"}, {"bandwidth_up", "1bps"}, {"efficiency", 0.3}}),
        ConfigError);
}

}  // namespace
}  // namespace paceline::links_test
