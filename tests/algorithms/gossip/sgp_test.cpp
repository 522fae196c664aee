#include "algorithms/gossip/sgp.hpp"

#include <memory>
#include <random>

#include <doctest/doctest.h>

#include "algorithms/decentralized/dmsgd.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/gossip/osgp.hpp"
#include "analysis/forms/gossip_step_models.hpp"
#include "tests/algorithms/gossip/gossip_run.hpp"
#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline::sgp_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

Eigen::MatrixXd models_after(Job job, int nodes, const GossipAlgorithm& algorithm) {
    TrainingRun run(nodes, link, std::move(job));
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    Eigen::MatrixXd models(run.model_of(0).size(), nodes);
    for (int rank = 0; rank < nodes; ++rank) models.col(rank) = run.model_of(rank);
    return models;
}

// A ring of directed edges plus some more, so that nodes have different numbers of listeners.
Mixing irregular_graph(int n, unsigned seed) {
    std::mt19937_64 rng(seed);
    std::vector<std::vector<MixingWeight>> rows;
    for (int i = 0; i < n; ++i) {
        std::vector<int> from;
        for (int j = 0; j < n; ++j)
            if (j == i || j == (i + n - 1) % n || rng() % 4 == 0) from.push_back(j);
        rows.emplace_back();
        for (const int j : from) rows.back().push_back({j, 1.0 / static_cast<double>(from.size())});
    }
    return Mixing(rows);
}

// Column j holds 1 / (listeners of j + 1) for j and each of its listeners.
Eigen::MatrixXd push_matrix(const Mixing& mixing) {
    const int n = mixing.nodes();
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n, n);
    for (int j = 0; j < n; ++j) {
        const auto& to = mixing.listeners(j);
        const double share = 1.0 / static_cast<double>(to.size() + 1);
        p(j, j) = share;
        for (const int i : to) p(i, j) = share;
    }
    return p;
}

// SGP and OSGP with whole matrices: one row per node, numerators in x, weights in w.
struct ByMatrix {
    Eigen::MatrixXd p;
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(p.rows(), 26);
    Eigen::VectorXd w = Eigen::VectorXd::Ones(p.rows());
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(p.rows(), 26);

    [[nodiscard]] Eigen::MatrixXd z() const { return w.cwiseInverse().asDiagonal() * x; }
    void take_step(double gamma, std::int64_t k, const Eigen::MatrixXd& at) {
        for (int i = 0; i < x.rows(); ++i) {
            const Eigen::VectorXd g = pull_to_own_target(at.row(i).transpose(), i, k);
            m.row(i) = 0.9 * m.row(i) + g.transpose();
        }
        x -= gamma * m;
    }
    void push() {
        x = (p * x).eval();
        w = (p * w).eval();
    }
};

double rate_at(std::int64_t k) {
    return k < 20 ? 0.05 : 0.0;
}

Job irregular_job(const Mixing& mixing, std::int64_t steps) {
    Job job = training_job(small_layout(), steps);
    job.learning_rate = rate_at;
    job.mixing = std::make_shared<const Mixing>(mixing);
    return job;
}

TEST_CASE(
    "sgp: on one-peer exponential graphs it is DSGD with local momentum, adapt then combine") {
    for (const int n : {1, 2, 5, 8}) {
        CAPTURE(n);
        const auto job = [n] {
            Job j = training_job(small_layout(), 30);
            j.mixing = make_one_peer_exponential(n);
            return j;
        };

        const auto pushed = models_after(job(), n, [](Worker& w) { return sgp(w, {{0.9}}); });
        const auto mixed = models_after(job(), n, [](Worker& w) { return dmsgd(w, {0.9}); });

        CHECK((pushed - mixed).norm() < 1e-10);
    }
}

TEST_CASE("sgp, property: on irregular directed graphs it is push-sum, and its mean is unbiased") {
    for (unsigned seed = 0; seed < 8; ++seed) {
        CAPTURE(seed);
        const Mixing graph = irregular_graph(7, seed);
        ByMatrix rule{push_matrix(graph)};
        for (std::int64_t k = 0; k < 300; ++k) {
            rule.take_step(rate_at(k), k, rule.z());
            rule.push();
        }

        const auto models =
            models_after(irregular_job(graph, 300), 7, [](Worker& w) { return sgp(w, {{0.9}}); });

        CHECK((models - rule.z().transpose()).norm() < 1e-10);
        // There are no gradients from step 20 on, so all models have reached the mean of the
        // numerators.
        CHECK(spread(models) < 1e-9);
        CHECK((models.col(0) - rule.x.colwise().mean().transpose()).norm() < 1e-9);
    }
}

TEST_CASE("osgp, property: it is push-sum one step late, and draining brings all mass home") {
    for (unsigned seed = 0; seed < 8; ++seed)
        for (const int steps : {1, 2, 25}) {
            CAPTURE(seed);
            CAPTURE(steps);
            const Mixing graph = irregular_graph(6, seed);
            ByMatrix rule{push_matrix(graph)};
            Eigen::MatrixXd known = rule.z();
            for (std::int64_t k = 0; k < steps; ++k) {
                if (k > 0) rule.push();  // what step k-1 sent arrived during gradient k
                rule.take_step(rate_at(k), k, known);
                known = rule.z();
            }
            rule.push();

            const auto models = models_after(irregular_job(graph, steps), 6,
                                             [](Worker& w) { return osgp(w, {{0.9}}); });

            CHECK((models - rule.z().transpose()).norm() < 1e-10);
            CHECK(std::abs(rule.w.sum() - 6) < 1e-12);
        }
}

TEST_CASE("sgp: alone both are SGD with momentum, Nesterov, decay and clipping") {
    const MomentumRule rule{0.9, true, 0.01, 2.0};
    const auto dense = [rule](Worker& self) -> Task<> {
        return [](Worker& w, MomentumRule r) -> Task<> {
            co_await synchronous_sgd(w, SynchronousSgdOptions{dense_exchange(AllReduce::ring), r});
            w.model() = w.replicated_model();
        }(self, rule);
    };
    const auto job = [] {
        Job j = training_job(small_layout(), 40);
        j.mixing = make_one_peer_exponential(1);
        return j;
    };
    const auto expected = models_after(job(), 1, dense);

    const auto one = models_after(job(), 1, [rule](Worker& w) { return sgp(w, {rule}); });
    const auto other = models_after(job(), 1, [rule](Worker& w) { return osgp(w, {rule}); });

    CHECK((one - expected).norm() < 1e-10);
    CHECK((other - expected).norm() < 1e-10);
}

TEST_CASE("sgp: steps take their closed forms, and messages weigh one number more than the model") {
    const LayoutPtr layout = small_layout();
    for (const int n : {1, 2, 6, 8, 16})
        for (const Duration step : {Duration{2us}, Duration{1ms}}) {
            CAPTURE(n);
            const auto job = [&] {
                Job j = timing_job(layout, 5);
                j.timing = make_step_timing(step, *layout);
                j.update = 3us;
                j.mixing = make_one_peer_exponential(n);
                return j;
            };
            StepModelInput in = on_star(n, idle_star(link), step, layout);
            in.update = 3us;
            const MixingSchedule schedule = make_one_peer_exponential(n);
            Duration sgp_time{};
            Duration osgp_time{};
            for (std::int64_t k = 0; k < 5; ++k) {
                sgp_time += *sgp_step_time(*schedule.at(k), in);
                osgp_time += *osgp_step_time(*schedule.at(k), k, in);
            }

            TrainingRun pushed(n, link, job());
            pushed.spawn_all([](Worker& w) { return sgp(w, {}); });
            pushed.simulation.run();
            TrainingRun late(n, link, job());
            late.spawn_all([](Worker& w) { return osgp(w, {}); });
            late.simulation.run();

            CHECK(pushed.elapsed() == sgp_time);
            CHECK(late.elapsed() == osgp_time);
            const Bytes sent = n == 1 ? 0_B : 5 * (104_B + 4_B);
            CHECK(pushed.network.traffic(0).sent == sent);
            CHECK(late.network.traffic(0).sent == sent);
        }
}

}  // namespace
}  // namespace paceline::sgp_test
