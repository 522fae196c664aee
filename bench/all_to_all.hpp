// The job of both all-to-all benchmarks, ours and SimGrid's: its arguments and its network.
//
// HOSTS hosts fill the smallest three-level fat tree that has room for them, in order (for 256:
// k = 12, seven pods and four hosts of the eighth; all switches exist). All links have the same
// bandwidth. Only the hosts' cables have latency, so that all routes have the same latency.
// Equal-cost routes are drawn with seed 1, and both programs take them from this one fabric.
//
//   rounds   HOSTS - 1 rounds: in round r, host i sends a block to i + r and receives one from
//            i - r; a message starts when both ends have reached the round
//   flood    every host sends its HOSTS - 1 blocks at once
//   nothing  no messages: measures the cost of building the network and the hosts
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "topologies/fabrics/fat_tree.hpp"

namespace paceline {

enum class AllToAllMode : std::uint8_t { rounds, flood, nothing };

struct AllToAllJob {
    int hosts = 0;
    Bytes block;
    Link link;
    AllToAllMode mode = AllToAllMode::rounds;
};

inline std::optional<AllToAllMode> parse_mode(std::string_view text) {
    if (text == "rounds") return AllToAllMode::rounds;
    if (text == "flood") return AllToAllMode::flood;
    if (text == "nothing") return AllToAllMode::nothing;
    return std::nullopt;
}

/// Returns nothing, after printing the usage on standard error, if the arguments are not a valid
/// job.
inline std::optional<AllToAllJob> parse_all_to_all(int count, char** arguments) {
    const auto mode = count == 6 ? parse_mode(arguments[5]) : std::nullopt;
    if (mode) {
        const AllToAllJob job{
            .hosts = std::atoi(arguments[1]),
            .block = {static_cast<std::int64_t>(std::atof(arguments[2]))},
            .link = {.bandwidth = {static_cast<std::int64_t>(std::atof(arguments[3]))},
                     .latency = from_seconds(std::atof(arguments[4]))},
            .mode = *mode};
        if (job.hosts >= 2 && job.block > Bytes{0} && job.link.bandwidth > Bandwidth{0}) return job;
    }
    std::fprintf(stderr,
                 "usage: %s HOSTS BYTES BITS_PER_SECOND LATENCY_SECONDS rounds|flood|nothing\n"
                 "       at least 2 hosts; for example 256 1e6 10e9 0 rounds\n",
                 arguments[0]);
    return std::nullopt;
}

inline Fabric make_fabric(const AllToAllJob& job) {
    const Link between_switches{.bandwidth = job.link.bandwidth};
    return make_fat_tree({.hosts = job.hosts,
                          .k = fat_tree_ports_for(job.hosts),
                          .link = job.link,
                          .uplink = between_switches},
                         1);
}

}  // namespace paceline
