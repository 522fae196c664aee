#include "algorithms/servers/fedopt.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/servers/fedavg.hpp"
#include "tests/algorithms/servers/server_run.hpp"

namespace paceline::fedopt_test {
namespace {

using namespace std::chrono_literals;
using doctest::Approx;

ServerRun run_of(int n, const FedoptOptions& options, Job job) {
    return {n, server_link, std::move(job), options, &fedopt, &fedopt_server};
}

constexpr RoundOptions one_plain_step{.local_steps = 1, .momentum = 0};

TEST_CASE("FedOpt: the plain rule without momentum at rate 1 is FedAvg") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 8);
        const RoundOptions rounds{0.1 * static_cast<double>(1 + rng() % 10),
                                  static_cast<std::int64_t>(1 + rng() % 5), 0.7};
        auto stepped = run_of(n, {rounds, ServerRule::momentum, 1, 0}, server_job(17));
        ServerRun averaged(n, server_link, server_job(17), rounds, &fedavg, &fedavg_server);

        CHECK((stepped.to_the_end().values() - averaged.to_the_end().values()).norm() < 1e-12);
        CHECK(stepped.elapsed() == averaged.elapsed());
        CHECK(stepped.sent_by_all() == averaged.sent_by_all());
    }
}

// One entry of the server's optimizer, written from the equations.
struct Entry {
    double x = 1;
    double m = 0;
    double v;

    explicit Entry(double tau) : v(tau * tau) {}
    void step(const FedoptOptions& o, double d) {
        if (o.rule == ServerRule::momentum) {
            m = o.beta1 * m + d;
            x += o.server_learning_rate * m;
            return;
        }
        m = o.beta1 * m + (1 - o.beta1) * d;
        if (o.rule == ServerRule::adam) v = o.beta2 * v + (1 - o.beta2) * d * d;
        if (o.rule == ServerRule::adagrad) v += d * d;
        if (o.rule == ServerRule::yogi && v > d * d)
            v -= (1 - o.beta2) * d * d;
        else if (o.rule == ServerRule::yogi && v < d * d)
            v += (1 - o.beta2) * d * d;
        x += o.server_learning_rate * m / (std::sqrt(v) + o.tau);
    }
};

TEST_CASE("FedOpt: with one plain step of all clients it is the server's rule on mean gradients") {
    for (const ServerRule rule :
         {ServerRule::adam, ServerRule::yogi, ServerRule::adagrad, ServerRule::momentum})
        for (const int n : {1, 4}) {
            CAPTURE(static_cast<int>(rule));
            CAPTURE(n);
            const FedoptOptions options{one_plain_step, rule, 0.05, 0.8, 0.9, 1e-2};
            auto run = run_of(n, options, server_job(30));

            Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
            std::vector<Entry> entries(26, Entry(options.tau));
            for (std::int64_t k = 0; k < 30; ++k) {
                Eigen::VectorXd mean = Eigen::VectorXd::Zero(26);
                for (int i = 0; i < n; ++i) mean += pull_to_own_target(x, i, k) / n;
                for (Eigen::Index e = 0; e < 26; ++e) {
                    entries[static_cast<std::size_t>(e)].step(options, -server_rate(k) * mean(e));
                    x(e) = entries[static_cast<std::size_t>(e)].x;
                }
            }
            CHECK((run.to_the_end().values() - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

Job steady_job(std::int64_t steps) {
    Job job = training_job(make_layout({{"x", {1}}}), steps);
    job.learning_rate = [](std::int64_t) { return 0.1; };
    job.objective = [](const Vector& x, int, std::int64_t) {
        return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), -3.0));
    };
    return job;
}

// A round of five steps changes the model by D = 5 * 0.1 * 3.
TEST_CASE("FedOpt: Adam that remembers nothing moves by eta D / (|D| + tau)") {
    auto run = run_of(3, {{.local_steps = 5, .momentum = 0}, ServerRule::adam, 0.2, 0, 0, 0.5},
                      steady_job(5 * 7));

    CHECK(run.to_the_end().values()(0) == Approx(1 + 7 * 0.2 * 1.5 / (1.5 + 0.5)).epsilon(1e-12));
}

TEST_CASE("FedOpt: Adagrad's steps under a steady change fall as the root of the rounds") {
    auto run = run_of(3, {{.local_steps = 5, .momentum = 0}, ServerRule::adagrad, 0.2, 0, 0, 0.5},
                      steady_job(5 * 7));

    double x = 1;
    for (int r = 1; r <= 7; ++r) x += 0.2 * 1.5 / (std::sqrt(0.25 + r * 2.25) + 0.5);
    CHECK(run.to_the_end().values()(0) == Approx(x).epsilon(1e-12));
}

TEST_CASE("FedOpt: after a large change Yogi's variance falls by steps, and Adam's by shares") {
    const LayoutPtr layout = make_layout({{"x", {1}}});
    const auto variance_after = [&](ServerRule rule, int steps) {
        const FedoptOptions options{.rule = rule, .beta2 = 0.9};
        Vector x(layout, Eigen::VectorXd::Zero(1));
        Vector m = x;
        Vector v(layout, Eigen::VectorXd::Constant(1, 100.0));
        const Vector change(layout, Eigen::VectorXd::Constant(1, 2.0));
        for (int k = 0; k < steps; ++k) fedopt_step(options, change, m, v, x);
        return v.values()(0);
    };

    CHECK(variance_after(ServerRule::yogi, 10) == Approx(100 - 10 * 0.1 * 4).epsilon(1e-12));
    CHECK(variance_after(ServerRule::adam, 10) ==
          Approx(4 + 96 * std::pow(0.9, 10)).epsilon(1e-12));
}

TEST_CASE("FedOpt: a compressor that loses nothing leaves the model as it is") {
    FedoptOptions options{{0.5, 3, 0.7}, ServerRule::yogi};
    auto exact = run_of(6, options, server_job(20));
    options.rounds.compressor = make_top_k(1);
    options.rounds.error_feedback = true;
    auto encoded = run_of(6, options, server_job(20));

    CHECK((encoded.to_the_end().values() - exact.to_the_end().values()).norm() < 1e-10);
}

TEST_CASE("FedOpt: a timing-only run takes the time and the bytes of one with values") {
    const FedoptOptions options{{0.34, 2}};
    auto with_values = run_of(9, options, server_job(20));
    auto timing = run_of(9, options, timing_job(small_layout(), 20));

    CHECK(timing.to_the_end().elapsed() == with_values.to_the_end().elapsed());
    CHECK(timing.sent_by_all() == with_values.sent_by_all());
}

TEST_CASE("FedOpt, property: a run can be dropped or destroyed at any time") {
    check_drops(25ms, [](std::mt19937_64& rng) {
        const FedoptOptions options{{0.5, static_cast<std::int64_t>(1 + rng() % 4)}};
        return run_of(static_cast<int>(1 + rng() % 6), options, server_job(20));
    });
}

// fedadam.py @18638bc, fedyogi.py @05c252a and fedadagrad.py @187f825 of adap/flower.
TEST_CASE("fedopt: the defaults of each rule are those of Flower") {
    const FedoptOptions adam = usual_fedopt(ServerRule::adam);
    CHECK(adam.server_learning_rate == 0.1);
    CHECK(adam.beta1 == 0.9);
    CHECK(adam.beta2 == 0.99);
    CHECK(adam.tau == 1e-9);
    const FedoptOptions yogi = usual_fedopt(ServerRule::yogi);
    CHECK(yogi.server_learning_rate == 0.01);
    CHECK(yogi.tau == 1e-3);
    const FedoptOptions adagrad = usual_fedopt(ServerRule::adagrad);
    CHECK(adagrad.beta1 == 0);
    CHECK(adagrad.tau == 1e-9);
    CHECK(usual_fedopt(ServerRule::momentum).server_learning_rate == 1);
}

}  // namespace
}  // namespace paceline::fedopt_test
