#include "algorithms/adaptive/dense_adam.hpp"

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_lamb.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/step_models.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::dense_adam_test {
namespace {

auto adam(AdamRule rule) {
    return [=](Worker& w) { return dense_adam(w, {dense_exchange(AllReduce::ring), rule}); };
}
auto lamb(LambRule rule) {
    return [=](Worker& w) { return dense_lamb(w, {dense_exchange(AllReduce::ring), rule}); };
}

TEST_CASE("dense Adam: it is serial Adam on the mean gradient") {
    for (const int n : {1, 2, 5})
        for (const bool correction : {true, false}) {
            CAPTURE(n);
            CAPTURE(correction);
            const AdamRule rule{0.9, 0.99, 1e-6, 0.01, correction};

            Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
            Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
            Eigen::VectorXd v = Eigen::VectorXd::Zero(26);
            for (std::int64_t k = 0; k < 30; ++k) {
                const Eigen::VectorXd g = mean_of(own_gradients(n, x, k));
                m = 0.9 * m + 0.1 * g;
                v = 0.99 * v + 0.01 * g.cwiseProduct(g);
                const double c1 = correction ? 1 - std::pow(0.9, static_cast<double>(k + 1)) : 1;
                const double c2 = correction ? 1 - std::pow(0.99, static_cast<double>(k + 1)) : 1;
                x -= adaptive_rate(k) * direction(rule, m / c1, v / c2, x);
            }

            CHECK((model_after(n, adaptive_job(30), adam(rule)) - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

TEST_CASE("dense LAMB: with every ratio clipped to 1 it is dense Adam") {
    const AdamRule rule{.epsilon = 1e-6, .weight_decay = 0.1};

    const Eigen::VectorXd of_adam = model_after(4, adaptive_job(20), adam(rule));
    const Eigen::VectorXd of_lamb = model_after(4, adaptive_job(20), lamb({rule, 1, 1}));
    const Eigen::VectorXd unclipped = model_after(4, adaptive_job(20), lamb({rule}));

    CHECK((of_adam - of_lamb).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((of_adam - unclipped).cwiseAbs().maxCoeff() > 1e-3);
}

TEST_CASE("dense Adam and LAMB: a step takes the step model of dense SGD, to the picosecond") {
    const LayoutPtr layout = make_layout({{"a", {64, 48}}, {"b", {64}}});
    for (const int n : {1, 2, 4, 8})
        for (const bool layered : {false, true}) {
            CAPTURE(n);
            CAPTURE(layered);
            TrainingRun run(n, adaptive_link, timing_job(layout, 3));
            if (layered)
                run.spawn_all(lamb({}));
            else
                run.spawn_all(adam({}));
            run.simulation.run();

            const auto in = on_star(n, idle_star(adaptive_link), step_of_tests, layout);
            CHECK(run.elapsed() == 3 * *dense_step_time(AllReduce::ring, in));
        }
}

}  // namespace
}  // namespace paceline::dense_adam_test
