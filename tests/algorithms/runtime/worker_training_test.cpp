// What a worker does in runs that train: mean gradients, local arithmetic, charged layouts,
// observers of steps, divergence.
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/decentralized/decentlam.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/worker.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/mixing.hpp"

namespace paceline::worker_training_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

struct Seen {
    Duration at;
    Vector value;
};

using Log = std::vector<std::vector<Seen>>;  // by rank, then by step

Duration now_of(const Worker& self) {
    return self.simulation().now().time_since_epoch();
}

// x_k, the same on all workers.
Vector point_of_step(const Worker& self, const Vector& start) {
    return (1.0 + static_cast<double>(self.step())) * start;
}

Task<> by_mean_gradient(Worker& self, AllReducePlan how, Log& log) {
    while (self.begins_step()) {
        Vector mean = co_await self.mean_gradient(point_of_step(self, self.model()), how);
        log[static_cast<std::size_t>(self.rank())].push_back({now_of(self), std::move(mean)});
    }
}

Task<> by_gradient_and_all_reduce(Worker& self, AllReducePlan how, Log& log) {
    while (self.begins_step()) {
        Vector g = co_await self.gradient(point_of_step(self, self.model()));
        Vector mean = co_await self.all_reduce(std::move(g), how);
        log[static_cast<std::size_t>(self.rank())].push_back({now_of(self), std::move(mean)});
    }
}

template <class Algorithm>
Log log_of(int nodes, Job job, const Algorithm& algorithm) {
    Log log(static_cast<std::size_t>(nodes));
    TrainingRun run(nodes, link, std::move(job));
    run.spawn_all([&](Worker& self) { return algorithm(self, log); });
    run.simulation.run();
    return log;
}

TEST_CASE("mean gradient: it has the time and the value of a gradient and its all-reduce") {
    for (const AllReduce how : {AllReduce::ring, AllReduce::recursive_doubling,
                                AllReduce::halving_doubling, AllReduce::tree})
        for (const int nodes : {1, 2, 3, 4, 5, 8}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(nodes);
            const Job job = training_job(small_layout(), 3);

            const Log at_once = log_of(
                nodes, job, [how](Worker& w, Log& log) { return by_mean_gradient(w, how, log); });
            const Log apart = log_of(nodes, job, [how](Worker& w, Log& log) {
                return by_gradient_and_all_reduce(w, how, log);
            });

            for (std::size_t i = 0; i < at_once.size(); ++i) {
                REQUIRE(at_once[i].size() == 3);
                for (std::size_t k = 0; k < 3; ++k) {
                    CHECK(at_once[i][k].at == apart[i][k].at);
                    CHECK((at_once[i][k].value.values() - apart[i][k].value.values()).norm() <
                          1e-13);
                }
            }
        }
}

TEST_CASE("mean gradient: through a parameter server, too, and on a hierarchy of machines") {
    AllReducePlan servers(AllReduce::parameter_server);
    servers.servers = 2;
    AllReducePlan hierarchy(AllReduce::hierarchical);
    hierarchy.devices = 2;
    for (const AllReducePlan& how : {servers, hierarchy}) {
        const Job job = training_job(small_layout(), 2);

        const Log at_once =
            log_of(4, job, [how](Worker& w, Log& log) { return by_mean_gradient(w, how, log); });
        const Log apart = log_of(
            4, job, [how](Worker& w, Log& log) { return by_gradient_and_all_reduce(w, how, log); });

        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 2; ++k) {
                CHECK(at_once[i][k].at == apart[i][k].at);
                CHECK((at_once[i][k].value.values() - apart[i][k].value.values()).norm() < 1e-13);
            }
    }
}

TEST_CASE("mean gradient: the job's own function is called once per step, with the step's number") {
    std::vector<std::int64_t> asked;
    Job job = training_job(small_layout(), 3);
    job.mean_objective = [&asked](const Vector& x, std::int64_t k) -> Eigen::VectorXd {
        asked.push_back(k);
        return 7 * x.values();
    };

    const Log log = log_of(
        4, job, [](Worker& w, Log& all) { return by_mean_gradient(w, AllReduce::ring, all); });

    CHECK(asked == std::vector<std::int64_t>{0, 1, 2});
    for (const std::vector<Seen>& worker : log)
        for (std::size_t k = 0; k < 3; ++k)
            CHECK(worker[k].value.values() ==
                  Eigen::VectorXd::Constant(26, 7.0 * static_cast<double>(k + 1)));
}

TEST_CASE("mean gradient: timing-only it costs the same and has no values") {
    const Log timed = log_of(4, timing_job(small_layout(), 2), [](Worker& w, Log& log) {
        return by_mean_gradient(w, AllReduce::ring, log);
    });
    const Log trained = log_of(4, training_job(small_layout(), 2), [](Worker& w, Log& log) {
        return by_mean_gradient(w, AllReduce::ring, log);
    });

    for (std::size_t i = 0; i < 4; ++i) {
        CHECK_FALSE(timed[i][1].value.has_values());
        CHECK(timed[i][1].at == trained[i][1].at);
    }
}

// --- computing with work ---

Task<> compute_and_look(Worker& self, Duration time, std::vector<int>& done) {
    auto& mine = done[static_cast<std::size_t>(self.rank())];
    co_await self.compute(time, [&mine] { ++mine; });
    CHECK(mine == 1);
    CHECK(now_of(self) == time);
}

TEST_CASE("worker: local arithmetic has run once when its simulated time is over") {
    std::vector<int> done(3);
    TrainingRun run(3, link, training_job(small_layout(), 1));
    run.spawn_all(
        [&](Worker& self) { return compute_and_look(self, 1ms * (1 + self.rank()), done); });

    run.simulation.run();

    CHECK(run.processes.finished());
    CHECK(done == std::vector<int>{1, 1, 1});
    CHECK(run.cluster.state(2).compute_time == 3ms);
}

TEST_CASE("worker: local arithmetic whose computation is dropped half-way does not run") {
    std::vector<int> done(2);
    {
        TrainingRun run(2, link, training_job(small_layout(), 1));
        run.spawn_all([&](Worker& self) { return compute_and_look(self, 1ms, done); });
        run.simulation.run(Time{500us});
    }
    CHECK(done == std::vector<int>{0, 0});
}

Task<> compute_in_vain(Worker& self) {
    co_await self.compute(1ms, [] { throw std::runtime_error("in vain"); });
}

TEST_CASE("worker: an exception of its local arithmetic is rethrown at the end of its time") {
    std::vector<int> done(2);
    TrainingRun run(2, link, training_job(small_layout(), 1));
    run.spawn(0, compute_and_look(run.cluster.worker(0), 500us, done));
    run.spawn(1, compute_in_vain(run.cluster.worker(1)));

    CHECK_THROWS_WITH_AS(run.simulation.run(), "in vain", std::runtime_error);

    CHECK(done[0] == 1);
    CHECK(run.elapsed() == 1ms);
}

// --- charged layouts ---

LayoutPtr published_net() {
    return make_layout({{"conv", {100, 30}}, {"bias", {100}}});
}

template <class Algorithm>
void check_charged(int nodes, const Job& base, const Algorithm& algorithm) {
    Job charged = base;
    charged.charged = published_net();
    Job timing = timing_job(published_net(), 4);
    timing.mixing = base.mixing;
    TrainingRun own(nodes, link, base);
    TrainingRun stand_in(nodes, link, charged);
    TrainingRun published(nodes, link, timing);
    for (TrainingRun* run : {&own, &stand_in, &published}) {
        run->spawn_all(algorithm);
        run->simulation.run();
        CHECK(run->processes.finished());
    }

    CHECK(stand_in.elapsed() == published.elapsed());
    CHECK(stand_in.sent_by_all() == published.sent_by_all());
    CHECK(stand_in.elapsed() > own.elapsed());
    for (int rank = 0; rank < nodes; ++rank)
        CHECK(stand_in.cluster.worker(rank).current_model().values() ==
              own.cluster.worker(rank).current_model().values());
}

TEST_CASE(
    "charged layout: bytes and times are those of the published net, values the worker's own") {
    Job job = training_job(small_layout(), 4);
    check_charged(4, job, [](Worker& w) {
        return synchronous_sgd(w, SynchronousSgdOptions{dense_exchange(AllReduce::ring), {0.9}});
    });
    check_charged(5, job, [](Worker& w) {
        return synchronous_sgd(
            w, SynchronousSgdOptions{dense_exchange(AllReduce::halving_doubling), {0.9}});
    });
    job.mixing = make_ring_mixing(5);
    check_charged(5, job, [](Worker& w) { return decentlam(w, {0.9}); });
}

TEST_CASE("charged layout: only the model weighs as the charged layout") {
    Job job = training_job(small_layout(), 1);
    job.charged = published_net();
    TrainingRun run(1, link, job);
    const Worker& worker = run.cluster.worker(0);

    CHECK(worker.stands_in());
    CHECK(worker.charged_layout() == job.charged);
    CHECK(worker.weigh(job.start) == Bytes{4 * 3100});
    CHECK(worker.weigh(Vector(make_layout({{"other", {26}}}))) == Bytes{4 * 26});
}

// --- divergence ---

Job job_that_diverges(int rank, std::int64_t step, double value) {
    Job job = training_job(small_layout(), 5);
    job.objective = [=](const Vector& x, int r, std::int64_t k) {
        Eigen::VectorXd g = pull_to_own_target(x.values(), r, k);
        if (r == rank && k == step) g(3) = value;
        return g;
    };
    return job;
}

Task<> gradients_alone(Worker& self) {
    while (self.begins_step()) (void)co_await self.gradient(self.model());
}

TEST_CASE("worker: a gradient that is not finite diverges, and names the worker and the step") {
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        TrainingRun run(4, link, job_that_diverges(2, 3, value));
        run.spawn_all(gradients_alone);

        CHECK_THROWS_WITH_AS(run.simulation.run(),
                             "the gradient of worker 2 in step 3 is not finite", Diverged);
        CHECK(run.elapsed() == 4ms);
    }
}

TEST_CASE("mean gradient: one worker's infinite gradient diverges") {
    TrainingRun run(4, link, job_that_diverges(1, 2, std::numeric_limits<double>::infinity()));
    run.spawn_all([](Worker& w) { return synchronous_sgd(w, SynchronousSgdOptions{}); });

    CHECK_THROWS_AS(run.simulation.run(), Diverged);
}

// --- observers of steps ---

struct Call {
    int rank;
    std::int64_t k;
    Duration at;
    bool operator==(const Call&) const = default;
};

TEST_CASE("worker: after_steps gets every number of steps once, in order, including the last") {
    std::vector<Call> calls;
    Simulation* clock = nullptr;
    Job job = training_job(small_layout(), 3);
    job.mixing = make_ring_mixing(3);
    job.after_steps = [&](int rank, std::int64_t k) {
        calls.push_back({rank, k, clock->now().time_since_epoch()});
    };
    TrainingRun run(3, link, job);
    clock = &run.simulation;
    run.spawn_all([](Worker& w) { return decentlam(w, {0.9}); });

    run.simulation.run();

    for (int rank = 0; rank < 3; ++rank) {
        std::vector<std::int64_t> own;
        for (const Call& call : calls)
            if (call.rank == rank) own.push_back(call.k);
        CHECK(own == std::vector<std::int64_t>{0, 1, 2, 3});
    }
    CHECK(calls.size() == 12);
    CHECK(calls.front().at == Duration::zero());
    CHECK(calls.back().at == run.elapsed());
}

TEST_CASE("worker: after_steps sees the model of exactly that many steps") {
    std::vector<double> seen;
    Cluster* cluster = nullptr;
    Job job = training_job(make_layout({{"a", {1}}}), 3);
    job.learning_rate = [](std::int64_t) { return 1.0; };
    job.objective = [](const Vector&, int, std::int64_t) {
        return Eigen::VectorXd::Ones(1).eval();
    };
    job.after_steps = [&](int rank, std::int64_t) {
        if (rank == 0) seen.push_back(cluster->worker(rank).current_model().values()(0));
    };
    TrainingRun run(2, link, job);
    cluster = &run.cluster;
    run.spawn_all([](Worker& w) { return synchronous_sgd(w, SynchronousSgdOptions{}); });

    run.simulation.run();

    CHECK(seen == std::vector<double>{1, 0, -1, -2});
}

Task<> record_rates(Worker& self, std::vector<double>& rates) {
    while (self.begins_step()) {
        rates.push_back(self.learning_rate());
        co_await self.compute(self.rank() * step_of_tests);
        const Vector g = co_await self.gradient(self.model());
    }
}

TEST_CASE("worker: where all gradients are counted, the schedule goes by those begun per worker") {
    for (const std::int64_t gradients : {1, 2, 25, 90}) {
        Job job = training_job(make_layout({{"a", {1}}}), 1000);
        job.gradients = gradients;
        job.learning_rate = [](std::int64_t k) { return static_cast<double>(k); };
        TrainingRun run(3, link, job);
        std::vector<double> rates;
        run.spawn_all([&](Worker& w) { return record_rates(w, rates); });

        run.simulation.run();

        REQUIRE(rates.size() == static_cast<std::size_t>(gradients));
        for (std::size_t i = 0; i < rates.size(); ++i)
            CHECK(rates[i] == static_cast<double>(i / 3));
        if (gradients > 3)  // workers take steps of one, two and three units of time
            CHECK(run.cluster.state(0).gradients > run.cluster.state(2).gradients);
    }
}

}  // namespace
}  // namespace paceline::worker_training_test
