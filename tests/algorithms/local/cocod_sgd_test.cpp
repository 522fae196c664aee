#include "algorithms/local/cocod_sgd.hpp"

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::cocod_sgd_test {
namespace {

LocalAlgorithm of_cocod(std::int64_t period, MomentumRule rule) {
    return [=](Worker& w) { return cocod_sgd(w, {period, dense_exchange(AllReduce::ring), rule}); };
}

TEST_CASE("CoCoD: a block adds what a worker did to the mean of where all began") {
    const MomentumRule rule{0.8, true, 0.01};
    for (const int n : {1, 3, 8})
        for (const std::int64_t period : {1, 2, 5}) {
            CAPTURE(n);
            CAPTURE(period);
            Columns all(n, rule);
            Eigen::MatrixXd start = all.x;
            for (std::int64_t k = 0; k < 17; ++k) {
                if (k % period == 0) start = all.x;
                all.step(k, falling_rate(k));
                if (k % period == period - 1)
                    all.x = (all.x - start).colwise() + start.rowwise().mean();
            }

            CHECK(distance(models_after(n, local_job(17, falling_rate), of_cocod(period, rule)),
                           all.x) < 1e-12);
        }
}

// If the gradient does not depend on x, neither do the workers' local updates.
TEST_CASE("CoCoD: the mean of the models moves by the mean of what workers did") {
    Job job = local_job(12, constant_rate);
    job.objective = [](const Vector& x, int rank, std::int64_t k) {
        return Eigen::VectorXd(
            Eigen::VectorXd::Constant(x.entries(), rank + 0.5 * static_cast<double>(k)));
    };

    const Eigen::MatrixXd models = models_after(4, job, of_cocod(3, {}));

    const double walked = 12 * 1.5 + 0.5 * (11 * 12 / 2);  // sum over k of the mean gradient
    CHECK(std::abs(models.mean() - (1 - 0.1 * walked)) < 1e-12);
    CHECK(models(0, 3) != doctest::Approx(models(0, 0)));
}

}  // namespace
}  // namespace paceline::cocod_sgd_test
