#include "algorithms/timing/step_timing.hpp"

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"

namespace paceline::step_timing_test {
namespace {

using namespace std::chrono_literals;

const Layout four_tensors({{"a", {10}}, {"b", {20}}, {"c", {30}}, {"d", {40}}});

struct Random {
    std::mt19937_64 rng;
    std::vector<Tensor> tensors;
    std::vector<double> macs;
    std::int64_t bucket_entries;

    explicit Random(std::uint64_t seed) : rng(seed) {
        const std::uint64_t count = 1 + rng() % 30;
        for (std::uint64_t i = 0; i < count; ++i) {
            tensors.push_back({std::to_string(i), {static_cast<std::int64_t>(1 + rng() % 100)}});
            macs.push_back(static_cast<double>(rng() % 4 * (rng() % 1000)));
        }
        bucket_entries = static_cast<std::int64_t>(1 + rng() % 400);
    }
};

TEST_CASE("step timing: the whole gradient is one bucket at the end of the step") {
    const StepTiming timing = make_step_timing(344ms, four_tensors);

    CHECK(timing.step == 344ms);
    REQUIRE(timing.buckets.size() == 1);
    CHECK(timing.buckets[0].first == 0);
    CHECK(timing.buckets[0].count == 4);
    CHECK(timing.buckets[0].ready == 344ms);
}

TEST_CASE("step timing: forward takes a third, and backward spends what each layer needs") {
    const StepTiming timing = make_step_timing(300us, four_tensors, {1, 2, 3, 4}, 1);

    REQUIRE(timing.buckets.size() == 4);
    CHECK(timing.buckets[0].ready == 180us);
    CHECK(timing.buckets[1].ready == 240us);
    CHECK(timing.buckets[2].ready == 280us);
    CHECK(timing.buckets[3].ready == 300us);
    CHECK(timing.buckets[0].first == 3);
    CHECK(timing.buckets[3].first == 0);
}

TEST_CASE("step timing: without multiply-accumulates the work goes by entries") {
    const StepTiming timing = make_step_timing(300us, four_tensors, {0, 0, 0, 0}, 1);

    REQUIRE(timing.buckets.size() == 4);
    CHECK(timing.buckets[0].ready == 180us);
    CHECK(timing.buckets[2].ready == 280us);
}

TEST_CASE("step timing: layers without work take no time") {
    const StepTiming timing = make_step_timing(300us, four_tensors, {1, 0, 1, 0}, 1);

    CHECK(timing.buckets[0].ready == 100us);
    CHECK(timing.buckets[1].ready == 200us);
    CHECK(timing.buckets[2].ready == 200us);
    CHECK(timing.buckets[3].ready == 300us);
}

TEST_CASE("step timing: the unit of the multiply-accumulates does not matter") {
    const StepTiming one = make_step_timing(300us, four_tensors, {1, 2, 3, 4}, 1);
    const StepTiming mega = make_step_timing(300us, four_tensors, {1e6, 2e6, 3e6, 4e6}, 1);

    CHECK(one.buckets[1].ready == mega.buckets[1].ready);
    CHECK(one.buckets[2].ready == mega.buckets[2].ready);
}

TEST_CASE("step timing: a bucket is closed once it holds its entries or more") {
    const StepTiming timing = make_step_timing(300us, four_tensors, {1, 1, 1, 1}, 41);

    REQUIRE(timing.buckets.size() == 2);  // d and c; b and a, which are all that is left
    CHECK(timing.buckets[0].first == 2);
    CHECK(timing.buckets[0].count == 2);
    CHECK(timing.buckets[1].first == 0);
    CHECK(timing.buckets[1].count == 2);
    CHECK(make_step_timing(300us, four_tensors, {1, 1, 1, 1}, 40).buckets.size() == 3);
}

TEST_CASE("step timing, property: buckets cover all tensors once, the last layer first") {
    for (unsigned seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        const Random random(seed);
        const Layout layout(random.tensors);

        const StepTiming timing =
            make_step_timing(300us, layout, random.macs, random.bucket_entries);

        std::size_t end = random.tensors.size();
        for (const Bucket& bucket : timing.buckets) {
            REQUIRE(bucket.count >= 1);
            REQUIRE(bucket.first + bucket.count == end);
            end = bucket.first;
        }
        REQUIRE(end == 0);
    }
}

TEST_CASE("step timing, property: buckets are complete in order, within backward's time") {
    for (unsigned seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        const Random random(seed);
        const Layout layout(random.tensors);

        const StepTiming timing =
            make_step_timing(300us, layout, random.macs, random.bucket_entries);

        Duration before = 100us;
        for (const Bucket& bucket : timing.buckets) {
            REQUIRE(bucket.ready >= before);
            before = bucket.ready;
        }
        REQUIRE(timing.buckets.back().ready == 300us);
        REQUIRE(timing.step == 300us);
    }
}

TEST_CASE("step timing, property: a bucket holds its entries, and would not without its last") {
    for (unsigned seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        const Random random(seed);
        const Layout layout(random.tensors);

        const StepTiming timing =
            make_step_timing(300us, layout, random.macs, random.bucket_entries);

        for (const Bucket& bucket : timing.buckets) {
            const std::int64_t after = bucket.first + bucket.count < random.tensors.size()
                                           ? layout.offset(bucket.first + bucket.count)
                                           : layout.entries();
            const std::int64_t held = after - layout.offset(bucket.first);
            const std::int64_t without_last = held - random.tensors[bucket.first].entries();
            REQUIRE(without_last < random.bucket_entries);
            if (bucket.first > 0) REQUIRE(held >= random.bucket_entries);
        }
    }
}

TEST_CASE("accumulated: only the last of several gradients completes buckets") {
    const StepTiming one = make_step_timing(300us, four_tensors, {1, 2, 3, 4}, 1);

    const StepTiming four = accumulated(one, 4);

    CHECK(four.step == 1200us);
    REQUIRE(four.buckets.size() == 4);
    CHECK(four.buckets[0].ready == 1080us);
    CHECK(four.buckets[1].ready == 1140us);
    CHECK(four.buckets[3].ready == 1200us);
    CHECK(four.buckets[0].first == 3);
    CHECK(four.buckets[0].count == 1);
}

TEST_CASE("accumulated, property: one gradient changes nothing, and m times k of them equal m k") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const Random random(seed);
        const StepTiming one =
            make_step_timing(300us, Layout(random.tensors), random.macs, random.bucket_entries);

        const StepTiming same = accumulated(one, 1);
        const StepTiming nested = accumulated(accumulated(one, 3), 5);
        const StepTiming flat = accumulated(one, 15);

        REQUIRE(same.step == one.step);
        REQUIRE(nested.step == flat.step);
        for (std::size_t i = 0; i < one.buckets.size(); ++i) {
            REQUIRE(same.buckets[i].ready == one.buckets[i].ready);
            REQUIRE(nested.buckets[i].ready == flat.buckets[i].ready);
            REQUIRE(flat.step - flat.buckets[i].ready == one.step - one.buckets[i].ready);
        }
    }
}

TEST_CASE("accumulated: zero gradients are refused, and times saturate at the largest duration") {
    CHECK_THROWS_AS(accumulated(make_step_timing(1ms, four_tensors), 0), LogicError);
    CHECK(accumulated(make_step_timing(Duration::max(), four_tensors), 2).step == Duration::max());
}

TEST_CASE("step timing: a layout without tensors or a bucket without entries is refused") {
    CHECK_THROWS_AS(make_step_timing(1ms, Layout({})), LogicError);
    CHECK_THROWS_AS(make_step_timing(1ms, Layout({}), {}, 1), LogicError);
    CHECK_THROWS_AS(make_step_timing(1ms, four_tensors, {1, 1, 1, 1}, 0), LogicError);
    CHECK_THROWS_AS(make_step_timing(1ms, four_tensors, {1, 1}, 1), LogicError);
}

}  // namespace
}  // namespace paceline::step_timing_test
