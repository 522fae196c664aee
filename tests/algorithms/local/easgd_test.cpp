#include "algorithms/local/easgd.hpp"

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::easgd_test {
namespace {

LocalAlgorithm of_easgd(std::int64_t period, double alpha, MomentumRule rule = {}) {
    return
        [=](Worker& w) { return easgd(w, {period, alpha, dense_exchange(AllReduce::ring), rule}); };
}

TEST_CASE("EASGD: workers and center pull one another by their old values") {
    const MomentumRule rule{0.8, true, 0.01};  // EAMSGD
    for (const int n : {1, 3, 8})
        for (const std::int64_t period : {1, 4}) {
            CAPTURE(n);
            CAPTURE(period);
            const double alpha = 0.9 / n;
            Columns all(n, rule);
            Eigen::VectorXd z = all.x.col(0);
            for (std::int64_t k = 0; k < 18; ++k) {
                all.step(k, falling_rate(k));
                if (k % period != period - 1) continue;
                const Eigen::VectorXd center = (1 - n * alpha) * z + alpha * all.x.rowwise().sum();
                all.x = ((1 - alpha) * all.x).colwise() + alpha * z;
                z = center;
            }

            CHECK(distance(
                      models_after(n, local_job(18, falling_rate), of_easgd(period, alpha, rule)),
                      all.x) < 1e-12);
        }
}

// The released code uses one all-reduce of a sum: z <- sum of (b z + alpha/(1-alpha) x_i pulled),
// with b = 1/n - alpha - alpha^2/(1-alpha).
TEST_CASE("EASGD: it is the released code's all-reduce of pulled models") {
    const int n = 4;
    const double alpha = 0.2;
    const double b = 1.0 / n - alpha - alpha * alpha / (1 - alpha);
    Columns all(n, {0.5});
    Eigen::VectorXd z = all.x.col(0);
    for (std::int64_t k = 0; k < 12; ++k) {
        all.step(k, falling_rate(k));
        if (k % 3 != 2) continue;
        all.x = ((1 - alpha) * all.x).colwise() + alpha * z;
        z = n * b * z + alpha / (1 - alpha) * all.x.rowwise().sum();
    }

    CHECK(distance(models_after(n, local_job(12, falling_rate), of_easgd(3, alpha, {0.5})), all.x) <
          1e-12);
}

TEST_CASE("EASGD: a pull keeps the sum of the center and all models") {
    for (const double alpha : {0.05, 0.125}) {
        CAPTURE(alpha);
        Job job = local_job(8, constant_rate);
        job.objective = [](const Vector& x, int rank, std::int64_t k) {
            return Eigen::VectorXd(
                Eigen::VectorXd::Constant(x.entries(), k < 2 ? rank - 3.0 : 0.0));
        };
        TrainingRun run(8, local_link, std::move(job));
        run.spawn_all(of_easgd(1, alpha));

        run.simulation.run();

        double sum = run.cluster.worker(0).replicated("center").values()(0);
        for (int i = 0; i < 8; ++i) sum += run.model_of(i)(0);
        const double moved = 2 * 0.1 * (28 - 8 * 3.0);  // two steps, summed over all ranks
        CHECK(std::abs(sum - (9 - moved)) < 1e-12);
        CHECK(run.model_of(7)(0) != doctest::Approx(run.model_of(0)(0)));
    }
}

TEST_CASE("EASGD: with alpha 0 workers are independent") {
    Columns alone(3, {0.9});
    for (std::int64_t k = 0; k < 10; ++k) alone.step(k, falling_rate(k));

    CHECK(distance(models_after(3, local_job(10, falling_rate), of_easgd(2, 0, {0.9})), alone.x) <
          1e-12);
}

TEST_CASE("EASGD: with n alpha = 1 the center is the mean of the models that pulled it") {
    Columns alone(4, {});
    for (std::int64_t k = 0; k < 3; ++k) alone.step(k, falling_rate(k));
    TrainingRun run(4, local_link, local_job(3, falling_rate));
    run.spawn_all(of_easgd(3, 0.25));

    run.simulation.run();

    CHECK(
        (run.cluster.worker(0).replicated("center").values() - alone.mean()).cwiseAbs().maxCoeff() <
        1e-12);
}

}  // namespace
}  // namespace paceline::easgd_test
