#include "sim/network/max_min.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/network/progressive_filling.hpp"
#include "tests/sim/network/whole_problems.hpp"

namespace paceline::max_min_test {
namespace {

using doctest::Approx;
using Routes = std::vector<std::vector<std::uint32_t>>;

std::vector<double> solve(WholeProblems& problems, const std::vector<double>& capacity,
                          const Routes& routes) {
    std::vector<std::uint32_t> first_hop{0};
    std::vector<std::uint32_t> hops;
    for (const auto& route : routes) {
        hops.insert(hops.end(), route.begin(), route.end());
        first_hop.push_back(static_cast<std::uint32_t>(hops.size()));
    }
    const std::span<const double> rates = problems.solve(capacity, first_hop, hops);
    return {rates.begin(), rates.end()};
}

std::vector<double> solve(const std::vector<double>& capacity, const Routes& routes) {
    WholeProblems problems;
    return solve(problems, capacity, routes);
}

TEST_CASE("max-min: without flows there are no rates") {
    CHECK(solve({1.0, 2.0}, {}).empty());
}

TEST_CASE("max-min: a flow alone has the smallest capacity of its links") {
    const std::vector<double> rates = solve({5, 3, 7}, {{0, 1, 2}});

    CHECK(rates == std::vector<double>{3});
}

TEST_CASE("max-min: n flows on a link have an n-th of it each") {
    const std::vector<double> rates = solve({6}, {{0}, {0}, {0}, {0}});

    CHECK(rates == std::vector<double>{1.5, 1.5, 1.5, 1.5});
}

TEST_CASE("max-min, property: all flows of a group of n members have the same rate, to the bit") {
    WholeProblems problems;
    bool differ = false;
    for (std::uint32_t n = 3; n <= 40; ++n) {
        CAPTURE(n);
        std::vector<std::uint32_t> first_hop{0};
        std::vector<std::uint32_t> hops;
        for (std::uint32_t from = 0; from < n; ++from)
            for (std::uint32_t to = 0; to < n; ++to) {
                if (from == to) continue;
                hops.insert(hops.end(), {2 * from, 2 * to + 1});  // as a walk over flows finds them
                first_hop.push_back(static_cast<std::uint32_t>(hops.size()));
            }
        const double rate = 0.0125 / (n - 1);  // no binary fraction
        const std::vector<double> capacity(2 * std::size_t{n}, 0.0125);
        for (const double one : problems.solve_evenly(capacity, first_hop, hops))
            REQUIRE(one == rate);
        for (const double one : problems.solve(capacity, first_hop, hops)) {
            REQUIRE(one == Approx(rate));
            differ = differ || one != rate;
        }
    }
    CHECK(differ);
}

TEST_CASE("max-min: where rates differ, filling evenly is filling") {
    WholeProblems problems;
    const std::vector<double> capacity{2, 4};
    const std::vector<std::uint32_t> first_hop{0, 1, 3, 4};
    const std::vector<std::uint32_t> hops{0, 0, 1, 1};

    const std::span<const double> rates = problems.solve_evenly(capacity, first_hop, hops);

    CHECK(std::vector<double>(rates.begin(), rates.end()) == std::vector<double>{1, 1, 3});
}

TEST_CASE("max-min: on a parking lot the long flow has no less than its share of each link") {
    const std::vector<double> rates = solve({1, 1, 1}, {{0, 1, 2}, {0}, {1}, {2}});

    CHECK(rates == std::vector<double>{0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("max-min: on an uneven parking lot the short flows take what the long one leaves") {
    const std::vector<double> rates = solve({1, 2, 4}, {{0, 1, 2}, {0}, {1}, {2}});

    CHECK(rates == std::vector<double>{0.5, 0.5, 1.5, 3.5});
}

TEST_CASE("max-min: with two bottlenecks each flow is held by its own") {
    // Link 0 (capacity 1) has three flows: 1/3 each. Link 1 (capacity 1): the third of them, and a
    // fourth that takes the remaining 2/3.
    const std::vector<double> rates = solve({1, 1}, {{0}, {0}, {0, 1}, {1}});

    CHECK(rates[0] == Approx(1.0 / 3));
    CHECK(rates[1] == Approx(1.0 / 3));
    CHECK(rates[2] == Approx(1.0 / 3));
    CHECK(rates[3] == Approx(2.0 / 3));
}

TEST_CASE(
    "max-min: a flow over a link of capacity 0 has rate 0 and leaves the rest to the others") {
    const std::vector<double> rates = solve({0, 8}, {{0, 1}, {1}, {1}, {0}});

    CHECK(rates == std::vector<double>{0, 4, 4, 0});
}

TEST_CASE("max-min: the order of a flow's links does not matter") {
    const std::vector<double> forward = solve({1, 2, 4}, {{0, 1, 2}, {1, 2}, {2}});
    const std::vector<double> backward = solve({1, 2, 4}, {{2, 1, 0}, {2, 1}, {2}});

    CHECK(forward == std::vector<double>{1, 1, 2});
    CHECK(backward == forward);
}

TEST_CASE("max-min: a bound of a flow is a link that it alone crosses") {
    MaxMin max_min;
    max_min.clear(3, 2, 3);
    const std::uint32_t link = max_min.add_link(6, 2);
    std::uint32_t* hop = max_min.add_flow();
    *hop++ = link;
    max_min.end_flow(hop);
    max_min.add_bound(1);
    hop = max_min.add_flow();
    *hop++ = link;
    max_min.end_flow(hop);
    std::uint32_t* const listed = max_min.list_flows(link);
    listed[0] = 0;
    listed[1] = 1;

    const std::span<const double> rates = max_min.fill();

    CHECK(std::vector<double>(rates.begin(), rates.end()) == std::vector<double>{1, 5});
}

TEST_CASE("max-min: a solver can be used again for a smaller problem") {
    WholeProblems problems;
    solve(problems, {1, 2, 4}, {{0, 1, 2}, {0}, {1}, {2}});

    const std::vector<double> rates = solve(problems, {6}, {{0}, {0}});

    CHECK(rates == std::vector<double>{3, 3});
}

struct Problem {
    std::vector<double> capacity;
    Routes routes;
};

/// Half of the problems have small whole capacities, so that shares tie and some links are down.
Problem random_problem(std::uint64_t seed, std::size_t most_links = 12,
                       std::size_t most_flows = 24) {
    std::mt19937_64 rng(seed);
    Problem problem;
    std::uniform_real_distribution<double> decades(-3, 3);
    const bool ties = rng() % 2 == 0;
    const std::size_t links = 1 + rng() % most_links;
    for (std::size_t link = 0; link < links; ++link)
        problem.capacity.push_back(ties ? static_cast<double>(rng() % 5)
                                        : std::pow(10, decades(rng)));
    const std::size_t flows = rng() % (most_flows + 1);
    std::vector<std::uint32_t> all(links);
    for (std::size_t link = 0; link < links; ++link) all[link] = static_cast<std::uint32_t>(link);
    for (std::size_t flow = 0; flow < flows; ++flow) {
        std::ranges::shuffle(all, rng);
        const std::size_t length = std::min(links, 1 + rng() % 4);
        problem.routes.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
    }
    return problem;
}

constexpr double nearly = 1e-9;  // relative

/// The method of max_min.hpp, operation by operation, without its data structures: each step looks
/// at all links and all flows. A link's share is the one at which it was last looked at.
std::vector<double> step_by_step(const Problem& problem) {
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<double> left = problem.capacity;
    std::vector<double> rates(problem.routes.size(), -1);
    const auto crosses = [&](std::size_t flow, std::size_t link) {
        return std::ranges::count(problem.routes[flow], static_cast<std::uint32_t>(link)) > 0;
    };
    const auto share = [&](std::size_t link) {
        int unfixed = 0;
        for (std::size_t flow = 0; flow < rates.size(); ++flow)
            unfixed += rates[flow] < 0 && crosses(flow, link) ? 1 : 0;
        return unfixed == 0 ? never : left[link] / unfixed;
    };
    std::vector<double> seen;
    for (std::size_t link = 0; link < left.size(); ++link) seen.push_back(share(link));
    while (std::ranges::min(seen) != never) {
        const auto link = static_cast<std::size_t>(std::ranges::min_element(seen) - seen.begin());
        const double now = share(link);
        if (now > seen[link]) {
            seen[link] = now;
            continue;
        }
        for (std::size_t flow = 0; flow < rates.size(); ++flow) {
            if (rates[flow] >= 0 || !crosses(flow, link)) continue;
            rates[flow] = now;
            for (const std::uint32_t hop : problem.routes[flow])
                left[hop] = std::max(0.0, left[hop] - now);
        }
        seen[link] = never;
    }
    return rates;
}

TEST_CASE("max-min, property: rates are to the bit those of the method, with few links and many") {
    WholeProblems problems;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        CAPTURE(seed);
        const bool many = seed % 10 == 0;
        const Problem problem = many ? random_problem(seed, 60, 90) : random_problem(seed, 20, 30);

        const std::vector<double> rates = solve(problems, problem.capacity, problem.routes);

        REQUIRE(rates == step_by_step(problem));
    }
}

TEST_CASE("max-min, property: rates are those of progressive filling") {
    WholeProblems problems;
    for (unsigned seed = 0; seed < 5000; ++seed) {
        CAPTURE(seed);
        const Problem problem = random_problem(seed);

        const std::vector<double> rates = solve(problems, problem.capacity, problem.routes);

        const std::vector<double> expected = progressive_filling(problem.capacity, problem.routes);
        REQUIRE(rates.size() == expected.size());
        for (std::size_t flow = 0; flow < rates.size(); ++flow)
            REQUIRE(rates[flow] == Approx(expected[flow]).epsilon(nearly).scale(1e-6));
    }
}

TEST_CASE(
    "max-min, property: no link is overfull, and each flow is fastest on a full link of its") {
    WholeProblems problems;
    for (unsigned seed = 0; seed < 5000; ++seed) {
        CAPTURE(seed);
        const auto [capacity, routes] = random_problem(seed);

        const std::vector<double> rates = solve(problems, capacity, routes);

        std::vector<double> load(capacity.size(), 0);
        std::vector<double> fastest(capacity.size(), 0);
        for (std::size_t flow = 0; flow < rates.size(); ++flow)
            for (const std::uint32_t link : routes[flow]) {
                load[link] += rates[flow];
                fastest[link] = std::max(fastest[link], rates[flow]);
            }
        for (std::size_t link = 0; link < capacity.size(); ++link)
            REQUIRE(load[link] <= capacity[link] * (1 + nearly));
        for (std::size_t flow = 0; flow < rates.size(); ++flow) {
            int bottlenecks = 0;
            for (const std::uint32_t link : routes[flow]) {
                const bool full = load[link] >= capacity[link] * (1 - nearly);
                const bool among_fastest = rates[flow] >= fastest[link] * (1 - nearly);
                bottlenecks += full && among_fastest ? 1 : 0;
            }
            REQUIRE(bottlenecks > 0);
            REQUIRE(rates[flow] >= 0);
        }
    }
}

}  // namespace
}  // namespace paceline::max_min_test
