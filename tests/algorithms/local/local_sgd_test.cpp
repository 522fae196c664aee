#include "algorithms/local/local_sgd.hpp"

#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/post_local_sgd.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::local_sgd_test {
namespace {

LocalAlgorithm of_local_sgd(std::int64_t period, MomentumRule rule = {}) {
    return [=](Worker& w) { return local_sgd(w, {period, dense_exchange(AllReduce::ring), rule}); };
}

LocalAlgorithm of_post_local_sgd(std::int64_t switch_step, std::int64_t period, MomentumRule rule) {
    LocalSgdOptions options = post_local_sgd(switch_step);
    options.period = period;
    options.exchange = dense_exchange(AllReduce::ring);
    options.inner = rule;
    return [=](Worker& w) { return local_sgd(w, options); };
}

TEST_CASE("local SGD: it is each worker's own momentum SGD, averaged after every tau-th step") {
    const MomentumRule rule{0.7, true, 0.01};
    for (const int n : {1, 2, 5, 8})
        for (const std::int64_t period : {1, 3, 4}) {
            CAPTURE(n);
            CAPTURE(period);
            Columns expected(n, rule);
            for (std::int64_t k = 0; k < 14; ++k) {
                expected.step(k, falling_rate(k));
                if (k % period == period - 1) expected.all_at(expected.mean());
            }

            const Eigen::MatrixXd models =
                models_after(n, local_job(14, falling_rate), of_local_sgd(period, rule));

            CHECK(distance(models, expected.x) < 1e-12);
        }
}

TEST_CASE("local SGD: with period 1 it is dense SGD, with momentum too") {
    for (const MomentumRule rule :
         {MomentumRule{}, MomentumRule{0.9}, MomentumRule{0.9, true, 0.01}})
        for (const int n : {1, 3, 8}) {
            CAPTURE(n);
            CAPTURE(rule.momentum);

            const Eigen::MatrixXd local =
                models_after(n, local_job(30, falling_rate), of_local_sgd(1, rule));

            CHECK(distance(local, models_after(n, local_job(30, falling_rate), of_dense(rule))) <
                  1e-10);
        }
}

// The optimizers' own functions, worker by worker.
TEST_CASE("local SGD: with another optimizer inside, that is what workers do between averages") {
    const AdamRule adam{.beta2 = 0.99, .weight_decay = 0.02};
    MuonRule muon;
    muon.adam = adam;
    muon.leave_out.emplace();
    const auto step = [&](int rule, double gamma, const Vector& g, InnerState& s, Vector& x) {
        if (rule == 0) adam_step(adam, gamma, ++s.steps, g, s.m, s.v, x);
        if (rule == 1) (void)lamb_step({adam}, gamma, ++s.steps, g, s.m, s.v, x);
        if (rule == 2) muon_step(muon, gamma, ++s.steps, g, s.m, s.v, x);
    };
    const std::array<InnerRule, 3> rules{adam, LambRule{adam}, muon};
    for (int rule = 0; rule < 3; ++rule) {
        CAPTURE(rule);
        std::vector<Vector> x(3, Vector(small_layout(), Eigen::VectorXd::Ones(26)));
        std::vector<InnerState> states(3, InnerState(x[0]));
        for (std::int64_t k = 0; k < 14; ++k) {
            Eigen::VectorXd mean = Eigen::VectorXd::Zero(26);
            for (std::size_t i = 0; i < 3; ++i) {
                const Eigen::VectorXd g = pull_to_own_target(x[i].values(), static_cast<int>(i), k);
                step(rule, falling_rate(k), Vector(x[i].layout(), g), states[i], x[i]);
                mean += x[i].values() / 3;
            }
            if (k % 4 == 3)
                for (Vector& one : x) one.writable() = mean;
        }
        LocalSgdOptions options{.period = 4, .inner = rules[static_cast<std::size_t>(rule)]};

        const Eigen::MatrixXd models = models_after(
            3, local_job(14, falling_rate), [=](Worker& w) { return local_sgd(w, options); });

        for (int i = 0; i < 3; ++i)
            CHECK(distance(models.col(i), x[static_cast<std::size_t>(i)].values()) < 1e-12);
    }
}

TEST_CASE("local SGD: a run that ends within a block ends without an average") {
    const Eigen::MatrixXd models =
        models_after(4, local_job(7, constant_rate), of_local_sgd(4, {0.5}));

    CHECK((models.col(0) - models.col(3)).cwiseAbs().maxCoeff() > 0.1);
}

TEST_CASE("local SGD: alone it is SGD, sends nothing and takes the time of its gradients") {
    TrainingRun run(1, local_link, local_job(9, falling_rate));
    run.spawn_all(of_local_sgd(3, {0.9}));
    run.simulation.run();

    CHECK(run.elapsed() == 9 * step_of_tests);
    CHECK(run.network.traffic(0).sent == Bytes{0});
}

TEST_CASE("post-local SGD: it is dense SGD as long as the switch lies ahead") {
    const MomentumRule rule{0.9};
    const Eigen::MatrixXd dense = models_after(5, local_job(20, falling_rate), of_dense(rule));

    CHECK(distance(models_after(5, local_job(20, falling_rate), of_post_local_sgd(20, 4, rule)),
                   dense) < 1e-10);
    CHECK(distance(models_after(5, local_job(20, falling_rate), of_post_local_sgd(99, 4, rule)),
                   dense) < 1e-10);
}

TEST_CASE("post-local SGD: switched at once it is local SGD") {
    const MomentumRule rule{0.9};

    CHECK(models_after(5, local_job(20, falling_rate), of_post_local_sgd(0, 4, rule)) ==
          models_after(5, local_job(20, falling_rate), of_local_sgd(4, rule)));
}

TEST_CASE("post-local SGD: blocks are counted from the switch, which begins with equal models") {
    const MomentumRule rule{0.6};
    for (const std::int64_t switch_step : {1, 3, 6}) {
        CAPTURE(switch_step);
        Columns expected(4, rule);
        for (std::int64_t k = 0; k < 15; ++k) {
            expected.step(k, falling_rate(k));
            const bool late = k >= switch_step;
            if (!late || (k - switch_step) % 4 == 3) expected.all_at(expected.mean());
        }

        CHECK(distance(models_after(4, local_job(15, falling_rate),
                                    of_post_local_sgd(switch_step, 4, rule)),
                       expected.x) < 1e-12);
    }
}

}  // namespace
}  // namespace paceline::local_sgd_test
