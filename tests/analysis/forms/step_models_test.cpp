// The step models against formulas on paper. tests/algorithms checks that the simulation agrees
// with them.
#include "analysis/forms/step_models.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/collective/collective.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/sparse/gradient_dropping.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "tests/models/built_in_profile.hpp"

namespace paceline::step_models_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

StepModelInput on_star(int nodes, const IdleStar& star, Duration step, const LayoutPtr& layout,
                       WireFormat wire) {
    return {nodes, {star, {}, 1}, make_step_timing(step, *layout), {}, layout, wire};
}

// The assumptions of Lin et al.: worst case, everything gathered, free selection, no latency.
DgcOptions as_in_the_paper() {
    DgcOptions options;
    options.density = 0.001;
    options.law = DensityLaw::worst_case;
    options.format = {6, 4};
    options.uncompressed = Uncompressed::in_messages;
    options.selection.method = Selection::free;
    return options;
}

Duration dgc_step(const DgcOptions& options, double density, const StepModelInput& in,
                  const AggregationPlan& how = sparse_aggregation()) {
    return exchange_step_time(sparse_exchange(options, how), 0, in, density).value();
}

// One row of the calibrated curves: N = 1, 2, 4, ..., 64.
struct Curve {
    std::string profile;
    Duration step;
    Bandwidth bandwidth;
    double message;  // C, bytes
    std::vector<double> dense;
    std::vector<double> dgc;
};

const std::vector<Curve> curves{{"alexnet",
                                 344ms,
                                 1_Gbps,
                                 408'000,
                                 {1, 0.30, 0.42, 0.73, 1.38, 2.67, 5.26},
                                 {1, 1.98, 3.89, 7.50, 14.01, 24.73, 40.06}},
                                {"alexnet",
                                 344ms,
                                 10_Gbps,
                                 408'000,
                                 {1, 1.28, 2.16, 4.02, 7.75, 15.25, 30.24},
                                 {1, 2.00, 3.99, 7.95, 15.78, 31.09, 60.39}},
                                {"resnet-50",
                                 150ms,
                                 1_Gbps,
                                 369'497,
                                 {1, 0.31, 0.44, 0.76, 1.43, 2.77, 5.45},
                                 {1, 1.96, 3.78, 7.03, 12.35, 19.86, 28.55}},
                                {"resnet-50",
                                 150ms,
                                 10_Gbps,
                                 369'497,
                                 {1, 1.29, 2.20, 4.09, 7.91, 15.56, 30.87},
                                 {1, 2.00, 3.98, 7.89, 15.54, 30.16, 56.93}}};

double speedup(int nodes, Duration one, Duration step) {
    return nodes * to_seconds(one) / to_seconds(step);
}

TEST_CASE("step models: an all-reduce takes the closed form of its kind") {
    const IdleStar star{1_Gbps, 10us};
    const IdleNetwork network{star, {}, 1};

    CHECK(all_reduce_time(AllReduce::ring, 6, 1_MB, network) ==
          ring_all_reduce_time(6, 1_MB, star));
    CHECK(all_reduce_time(AllReduce::recursive_doubling, 6, 1_MB, network) ==
          recursive_doubling_all_reduce_time(6, 1_MB, star));
    CHECK(all_reduce_time(AllReduce::halving_doubling, 6, 1_MB, network) ==
          halving_doubling_all_reduce_time(6, 1_MB, star));
}

TEST_CASE("step models: alone there is nothing but computation and selection") {
    const LayoutPtr layout = built_in_profile("alexnet").layout();
    const StepModelInput in = on_star(1, {1_Gbps, 10us}, 344ms, layout, fp32);
    DgcOptions dgc;
    dgc.selection.method = Selection::exact;
    GradientDroppingOptions dropping;

    CHECK(dense_step_time({}, in) == 344ms);
    CHECK(dgc_step(dgc, 0.001, in) == 344ms + selection_time(dgc.selection, *layout, 0.001));
    CHECK(gradient_dropping_step_time(dropping, 0, in) == 344ms);
    CHECK(gradient_dropping_step_time(dropping, 100, in) ==
          344ms + dropping_time(dropping.codec.selection, layout->entries()));
}

TEST_CASE("step models: dense SGD on AlexNet over a ring of two takes S/B more") {
    const LayoutPtr layout = built_in_profile("alexnet").layout();
    const StepModelInput full = on_star(2, {1_Gbps, 10us}, 344ms, layout, fp32);
    const StepModelInput half = on_star(2, {1_Gbps, 10us}, 344ms, layout, fp16);

    CHECK(dense_step_time({}, full) == 344ms + 20us + 243'860'896_B / 1_Gbps);
    CHECK(dense_step_time({}, half) == 344ms + 20us + 121'930'448_B / 1_Gbps);
}

TEST_CASE("step models: speedups of dense SGD follow the calibrated curves") {
    for (const Curve& curve : curves) {
        const LayoutPtr layout = built_in_profile(curve.profile).layout();
        for (std::size_t i = 0; i < curve.dense.size(); ++i) {
            const int n = 1 << i;
            CAPTURE(curve.profile);
            CAPTURE(curve.bandwidth.bits_per_second);
            CAPTURE(n);
            const double one = to_seconds(curve.step);
            const double bytes_per_s = static_cast<double>(curve.bandwidth.bits_per_second) / 8;
            const double size = 4 * static_cast<double>(layout->entries());
            const double formula = n * one / (one + 2.0 * (n - 1) / n * size / bytes_per_s);

            const StepModelInput in = on_star(n, {curve.bandwidth}, curve.step, layout, fp32);
            const double model = speedup(n, curve.step, *dense_step_time({}, in));

            CHECK(model == Approx(formula).epsilon(1e-6));
            CHECK(std::abs(model - curve.dense[i]) <= 0.005 + 0.003 * curve.dense[i]);
        }
    }
}

TEST_CASE("step models: speedups of DGC follow the calibrated curves") {
    for (const Curve& curve : curves) {
        const LayoutPtr layout = built_in_profile(curve.profile).layout();
        for (std::size_t i = 0; i < curve.dgc.size(); ++i) {
            const int n = 1 << i;
            CAPTURE(curve.profile);
            CAPTURE(curve.bandwidth.bits_per_second);
            CAPTURE(n);
            const double one = to_seconds(curve.step);
            const double bytes_per_s = static_cast<double>(curve.bandwidth.bits_per_second) / 8;
            const double formula = n * one / (one + (n - 1) * curve.message / bytes_per_s);

            const StepModelInput in = on_star(n, {curve.bandwidth}, curve.step, layout, fp32);
            const Duration step = dgc_step(as_in_the_paper(), 0.001, in);
            const double model = speedup(n, curve.step, step);

            CHECK(model == Approx(formula).epsilon(0.003));
            CHECK(std::abs(model - curve.dgc[i]) <= 0.005 + 0.003 * curve.dgc[i]);
        }
    }
}

TEST_CASE("step models: the two printed speedups of AlexNet on 64 nodes come out") {
    const LayoutPtr layout = built_in_profile("alexnet").layout();
    const StepModelInput slow = on_star(64, {1_Gbps}, 344ms, layout, fp32);
    const StepModelInput fast = on_star(64, {10_Gbps}, 344ms, layout, fp32);

    const double dense = speedup(64, 344ms, *dense_step_time({}, fast));
    const double dgc = speedup(64, 344ms, dgc_step(as_in_the_paper(), 0.001, slow));

    CHECK(dense == Approx(30.2).epsilon(0.003));  // "about 30"
    CHECK(dgc == Approx(40.1).epsilon(0.003));    // "more than 40"
}

TEST_CASE("step models: dense AlexNet on two nodes over 1 Gbps is slower than on one") {
    const StepModelInput two =
        on_star(2, {1_Gbps}, 344ms, built_in_profile("alexnet").layout(), fp32);

    CHECK(speedup(2, 344ms, *dense_step_time({}, two)) < 0.5);
}

TEST_CASE("step models: DGC's all-gather catches up with dense at twice the ratio in nodes") {
    const AggregationPlan gather = sparse_aggregation(AllGather::ring);
    const auto dgc_wins_at = [&](int nodes) {
        const StepModelInput in =
            on_star(nodes, {1_Gbps}, 344ms, built_in_profile("alexnet").layout(), fp32);
        return dgc_step(as_in_the_paper(), 0.001, in, gather) < *dense_step_time({}, in);
    };

    CHECK(dgc_wins_at(1185));
    CHECK_FALSE(dgc_wins_at(1205));
}

TEST_CASE("step models: gathered and all-reduced tensors differ by their own exchange") {
    const LayoutPtr layout = built_in_profile("resnet-50").layout();
    const StepModelInput in = on_star(16, {1_Gbps, 10us}, 150ms, layout, fp32);
    DgcOptions gathered = as_in_the_paper();
    DgcOptions reduced = as_in_the_paper();
    reduced.uncompressed = Uncompressed::apart;

    const Duration more = dgc_step(gathered, 0.001, in) - dgc_step(reduced, 0.001, in);

    // 15 D/B for the gather, compared with a ring of D = 54,120 entries.
    const double gather_s = 15 * 216'480 / 125e6;
    const double ring_s = 2 * 15 * (216'480.0 / 16 / 125e6 + 10e-6);
    CHECK(to_seconds(more) == Approx(gather_s - ring_s).epsilon(1e-6));
}

TEST_CASE("step models: gradient dropping is dense for its first steps") {
    const LayoutPtr layout = built_in_profile("ptb-lstm").layout();
    const StepModelInput in = on_star(4, {1_Gbps, 10us}, 150ms, layout, fp32);
    GradientDroppingOptions options;
    options.codec.selection.method = Selection::free;
    options.codec.law = DensityLaw::worst_case;

    CHECK(gradient_dropping_step_time(options, 0, in) == dense_step_time({}, in));
    CHECK(gradient_dropping_step_time(options, 99, in) == dense_step_time({}, in));
    // 510,340 entries of 8 bytes, then twice as many
    CHECK(gradient_dropping_step_time(options, 100, in) ==
          150ms + 20us + 4'082'720_B / 1_Gbps + 8'165'440_B / 1_Gbps);
}

}  // namespace
}  // namespace paceline::step_models_test
