#include "algorithms/local/diloco.hpp"

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_adam.hpp"
#include "algorithms/local/bmuf.hpp"
#include "algorithms/local/local_adam.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/local/slowmo.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::diloco_test {
namespace {

LocalAlgorithm of_diloco(const DilocoOptions& options) {
    return [=](Worker& w) { return diloco(w, options); };
}

DilocoOptions averaging(std::int64_t period) {
    DilocoOptions options;
    options.period = period;
    options.outer = OuterNesterov{1, 0};
    return options;
}

TEST_CASE("diloco, property: the outer step is BMUF's with Nesterov block momentum") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto drawn = [&] {
            std::normal_distribution<double> normal;
            return Eigen::VectorXd(
                Eigen::VectorXd::NullaryExpr(26, [&](auto) { return normal(random); }));
        };
        std::uniform_real_distribution<double> share(0, 0.99);
        const OuterNesterov rule{0.05 + share(random), share(random)};
        const BmufOptions block{.block_momentum = rule.momentum,
                                .block_learning_rate = rule.rate,
                                .form = BlockForm::nesterov};
        const LayoutPtr layout = small_layout();
        Vector anchor(layout, drawn());
        Vector u = Vector::zero_like(anchor);
        Vector none(layout);
        Vector y = anchor;
        Vector w = anchor;
        Vector d = u;
        for (int step = 0; step < 20; ++step) {
            const Vector moved(layout, drawn());
            outer_step(rule, step, -1.0 * moved, anchor, u, none);
            block_step(block, y + moved, y, w, d);

            REQUIRE((anchor.values() - y.values()).norm() < 1e-10 * (1 + y.values().norm()));
        }
    }
}

TEST_CASE("diloco: without outer momentum and at rate 1 it is local Adam with averages") {
    for (const int n : {1, 3, 8})
        for (const std::int64_t period : {1, 4}) {
            CAPTURE(n);
            CAPTURE(period);
            SlowmoOptions slow;
            slow.slow.beta = 0;
            slow.period = period;
            slow.buffers = Buffers::maintain;
            slow.base.base = Base::local_adam;
            slow.base.rule.momentum = 0.9;

            const Eigen::MatrixXd models =
                models_after(n, local_job(24, falling_rate), of_diloco(averaging(period)));

            CHECK(distance(models, models_after(n, local_job(24, falling_rate), [=](Worker& w) {
                               return slowmo(w, slow);
                           })) < 1e-10);
        }
}

Task<> dense_adam_on_model(Worker& self, DenseAdamOptions options) {
    co_await dense_adam(self, options);
    self.model() = self.replicated_model();
}

TEST_CASE("diloco: one worker that averages every step is sequential AdamW") {
    DilocoOptions options = averaging(1);
    DenseAdamOptions adam;
    adam.rule.weight_decay = 0.03;
    options.inner = adam.rule;
    adam.exchange = dense_exchange(AllReduce::ring);

    const Eigen::MatrixXd models = models_after(1, local_job(24, falling_rate), of_diloco(options));

    CHECK(distance(models, models_after(1, local_job(24, falling_rate), [=](Worker& w) {
                       return dense_adam_on_model(w, adam);
                   })) < 1e-12);
}

// Under a constant gradient Adam moves every entry by gamma in each step, and Nesterov's momentum
// multiplies a steady gradient by 1 / (1 - mu).
TEST_CASE("diloco: a steady gradient moves a block by eta H gamma / (1 - mu)") {
    const auto y_after = [](std::int64_t blocks) {
        Job job = local_job(5 * blocks, constant_rate);
        job.objective = [](const Vector& x, int, std::int64_t) {
            return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), -3.0));
        };
        DilocoOptions options;
        options.period = 5;
        options.outer = OuterNesterov{.momentum = 0.5};
        options.inner = AdamRule{.epsilon = 1e-12};
        return models_after(4, job, of_diloco(options))(0, 0);
    };

    CHECK(y_after(61) - y_after(60) == doctest::Approx(0.7 * 5 * 0.1 / 0.5).epsilon(1e-9));
}

// The loop of MuLoCo's released code, with several workers: its outer momentum holds steps, not
// gradients.
TEST_CASE("diloco: with Muon inside it is MuLoCo, worker by worker") {
    MuonRule muon;
    muon.form = MuonForm::dion;
    muon.nesterov = false;
    muon.adam.weight_decay = 0.01;
    muon.leave_out.emplace();
    DilocoOptions options{.period = 3, .outer = OuterNesterov{0.7, 0.6}};
    options.inner = muon;
    for (const int n : {1, 3}) {
        CAPTURE(n);
        const LayoutPtr layout = small_layout();
        const Vector zero(layout, Eigen::VectorXd::Zero(26));
        Vector reference(layout, Eigen::VectorXd::Ones(26));
        Vector u = zero;
        std::vector<InnerState> states(static_cast<std::size_t>(n), InnerState(zero));
        std::vector<Vector> x(static_cast<std::size_t>(n), reference);
        for (std::int64_t k = 0; k < 12; ++k) {
            for (int i = 0; i < n; ++i) {
                InnerState& state = states[static_cast<std::size_t>(i)];
                Vector& mine = x[static_cast<std::size_t>(i)];
                const Vector g(layout, pull_to_own_target(mine.values(), i, k));
                muon_step(muon, falling_rate(k), k + 1, g, state.m, state.v, mine);
            }
            if (k % 3 != 2) continue;
            Eigen::VectorXd delta = Eigen::VectorXd::Zero(26);
            for (const Vector& mine : x) delta += (reference.values() - mine.values()) / n;
            u.writable() = 0.6 * u.values() + 0.7 * delta;
            reference.writable() = reference.values() - 0.6 * u.values() - 0.7 * delta;
            for (Vector& mine : x) mine = reference;
        }
        const Eigen::MatrixXd models =
            models_after(n, local_job(12, falling_rate), of_diloco(options));
        for (int i = 0; i < n; ++i)
            CHECK((models.col(i) - reference.values()).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("diloco: with the mean of models outside it is local Adam, and with SGD at rate 1") {
    DilocoOptions options{.period = 4, .outer = OuterAverage{}};
    LocalSgdOptions adam = local_adam();
    adam.period = 4;
    const Eigen::MatrixXd expected =
        models_after(3, local_job(20, falling_rate), [=](Worker& w) { return local_sgd(w, adam); });

    CHECK(distance(models_after(3, local_job(20, falling_rate), of_diloco(options)), expected) <
          1e-12);
    options.outer = OuterSgd{1, 0};
    CHECK(distance(models_after(3, local_job(20, falling_rate), of_diloco(options)), expected) <
          1e-12);
}

TEST_CASE("diloco: with momentum SGD inside and the mean outside it is local SGD") {
    const MomentumRule rule{.momentum = 0.8, .nesterov = true, .weight_decay = 0.02};
    DilocoOptions options{.period = 3, .outer = OuterAverage{}};
    options.inner = rule;
    const LocalSgdOptions sgd{3, {}, rule};

    CHECK(distance(models_after(4, local_job(21, falling_rate), of_diloco(options)),
                   models_after(4, local_job(21, falling_rate),
                                [=](Worker& w) { return local_sgd(w, sgd); })) < 1e-12);
}

TEST_CASE("outer steps: momentum SGD and Adam take the steps of their formulas") {
    const LayoutPtr layout = small_layout();
    const auto all = [&](double v) { return Vector(layout, Eigen::VectorXd::Constant(26, v)); };
    Vector y = all(1), m = all(0), v = all(0);
    double x = 1, u = 0;
    for (const double d : {0.5, -0.25, 1.0}) {
        outer_step(OuterSgd{0.3, 0.6}, 0, all(d), y, m, v);
        u = 0.6 * u + d;
        x -= 0.3 * u;
        CHECK(y.values()(7) == doctest::Approx(x).epsilon(1e-14));
    }
    y = all(1);
    m = all(0);
    double mean = 0, square = 0;
    x = 1;
    for (int k = 0; k < 4; ++k) {
        const double d = 0.3 * k - 0.4;
        outer_step(OuterAdam{0.2, {.beta1 = 0.8, .beta2 = 0.9, .epsilon = 0.1}}, k, all(d), y, m,
                   v);
        mean = 0.8 * mean + 0.2 * d;
        square = 0.9 * square + 0.1 * d * d;
        x -= 0.2 * mean / (1 - std::pow(0.8, k + 1)) /
             (std::sqrt(square / (1 - std::pow(0.9, k + 1))) + 0.1);
        CHECK(y.values()(7) == doctest::Approx(x).epsilon(1e-12));
    }
}

}  // namespace
}  // namespace paceline::diloco_test
