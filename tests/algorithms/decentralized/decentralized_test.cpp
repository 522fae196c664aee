// Decentralized algorithms written over Worker reduce to simpler ones where theory says so (Yuan et
// al., "DecentLaM", ICCV 2021, and algebra).
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/runtime/worker.hpp"
#include "tests/algorithms/runtime/sample_algorithms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"

namespace paceline::decentralized_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};
constexpr std::int64_t steps = 40;

Job decentralized_job(Mixing mixing) {
    Job job = training_job(small_layout(), steps);
    job.mixing = std::make_shared<const Mixing>(std::move(mixing));
    job.learning_rate = [](std::int64_t k) { return 0.2 / (1.0 + 0.05 * static_cast<double>(k)); };
    return job;
}

double gamma_at(std::int64_t k) {
    return 0.2 / (1.0 + 0.05 * static_cast<double>(k));
}

Eigen::VectorXd mean_gradient(const Eigen::VectorXd& x, int nodes, std::int64_t k) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(x.size());
    for (int i = 0; i < nodes; ++i) sum += pull_to_own_target(x, i, k);
    return sum / nodes;
}

// Row i is the gradient of worker i at row i of x.
Eigen::MatrixXd gradients(const Eigen::MatrixXd& x, std::int64_t k) {
    Eigen::MatrixXd g(x.rows(), x.cols());
    for (int i = 0; i < static_cast<int>(x.rows()); ++i)
        g.row(i) = pull_to_own_target(x.row(i).transpose(), i, k).transpose();
    return g;
}

double distance(TrainingRun& run, int rank, const Eigen::VectorXd& expected) {
    return (run.model_of(rank) - expected).cwiseAbs().maxCoeff();
}

TEST_CASE("decentralized SGD: on a complete graph it is gradient descent on the mean") {
    TrainingRun run(6, link, decentralized_job(make_complete_mixing(6)));
    run.spawn_all([](Worker& self) { return dsgd(self); });

    run.simulation.run();

    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < steps; ++k) x -= gamma_at(k) * mean_gradient(x, 6, k);
    for (int i = 0; i < 6; ++i) CHECK(distance(run, i, x) < 1e-12);
}

TEST_CASE("decentralized SGD: alone it is SGD") {
    TrainingRun run(1, link, decentralized_job(make_ring_mixing(1)));
    run.spawn_all([](Worker& self) { return dsgd(self); });

    run.simulation.run();

    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < steps; ++k) x -= gamma_at(k) * pull_to_own_target(x, 0, k);
    CHECK(distance(run, 0, x) < 1e-12);
    CHECK(run.elapsed() == steps * 1ms);
}

TEST_CASE("decentralized SGD: on a ring the mean of the models descends as on a complete graph") {
    TrainingRun run(8, link, decentralized_job(make_ring_mixing(8)));
    run.spawn_all([](Worker& self) { return dsgd(self); });

    run.simulation.run();

    // Gradients of these quadratics are linear, and mixing preserves the mean.
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < steps; ++k) x -= gamma_at(k) * mean_gradient(x, 8, k);
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(26);
    for (int i = 0; i < 8; ++i) mean += run.model_of(i) / 8;
    CHECK((mean - x).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((run.model_of(0) - run.model_of(4)).norm() > 1e-3);
}

TEST_CASE("decentlam: without momentum it is decentralized SGD") {
    TrainingRun lam(5, link, decentralized_job(make_ring_mixing(5)));
    TrainingRun sgd(5, link, decentralized_job(make_ring_mixing(5)));
    lam.spawn_all([](Worker& self) { return decentlam(self, {0}); });
    sgd.spawn_all([](Worker& self) { return dsgd(self); });

    lam.simulation.run();
    sgd.simulation.run();

    for (int i = 0; i < 5; ++i) CHECK(distance(lam, i, sgd.model_of(i)) < 1e-12);
    CHECK(lam.elapsed() == sgd.elapsed());
}

TEST_CASE("decentlam: on a complete graph it is momentum SGD on the mean") {
    TrainingRun run(6, link, decentralized_job(make_complete_mixing(6)));
    run.spawn_all([](Worker& self) { return decentlam(self, {0.9}); });

    run.simulation.run();

    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    for (std::int64_t k = 0; k < steps; ++k) {
        m = 0.9 * m + mean_gradient(x, 6, k);
        x -= gamma_at(k) * m;
    }
    for (int i = 0; i < 6; ++i) CHECK(distance(run, i, x) < 1e-12);
}

TEST_CASE("decentlam: on a ring it is the two-step form, W(X - gamma G) + beta (X - X before)") {
    Job job = decentralized_job(make_ring_mixing(8));
    job.learning_rate = [](std::int64_t) { return 0.1; };
    TrainingRun run(8, link, std::move(job));
    run.spawn_all([](Worker& self) { return decentlam(self, {0.9}); });

    run.simulation.run();

    const Eigen::MatrixXd w = matrix(make_ring_mixing(8));
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(8, 26);
    Eigen::MatrixXd before = x;
    for (std::int64_t k = 0; k < steps; ++k) {
        const Eigen::MatrixXd next = w * (x - 0.1 * gradients(x, k)) + 0.9 * (x - before);
        before = x;
        x = next;
    }
    for (int i = 0; i < 8; ++i) CHECK(distance(run, i, x.row(i).transpose()) < 1e-11);
}

}  // namespace
}  // namespace paceline::decentralized_test
