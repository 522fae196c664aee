#include "sim/compute/compute_time.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "sim/compute/slow_nodes.hpp"

namespace paceline::compute_time_test {
namespace {

using doctest::Approx;
using namespace std::chrono_literals;

StepFactor times(double factor) {
    return [factor](int, std::int64_t) { return factor; };
}

TEST_CASE("compute time: without parts there is no law") {
    CHECK(make_compute_time({}) == nullptr);
}

TEST_CASE("compute time: the factors of a gradient are multiplied") {
    const ComputeTime law = make_compute_time({{times(2), times(3)}, {}});

    CHECK(law(0, 0, Time{}, 10ms) == 60ms);
    CHECK(law(0, 0, Time{5s}, 0ms) == 0ms);
}

TEST_CASE("compute time: a factor of one leaves a time as it is, to the picosecond") {
    const ComputeTime law = make_compute_time({{times(1)}, {}});
    const Duration odd{1'234'567'890'123'456'789};

    CHECK(law(0, 0, Time{}, odd) == odd);
}

TEST_CASE(
    "compute time: a gradient that straddles an interval's border is slowed on one side only") {
    // Four times as long from 10 ms to 30 ms of every 100 ms.
    const ComputeTime law = make_compute_time({{}, {slow_periodically(4, 100ms, 20ms, 10ms, {})}});

    CHECK(law(0, 0, Time{}, 10ms) == 10ms);                     // ends at the border
    CHECK(law(0, 0, Time{}, 11ms) == 14ms);                     // 1 ms of it within
    CHECK(law(0, 0, Time{}, 15ms) == 30ms);                     // ends at the other border
    CHECK(law(0, 0, Time{}, 20ms) == 35ms);                     // and beyond it
    CHECK(law(0, 0, Time{10ms}, 1ms) == 4ms);                   // begins at the border
    CHECK(law(0, 0, Time{28ms}, 1ms) == 2500us);                // 0.5 ms of work within
    CHECK(law(0, 0, Time{30ms}, 1ms) == 1ms);                   // begins at the other border
    CHECK(law(0, 0, Time{109ms}, 2ms) == 5ms);                  // the next period
    CHECK(law(0, 0, Time{30ms}, 80ms + 85ms) == 80ms + 100ms);  // across a whole one
}

TEST_CASE("compute time: factors of steps and of intervals are multiplied") {
    const ComputeTime law = make_compute_time({{times(2)},
                                               {slow_periodically(4, 100ms, 20ms, 10ms, {}),
                                                slow_periodically(3, 100ms, 10ms, 20ms, {})}});

    // 10 ms at 1, 10 ms at 1/4, 10 ms at 1/12, then at 1: 20 ms of work take 30 ms + 5.83 ms.
    CHECK(to_seconds(law(0, 0, Time{}, 10ms)) ==
          Approx(30e-3 + 20e-3 - (10e-3 + 10e-3 / 4 + 10e-3 / 12)).epsilon(1e-12));
}

// Returns the work that is done from 0 until t, with slow intervals of length l at the beginning of
// each period.
double work_until(double t, double period, double length, double factor) {
    const double whole = std::floor(t / period);
    const double within = t - whole * period;
    return whole * (period - length + length / factor) +
           (within < length ? within / factor : length / factor + within - length);
}

TEST_CASE("compute time, property: the work done in the computed time is the work asked for") {
    for (int i = 0; i < 2000; ++i) {
        CAPTURE(i);
        const double factor = 1 + 0.37 * (i % 11);
        const Duration period = 1us * (100 + 37 * (i % 13));
        const Duration length = 1us * (1 + 29 * (i % 4));
        const Time begin{1us * (17 * i)};
        const Duration nominal = 1us * (i % 1500);
        const ComputeTime law =
            make_compute_time({{}, {slow_periodically(factor, period, length, 0s, {})}});

        const Duration takes = law(0, 0, begin, nominal);

        const auto work = [&](Time t) {
            return work_until(to_seconds(t.time_since_epoch()), to_seconds(period),
                              to_seconds(length), factor);
        };
        CHECK(work(begin + takes) - work(begin) ==
              Approx(to_seconds(nominal)).epsilon(1e-9).scale(1e-3));
    }
}

TEST_CASE("compute time: a part of a gradient is done before the whole, in the same law") {
    const ComputeTime law = make_compute_time({{}, {slow_periodically(4, 100ms, 20ms, 10ms, {})}});
    Duration last{};
    for (int part = 1; part <= 20; ++part) {
        const Duration ready = law(0, 0, Time{}, part * 1ms);
        CHECK(ready > last);
        last = ready;
    }
    CHECK(last == 35ms);
}

TEST_CASE("chosen nodes: an empty list means all nodes, and a node stands for its workers") {
    const ChosenNodes some{{1, 3}, MachineSizes(2)};

    for (int rank = 0; rank < 8; ++rank) {
        CHECK(ChosenNodes{}.has(rank));
        CHECK(some.has(rank) == (rank / 2 == 1 || rank / 2 == 3));
    }
}

}  // namespace
}  // namespace paceline::compute_time_test
