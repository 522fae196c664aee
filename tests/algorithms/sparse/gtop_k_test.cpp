#include "algorithms/sparse/gtop_k.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "algorithms/compression/sparse/selection.hpp"
#include "algorithms/rounds/rounds.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/sparse/gradient_dropping.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/replicated_run.hpp"

namespace paceline::gtop_k_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using Values = Eigen::VectorXd;

GtopKOptions at_density(double density, const MomentumRule& rule = {}) {
    GtopKOptions options;
    options.density = density;
    options.rule = rule;
    return options;
}

/// A job of one tensor that begins at 0, with learning rate 0.1, whose gradients come in step 0
/// alone.
Job one_impulse(Eigen::Index entries, std::int64_t steps, std::vector<Values> gradients) {
    const LayoutPtr layout = make_layout({{"x", {entries}}});
    Job job = timing_job(layout, steps);
    job.start = Vector(layout, Values::Zero(entries));
    job.learning_rate = [](std::int64_t) { return 0.1; };
    job.objective = [gradients = std::move(gradients)](const Vector& x, int rank, std::int64_t k) {
        return k == 0 ? gradients[static_cast<std::size_t>(rank)]
                      : Values::Zero(x.entries()).eval();
    };
    return job;
}

TEST_CASE("gTop-k: at density 1 it is momentum SGD on the mean gradient") {
    for (const int n : {1, 2, 3, 5, 8})
        for (const bool nesterov : {false, true}) {
            CAPTURE(n);
            CAPTURE(nesterov);
            const MomentumRule rule{.momentum = 0.8, .nesterov = nesterov, .weight_decay = 0.03};
            Values x = Values::Ones(26);
            Values m = Values::Zero(26);
            for (std::int64_t k = 0; k < 20; ++k) {
                Values g = 0.03 * x;
                for (int i = 0; i < n; ++i) g += pull_to_own_target(x, i, k) / n;
                m = 0.8 * m + g;
                x -= 0.1 * (nesterov ? (g + 0.8 * m).eval() : m);
            }

            const Values found =
                trained(n, &gtop_k, at_density(1, rule), training_job(small_layout(), 20));

            CHECK((found - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

// The gradients of worker 1 are three times those of worker 0, and so are its residuals.
TEST_CASE("gTop-k: two workers with the same largest entries are top-k with error feedback") {
    for (const int n : {1, 2}) {
        CAPTURE(n);
        const auto job = [] {
            Job job = training_job(small_layout(), 30);
            job.objective = [](const Vector& x, int rank, std::int64_t k) -> Values {
                return (1.0 + 2 * rank) * pull_to_own_target(x.values(), 0, k);
            };
            return job;
        };
        GradientDroppingOptions dropping;
        dropping.codec.density = 6.0 / 26;
        dropping.dense_steps = 0;
        dropping.codec.selection.method = Selection::exact;
        dropping.rule.momentum = 0.7;
        Values x = Values::Ones(26);
        Values m = Values::Zero(26);
        Values r = Values::Zero(26);
        for (std::int64_t k = 0; k < 30; ++k) {
            r += (n == 1 ? 1.0 : 2.0) * pull_to_own_target(x, 0, k);  // of the mean
            const Values sent = largest(r, 6);
            r -= sent;
            m = 0.7 * m + sent;
            x -= 0.1 * m;
        }

        const Values found = trained(n, &gtop_k, at_density(6.0 / 26, dropping.rule), job());

        CHECK((found - x).cwiseAbs().maxCoeff() < 1e-12);
        CHECK((found - trained(n, &gradient_dropping, dropping, job())).cwiseAbs().maxCoeff() <
              1e-12);
    }
}

TEST_CASE("gTop-k: what does not come to the root waits in the residual") {
    const std::vector<Values> gradients{Eigen::Vector2d(3, 0), Eigen::Vector2d(0, 5)};
    const auto after = [&](std::int64_t steps) {
        return trained(2, &gtop_k, at_density(0.5), one_impulse(2, steps, gradients));
    };

    CHECK((after(1) - Eigen::Vector2d(0, -0.25)).norm() < 1e-15);
    CHECK((after(2) - Eigen::Vector2d(-0.15, -0.25)).norm() < 1e-15);
    CHECK((after(3) - Eigen::Vector2d(-0.15, -0.25)).norm() < 1e-15);
}

// Round 0 drops the 3 of worker 0, and workers 2 and 3 bring 20 of the same entry to the root.
TEST_CASE("gTop-k: what was dropped of an entry that another branch brings is lost") {
    const std::vector<Values> gradients{Eigen::Vector2d(3, 0), Eigen::Vector2d(0, 5),
                                        Eigen::Vector2d(10, 0), Eigen::Vector2d(10, 0)};
    const auto after = [&](std::int64_t steps) {
        return trained(4, &gtop_k, at_density(0.5), one_impulse(2, steps, gradients));
    };

    CHECK((after(1) - Eigen::Vector2d(-0.5, 0)).norm() < 1e-15);
    CHECK((after(2) - Eigen::Vector2d(-0.5, -0.125)).norm() < 1e-15);
    CHECK((after(4) - Eigen::Vector2d(-0.5, -0.125)).norm() < 1e-15);
}

// The subtree of `first` spans the workers first .. first + span - 1, as far as there are that
// many. Its last merge is with the upper half.
Values merged(const std::vector<Values>& sent, std::size_t first, std::size_t span,
              Eigen::Index k) {
    if (span == 1) return sent[first];
    const std::size_t half = span / 2;
    const Values lower = merged(sent, first, half, k);
    if (first + half >= sent.size()) return lower;
    return largest(lower + merged(sent, first + half, half, k), k);
}

TEST_CASE("gTop-k, property: G is that of a recursion over halves of the workers") {
    for (unsigned seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto any = [&](int least, int most) {
            return std::uniform_int_distribution<int>(least, most)(random);
        };
        const auto n = static_cast<std::size_t>(any(1, 20));
        const int entries = any(1, 30);
        const int k = any(1, entries);
        const LayoutPtr layout = make_layout({{"x", {entries}}});
        std::vector<Values> sent;
        Round<Vector> round(n);
        for (std::size_t i = 0; i < n; ++i) {
            // Small integers: sums are exact, and ties and cancellations happen.
            const Values v = Values::NullaryExpr(entries, [&](auto) { return double(any(-5, 5)); });
            sent.push_back(largest(v, k));
            round.enter(i, Vector(layout, sent.back()));
        }

        const Vector found = global_top_k(round, k);

        REQUIRE(found.values() == merged(sent, 0, 32, k));
        REQUIRE((found.values().array() != 0).count() <= k);
    }
}

TEST_CASE(
    "gTop-k: a message holds values and positions of floor(density N) entries, 4 bytes each") {
    CHECK(gtop_k_bytes({}, 25'557'032) == Bytes{8 * 25'557});
    CHECK(gtop_k_bytes(at_density(0.15), 35) == Bytes{8 * 5});
    CHECK(gtop_k_bytes(at_density(0.001), 10) == Bytes{8});
    CHECK(gtop_k_bytes(at_density(1), 35) == Bytes{8 * 35});
}

// A binomial tree of n workers has n - 1 edges. A message passes each of them up, and another one
// down.
TEST_CASE(
    "gTop-k: a step takes that of the gradient, the selection and the tree's rounds up and down") {
    const LayoutPtr layout = make_layout({{"a", {100, 90}}, {"b", {1000}}});
    for (const int n : {1, 2, 3, 4, 5, 8, 16}) {
        CAPTURE(n);
        GtopKOptions options = at_density(0.01);
        options.selection = {Selection::exact, Duration{500}};
        TrainingRun run(n, replicated_link, timing_job(layout, 3));
        run.spawn_all([=](Worker& self) { return gtop_k(self, options); });

        run.simulation.run();

        const Bytes size{8 * 100};
        int rounds = 0;
        while ((1 << rounds) < n) ++rounds;
        const Duration selecting = selection_time(options.selection, 10'000, 0.01);
        CHECK(run.sent_by_all() == Bytes{3 * 2 * (n - 1) * size.count});
        if ((n & (n - 1)) == 0)
            CHECK(run.elapsed() ==
                  3 * (step_of_tests + selecting +
                       2 * rounds *
                           (2 * replicated_link.latency + size / replicated_link.capacity())));
    }
}

TEST_CASE("gTop-k: a gradient that is not finite ends the run") {
    Job job = training_job(small_layout(), 5);
    job.objective = [](const Vector& x, int rank, std::int64_t k) {
        Values g = pull_to_own_target(x.values(), rank, k);
        if (rank == 1 && k == 2) g(25) = std::numeric_limits<double>::quiet_NaN();
        return g;
    };

    CHECK_THROWS_AS(trained(3, &gtop_k, at_density(0.2), std::move(job)), Diverged);
}

TEST_CASE("gTop-k, property: a run that learns can be dropped at any time") {
    for (std::int64_t i = 0; i < 60; ++i) {
        CAPTURE(i);
        TrainingRun run(1 + static_cast<int>(i % 6), replicated_link,
                        training_job(small_layout(), 20));
        run.spawn_all([](Worker& self) { return gtop_k(self, at_density(0.2)); });
        run.simulation.run(Time{Duration{i * 300'000'000}});

        run.processes.drop();

        REQUIRE(run.simulation.run() == RunEnd::idle);
        REQUIRE(run.network.flows_in_flight() == 0);
    }
}

}  // namespace
}  // namespace paceline::gtop_k_test
