#include "algorithms/sparse/gradient_dropping.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/step_models.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::gradient_dropping_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link link{1_Gbps, 5us};

/// 3900 entries, including biases.
LayoutPtr mixed_layout() {
    return make_layout({{"a", {64, 48}}, {"b", {48}}, {"c", {100, 7}}, {"d", {80}}});
}

struct DroppingRun : TrainingRun {
    DroppingRun(int nodes, const GradientDroppingOptions& options, Job job)
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) { return gradient_dropping(self, options); });
        simulation.run();
    }
};

std::vector<GradientDroppingOptions> all_options() {
    std::vector<GradientDroppingOptions> all;
    for (const AggregationPlan& how : {sparse_aggregation(), sparse_aggregation(AllGather::ring),
                                       sparse_aggregation(AllGather::bruck)})
        for (const DensityLaw law : {DensityLaw::worst_case, DensityLaw::independent})
            for (const Selection selection :
                 {Selection::free, Selection::exact, Selection::sampled}) {
                GradientDroppingOptions options;
                options.codec.law = law;
                options.aggregation = how;
                options.codec.selection.method = selection;
                options.dense_steps = 2;
                all.push_back(options);
            }
    return all;
}

StepModelInput input(int nodes, LayoutPtr layout) {
    return on_star(nodes, idle_star(link), step_of_tests, std::move(layout));
}

TEST_CASE("gradient dropping: unless said otherwise, 1 % is sent after 100 dense steps") {
    const GradientDroppingOptions options;

    CHECK(options.codec.density == 0.01);
    CHECK(options.dense_steps == 100);
    CHECK(options.codec.format.bytes_per_entry == 8);
}

TEST_CASE("gradient dropping: an exact threshold sorts all entries, a sampled one 100,000") {
    const SelectionCost exact{Selection::exact, Duration{500}};
    const SelectionCost sampled{Selection::sampled, Duration{500}};
    const SelectionCost free{Selection::free, Duration{500}};

    CHECK(dropping_time(exact, 1024) == 1024 * 10 * Duration{500});
    CHECK(dropping_time(sampled, 1024) == dropping_time(exact, 1024));
    CHECK(dropping_time(sampled, 100'000) == dropping_time(exact, 100'000));
    CHECK(dropping_time(sampled, 60'000'000) == dropping_time(exact, 100'000));
    CHECK(to_seconds(dropping_time(sampled, 60'000'000)) ==
          Approx(500e-12 * 1e5 * std::log2(1e5)).epsilon(1e-6));
    CHECK(dropping_time(free, 60'000'000) == Duration::zero());
    CHECK(dropping_time(exact, 1) == Duration::zero());
}

TEST_CASE("gradient dropping: the whole gradient is one compressible tensor") {
    const LayoutPtr everything = as_one_tensor(*mixed_layout());

    CHECK(everything->tensors().size() == 1);
    CHECK(everything->entries() == 3900);
    CHECK(everything->incompressible_entries() == 0);
}

TEST_CASE("gradient dropping: steps of powers of two take the step model, dense and sparse") {
    const LayoutPtr layout = mixed_layout();
    for (const GradientDroppingOptions& options : all_options())
        for (const int n : {1, 2, 4, 8, 16}) {
            CAPTURE(static_cast<int>(options.aggregation.kind));
            CAPTURE(static_cast<int>(options.codec.law));
            CAPTURE(static_cast<int>(options.codec.selection.method));
            CAPTURE(n);

            const DroppingRun run(n, options, timing_job(layout, 5));

            const StepModelInput in = input(n, layout);
            Duration expected{};
            for (std::int64_t k = 0; k < 5; ++k)
                expected += *gradient_dropping_step_time(options, k, in);
            CHECK(run.elapsed() == expected);
        }
}

TEST_CASE("gradient dropping: steps of other numbers of nodes take the step model at most") {
    const LayoutPtr layout = mixed_layout();
    for (const GradientDroppingOptions& options : all_options())
        for (const int n : {3, 5, 6, 7, 9}) {
            CAPTURE(static_cast<int>(options.aggregation.kind));
            CAPTURE(static_cast<int>(options.codec.law));
            CAPTURE(n);

            const DroppingRun run(n, options, timing_job(layout, 5));

            const StepModelInput in = input(n, layout);
            Duration expected{};
            for (std::int64_t k = 0; k < 5; ++k)
                expected += *gradient_dropping_step_time(options, k, in);
            CHECK(run.elapsed() <= expected);
        }
}

TEST_CASE("gradient dropping: the first steps are dense SGD") {
    const LayoutPtr layout = mixed_layout();
    GradientDroppingOptions options;
    options.dense_steps = 3;
    options.aggregation.all_reduce = AllReduce::recursive_doubling;

    const DroppingRun run(8, options, timing_job(layout, 3));

    const Duration dense = *dense_step_time(AllReduce::recursive_doubling, input(8, layout));
    CHECK(run.elapsed() == 3 * dense);
    CHECK(run.network.traffic(0).sent == 3 * (3 * 15'600_B));
}

TEST_CASE("gradient dropping: without dense steps it drops from the first on") {
    GradientDroppingOptions options;
    options.dense_steps = 0;
    options.aggregation = sparse_aggregation(AllGather::ring);

    const DroppingRun run(4, options, timing_job(mixed_layout(), 2));

    CHECK(run.network.traffic(1).sent == 2 * (3 * 312_B));
}

TEST_CASE("gradient dropping: biases are among what is dropped, and the share is global") {
    GradientDroppingOptions options;
    options.dense_steps = 1;
    options.codec.law = DensityLaw::worst_case;

    const DroppingRun run(4, options, timing_job(mixed_layout(), 2));

    // First a ring of 15,600 bytes, then 39 entries, then 78.
    CHECK(run.network.traffic(1).sent == Bytes{6 * 15'600 / 4 + 8 * (39 + 78)});
}

}  // namespace
}  // namespace paceline::gradient_dropping_test
