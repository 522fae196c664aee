#include "algorithms/sparse/dgc.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/coders/sparse_coder.hpp"
#include "algorithms/coders/sparse_or_dense.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/models/built_in_profile.hpp"

namespace paceline::dgc_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};
const std::array aggregations{sparse_aggregation(), sparse_aggregation(AllGather::ring),
                              sparse_aggregation(AllGather::bruck)};
const AggregationPlan& gathered_by_ring = aggregations[1];
constexpr std::array ways{Uncompressed::in_messages, Uncompressed::apart};
constexpr std::array laws{DensityLaw::worst_case, DensityLaw::independent};
constexpr std::array selections{Selection::free, Selection::exact, Selection::sampled};

/// 3072 and 700 entries are compressed, 64 are not.
LayoutPtr mixed_layout() {
    return make_layout({{"a", {64, 48}}, {"b", {48}}, {"c", {100, 7}}, {"d", {16}}});
}

Bytes union_of(const DgcOptions& options, const LayoutPtr& layout, double density, int c) {
    return SparseSizes(layout, rule_at(options, density)).of_union(c);
}

struct DgcRun : TrainingRun {
    DgcRun(int nodes, const DgcOptions& options, Job job,
           const AggregationPlan& how = sparse_aggregation())
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) { return dgc(self, {sparse_exchange(options, how)}); });
        simulation.run();
    }
};

// The form that `paceline explain` shows.
Duration step_of(const DgcOptions& options, double density, const StepModelInput& in,
                 const AggregationPlan& how = sparse_aggregation()) {
    return exchange_step_time(sparse_exchange(options, how), 0, in, density).value();
}

struct Choice {
    DgcOptions options;
    AggregationPlan how;
};

std::vector<Choice> all_options() {
    std::vector<Choice> all;
    for (const AggregationPlan& how : aggregations)
        for (const Uncompressed uncompressed : ways)
            for (const DensityLaw law : laws)
                for (const Selection selection : selections) {
                    DgcOptions options;
                    options.density = 0.01;
                    options.law = law;
                    options.uncompressed = uncompressed;
                    options.selection = {selection, Duration{500}};
                    all.push_back({options, how});
                }
    return all;
}

StepModelInput input(int nodes, LayoutPtr layout) {
    return on_star(nodes, idle_star(link), step_of_tests, std::move(layout));
}

DgcOptions with_warm_up(WarmUp warm_up) {
    DgcOptions options;
    options.warm_up = std::move(warm_up);
    return options;
}

const std::vector<double> densities_of_the_paper{0.25, 0.0625, 0.015625, 0.004};

// Expected size of the union of c > 1 independent supports of k among n entries.
std::int64_t independent_union(double n, double k, int c) {
    return static_cast<std::int64_t>(std::ceil(n * (1 - std::pow(1 - k / n, c))));
}

TEST_CASE("dgc: density falls by epochs as in the paper") {
    const DgcOptions options = with_warm_up({densities_of_the_paper, 0, 1});

    CHECK(density_at(options, 0, 0) == 0.25);
    CHECK(density_at(options, 99, 0.99) == 0.25);
    CHECK(density_at(options, 100, 1) == 0.0625);
    CHECK(density_at(options, 200, 2) == 0.015625);
    CHECK(density_at(options, 399, 3.99) == 0.004);
    CHECK(density_at(options, 400, 4) == 0.001);
    CHECK(density_at(options, 40'000, 400) == 0.001);
}

TEST_CASE("dgc: stages may last several epochs, or parts of one") {
    const DgcOptions two = with_warm_up({densities_of_the_paper, 0, 2});
    const DgcOptions quarter = with_warm_up({densities_of_the_paper, 0, 0.25});

    CHECK(density_at(two, 0, 1.9) == 0.25);
    CHECK(density_at(two, 0, 2) == 0.0625);
    CHECK(density_at(two, 0, 8) == 0.001);
    CHECK(density_at(quarter, 0, 0.25) == 0.0625);
    CHECK(density_at(quarter, 0, 0.99) == 0.004);
    CHECK(density_at(quarter, 0, 1) == 0.001);
}

TEST_CASE("dgc: density falls by steps where stages are given in steps") {
    const DgcOptions options = with_warm_up({densities_of_the_paper, 10, 1});

    CHECK(density_at(options, 0, 7) == 0.25);
    CHECK(density_at(options, 9, 7) == 0.25);
    CHECK(density_at(options, 10, 7) == 0.0625);
    CHECK(density_at(options, 39, 7) == 0.004);
    CHECK(density_at(options, 40, 0) == 0.001);
}

TEST_CASE("dgc: without warm-up the density is the final one from the first step on") {
    CHECK(density_at(DgcOptions{}, 0, 0) == 0.001);
    CHECK(density_at(with_warm_up({}), 5, 5) == 0.001);
}

TEST_CASE("dgc: one contribution is the message of sparse.hpp, or its sparse part") {
    const LayoutPtr layout = mixed_layout();
    DgcOptions options;
    options.format = {8, 4};
    options.uncompressed = Uncompressed::in_messages;
    const Bytes gathered = union_of(options, layout, 0.01, 1);
    options.uncompressed = Uncompressed::apart;
    const Bytes reduced = union_of(options, layout, 0.01, 1);

    CHECK(gathered == Bytes{8 * (31 + 7) + 4 * 64});
    CHECK(reduced == 8 * Bytes{31 + 7});
}

TEST_CASE("dgc: uncompressed tensors that are gathered do not merge") {
    const LayoutPtr layout = mixed_layout();
    DgcOptions options;
    options.law = DensityLaw::worst_case;
    options.uncompressed = Uncompressed::in_messages;

    CHECK(union_of(options, layout, 0.01, 4) == 4 * Bytes{6 * (31 + 7) + 4 * 64});
}

TEST_CASE("dgc: steps of powers of two take the step model exactly, whatever the options") {
    const LayoutPtr layout = mixed_layout();
    for (const auto& [options, how] : all_options())
        for (const int n : {1, 2, 4, 8, 16}) {
            CAPTURE(static_cast<int>(how.kind));
            CAPTURE(static_cast<int>(options.uncompressed));
            CAPTURE(static_cast<int>(options.law));
            CAPTURE(static_cast<int>(options.selection.method));
            CAPTURE(n);

            const DgcRun run(n, options, timing_job(layout, 3), how);

            CHECK(run.elapsed() == 3 * step_of(options, 0.01, input(n, layout), how));
        }
}

TEST_CASE("dgc: one step of any number of nodes takes the step model, gathered tensors included") {
    const LayoutPtr layout = mixed_layout();
    for (const auto& [options, how] : all_options())
        for (const int n : {3, 5, 6, 7, 9, 33}) {
            if (options.uncompressed == Uncompressed::apart) continue;
            CAPTURE(static_cast<int>(how.kind));
            CAPTURE(static_cast<int>(options.law));
            CAPTURE(n);

            const DgcRun run(n, options, timing_job(layout, 1), how);

            CHECK(run.elapsed() == step_of(options, 0.01, input(n, layout), how));
        }
}

TEST_CASE("dgc: steps of other numbers of nodes take the step model at most") {
    const LayoutPtr layout = mixed_layout();
    for (const auto& [options, how] : all_options())
        for (const int n : {3, 5, 6, 7, 9}) {
            CAPTURE(static_cast<int>(how.kind));
            CAPTURE(static_cast<int>(options.uncompressed));
            CAPTURE(static_cast<int>(options.law));
            CAPTURE(n);

            const DgcRun run(n, options, timing_job(layout, 3), how);

            CHECK(run.elapsed() <= 3 * step_of(options, 0.01, input(n, layout), how));
        }
}

TEST_CASE("dgc: the kind of all-reduce of the uncompressed tensors is the one asked for") {
    const LayoutPtr layout = mixed_layout();
    for (const AllReduce how :
         {AllReduce::ring, AllReduce::recursive_doubling, AllReduce::halving_doubling}) {
        CAPTURE(static_cast<int>(how));
        DgcOptions options;
        options.selection.method = Selection::free;
        options.law = DensityLaw::worst_case;

        const DgcRun run(8, options, timing_job(layout, 1), sparse_aggregation({}, how));

        // k = 4 and 1: 30, 60 and 120 bytes; then 64 entries of 4 bytes.
        CHECK(run.elapsed() == 1ms + 3 * 10us + (30_B / 1_Gbps) + (60_B / 1_Gbps) +
                                   (120_B / 1_Gbps) +
                                   all_reduce_time(how, 8, 256_B, idle_network(link)).value());
    }
}

TEST_CASE("dgc: selection is work of the device and takes its time") {
    DgcOptions options;
    options.selection = {Selection::exact, Duration{500}};
    const LayoutPtr layout = make_layout({{"a", {32, 32}}, {"b", {1024}}});

    const DgcRun run(1, options, timing_job(layout, 3));

    CHECK(run.elapsed() == 3 * (1ms + 1024 * 10 * Duration{500}));
    CHECK(run.cluster.state(0).compute_time == run.elapsed());
    CHECK(run.cluster.state(0).gradients == 3);
}

TEST_CASE("dgc: an all-gather brings each node the messages of all others") {
    for (const AllGather how : {AllGather::ring, AllGather::bruck})
        for (const int n : {2, 3, 5, 8}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);
            DgcOptions options;
            options.density = 0.01;
            options.uncompressed = Uncompressed::in_messages;

            const DgcRun run(n, options, timing_job(mixed_layout(), 3), sparse_aggregation(how));

            const Bytes message{6 * (31 + 7) + 4 * 64};
            CHECK(run.network.traffic(0).sent == 3 * ((n - 1) * message));
            CHECK(run.network.traffic(n - 1).received == 3 * ((n - 1) * message));
        }
}

TEST_CASE("dgc: recursive doubling of powers of two moves at worst what an all-gather moves") {
    for (const int n : {2, 4, 8, 16, 32}) {
        CAPTURE(n);
        DgcOptions options;
        options.density = 0.01;
        options.law = DensityLaw::worst_case;
        options.uncompressed = Uncompressed::in_messages;

        const DgcRun one(n, options, timing_job(mixed_layout(), 2));
        const DgcRun other(n, options, timing_job(mixed_layout(), 2), gathered_by_ring);

        const Bytes each = one.network.traffic(0).sent;
        CHECK(each == 2 * ((n - 1) * Bytes{6 * (31 + 7) + 4 * 64}));
        CHECK(other.network.traffic(0).sent == each);
        CHECK(one.sent_by_all() == n * each);
        CHECK(other.sent_by_all() == n * each);
    }
}

TEST_CASE("dgc: recursive doubling of independent supports moves their unions") {
    DgcOptions options;
    options.density = 0.01;
    options.law = DensityLaw::independent;
    options.uncompressed = Uncompressed::in_messages;

    const DgcRun run(8, options, timing_job(mixed_layout(), 1));

    std::int64_t expected = 6 * (31 + 7) + 256;
    for (const int c : {2, 4})
        expected += 6 * (independent_union(3072, 31, c) + independent_union(700, 7, c)) +
                    c * std::int64_t{256};
    CHECK(run.network.traffic(3).sent == Bytes{expected});
    CHECK(run.network.traffic(3).received == Bytes{expected});
}

TEST_CASE("dgc: tensors that are all-reduced on their own add the bytes of that") {
    DgcOptions options;
    options.density = 0.01;
    options.uncompressed = Uncompressed::apart;

    const DgcRun run(4, options, timing_job(mixed_layout(), 1), gathered_by_ring);

    CHECK(run.network.traffic(2).sent == Bytes{3 * 6 * (31 + 7) + 2 * 3 * 256 / 4});
}

TEST_CASE("dgc: where nothing is uncompressed there is no second collective") {
    const LayoutPtr layout = make_layout({{"a", {64, 48}}});
    DgcOptions options;
    options.selection.method = Selection::free;

    const DgcRun run(4, options, timing_job(layout, 1), sparse_aggregation(AllGather::bruck));

    CHECK(run.elapsed() == 1ms + 2 * 10us + (24_B / 1_Gbps) + (48_B / 1_Gbps));
}

TEST_CASE("dgc: tensors whose entries are all sent are sent dense, and fall back to no other") {
    const LayoutPtr layout = make_layout({{"a", {64, 48}}, {"c", {100, 7}}});
    DgcOptions options;
    options.density = 1 - 1e-9;
    // As many bytes as the sparse exchange.
    const AggregationPlan how = sparse_aggregation({}, AllReduce::recursive_doubling);
    options.selection.method = Selection::free;
    for (const DensityLaw law : laws)
        for (const int n : {1, 2, 3, 4, 6, 8}) {
            CAPTURE(static_cast<int>(law));
            CAPTURE(n);
            options.law = law;

            const DgcRun run(n, options, timing_job(layout, 1), how);

            const Bytes dense = fp32.weigh(layout->entries());
            CHECK(union_of(options, layout, options.density, n) == dense);
            CHECK(run.elapsed() ==
                  1ms + recursive_doubling_all_reduce_time(n, dense, idle_star(link)));
        }
}

TEST_CASE("dgc, property: no union of compressed tensors weighs more than dense") {
    const LayoutPtr layout = mixed_layout();
    DgcOptions options;
    for (const DensityLaw law : laws)
        for (const double density : {0.001, 0.1, 0.25, 0.5, 0.7, 1.0})
            for (int c = 1; c <= 100; ++c) {
                CAPTURE(density);
                CAPTURE(c);
                options.law = law;

                const Bytes merged = union_of(options, layout, density, c);

                REQUIRE(merged <= 4 * Bytes{3072 + 700});
                REQUIRE(merged >= union_of(options, layout, density, 1));
            }
}

TEST_CASE("dgc: a warm-up by steps takes the step model of each stage") {
    const LayoutPtr layout = mixed_layout();
    const DgcOptions options = with_warm_up({densities_of_the_paper, 2, 1});

    const DgcRun run(8, options, timing_job(layout, 11));

    const StepModelInput in = input(8, layout);
    Duration expected = 3 * step_of(options, 0.001, in);
    for (const double density : densities_of_the_paper)
        expected += 2 * step_of(options, density, in);
    CHECK(run.elapsed() == expected);
}

TEST_CASE("dgc: a warm-up by epochs takes the step model of each stage") {
    const LayoutPtr layout = mixed_layout();
    const DgcOptions options = with_warm_up({densities_of_the_paper, 0, 1});
    Job job = timing_job(layout, 13);
    job.steps_per_epoch = 2.5;

    const DgcRun run(8, options, std::move(job));

    // Epochs start at steps 0, 3, 5, 8 and 10.
    const StepModelInput in = input(8, layout);
    const Duration expected = 3 * step_of(options, 0.25, in) + 2 * step_of(options, 0.0625, in) +
                              3 * step_of(options, 0.015625, in) + 2 * step_of(options, 0.004, in) +
                              3 * step_of(options, 0.001, in);
    CHECK(run.elapsed() == expected);
}

TEST_CASE("dgc: density 1 is a dense all-reduce of all tensors, without selection") {
    for (const AggregationPlan& how : aggregations)
        for (const Uncompressed uncompressed : ways) {
            DgcOptions options;
            options.density = 1;
            options.uncompressed = uncompressed;
            options.selection.method = Selection::exact;

            const DgcRun run(4, options, timing_job(mixed_layout(), 2), how);

            // 3836 entries of 4 bytes, in four chunks.
            CHECK(run.elapsed() == 2 * (1ms + 6 * (10us + 3836_B / 1_Gbps)));
        }
}

// At density 0.25 and 6 bytes, an all-gather brings (n-1) 0.375 S, and a ring 2 (n-1)/n S.
TEST_CASE("dgc: an all-gather at density 0.25 is dense beyond five nodes") {
    const LayoutPtr layout = make_layout({{"a", {1000, 96}}});
    DgcOptions options;
    options.density = 0.25;
    options.uncompressed = Uncompressed::in_messages;
    options.selection.method = Selection::free;
    for (const int n : {2, 4, 5, 6, 8, 32}) {
        CAPTURE(n);
        const DgcRun run(n, options, timing_job(layout, 1), gathered_by_ring);

        const Bytes gathered = (n - 1) * Bytes{144'000};
        const Bytes ring{2 * (n - 1) * (384'000 / n)};
        CHECK(run.network.traffic(0).sent == (n > 5 ? ring : gathered));
        CHECK(run.elapsed() == step_of(options, 0.25, input(n, layout), gathered_by_ring));
    }
}

TEST_CASE("dgc: ResNet-50 on 32 nodes is dense in its first two stages of warm-up") {
    const LayoutPtr layout = built_in_profile("resnet-50").layout();
    const auto step = [&](double density, const AggregationPlan& how) {
        DgcOptions options;
        options.density = density;
        options.selection.method = Selection::free;
        return to_seconds(DgcRun(32, options, timing_job(layout, 1), how).elapsed());
    };
    // 62 chunks of 25,557,032 / 32 entries, and 62 latencies, in the ring of 1 Gbps.
    const double dense = 1e-3 + 62 * (4 * 25'557'032 / 32.0 / 125e6 + 10e-6);

    for (const double density : {0.25, 0.0625})
        for (const AggregationPlan& how : aggregations)
            CHECK(step(density, how) == doctest::Approx(dense).epsilon(1e-6));
    for (const AggregationPlan& how : aggregations) CHECK(step(0.001, how) < 0.1 * dense);
}

TEST_CASE("dgc, property: with any all-reduce, chains longer than dense ones are not taken") {
    const LayoutPtr layout = mixed_layout();
    const Link no_latency{1_Gbps, 0us};
    int dense = 0;
    int sparse = 0;
    for (const AllReduce how :
         {AllReduce::ring, AllReduce::recursive_doubling, AllReduce::halving_doubling,
          AllReduce::tree, AllReduce::parameter_server, AllReduce::automatic})
        for (const double density : {0.001, 0.03, 0.1, 0.3, 0.6})
            for (AggregationPlan plan : aggregations)
                for (const Uncompressed uncompressed : ways)
                    for (const int n : {2, 4, 8, 16}) {
                        DgcOptions options;
                        options.uncompressed = uncompressed;
                        plan.all_reduce = how;
                        const auto sizes =
                            std::make_shared<SparseSizes>(layout, rule_at(options, density));
                        const Bytes chosen =
                            std::min(sparse_chain(options, plan, *sizes, n),
                                     dense_chain(how, n, dense_bytes(options, *layout)));
                        const StageExchange stage =
                            stage_exchange(options, plan, sizes, density, n);
                        (stage.dense ? dense : sparse) += 1;

                        TrainingRun run(n, no_latency, timing_job(layout, 1));
                        run.spawn_all([&](Worker& self) {
                            return exchange_sparse(self, options, plan, layout, stage,
                                                   self.everybody());
                        });
                        run.simulation.run();

                        CAPTURE(static_cast<int>(how));
                        CAPTURE(n);
                        CAPTURE(density);
                        // A chain of messages takes the time of its bytes; times are rounded up.
                        const double s = static_cast<double>(chosen.count) / 125e6;
                        CHECK(to_seconds(run.elapsed()) == doctest::Approx(s).epsilon(1e-6));
                    }
    CHECK(dense > 100);
    CHECK(sparse > 100);
}

TEST_CASE("dgc: a density that comes back is another stage") {
    DgcOptions options = with_warm_up({{0.001, 0.25}, 10, 1});

    CHECK(stage_at(options, 0, 0) == 0);
    CHECK(stage_at(options, 9, 0) == 0);
    CHECK(stage_at(options, 10, 0) == 1);
    CHECK(stage_at(options, 20, 0) == 2);
    CHECK(stage_at(options, 20'000, 0) == 2);
    CHECK(density_at(options, 5, 0) == density_at(options, 25, 0));
}

}  // namespace
}  // namespace paceline::dgc_test
