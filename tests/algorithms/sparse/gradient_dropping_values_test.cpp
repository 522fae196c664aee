// Gradient dropping that trains. gradient_dropping_test.cpp covers it without values.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <boost/random/normal_distribution.hpp>
#include <doctest/doctest.h>

#include "algorithms/runtime/diverged.hpp"
#include "algorithms/sparse/gradient_dropping.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::gradient_dropping_values_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using Values = Eigen::VectorXd;

const Link link{1_Gbps, 5us};

/// 564 entries, including biases.
LayoutPtr mixed_layout() {
    return make_layout({{"a", {24, 20}}, {"b", {10}}, {"c", {10, 7}}, {"d", {4}}});
}

GradientDroppingOptions dropping(double density, std::int64_t dense_steps, double momentum) {
    GradientDroppingOptions options;
    options.codec.density = density;
    options.dense_steps = dense_steps;
    options.rule.momentum = momentum;
    return options;
}

struct DroppingRun : TrainingRun {
    DroppingRun(int nodes, const GradientDroppingOptions& options, Job job)
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) { return gradient_dropping(self, options); });
        simulation.run();
    }
    [[nodiscard]] const Values& model() { return cluster.worker(0).replicated_model().values(); }
};

Values normal_values(Eigen::Index n, std::uint64_t seed) {
    RandomStream random = RandomStreams(seed).stream("values");
    boost::random::normal_distribution<double> any;
    return Values::NullaryExpr(n, [&] { return any(random); });
}

// A second implementation of the algorithm, over all entries.
struct Serial {
    GradientDroppingOptions options;
    Values x = Values::Ones(564);
    Values m = Values::Zero(564);
    std::vector<Values> residuals;
    std::vector<std::set<Eigen::Index>> sent{};  // by worker; of the last step

    Serial(int nodes, const GradientDroppingOptions& of)
        : options(of), residuals(static_cast<std::size_t>(nodes), Values::Zero(564)) {}

    [[nodiscard]] double threshold(const Values& r) const {
        std::vector<double> sorted(r.begin(), r.end());
        for (double& entry : sorted) entry = std::abs(entry);
        std::ranges::sort(sorted);
        const auto dropped = std::lround(std::floor((1 - options.codec.density) * 564));
        return sorted[static_cast<std::size_t>(std::max(0L, dropped - 1))];
    }
    void step(std::int64_t k) {
        Values sum = Values::Zero(564);
        sent.assign(residuals.size(), {});
        for (std::size_t i = 0; i < residuals.size(); ++i) {
            const Values g = pull_to_own_target(x, static_cast<int>(i), k);
            Values& r = residuals[i];
            if (k < options.dense_steps) {
                sum += g;
                continue;
            }
            r += g;
            const double t = threshold(r);
            for (Eigen::Index p = 0; p < 564; ++p)
                if (std::abs(r(p)) > t) {
                    sent[i].insert(p);
                    sum(p) += r(p);
                    r(p) = 0;
                }
        }
        m = options.rule.momentum * m + sum / static_cast<double>(residuals.size());
        x -= 0.1 * m;
    }
};

TEST_CASE("gradient dropping: it is the serial algorithm of sorts and sums") {
    for (const int n : {1, 2, 3, 8})
        for (const double momentum : {0.0, 0.8})
            for (const AggregationPlan& how :
                 {sparse_aggregation(), sparse_aggregation(AllGather::ring)}) {
                CAPTURE(n);
                CAPTURE(momentum);
                GradientDroppingOptions options = dropping(0.05, 4, momentum);
                options.aggregation = how;

                DroppingRun run(n, options, training_job(mixed_layout(), 30));

                Serial serial(n, options);
                for (std::int64_t k = 0; k < 30; ++k) serial.step(k);
                CHECK((run.model() - serial.x).cwiseAbs().maxCoeff() < 1e-12);
            }
}

TEST_CASE("gradient dropping: dense steps are dense momentum SGD") {
    DroppingRun run(4, dropping(0.01, 30, 0.9), training_job(mixed_layout(), 30));

    Values x = Values::Ones(564);
    Values m = Values::Zero(564);
    for (std::int64_t k = 0; k < 30; ++k) {
        Values g = Values::Zero(564);
        for (int i = 0; i < 4; ++i) g += pull_to_own_target(x, i, k) / 4;
        m = 0.9 * m + g;
        x -= 0.1 * m;
    }
    CHECK((run.model() - x).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(run.cluster.metrics().measured_density().steps == 0);
}

TEST_CASE("gradient dropping: each worker sends what passes its threshold, and that is charged") {
    GradientDroppingOptions options = dropping(0.05, 0, 0);
    options.aggregation = sparse_aggregation(AllGather::ring);

    const DroppingRun run(3, options, training_job(mixed_layout(), 1));

    Serial serial(3, options);
    serial.step(0);
    std::int64_t all = 0;
    for (const auto& sent : serial.sent) all += std::ssize(sent);
    CHECK(all == 3 * (564 - 535));
    for (int i = 0; i < 3; ++i) {
        const std::int64_t own = std::ssize(serial.sent[static_cast<std::size_t>(i)]);
        CHECK(run.network.traffic(i).received == Bytes{8 * (all - own)});
    }
    CHECK(run.cluster.metrics().measured_density().contribution ==
          doctest::Approx(static_cast<double>(all) / (3 * 564)));
}

TEST_CASE("gradient dropping: the threshold is that of at most 100,000 entries at a stride") {
    TopKScratch scratch;
    Values r = normal_values(250'000, 1);
    const std::span<const double> all(r.data(), 250'000);
    DgcOptions codec = dropping(0.01, 0, 0).codec;

    const double t = dropping_threshold(codec, all, scratch);

    std::vector<double> sample;
    for (Eigen::Index i = 0; i < 100'000; ++i) sample.push_back(std::abs(r(2 * i)));
    std::ranges::sort(sample);
    CHECK(t == sample[98'999]);
    codec.selection.method = Selection::exact;
    std::vector<double> sorted(r.begin(), r.end());
    for (double& entry : sorted) entry = std::abs(entry);
    std::ranges::sort(sorted);
    CHECK(dropping_threshold(codec, all, scratch) == sorted[247'499]);
}

TEST_CASE("gradient dropping, property: sent and residual are all gradients, about 1 % are sent") {
    const LayoutPtr everything = make_layout({{"everything", {20'000, 1}}});
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        TopKScratch scratch;
        Values residual = Values::Zero(20'000);
        Values gradients = residual;
        Values sum = residual;
        for (std::uint64_t k = 0; k < 10; ++k) {
            const Values g = normal_values(20'000, 100 * seed + k);
            gradients += g;
            residual += g;
            const SparseVector sent =
                drop(dropping(0.01, 0, 0).codec, everything, residual, scratch);
            add(sent, sum);
            REQUIRE(sent.positions.size() == 200);
        }

        REQUIRE((sum + residual - gradients).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("gradient dropping: among equal entries nothing passes, and nothing is sent") {
    TopKScratch scratch;
    Values residual = Values::Ones(50);
    const LayoutPtr everything = make_layout({{"everything", {50, 1}}});

    const SparseVector sent = drop(dropping(0.1, 0, 0).codec, everything, residual, scratch);

    CHECK(sent.positions.empty());
    CHECK(residual == Values::Ones(50));
}

TEST_CASE("gradient dropping: a stand-in has its density on the whole of the other net") {
    Job job = training_job(mixed_layout(), 3);
    job.charged = make_layout({{"A", {1000, 10}}, {"B", {500}}});
    GradientDroppingOptions options = dropping(0.05, 1, 0);
    options.aggregation.all_reduce = AllReduce::recursive_doubling;

    DroppingRun run(2, options, std::move(job));
    DroppingRun own(2, options, training_job(mixed_layout(), 3));

    // One dense step; then 5 % of 10,500 entries twice, though 29 of 564 of its own are sent.
    CHECK(run.network.traffic(0).sent == Bytes{4 * 10'500 + 2 * 8 * 525});
    CHECK(run.model() == own.model());
    CHECK(run.cluster.state(1).compute_time ==
          3ms + 2 * dropping_time(options.codec.selection, 10'500));
}

TEST_CASE("gradient dropping: a gradient that is not finite ends the run") {
    Job job = training_job(mixed_layout(), 5);
    job.objective = [](const Vector& x, int rank, std::int64_t k) {
        Values g = pull_to_own_target(x.values(), rank, k);
        if (rank == 0 && k == 2) g(563) = std::numeric_limits<double>::quiet_NaN();
        return g;
    };

    CHECK_THROWS_AS(DroppingRun(2, dropping(0.05, 0, 0.9), std::move(job)), Diverged);
}

TEST_CASE("gradient dropping, property: a run that learns can be dropped at any time") {
    for (std::int64_t i = 0; i < 60; ++i) {
        CAPTURE(i);
        TrainingRun run(1 + static_cast<int>(i % 5), link, training_job(mixed_layout(), 20));
        run.spawn_all([](Worker& self) { return gradient_dropping(self, dropping(0.05, 3, 0)); });
        run.simulation.run(Time{Duration{i * 300'000'000}});

        run.processes.drop();

        REQUIRE(run.simulation.run() == RunEnd::idle);
        REQUIRE(run.network.flows_in_flight() == 0);
    }
}

}  // namespace
}  // namespace paceline::gradient_dropping_values_test
