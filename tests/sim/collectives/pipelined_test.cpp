#include "sim/collectives/pipelined.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "sim/collectives/double_tree.hpp"
#include "sim/collectives/tree.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::pipelined_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// Sizes that n k slices divide, so that forms are exact.
struct Case {
    int n;
    Slices cut;
    Bytes size;
    Link link;

    explicit Case(unsigned seed) {
        std::mt19937 rng(seed);
        const auto below = [&](unsigned most) { return static_cast<int>(rng() % most); };
        n = 2 + below(9);
        cut = {Bytes{1000 * (1 + below(9))}, 1 + below(12)};
        size = n * (1 + below(12)) * cut.slice;
        link = {Bandwidth{1'000'000'000}, Duration{std::chrono::nanoseconds(below(60'000))}};
    }
    [[nodiscard]] IdleStar star() const { return {link.bandwidth, 2 * link.latency}; }
};

template <class Collective>
Duration time_of(const Case& c, Protocol protocol, Collective collective) {
    const Library library{.protocol = protocol};
    StarRun run(c.n, c.link);
    for (int place = 0; place < c.n; ++place)
        run.spawn(place, collective(Rank(run.network, run.group, place, 1, library)));
    run.simulation.run();
    return run.last_end();
}

TEST_CASE("pipelined ring: it takes what the closed form says, eager and by rendezvous") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Case c(seed);
        for (const Protocol protocol : {Protocol::rendezvous, Protocol::eager}) {
            const Duration simulated = time_of(c, protocol, [&](Rank self) {
                return pipelined_ring_all_reduce(std::move(self), c.size, c.cut);
            });
            CHECK(simulated == pipelined_ring_all_reduce_time(c.n, c.size, c.cut, c.star()));
        }
    }
}

TEST_CASE("pipelined ring with slots: it takes what the closed form says") {
    for (unsigned seed = 0; seed < 600; ++seed) {
        CAPTURE(seed);
        Case c(seed);
        c.cut.slots = 1 + static_cast<int>(seed % 13);
        CHECK(time_of(c, Protocol::rendezvous, [&](Rank self) {
                  return pipelined_ring_all_reduce(std::move(self), c.size, c.cut);
              }) == pipelined_ring_all_reduce_time(c.n, c.size, c.cut, c.star()));
        const Duration reduced = time_of(c, Protocol::rendezvous, [&](Rank self) {
            return pipelined_ring_reduce(std::move(self), c.size, c.cut);
        });
        const Duration form = pipelined_ring_reduce_time(c.n, c.size, c.cut, c.star());
        CHECK(std::abs((reduced - form).count()) <= c.n);
        for (const auto collective : {&chain_broadcast, &chain_reduce})
            CHECK(time_of(c, Protocol::rendezvous, [&](Rank self) {
                      return collective(std::move(self), c.size, c.cut);
                  }) == chain_time(c.n, c.size, c.cut, c.star()));
    }
}

TEST_CASE("pipelined ring with slots: enough of them, or eager slices, pay for no grant") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        Case c(seed);
        const auto time_with = [&](Protocol protocol, int slots, int in_flight) {
            c.cut.slots = slots;
            c.cut.in_flight = in_flight;
            return time_of(c, protocol, [&](Rank self) {
                return pipelined_ring_all_reduce(std::move(self), c.size, c.cut);
            });
        };
        const Duration eager = time_with(Protocol::eager, 3, 1);
        CHECK(time_with(Protocol::rendezvous, 100'000, 1) == eager);
        // Eager slices of the same data, by rounds that wait for what was received
        CHECK(time_with(Protocol::eager, 0, 100'000) == eager);
        CHECK(time_with(Protocol::rendezvous, 3, 1) >= eager);
    }
}

TEST_CASE("pipelined ring with slots: a channel moves its buffer per round trip over a long link") {
    Case c(1);
    c.n = 8;
    c.cut = {524'288_B, 1, 8};
    c.size = 8 * 64 * c.cut.slice;
    c.link = {10_Gbps, 50ms};
    const Duration time = time_of(c, Protocol::rendezvous, [&](Rank self) {
        return pipelined_ring_all_reduce(std::move(self), c.size, c.cut);
    });
    const std::int64_t round_trips = 2 * 7 * 64 / 8;
    CHECK(time >= (round_trips - 1) * 200ms);
    CHECK(time <= round_trips * 202ms);
}

TEST_CASE("pipelined ring: one slice per chunk is the plain ring") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Case c(seed);
        c.cut.slice = c.size;
        CHECK(time_of(c, Protocol::rendezvous, [&](Rank self) {
                  return pipelined_ring_all_reduce(std::move(self), c.size, c.cut);
              }) == ring_all_reduce_time(c.n, c.size, c.star()));
    }
}

TEST_CASE("pipelined ring: enough slices pay one latency, where the plain ring pays 2(n-1)") {
    Case c(1);
    c.n = 16;
    c.size = 16 * 64 * 10'000_B;
    c.cut = {10'000_B, 64};
    c.link = {1_Gbps, 500us};
    const Duration volume = 2 * 15 * 64 * 80us;
    CHECK(time_of(c, Protocol::eager, [&](Rank self) {
              return pipelined_ring_all_reduce(std::move(self), c.size, c.cut);
          }) == volume + 1ms);
}

TEST_CASE("ring reduce: it takes what the closed form says, to a few picoseconds of sharing") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const Case c(seed);
        const Duration simulated = time_of(c, Protocol::rendezvous, [&](Rank self) {
            return pipelined_ring_reduce(std::move(self), c.size, c.cut);
        });
        const Duration form = pipelined_ring_reduce_time(c.n, c.size, c.cut, c.star());
        CHECK(std::abs((simulated - form).count()) <= c.n);
    }
}

TEST_CASE("chains: they take what the closed form says, where it holds, and never less") {
    int held = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Case c(seed);
        const std::int64_t k = c.size.count / c.cut.slice.count;
        const Duration t = c.cut.slice / c.link.bandwidth;
        const Duration least = (c.n - 1) * (2 * c.link.latency + t) + (k - 1) * t;
        const auto form = chain_time(c.n, c.size, c.cut, c.star());
        for (const auto collective : {&chain_broadcast, &chain_reduce}) {
            const Duration simulated = time_of(c, Protocol::rendezvous, [&](Rank self) {
                return collective(std::move(self), c.size, c.cut);
            });
            CHECK(simulated >= least);
            if (!form) continue;
            ++held;
            CHECK(simulated == *form);
            CHECK(*form == least);
        }
    }
    CHECK(held > 100);
}

TEST_CASE("broadcast at once: 2^m members take m (m+1)/2 t + m L, and others the longest way") {
    for (int m = 1; m <= 6; ++m) {
        Case c(1);
        c.n = 1 << m;
        c.size = 1_MB;
        c.link = {1_Gbps, 50us};
        const Duration simulated = time_of(
            c, Protocol::rendezvous, [&](Rank self) { return broadcast_at_once(self, c.size); });
        const Duration expected = m * (m + 1) / 2 * 8ms + m * 100us;
        CHECK(std::abs((simulated - expected).count()) <= 64);
        CHECK(broadcast_at_once_time(c.n, c.size, c.star()) == expected);
    }
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        Case c(seed);
        c.n = 1 + static_cast<int>(seed);
        const Duration simulated =
            time_of(c, Protocol::eager, [&](Rank self) { return broadcast_at_once(self, c.size); });
        const Duration form = broadcast_at_once_time(c.n, c.size, c.star());
        CHECK(std::abs((simulated - form).count()) <= 64);
    }
}

TEST_CASE("double tree: both span all places, and no place is inside both") {
    for (int n = 1; n <= 300; ++n) {
        CAPTURE(n);
        for (const auto tree : {&place_in_tree_a, &place_in_tree_b}) {
            int roots = 0;
            for (int place = 0; place < n; ++place) {
                const TreePlace at = tree(place, n);
                roots += at.above < 0 ? 1 : 0;
                CHECK(at.below.size() <= 2);
                for (const int child : at.below) CHECK(tree(child, n).above == place);
                int steps = 0;  // to the root
                for (int up = place; tree(up, n).above >= 0; up = tree(up, n).above) ++steps;
                CHECK(steps <= 10);
            }
            CHECK(roots == 1);
        }
        int inside_both = 0;  // the root of an odd group has one place below it in either tree
        for (int place = 0; place < n; ++place) {
            const std::size_t below =
                place_in_tree_a(place, n).below.size() + place_in_tree_b(place, n).below.size();
            inside_both += below > 2 ? 1 : 0;
        }
        CHECK(inside_both <= 1);
    }
}

TEST_CASE("double tree with slots: enough of them cost no more than eager slices, fewer do more") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        Case c(seed);
        c.size = 1'000'000_B;
        const auto time_with = [&](Protocol protocol, int slots) {
            c.cut.slots = slots;
            return time_of(c, protocol, [&](Rank self) {
                return double_tree_all_reduce(std::move(self), c.size, c.cut);
            });
        };
        const Duration eager = time_with(Protocol::eager, 3);
        // Shares of a link are rounded in another order.
        CHECK(std::abs((time_with(Protocol::rendezvous, 100'000) - eager).count()) <= 10);
        CHECK(time_with(Protocol::rendezvous, 1) >= eager - Duration{10});
        // The root sends half of the vector down and, in the other tree, half of it up.
        CHECK(eager >= c.size / c.link.bandwidth);
    }
    // One slot per connection: a slice per round trip on the way up and on the way down.
    Case c(1);
    c.n = 2;
    c.size = 2 * 50 * 10'000_B;
    c.cut = {10'000_B, 1, 1};
    c.link = {1_Gbps, 500us};
    CHECK(time_of(c, Protocol::rendezvous, [&](Rank self) {
              return double_tree_all_reduce(std::move(self), c.size, c.cut);
          }) >= 49 * (80us + 2ms) + 80us + 1ms);
}

TEST_CASE("double tree: between two vectors over a link, and little more for small slices") {
    for (const int n : {5, 6, 7, 8, 12, 16, 31, 32, 64}) {
        CAPTURE(n);
        Case c(1);
        c.n = n;
        c.size = 8_MB;
        c.cut = {10'000_B, 64};
        c.link = {1_Gbps, 10us};
        const Duration simulated = time_of(c, Protocol::eager, [&](Rank self) {
            return double_tree_all_reduce(std::move(self), c.size, c.cut);
        });
        CHECK(simulated >= 128ms);
        CHECK(simulated <= 128ms * 1.3 + 2 * 7 * (20us + 80us));
        // A ring of small vectors pays its latencies.
        c.size = 1000_B;
        const Duration small = time_of(c, Protocol::eager, [&](Rank self) {
            return double_tree_all_reduce(std::move(self), c.size, c.cut);
        });
        if (n >= 16) CHECK(small < ring_all_reduce_time(n, c.size, c.star()));
    }
}

}  // namespace
}  // namespace paceline::pipelined_test
