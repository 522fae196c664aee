#include "sim/compute/slow_nodes.hpp"

#include <chrono>
#include <cmath>

#include <doctest/doctest.h>

namespace paceline::slow_nodes_test {
namespace {

using doctest::Approx;
using namespace std::chrono_literals;

TEST_CASE("slow nodes: every gradient of a chosen node is slow, and none of another") {
    const StepFactor law = always_slow(4, {{1}, MachineSizes(2)});

    for (int k = 0; k < 10; ++k)
        for (int rank = 0; rank < 6; ++rank) CHECK(law(rank, k) == (rank / 2 == 1 ? 4 : 1));
}

TEST_CASE("slow nodes: every so many steps from a first one") {
    const StepFactor law = slow_every(3, 5, 2, {.nodes = {1}});

    for (int k = 0; k < 30; ++k) {
        CHECK(law(0, k) == 1);
        CHECK(law(1, k) == (k % 5 == 2 ? 3 : 1));
    }
}

TEST_CASE("slow nodes, property: a share of the gradients is slow, the same ones on every call") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const double share = 0.05 + 0.045 * seed;
        const StepFactor law = slow_at_random(3, share, {}, RandomStreams(seed));
        constexpr int asked = 4000;
        int slow = 0;
        for (int i = 0; i < asked; ++i) slow += law(i % 8, i / 8) == 3 ? 1 : 0;

        CHECK(std::abs(slow - asked * share) < 5 * std::sqrt(asked * share * (1 - share)));
        CHECK(law(3, 7) == slow_at_random(3, share, {}, RandomStreams(seed))(3, 7));
    }
}

TEST_CASE("slow nodes, property: at most one node is slow in a step, each equally often") {
    for (unsigned seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        constexpr int nodes = 5;
        constexpr int steps = 3000;
        constexpr double share = 0.6;
        const StepFactor law =
            one_slow_node(4, share, {{}, MachineSizes(2)}, nodes, RandomStreams(seed));
        std::vector<int> slow_steps(nodes);
        for (int k = 0; k < steps; ++k) {
            int slow = 0;
            for (int node = 0; node < nodes; ++node) {
                CHECK(law(2 * node, k) == law(2 * node + 1, k));
                const bool is_slow = law(2 * node, k) == 4;
                slow += is_slow ? 1 : 0;
                slow_steps[static_cast<std::size_t>(node)] += is_slow ? 1 : 0;
            }
            CHECK(slow <= 1);
        }
        for (const int count : slow_steps) {
            const double p = share / nodes;
            CHECK(std::abs(count - steps * p) < 5 * std::sqrt(steps * p * (1 - p)));
        }
    }
}

TEST_CASE("slow nodes: the one slow node is one of those that are chosen") {
    const StepFactor law = one_slow_node(4, 1, {.nodes = {2, 6}}, 8, RandomStreams(1));
    for (int k = 0; k < 200; ++k) {
        CHECK(law(2, k) + law(6, k) == 5);
        for (const int other : {0, 1, 3, 4, 5, 7}) CHECK(law(other, k) == 1);
    }
}

// Returns the first `count` phases of a law from a time on.
std::vector<Phase> phases_of(const PhasesOf& law, int rank, Time begin, int count) {
    const Phases next = law(rank, begin);
    std::vector<Phase> all;
    for (int i = 0; i < count; ++i) all.push_back(next());
    return all;
}

TEST_CASE("slow nodes: periodic phases begin in the one in which a time lies") {
    const PhasesOf law = slow_periodically(2, 10ms, 3ms, 5ms, {});

    const auto check = [&](Time begin, bool slow, Time until) {
        const std::vector<Phase> phases = phases_of(law, 0, begin, 4);
        Time end = until;
        for (const Phase& phase : phases) {
            CHECK(phase.factor == (slow ? 2 : 1));
            CHECK(phase.until == end);
            slow = !slow;
            end += slow ? 3ms : 7ms;
        }
    };
    check(Time{}, false, Time{5ms});
    check(Time{4ms}, false, Time{5ms});
    check(Time{5ms}, true, Time{8ms});
    check(Time{7ms}, true, Time{8ms});
    check(Time{8ms}, false, Time{15ms});
    check(Time{126ms}, true, Time{128ms});
}

TEST_CASE("slow nodes: a slow interval as long as its period does not end") {
    const PhasesOf law = slow_periodically(2, 10ms, 10ms, 5ms, {});
    const ComputeTime takes = make_compute_time({{}, {law}});

    CHECK(takes(0, 0, Time{}, 100ms) == 5ms + 190ms);
    CHECK(takes(0, 0, Time{7ms}, 100ms) == 200ms);
}

TEST_CASE("slow nodes: only the chosen nodes have slow intervals") {
    const ComputeTime periodic =
        make_compute_time({{}, {slow_periodically(2, 10ms, 10ms, 0ms, {.nodes = {1}})}});
    const ComputeTime random = make_compute_time(
        {{}, {slow_at_intervals(2, {1ns, 1s}, {.nodes = {1}}, RandomStreams(1))}});

    CHECK(periodic(0, 0, Time{}, 1ms) == 1ms);
    CHECK(periodic(1, 0, Time{}, 1ms) == 2ms);
    CHECK(random(0, 0, Time{1ms}, 1ms) == 1ms);
    CHECK(random(1, 0, Time{1ms}, 1ms) == 2ms);
}

TEST_CASE(
    "slow nodes, property: random intervals have the stated means, independently on each node") {
    for (unsigned seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        const PhasesOf law = slow_at_intervals(4, {60s, 5s}, {}, RandomStreams(seed));
        constexpr int intervals = 4000;
        double slow = 0;
        double between = 0;
        Time begin{};
        for (const Phase& phase : phases_of(law, 3, Time{}, 2 * intervals)) {
            (phase.factor == 4 ? slow : between) += to_seconds(phase.until - begin);
            begin = phase.until;
        }

        const double deviations = 5 / std::sqrt(intervals);  // of an exponential law
        CHECK(slow / intervals == Approx(5).epsilon(deviations));
        CHECK(between / intervals == Approx(60).epsilon(deviations));
        CHECK(phases_of(law, 3, Time{}, 1)[0].until != phases_of(law, 4, Time{}, 1)[0].until);
    }
}

TEST_CASE("slow nodes, property: random intervals are the same in whatever order they are asked") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const auto make = [&] {
            return make_compute_time(
                {{}, {slow_at_intervals(3, {20ms, 10ms}, {}, RandomStreams(seed))}});
        };
        const ComputeTime forth = make();
        const ComputeTime back = make();
        std::vector<Duration> times;
        for (int k = 0; k < 50; ++k) times.push_back(forth(0, k, Time{k * 13ms}, 13ms));
        for (int k = 49; k >= 0; --k)
            CHECK(back(0, k, Time{k * 13ms}, 13ms) == times[static_cast<std::size_t>(k)]);
    }
}

// The oracle integrates over the list of phases, piece by piece.
TEST_CASE("slow nodes, property: over random intervals, the work done is the work asked for") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const PhasesOf law = slow_at_intervals(3, {20ms, 10ms}, {}, RandomStreams(seed));
        const std::vector<Phase> phases = phases_of(law, 0, Time{}, 200);
        const ComputeTime takes = make_compute_time({{}, {law}});
        for (int k = 0; k < 30; ++k) {
            const Time begin{k * 31ms};
            const Duration nominal = (1 + 7 * k) * 1ms;
            const Time end = begin + takes(0, k, begin, nominal);
            double work = 0;
            Time from{};
            for (const Phase& phase : phases) {
                const Time a = std::max(from, begin);
                const Time b = std::min(phase.until, end);
                if (b > a) work += to_seconds(b - a) / phase.factor;
                from = phase.until;
            }
            CHECK(work == Approx(to_seconds(nominal)).epsilon(1e-9));
        }
    }
}

}  // namespace
}  // namespace paceline::slow_nodes_test
