#include "algorithms/local/bmuf.hpp"

#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/local/slowmo.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::bmuf_test {
namespace {

LocalAlgorithm of_bmuf(const BmufOptions& options) {
    return [=](Worker& w) { return bmuf(w, options); };
}

LocalAlgorithm of_slowmo(double alpha, double beta, std::int64_t period, MomentumRule rule) {
    SlowmoOptions options;
    options.slow = {alpha, beta};
    options.period = period;
    options.base.rule = rule;
    return [=](Worker& w) { return slowmo(w, options); };
}

constexpr std::array forms{BlockForm::classical, BlockForm::nesterov, BlockForm::nesterov_folded};

TEST_CASE("bmuf: at constant gamma the classical form is SlowMo, with beta = eta, alpha = zeta") {
    for (const MomentumRule rule : {MomentumRule{}, MomentumRule{0.7, true}})
        for (const int n : {1, 3, 8}) {
            CAPTURE(n);
            CAPTURE(rule.momentum);
            const BmufOptions options{
                .period = 4, .block_momentum = 0.6, .block_learning_rate = 0.8, .inner = rule};

            const Eigen::MatrixXd models =
                models_after(n, local_job(24, constant_rate), of_bmuf(options));

            CHECK(distance(models, models_after(n, local_job(24, constant_rate),
                                                of_slowmo(0.8, 0.6, 4, rule))) < 1e-10);
        }
}

// SlowMo multiplies the displacement it remembers by gamma_t / gamma_{t-1}; BMUF does not.
TEST_CASE("bmuf: where gamma changes it is SlowMo but for the ratio of the rates") {
    const auto halved = [](std::int64_t k) { return k < 4 ? 0.1 : 0.05; };
    for (const bool scales : {false, true}) {
        CAPTURE(scales);
        Columns all(3, {});
        Eigen::VectorXd y = all.x.col(0);
        Eigen::VectorXd d = Eigen::VectorXd::Zero(26);
        for (std::int64_t k = 0; k < 8; ++k) {
            all.step(k, halved(k));
            if (k % 4 != 3) continue;
            const double ratio = scales && k == 7 ? 0.05 / 0.1 : 1;
            d = 0.6 * ratio * d + (all.mean() - y);
            y += d;
            all.all_at(y);
        }
        const LocalAlgorithm algorithm =
            scales ? of_slowmo(1, 0.6, 4, {}) : of_bmuf({.period = 4, .block_momentum = 0.6});

        CHECK(distance(models_after(3, local_job(8, halved), algorithm), all.x) < 1e-12);
    }
}

// Each block moves every worker by 1 from where it began. Checks the step sizes of y with eta 0.5
// and zeta 0.4 (reference figures: 0.8 and 1.2).
TEST_CASE("bmuf: the steady step of the folded form is 1 + eta times that of the others") {
    const auto steady_step = [](BlockForm form) {
        const auto y_after = [form](std::int64_t blocks) {
            Job job = local_job(2 * blocks, constant_rate);
            job.objective = [](const Vector& x, int, std::int64_t) {
                return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), -1 / (2 * 0.1)));
            };
            const BmufOptions options{
                .period = 2, .block_momentum = 0.5, .block_learning_rate = 0.4, .form = form};
            return models_after(4, job, of_bmuf(options))(0, 0);
        };
        return y_after(61) - y_after(60);
    };

    CHECK(std::abs(steady_step(BlockForm::classical) - 0.8) < 1e-10);
    CHECK(std::abs(steady_step(BlockForm::nesterov) - 0.8) < 1e-10);
    CHECK(std::abs(steady_step(BlockForm::nesterov_folded) - 1.2) < 1e-10);
}

TEST_CASE("bmuf: its three forms follow their equations") {
    for (const BlockForm form : forms) {
        CAPTURE(static_cast<int>(form));
        Columns all(3, {0.5});
        Eigen::VectorXd y = all.x.col(0);
        Eigen::VectorXd w = y;
        Eigen::VectorXd d = Eigen::VectorXd::Zero(26);
        for (std::int64_t k = 0; k < 14; ++k) {
            all.step(k, falling_rate(k));
            if (k % 3 != 2) continue;
            d = 0.4 * d + 0.9 * (all.mean() - y);
            w += d;
            if (form == BlockForm::classical) y = w;
            if (form == BlockForm::nesterov) y = w + 0.4 * d;
            if (form == BlockForm::nesterov_folded) y = y + d + 0.4 * d;
            all.all_at(y);
            all.m.setZero();
        }
        const BmufOptions options{
            3, 0.4, 0.9, form, dense_exchange(AllReduce::ring), MomentumRule{0.5}};

        CHECK(distance(models_after(3, local_job(14, falling_rate), of_bmuf(options)), all.x) <
              1e-12);
    }
}

TEST_CASE("bmuf: without block momentum every form is averaging of parameters") {
    const Eigen::MatrixXd averaged = models_after(5, local_job(20, falling_rate), [](Worker& w) {
        return local_sgd(w, {4, dense_exchange(AllReduce::ring)});
    });
    for (const BlockForm form : forms) {
        CAPTURE(static_cast<int>(form));
        const BmufOptions options{.period = 4, .form = form};

        CHECK(distance(models_after(5, local_job(20, falling_rate), of_bmuf(options)), averaged) <
              1e-12);
    }
}

}  // namespace
}  // namespace paceline::bmuf_test
