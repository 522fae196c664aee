#include "algorithms/adaptive/one_bit_sgd.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "analysis/forms/adaptive_step_models.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::one_bit_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

auto one_bit(OneBitSgdOptions options) {
    return [=](Worker& w) { return one_bit_sgd(w, options); };
}

// Two levels per column, computed by loops. The columns of small_layout() are 4 x 3, 1 x 4, 2 x 4,
// 1 x 2.
Eigen::VectorXd levels(Eigen::VectorXd a, Eigen::VectorXd& residual) {
    a += residual;
    Eigen::VectorXd said(26);
    Eigen::Index begin = 0;
    for (const int rows : {3, 3, 3, 3, 4, 4, 4, 2}) {
        double above = 0;
        double below = 0;
        int count = 0;
        for (int r = 0; r < rows; ++r) {
            const double value = a(begin + r);
            if (value >= 0) ++count;
            (value >= 0 ? above : below) += value;
        }
        for (int r = 0; r < rows; ++r)
            said(begin + r) = a(begin + r) >= 0 ? above / count : below / (rows - count);
        begin += rows;
    }
    residual = a - said;
    return said;
}

TEST_CASE("1-bit SGD: it follows the released rule, implemented a second time") {
    for (const int n : {1, 2, 3, 8}) {
        CAPTURE(n);
        std::vector<Eigen::VectorXd> residuals(static_cast<std::size_t>(n),
                                               Eigen::VectorXd::Zero(26));
        Eigen::VectorXd of_owners = Eigen::VectorXd::Zero(26);
        Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
        Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
        for (std::int64_t k = 0; k < 30; ++k) {
            std::vector<Eigen::VectorXd> said = own_gradients(n, x, k);
            for (std::size_t i = 0; i < said.size(); ++i) said[i] = levels(said[i], residuals[i]);
            m = 0.9 * m + levels(mean_of(said), of_owners);
            x -= adaptive_rate(k) * m;
        }

        const Eigen::VectorXd found = model_after(n, adaptive_job(30), one_bit({{0.9}}));

        CHECK((found - x).cwiseAbs().maxCoeff() < 1e-10);
    }
}

TEST_CASE("1-bit SGD: alone it still quantizes, so it is not SGD") {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < 10; ++k) x -= adaptive_rate(k) * pull_to_own_target(x, 0, k);

    CHECK((model_after(1, adaptive_job(10), one_bit({})) - x).norm() > 1e-4);
}

TEST_CASE("1-bit SGD: where every column has one row it loses nothing, and is momentum SGD") {
    const LayoutPtr layout = make_layout({{"w", {7, 1}}});
    Job job = training_job(layout, 20);
    job.learning_rate = adaptive_rate;

    Eigen::VectorXd x = Eigen::VectorXd::Ones(7);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(7);
    for (std::int64_t k = 0; k < 20; ++k) {
        m = 0.5 * m + mean_of(own_gradients(4, x, k));
        x -= adaptive_rate(k) * m;
    }
    const Eigen::VectorXd found = model_after(4, std::move(job), one_bit({{0.5}}));
    CHECK((found - x).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("1-bit SGD: a stripe weighs 4 ceil(rows / 32) + 8 bytes per column") {
    const Layout layout({{"w", {8, 33}}, {"b", {8}}});

    CHECK(stripe_bytes(layout, 0, 1) == Bytes{8 * 16 + 12});
    CHECK(stripe_bytes(layout, 0, 4) == Bytes{2 * 16});
    CHECK(stripe_bytes(layout, 3, 4) == Bytes{2 * 16 + 12});
    Bytes all;
    for (int owner = 0; owner < 3; ++owner) all += stripe_bytes(layout, owner, 3);
    CHECK(all == stripe_bytes(layout, 0, 1));
}

TEST_CASE("1-bit SGD: it sends others' stripes, then passes owners' on; n stripes each way") {
    const LayoutPtr layout = make_layout({{"w", {10, 64}}, {"b", {5}}});
    for (const int n : {1, 2, 3, 4, 10}) {
        CAPTURE(n);
        TrainingRun run(n, adaptive_link, timing_job(layout, 2));
        run.spawn_all(one_bit({}));
        run.simulation.run();

        const Bytes whole = stripe_bytes(*layout, 0, 1);
        for (int rank = 0; rank < n; ++rank) {
            const Bytes own = stripe_bytes(*layout, rank, n);
            const Bytes next = stripe_bytes(*layout, (rank + 1) % n, n);
            CHECK(run.network.traffic(rank).sent.count ==
                  2 * (2 * whole.count - own.count - next.count));
        }
    }
}

TEST_CASE("1-bit SGD: the closed form is exact where stripes are equal, and a bound elsewhere") {
    for (const int n : {1, 2, 4, 5, 8}) {
        CAPTURE(n);
        for (const std::int64_t columns : {40, 43})
            for (const AllToAll how : {AllToAll::grouped, AllToAll::rounds}) {
                CAPTURE(columns);
                const OneBitSgdOptions options{{}, {Duration{50}}, how};
                const LayoutPtr layout = make_layout({{"w", {columns, 64}}});
                TrainingRun run(n, adaptive_link, timing_job(layout, 3));
                run.spawn_all(one_bit(options));
                run.simulation.run();

                const auto in = on_star(n, idle_star(adaptive_link), step_of_tests, layout);
                const Duration model = *one_bit_sgd_step_time(options, in);
                // Where the rate of a group is no binary fraction, its end is rounded up
                const Duration most = 3 * (model + Duration{how == AllToAll::grouped ? 1 : 0});
                if (columns % n == 0) CHECK(run.elapsed() >= 3 * model);
                CHECK(run.elapsed() <= most);
                CHECK(run.elapsed() >= 3 * step_of_tests);
            }
    }
}

}  // namespace
}  // namespace paceline::one_bit_sgd_test
