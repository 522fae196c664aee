#include "examples/adding/pipe_sgd.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::pipe_sgd_test {
namespace {

LocalAlgorithm of_pipe_sgd(MomentumRule rule) {
    return [=](Worker& w) { return pipe_sgd(w, {dense_exchange({}), rule}); };
}

TEST_CASE("pipelined SGD: it is SGD whose gradients are of the model one step before") {
    for (const int n : {1, 2, 5}) {
        CAPTURE(n);
        Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
        Eigen::VectorXd before = x;  // the model before the last step
        for (std::int64_t k = 0; k < 12; ++k) {
            Eigen::VectorXd mean = Eigen::VectorXd::Zero(26);
            for (int i = 0; i < n; ++i) mean += pull_to_own_target(before, i, k) / n;
            before = x;
            x -= falling_rate(k) * mean;
        }

        const Eigen::MatrixXd models =
            models_after(n, local_job(12, falling_rate), of_pipe_sgd({}));

        CHECK(distance(models, x.replicate(1, n)) < 1e-12);
    }
}

TEST_CASE("pipelined SGD: a step takes the longer of a gradient and an all-reduce") {
    for (const int megabits : {1, 10, 1000}) {
        CAPTURE(megabits);
        const Link link{Bandwidth{megabits * std::int64_t{1'000'000}},
                        std::chrono::microseconds(5)};
        const LayoutPtr layout = make_layout({{"w", {100, 100}}});
        const Duration average = ring_all_reduce_time(4, Bytes{40'000}, idle_star(link));
        TrainingRun run(4, link, timing_job(layout, 10));
        run.spawn_all(of_pipe_sgd({}));

        run.simulation.run();

        CHECK(run.elapsed() == step_of_tests + 9 * std::max(step_of_tests, average) + average);
    }
}

}  // namespace
}  // namespace paceline::pipe_sgd_test
