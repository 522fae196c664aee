// ZeRO's closed forms against arithmetic on paper; and the simulation against them, on random
// units.
#include "analysis/forms/zero_forms.hpp"

#include <chrono>
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::zero_forms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{8_Gbps, 10us};

// Two units of 100,000 bytes among 4 nodes at 1 GB/s: a gather and a reduce take 3 rounds of 25 us
// and 10 us each, 105 us. Forward takes 300 us, 150 for each unit; backward 300 us for each.
StepModelInput two_units(Duration step) {
    const LayoutPtr layout = make_layout({{"a", {100, 250}}, {"b", {100, 250}}});
    StepModelInput in = on_star(4, {8_Gbps, 10us}, step, layout);
    in.timing = make_step_timing(step, *layout, {1, 1}, 1);
    in.update = 40us;
    return in;
}

TEST_CASE("zero forms: stages 1 and 2 reduce beside backward and gather behind the update") {
    const StepModelInput in = two_units(900us);

    // The last reduce begins with the end of backward.
    for (const int stage : {1, 2})
        CHECK(*zero_step_time({.stage = stage}, in) == 900us + 105us + 10us + 2 * 105us);
    CHECK(zero_messages({.stage = 1}, in) == 2 * 2 * 12);
}

TEST_CASE(
    "zero forms: stage 3 waits for the first gather and the last reduce alone if gathers are "
    "short") {
    const StepModelInput in = two_units(900us);

    CHECK(*zero_step_time({.prefetch = 1}, in) == 105us + 900us + 105us + 10us);
    // On demand every computation waits for its gather; the first reduce delays the last gather.
    CHECK(*zero_step_time({.prefetch = 0}, in) == 4 * 105us + 900us + 105us + 105us + 10us);
    CHECK(zero_messages({}, in) == 2 * 3 * 12);
}

// Compute of 90 us: all that counts is the stream, but for what reduces wait for.
TEST_CASE("zero forms: stage 3 takes its messages if computing is short") {
    const StepModelInput in = two_units(90us);

    CHECK(*zero_step_time({.prefetch = 1}, in) == 6 * 105us + 10us);
}

// Short gathers hide behind all passes but the first one. The last reduce of the first of two
// micro-batches begins with the second one, at 1005 us. The second gather of that stands behind it
// on the stream, and ends at 1215 us; it is wanted when the first forward pass of 150 us has ended,
// 60 us earlier.
TEST_CASE("zero forms: a further micro-batch adds its computing, if messages are short") {
    StepModelInput in = two_units(900us);
    in.timing = accumulated(in.timing, 2);

    CHECK(*zero_step_time({.reduce = ZeroReduce::last}, in) == 105us + 1800us + 105us + 10us);
    CHECK(*zero_step_time({.reduce = ZeroReduce::each}, in) ==
          105us + 1800us + 60us + 105us + 10us);
    for (const ZeroReduce reduce : {ZeroReduce::each, ZeroReduce::last})
        CHECK(*zero_step_time({.stage = 2, .reduce = reduce}, in) ==
              1800us + 105us + 10us + 2 * 105us);
    CHECK(zero_messages({.reduce = ZeroReduce::each}, in) == 2 * (4 + 2) * 12);
    CHECK(zero_messages({.reduce = ZeroReduce::last}, in) == 2 * (4 + 1) * 12);
    CHECK(zero_messages({.stage = 2, .reduce = ZeroReduce::each}, in) == 2 * (1 + 2) * 12);
}

// Four gathers and two or one reduces of each unit, 105 us each, and all that counts is the stream.
TEST_CASE("zero forms: with short computing, micro-batches take their messages") {
    StepModelInput in = two_units(90us);
    in.timing = accumulated(in.timing, 2);

    CHECK(*zero_step_time({.prefetch = 1, .reduce = ZeroReduce::each}, in) ==
          2 * (4 + 2) * 105us + 10us);
    CHECK(*zero_step_time({.prefetch = 1, .reduce = ZeroReduce::last}, in) ==
          2 * (4 + 1) * 105us + 10us);
}

struct ZeroSteps : TrainingRun {
    ZeroSteps(int nodes, Job job, const ZeroOptions& options)
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) { return zero(self, options); });
        simulation.run();
    }
};

TEST_CASE("zero forms, property: the simulation takes their time, whatever the units are") {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto upto = [&](int most) {
            return std::uniform_int_distribution<int>(1, most)(random);
        };
        const int n = 1 << (upto(4) - 1);
        std::vector<Tensor> tensors;
        std::vector<double> macs;
        for (int t = upto(7); t > 0; --t) {
            tensors.push_back({"t", {8 * upto(40), upto(200)}});  // chunks are alike
            macs.push_back(upto(1000));
        }
        const LayoutPtr layout = make_layout(tensors);
        const ZeroOptions options{.stage = upto(3),
                                  .prefetch = upto(4) - 1,
                                  .reduce = upto(2) == 1 ? ZeroReduce::each : ZeroReduce::last};
        StepModelInput in =
            on_star(n, idle_star(link), std::chrono::microseconds(upto(3000)), layout);
        in.timing =
            accumulated(make_step_timing(in.timing.step, *layout, macs, 2000 * upto(4)), upto(5));
        in.update = std::chrono::microseconds(upto(100));
        Job job = timing_job(layout, 1);
        job.timing = in.timing;
        job.update = in.update;
        job.library.start_up = std::chrono::microseconds(upto(100) - 1);
        in.network.star.start_up = job.library.start_up;

        const auto form = zero_step_time(options, in);

        REQUIRE(form.has_value());
        const ZeroSteps run(n, job, options);
        const auto took = run.simulation.now().time_since_epoch();
        REQUIRE(std::abs(to_seconds(took) - to_seconds(*form)) < 1e-10);
    }
}

}  // namespace
}  // namespace paceline::zero_forms_test
