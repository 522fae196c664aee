// A step whose layers have measured times: when buckets are complete, and what the forward pass
// waits for.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/runtime/backward.hpp"
#include "algorithms/timing/merged_timing.hpp"
#include "algorithms/timing/step_timing.hpp"
#include "sim/engine/check.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::measured_timing_test {
namespace {

using namespace std::chrono_literals;

const Link link{Bandwidth{1'000'000'000}, 5us};

const Layout four_tensors({{"a", {10}}, {"b", {20}}, {"c", {30}}, {"d", {40}}});
// Two layers of two tensors each; times are booked on the first.
const TensorTimes two_layers{{2ms, 0ms, 5ms, 0ms}, {7ms, 0ms, 3ms, 0ms}};

struct Random {
    std::mt19937_64 rng;
    std::vector<Tensor> tensors;
    TensorTimes times;

    explicit Random(std::uint64_t seed) : rng(seed) {
        const std::uint64_t count = 1 + rng() % 20;
        for (std::uint64_t i = 0; i < count; ++i) {
            tensors.push_back({std::to_string(i), {static_cast<std::int64_t>(1 + rng() % 100)}});
            times.forward.push_back(some_time());
            times.backward.push_back(some_time());
        }
        times.backward.front() += Duration{1};  // the net takes time
    }
    Duration some_time() {
        return Duration{rng() % 4 == 0 ? 0 : static_cast<std::int64_t>(rng() % 1'000'000'000)};
    }
};

Duration sum_from(const std::vector<Duration>& times, std::size_t begin, std::size_t end) {
    Duration all{};
    for (std::size_t i = begin; i < end; ++i) all += times[i];
    return all;
}

TEST_CASE("measured timing: a bucket is complete after forward and the backward of later layers") {
    const StepTiming timing = make_measured_timing(17ms, four_tensors, two_layers, 1);

    REQUIRE(timing.buckets.size() == 4);
    CHECK(timing.buckets[0].ready == 7ms);   // d: the second layer's bias, before its work
    CHECK(timing.buckets[1].ready == 10ms);  // c
    CHECK(timing.buckets[2].ready == 10ms);  // b
    CHECK(timing.buckets[3].ready == 17ms);  // a
    CHECK(timing.step == 17ms);
}

TEST_CASE("measured timing: forward leaves a bucket after its last layer") {
    const StepTiming timing = make_measured_timing(17ms, four_tensors, two_layers, 1);

    CHECK(timing.buckets[0].forward_end == 7ms);
    CHECK(timing.buckets[1].forward_end == 7ms);
    CHECK(timing.buckets[2].forward_end == 2ms);
    CHECK(timing.buckets[3].forward_end == 2ms);
}

TEST_CASE("measured timing: another step scales all times") {
    const StepTiming half = make_measured_timing(8500us, four_tensors, two_layers, 41);

    REQUIRE(half.buckets.size() == 2);  // c and d; a and b
    CHECK(half.buckets[0].ready == 5ms);
    CHECK(half.buckets[0].forward_end == 3500us);
    CHECK(half.buckets[1].ready == 8500us);
    CHECK(half.buckets[1].forward_end == 1ms);
    CHECK(make_measured_timing(0ms, four_tensors, two_layers, 1).buckets[0].ready == 0ms);
}

TEST_CASE("measured timing: several gradients delay buckets, and only the first forward waits") {
    const StepTiming three =
        accumulated(make_measured_timing(17ms, four_tensors, two_layers, 41), 3);

    CHECK(three.step == 51ms);
    CHECK(three.buckets[0].ready == 44ms);
    CHECK(three.buckets[0].forward_end == 7ms);
    CHECK(three.buckets[1].forward_end == 2ms);
}

TEST_CASE("measured timing: what MG-WFBP merges is left when its last layer is left") {
    const StepTiming timing = make_measured_timing(17ms, four_tensors, two_layers, 1);

    const StepTiming all = merged(timing, {1s, [](const Bucket&) { return Duration(1s); }});

    REQUIRE(all.buckets.size() == 1);
    CHECK(all.buckets[0].ready == 17ms);
    CHECK(all.buckets[0].forward_end == 7ms);
}

TEST_CASE("measured timing, property: ready is all of forward and a suffix of backward") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Random random(seed);
        const std::size_t count = random.tensors.size();
        const Duration step = random.times.all();
        const std::int64_t entries = 1 + static_cast<std::int64_t>(seed % 300);

        const StepTiming timing =
            make_measured_timing(step, Layout(random.tensors), random.times, entries);

        const Duration forward = sum_from(random.times.forward, 0, count);
        for (const Bucket& bucket : timing.buckets) {
            REQUIRE(bucket.ready == forward + sum_from(random.times.backward, bucket.first, count));
            REQUIRE(bucket.forward_end ==
                    sum_from(random.times.forward, 0, bucket.first + bucket.count));
        }
        REQUIRE(timing.buckets.back().ready == step);
    }
}

TEST_CASE("measured timing, property: times in proportion to work are those of the rule for work") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        std::vector<double> macs;
        for (std::size_t i = 0; i < random.tensors.size(); ++i) {
            random.times.backward[i] = 2 * random.times.forward[i] + (i == 0 ? Duration{2} : 0ms);
            if (i == 0) random.times.forward[i] += Duration{1};
            macs.push_back(static_cast<double>(random.times.forward[i].count()));
        }
        const Layout layout(random.tensors);
        const Duration step = random.times.all();

        const StepTiming measured = make_measured_timing(step, layout, random.times, 50);
        const StepTiming by_work = make_step_timing(step, layout, macs, 50);

        REQUIRE(measured.buckets.size() == by_work.buckets.size());
        for (std::size_t b = 0; b < measured.buckets.size(); ++b)
            REQUIRE(std::chrono::abs(measured.buckets[b].ready - by_work.buckets[b].ready) <=
                    Duration{2});
    }
}

Task<> sleep_until(Simulation& simulation, Duration at) {
    co_await simulation.sleep(std::max(Duration::zero(), Time{at} - simulation.now()));
}

struct Ends {
    std::vector<Duration> buckets;
};

Task<> note_bucket(Worker& self, const Backward& backward, std::size_t i, Ends& ends) {
    co_await backward.completed(i);
    ends.buckets[i] = self.simulation().now().time_since_epoch();
}

// The model arrives bucket by bucket at `arrive`.
Task<> go_into_forward(Worker& self, std::vector<Duration> arrive, Ends& ends) {
    Simulation& simulation = self.simulation();
    Backward backward =
        self.forward_and_backward(self.model(), [&simulation, &arrive](std::size_t bucket) {
            return sleep_until(simulation, arrive[bucket]);
        });
    std::vector<Pending<>> all;
    for (std::size_t i = 0; i < backward.buckets(); ++i)
        all.push_back(self.start(note_bucket(self, backward, i, ends)));
    for (Pending<>& one : all) co_await std::move(one);
}

TEST_CASE("measured timing: layers wait in forward for their bucket, as long as was measured") {
    const LayoutPtr layout = make_layout({{"a", {2}}, {"b", {2}}, {"c", {2}}});
    Job job = timing_job(layout, 1);
    const TensorTimes times{{1ms, 4ms, 2ms}, {3ms, 1ms, 6ms}};
    job.timing = make_measured_timing(17ms, *layout, times, 1);
    TrainingRun run(1, link, std::move(job));
    Ends ends{std::vector<Duration>(3)};

    // Forward: a from 2 to 3, b from 9 to 13, c from 13 to 15. Backward: c 21, b 22, a 25.
    run.spawn(0, go_into_forward(run.cluster.worker(0), {12ms, 9ms, 2ms}, ends));
    run.simulation.run();

    CHECK(ends.buckets == std::vector<Duration>{21ms, 22ms, 25ms});
    CHECK(run.cluster.time_use(0).computed() == 17ms);
}

TEST_CASE("measured timing: times of other tensors, of no length and of no tensors are refused") {
    CHECK_THROWS_AS(make_measured_timing(1ms, four_tensors, TensorTimes{{1ms}, {1ms}}, 1),
                    LogicError);
    const std::vector<Duration> none(4);
    CHECK_THROWS_AS(make_measured_timing(1ms, four_tensors, TensorTimes{none, none}, 1),
                    LogicError);
    CHECK_THROWS_AS(make_measured_timing(1ms, four_tensors, two_layers, 0), LogicError);
}

}  // namespace
}  // namespace paceline::measured_timing_test
