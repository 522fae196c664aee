// Checks that every contribution of a collective reaches every member. A contribution travels with
// each message that is sent from a place that has it.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::dissemination_test {
namespace {

using namespace literals;

/// Tracks whose contributions each place has. In these runs messages that are sent together arrive
/// together, before any of their receivers sends again: what is sent at an instant is known at the
/// next one.
struct Gossip {
    std::vector<std::vector<bool>> heard;  // [place][of whom]
    std::vector<std::vector<bool>> soon;   // including what is sent at this instant
    Time instant{};

    explicit Gossip(int n) {
        for (int place = 0; place < n; ++place) {
            heard.emplace_back(static_cast<std::size_t>(n), false);
            heard.back()[static_cast<std::size_t>(place)] = true;
        }
        soon = heard;
    }

    void set_out(Time now, int from, int to) {
        if (now > instant) heard = soon;
        instant = now;
        const std::vector<bool>& sent = heard[static_cast<std::size_t>(from)];
        std::vector<bool>& received = soon[static_cast<std::size_t>(to)];
        for (std::size_t i = 0; i < sent.size(); ++i) received[i] = received[i] || sent[i];
    }

    [[nodiscard]] int complete() const {
        int members = 0;
        for (const auto& of : soon) members += std::ranges::find(of, false) == of.end() ? 1 : 0;
        return members;
    }
};

/// A star that reports every message that is sent.
Fabric listen(int n, const Simulation& simulation, Gossip& gossip) {
    const Link link{1_Gbps, {}};
    Fabric star = make_star(n, link, link);
    star.find_route = [&, find = star.find_route](int from, int to, Route& route) {
        gossip.set_out(simulation.now(), from, to);
        find(from, to, route);
    };
    return star;
}

/// Returns how many of n places end with all contributions.
template <class Collective>
int complete_members(int n, Collective collective) {
    Gossip gossip(n);
    Simulation simulation;
    Network network(simulation, listen(n, simulation, gossip), {.by_events = true});
    const std::shared_ptr<const Group> group = whole_group(n);
    Processes processes(simulation);
    for (int place = 0; place < n; ++place)
        processes.spawn("place", collective(Rank(network, group, place, 1)));
    simulation.run();
    return processes.finished() ? gossip.complete() : 0;
}

TEST_CASE("all-reduce: every contribution reaches every member") {
    for (const auto all_reduce :
         {&ring_all_reduce, &recursive_doubling_all_reduce, &halving_doubling_all_reduce})
        for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 31, 32, 33}) {
            CAPTURE(n);
            const Bytes size{n * 32'000};

            const int complete =
                complete_members(n, [&](Rank self) { return all_reduce(std::move(self), size); });

            REQUIRE(complete == n);
        }
}

TEST_CASE("all-gather: every block reaches every member") {
    for (const auto all_gather : {&ring_all_gather, &bruck_all_gather})
        for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 31, 32, 33}) {
            CAPTURE(n);

            const int complete =
                complete_members(n, [&](Rank self) { return all_gather(std::move(self), 1000_B); });

            REQUIRE(complete == n);
        }
}

TEST_CASE("sparse all-reduce: every contribution reaches every member") {
    const UnionWeight weight = [](const Union& merged) { return merged.count * 1000_B; };
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 31, 32, 33}) {
        CAPTURE(n);

        const int complete = complete_members(
            n, [&](Rank self) { return sparse_all_reduce(std::move(self), weight); });

        REQUIRE(complete == n);
    }
}

}  // namespace
}  // namespace paceline::dissemination_test
