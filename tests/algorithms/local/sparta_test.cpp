#include "algorithms/local/sparta.hpp"

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

#include "algorithms/local/local_adam.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::sparta_test {
namespace {

LocalAlgorithm of_sparta(double share) {
    SpartaOptions options;
    options.share = share;
    return [=](Worker& w) { return sparta(w, options); };
}

TEST_CASE(
    "sparta: with all parameters it is local Adam with averages in every step, in every bit") {
    for (const int n : {1, 2, 5}) {
        CAPTURE(n);
        const LocalSgdOptions every_step = local_adam();

        CHECK(models_after(n, local_job(20, falling_rate), of_sparta(1)) ==
              models_after(n, local_job(20, falling_rate),
                           [=](Worker& w) { return local_sgd(w, every_step); }));
    }
}

// Worker 0 alone has a gradient, in step 0; with beta1 = 0 Adam moves no entry later.
TEST_CASE(
    "sparta: where steps agree, an entry is still apart after t steps with probability (1 - p)^t") {
    const std::int64_t steps = 8;
    const double share = 4.0 / 26;  // of the 26 entries of the small net
    const int runs = 100;
    std::int64_t apart = 0;
    for (unsigned seed = 1; seed <= runs; ++seed) {
        Job job = local_job(steps, constant_rate);
        job.seed = seed;
        job.objective = [](const Vector& x, int rank, std::int64_t k) {
            const double pull = k == 0 && rank == 0 ? 1 : 0;
            return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), pull));
        };
        SpartaOptions options;
        options.share = share;
        options.inner = AdamRule{.beta1 = 0};
        const Eigen::MatrixXd models =
            models_after(2, job, [=](Worker& w) { return sparta(w, options); });
        apart += (models.col(0).array() != models.col(1).array()).count();
    }

    const double rest = std::pow(1 - share, static_cast<double>(steps));
    const double expected = runs * 26 * rest;
    CHECK(std::abs(static_cast<double>(apart) - expected) < 5 * std::sqrt(expected * (1 - rest)));
}

TEST_CASE(
    "sparta, property: averages keep the mean of the models, and change the drawn entries alone") {
    SpartaOptions options;
    options.inner = AdamRule{.epsilon = 1};  // so that no two workers take the same step
    LocalSgdOptions alone{1000, {}, options.inner};
    for (unsigned seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        const int n = 2 + static_cast<int>(seed % 5);
        const int k = 1 + static_cast<int>(seed % 26);
        options.share = k / 26.0;
        Job job = local_job(1, constant_rate);
        job.seed = seed;
        const Eigen::MatrixXd own =
            models_after(n, job, [=](Worker& w) { return local_sgd(w, alone); });

        const Eigen::MatrixXd models =
            models_after(n, job, [=](Worker& w) { return sparta(w, options); });

        REQUIRE(distance(models.rowwise().mean(), own.rowwise().mean()) < 1e-14);
        int averaged = 0;
        for (Eigen::Index i = 0; i < 26; ++i) {
            const bool drawn = models.row(i) != own.row(i);
            averaged += drawn ? 1 : 0;
            if (drawn) REQUIRE((models.row(i).array() == models(i, 0)).all());
        }
        REQUIRE(averaged == k);
    }
}

}  // namespace
}  // namespace paceline::sparta_test
