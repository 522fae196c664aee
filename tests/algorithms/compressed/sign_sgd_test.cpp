#include "algorithms/compressed/sign_sgd.hpp"

#include <chrono>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compressed/ef_sign_sgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/replicated_run.hpp"

namespace paceline::sign_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

SignSgdOptions voting(double momentum, AllGather how = AllGather::ring) {
    Compressor votes = make_sign();
    votes.majority = true;
    return {momentum, compressed_exchange(votes, false, {}, {}, how)};
}
EfSignSgdOptions ef_signs() {
    return {compressed_exchange(make_scaled_sign(), true)};
}

// +1 or -1: the vote of n momenta, counted one by one.
double vote(const std::vector<Eigen::VectorXd>& m, Eigen::Index j) {
    int balance = 0;
    for (const Eigen::VectorXd& mine : m) balance += mine(j) >= 0 ? 1 : -1;
    return balance > 0 ? 1 : (balance < 0 ? -1 : 0);
}

TEST_CASE("signSGD: it is the majority vote of the momenta's signs, counted by hand") {
    for (const int n : {1, 2, 3, 4, 5, 8})
        for (const double beta : {0.0, 0.9}) {
            CAPTURE(n);
            CAPTURE(beta);
            Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
            std::vector<Eigen::VectorXd> m(static_cast<std::size_t>(n), 0 * x);
            for (std::int64_t k = 0; k < 30; ++k) {
                for (int i = 0; i < n; ++i) {
                    Eigen::VectorXd& mine = m[static_cast<std::size_t>(i)];
                    mine = beta * mine + (1 - beta) * pull_to_own_target(x, i, k);
                }
                for (Eigen::Index j = 0; j < 26; ++j) x(j) -= rate_of_schedule(k) * vote(m, j);
            }

            const Eigen::VectorXd found =
                trained(n, &sign_sgd, voting(beta), job_with_schedule(small_layout(), 30));

            CHECK((found - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

TEST_CASE("signSGD: a tie of two workers moves nothing") {
    Job job = training_job(small_layout(), 5);
    job.objective = [](const Vector& x, int rank, std::int64_t) {
        return Eigen::VectorXd::Constant(x.entries(), rank == 0 ? 3.0 : -0.1).eval();
    };

    CHECK(trained(2, &sign_sgd, voting(0.9), std::move(job)) == Eigen::VectorXd::Ones(26));
}

TEST_CASE("EF-signSGD: it agrees with plain vectors, with errors in units of steps") {
    for (const int n : {1, 2, 3, 5}) {
        CAPTURE(n);
        const LayoutPtr layout = small_layout();
        Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
        std::vector<Eigen::VectorXd> e(static_cast<std::size_t>(n), 0 * x);
        for (std::int64_t k = 0; k < 30; ++k) {
            Eigen::VectorXd mean = 0 * x;
            for (int i = 0; i < n; ++i) {
                Eigen::VectorXd& rest = e[static_cast<std::size_t>(i)];
                const Eigen::VectorXd p = rate_of_schedule(k) * pull_to_own_target(x, i, k) + rest;
                const Eigen::VectorXd sent = scaled_signs_of_tensors(*layout, p);
                rest = p - sent;
                mean += sent / n;
            }
            x -= mean;
        }

        const Eigen::VectorXd found =
            trained(n, &ef_sign_sgd, ef_signs(), job_with_schedule(layout, 30));

        CHECK((found - x).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("EF-signSGD: alone it is not SGD") {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < 10; ++k) x -= rate_of_schedule(k) * pull_to_own_target(x, 0, k);

    const Eigen::VectorXd found =
        trained(1, &ef_sign_sgd, ef_signs(), job_with_schedule(small_layout(), 10));

    CHECK((found - x).cwiseAbs().maxCoeff() > 1e-3);
}

TEST_CASE("EF-signSGD: on tensors of one entry it loses nothing, and is SGD on the mean") {
    std::vector<Tensor> tensors;
    for (int j = 0; j < 6; ++j) tensors.push_back({"x", {1}});
    const LayoutPtr layout = make_layout(tensors);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(6);
    for (std::int64_t k = 0; k < 20; ++k) {
        Eigen::VectorXd mean = 0 * x;
        for (int i = 0; i < 3; ++i) mean += pull_to_own_target(x, i, k) / 3;
        x -= rate_of_schedule(k) * mean;
    }

    const Eigen::VectorXd found =
        trained(3, &ef_sign_sgd, ef_signs(), job_with_schedule(layout, 20));

    CHECK((found - x).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("signs: a bit per entry is sent, and a scale of 32 per tensor where there is one") {
    const auto sent = [](auto algorithm, auto options) {
        TrainingRun run(5, replicated_link, timing_job(small_layout(), 3));
        run.spawn_all([=](Worker& self) { return algorithm(self, options); });
        run.simulation.run();
        CHECK(run.network.traffic(2).sent == run.network.traffic(2).received);
        return run.network.traffic(2).sent.count;
    };

    CHECK(sent(&sign_sgd, voting(0.9)) == 3 * 4 * 4);       // 26 bits
    CHECK(sent(&ef_sign_sgd, ef_signs()) == 3 * 4 * (20));  // 26 + 4 x 32 bits
    CHECK(sent(&sign_sgd, voting(0.9, AllGather::bruck)) == 3 * 4 * 4);
}

}  // namespace
}  // namespace paceline::sign_sgd_test
