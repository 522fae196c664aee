#include "sim/collectives/all_reduce.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "sim/collectives/chunks.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::all_reduce_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

constexpr double nearly = 1e-9;  // relative

using AllReduce = Task<> (*)(Rank, Bytes);
using Predict = Duration (*)(int, Bytes, const IdleStar&);

Duration time_of(AllReduce all_reduce, int n, Bytes size, const Link& link) {
    return time_on_star(n, link, [&](Rank self) { return all_reduce(std::move(self), size); });
}

/// Compares every n, size, latency and bandwidth with the closed form, to the picosecond.
void hold_against(AllReduce all_reduce, Predict predict) {
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64})
        for (const Bytes size : {0_B, 1_B, 5_B, 64'000_B, 1'000'003_B, 97_MB})
            for (const Duration latency : {Duration{0}, Duration{50us}, Duration{50ms}})
                for (const Bandwidth bandwidth : {1_Gbps, 10_Gbps}) {
                    CAPTURE(n);
                    CAPTURE(size.count);
                    CAPTURE(latency.count());
                    CAPTURE(bandwidth.bits_per_second);
                    const Duration simulated = time_of(all_reduce, n, size, {bandwidth, latency});
                    const Duration predicted = predict(n, size, {bandwidth, 2 * latency});
                    REQUIRE(simulated.count() == predicted.count());
                }
}

TEST_CASE("ring all-reduce: on an idle star it takes what the closed form says") {
    hold_against(&ring_all_reduce, &ring_all_reduce_time);
}

TEST_CASE("recursive doubling: on an idle star it takes what the closed form says") {
    hold_against(&recursive_doubling_all_reduce, &recursive_doubling_all_reduce_time);
}

TEST_CASE("halving-doubling: on an idle star it takes what the closed form says") {
    hold_against(&halving_doubling_all_reduce, &halving_doubling_all_reduce_time);
}

TEST_CASE("ring all-reduce: it takes 2(n-1)(L + S/(nB)) where n divides S") {
    for (const int n : {1, 2, 3, 5, 8, 12, 16, 64})
        for (const double latency : {0.0, 100e-6, 0.1}) {
            CAPTURE(n);
            CAPTURE(latency);
            const Bytes size{n * 125'000};

            const Duration simulated =
                time_of(&ring_all_reduce, n, size, {1_Gbps, from_seconds(latency / 2)});

            const double textbook = 2 * (n - 1) * (latency + 125'000 / 125e6);
            REQUIRE(to_seconds(simulated) == Approx(textbook).epsilon(nearly).scale(1e-3));
        }
}

TEST_CASE("recursive doubling: it takes log2(n) (L + S/B) where n is a power of two") {
    for (const int steps : {0, 1, 2, 3, 4, 6})
        for (const double latency : {0.0, 100e-6, 0.1}) {
            CAPTURE(steps);
            CAPTURE(latency);

            const Duration simulated = time_of(&recursive_doubling_all_reduce, 1 << steps, 97_MB,
                                               {1_Gbps, from_seconds(latency / 2)});

            const double textbook = steps * (latency + 97e6 / 125e6);
            REQUIRE(to_seconds(simulated) == Approx(textbook).epsilon(nearly).scale(1e-3));
        }
}

TEST_CASE("halving-doubling: it takes 2 log2(n) L + 2 (n-1)/n S/B where n is a power of two") {
    for (const int steps : {0, 1, 2, 3, 4, 6})
        for (const double latency : {0.0, 100e-6, 0.1}) {
            CAPTURE(steps);
            CAPTURE(latency);
            const int n = 1 << steps;

            const Duration simulated = time_of(&halving_doubling_all_reduce, n, 64_MB,
                                               {1_Gbps, from_seconds(latency / 2)});

            const double textbook = 2 * steps * latency + 2.0 * (n - 1) / n * 64e6 / 125e6;
            REQUIRE(to_seconds(simulated) == Approx(textbook).epsilon(nearly).scale(1e-3));
        }
}

TEST_CASE("recursive doubling: six places take two messages more than four") {
    const Duration simulated = time_of(&recursive_doubling_all_reduce, 6, 1_MB, {1_Gbps, 25us});

    CHECK(simulated == 4 * (8ms + 50us));
}

TEST_CASE("halving-doubling: five places hand over all of S before and after") {
    const Duration simulated = time_of(&halving_doubling_all_reduce, 5, 1_MB, {1_Gbps, 25us});

    CHECK(simulated == 2 * (8ms + 50us) + 2 * (4ms + 50us) + 2 * (2ms + 50us));
}

TEST_CASE("ring all-reduce: 97 MB at 1 Gbps and 50 us per link take the published times") {
    const Link link{1_Gbps, 50us};

    CHECK(to_seconds(time_of(&ring_all_reduce, 8, 97_MB, link)) == Approx(1.359400).epsilon(1e-5));
    CHECK(to_seconds(time_of(&ring_all_reduce, 64, 97_MB, link)) == Approx(1.540350).epsilon(1e-5));
    CHECK(to_seconds(time_of(&ring_all_reduce, 256, 97_MB, link)) ==
          Approx(1.596937).epsilon(1e-5));
}

TEST_CASE("ring all-reduce: 1024 nodes take the published time") {
    const Duration simulated = time_of(&ring_all_reduce, 1024, 97_MB, {1_Gbps, 50us});

    CHECK(to_seconds(simulated) == Approx(1.755084).epsilon(1e-5));
}

// ---- bytes ----

struct Sum {
    Bytes sent;
    Bytes received;
};

Sum total_traffic(const StarRun& run) {
    Sum sum;
    for (int host = 0; host < run.network.hosts(); ++host) {
        sum.sent += run.network.traffic(host).sent;
        sum.received += run.network.traffic(host).received;
    }
    return sum;
}

TEST_CASE("all-reduce: ring and halving-doubling move 2 (n-1)/n S through each of 2^m ranks") {
    for (const AllReduce all_reduce : {&ring_all_reduce, &halving_doubling_all_reduce})
        for (const int n : {1, 2, 4, 8, 16, 32}) {
            CAPTURE(n);
            StarRun run(n, {1_Gbps, 50us});
            const Bytes size{n * 1000};

            run.spawn_all([&](Rank self) { return all_reduce(std::move(self), size); });
            run.simulation.run();

            for (int host = 0; host < n; ++host) {
                REQUIRE(run.network.traffic(host).sent == Bytes{2 * (n - 1) * 1000});
                REQUIRE(run.network.traffic(host).received == Bytes{2 * (n - 1) * 1000});
            }
        }
}

TEST_CASE("ring all-reduce: each rank passes on every chunk twice but for two") {
    const int n = 7;
    const Bytes size = 1'000'003_B;
    StarRun run(n, {1_Gbps, 50us});

    run.spawn_all([&](Rank self) { return ring_all_reduce(std::move(self), size); });
    run.simulation.run();

    // Place p sends chunks p, p-1, ... p-n+2, then p+1, p, ... p-n+3.
    for (int place = 0; place < n; ++place) {
        CAPTURE(place);
        const Bytes not_first = chunk(size, n, wrapped(place + 1, n));
        const Bytes not_second = chunk(size, n, wrapped(place + 2, n));
        CHECK(run.network.traffic(place).sent == 2 * size - not_first - not_second);
    }
    CHECK(total_traffic(run).sent == 2 * (n - 1) * size);
}

TEST_CASE("recursive doubling: each of 2^m ranks sends and receives log2(n) S") {
    StarRun run(8, {1_Gbps, 50us});

    run.spawn_all([&](Rank self) { return recursive_doubling_all_reduce(std::move(self), 1_MB); });
    run.simulation.run();

    for (int host = 0; host < 8; ++host) {
        CHECK(run.network.traffic(host).sent == 3_MB);
        CHECK(run.network.traffic(host).received == 3_MB);
    }
}

TEST_CASE("all-reduce: a place that drops out sends its vector and receives the result, no more") {
    for (const AllReduce all_reduce :
         {&recursive_doubling_all_reduce, &halving_doubling_all_reduce}) {
        StarRun run(6, {1_Gbps, 50us});

        run.spawn_all([&](Rank self) { return all_reduce(std::move(self), 1_MB); });
        run.simulation.run();

        CHECK(run.network.traffic(0).sent == 1_MB);
        CHECK(run.network.traffic(0).received == 1_MB);
        CHECK(run.network.traffic(2).sent == 1_MB);
        CHECK(run.network.traffic(2).received == 1_MB);
    }
}

TEST_CASE("all-reduce, property: what is sent in all is received in all") {
    for (const AllReduce all_reduce :
         {&ring_all_reduce, &recursive_doubling_all_reduce, &halving_doubling_all_reduce})
        for (int n = 1; n <= 17; ++n) {
            CAPTURE(n);
            StarRun run(n, {1_Gbps, 50us});

            run.spawn_all([&](Rank self) { return all_reduce(std::move(self), 1'000'003_B); });
            run.simulation.run();

            const Sum sum = total_traffic(run);
            REQUIRE(sum.sent == sum.received);
            REQUIRE(sum.sent >= 2 * (n - 1) * 1'000'003_B);  // the least of any all-reduce
        }
}

// ---- stragglers and other traffic ----

TEST_CASE("ring all-reduce: if one of eight begins late, all end late by as much") {
    for (const int straggler : {0, 3, 7})
        for (const Duration late : {Duration{1us}, Duration{30ms}, Duration{5s}}) {
            CAPTURE(straggler);
            StarRun run(8, {1_Gbps, 50us});

            for (int place = 0; place < 8; ++place)
                run.spawn(place, ring_all_reduce(run.rank(place), 8_MB),
                          place == straggler ? late : Duration{});
            run.simulation.run();

            const Duration expected = late + 14 * (8ms + 100us);
            REQUIRE(run.ended == std::vector<Duration>(8, expected));
        }
}

TEST_CASE("ring all-reduce: two at once share the links, and bytes take twice the time") {
    StarRun run(8, {1_Gbps, 50us});

    run.spawn_all([&](Rank self) { return ring_all_reduce(std::move(self), 8_MB); }, 1);
    run.spawn_all([&](Rank self) { return ring_all_reduce(std::move(self), 8_MB); }, 2);
    run.simulation.run();

    CHECK(to_seconds(run.last_end()) == Approx(14 * (2 * 8e-3 + 100e-6)).epsilon(nearly));
    CHECK(run.network.traffic(0).sent == 2 * 14_MB);
}

TEST_CASE("all-reduce: two of different kinds at once both end, no earlier than alone") {
    const Link link{1_Gbps, 0us};
    const Duration ring_alone = time_of(&ring_all_reduce, 7, 8_MB, link);
    const Duration halving_alone = time_of(&halving_doubling_all_reduce, 7, 8_MB, link);
    StarRun run(7, link);

    run.spawn_all([&](Rank self) { return ring_all_reduce(std::move(self), 8_MB); }, 1);
    run.spawn_all([&](Rank self) { return halving_doubling_all_reduce(std::move(self), 8_MB); }, 2);
    run.simulation.run();

    CHECK(run.processes.finished());
    CHECK(run.last_end() > std::max(ring_alone, halving_alone));
    CHECK(run.last_end() <= ring_alone + halving_alone);
}

Task<> one_after_the_other(Rank self, Bytes size, int rounds) {
    for (int round = 0; round < rounds; ++round) co_await ring_all_reduce(self, size);
}

TEST_CASE("all-reduce: rounds on one stream follow one another without mixing") {
    const Link link{1_Gbps, 50us};

    const Duration simulated = time_on_star(
        5, link, [](Rank self) { return one_after_the_other(std::move(self), 5_MB, 10); });

    CHECK(simulated == 10 * 8 * (8ms + 100us));
}

}  // namespace
}  // namespace paceline::all_reduce_test
