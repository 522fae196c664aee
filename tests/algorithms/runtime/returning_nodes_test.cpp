// What a node that returns, or a job that restarts, takes up again: clocks of servers, averages in
// flight, and replicas.
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/overlap_local_sgd.hpp"
#include "algorithms/local/slowmo.hpp"
#include "algorithms/runtime/worker_processes.hpp"
#include "algorithms/servers/stale_synchronous_sgd.hpp"
#include "analysis/forms/closed_forms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::returning_nodes_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

using Absences = std::vector<std::vector<Absence>>;  // by node

const Link wire{1_Gbps, 10us};
constexpr double rate = 0.1;

NextAbsence listed(const Absences& absences) {
    return [absences, given = std::vector<std::size_t>(absences.size())](
               int node, Time since) mutable -> std::optional<Absence> {
        const auto i = static_cast<std::size_t>(node);
        while (given[i] < absences[i].size() && absences[i][given[i]].returns <= since) ++given[i];
        if (given[i] == absences[i].size()) return std::nullopt;
        return absences[i][given[i]++];
    };
}

Eigen::VectorXd gradient(const Eigen::VectorXd& x, int rank) {
    return x - own_target(rank, x.size());
}

Job job_of(int nodes, std::int64_t steps, const Absences& absences) {
    const LayoutPtr layout = small_layout();
    Job job{Vector(layout, Eigen::VectorXd::Ones(26))};
    job.timing = make_step_timing(1ms, *layout);
    job.takes_step = [steps](std::int64_t k) { return k < steps; };
    job.objective = [](const Vector& x, int rank, std::int64_t) {
        return gradient(x.values(), rank);
    };
    job.learning_rate = [](std::int64_t) { return rate; };
    job.failures = Failures{
        .next_absence = listed(absences), .return_from = ReturnFrom::peer, .detection = 100us};
    job.workers = nodes;
    return job;
}

struct Run {
    Simulation simulation;
    Network network;
    Cluster cluster;
    WorkerProcesses processes;

    Run(Job job, WorkerProgram work)
        : network(simulation, make_star(job.workers + job.servers, wire, wire)),
          cluster(network, std::move(job)),
          processes(network, cluster, std::move(work)) {}

    Duration to_the_end() {
        processes.begin();
        CHECK(simulation.run() == RunEnd::idle);
        CHECK(processes.finished());
        return simulation.now().time_since_epoch();
    }
    [[nodiscard]] Eigen::VectorXd model(int rank) {
        return cluster.worker(rank).current_model().values();
    }
};

double distance(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return (a - b).cwiseAbs().maxCoeff();
}

// --- stale-synchronous ---

// The steps of each worker as an observer sees them: a worker that has been let go to step k knows
// that each other present worker has taken at least k - s, one of them perhaps still on its way.
struct Clocks {
    std::vector<std::int64_t> taken;
    std::int64_t furthest_ahead = 0;

    void note(int rank, std::int64_t k, const Cluster& cluster) {
        taken[static_cast<std::size_t>(rank)] = k;
        const Worker& worker = cluster.worker(rank);
        for (const int other : worker.lives().all_present())
            furthest_ahead =
                std::max(furthest_ahead, k - std::max(taken[static_cast<std::size_t>(other)],
                                                      worker.lives().first_step(other)));
    }
};

TEST_CASE("stale-synchronous SGD, property: it ends, and keeps its bound, when nodes return") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const int n = 2 + static_cast<int>(random() % 5);
        const auto bound = static_cast<std::int64_t>(random() % 4);
        constexpr std::int64_t steps = 40;
        Absences absences(static_cast<std::size_t>(n));
        for (auto& of_node : absences)
            if (random() % 2 == 0) {
                const Time leaves{1us * (1 + random() % 30'000)};
                of_node.push_back({leaves, leaves + 1us * (1 + random() % 10'000)});
            }
        Job job = job_of(n, steps, absences);
        job.servers = 1;
        job.compute_time = [n](int rank, std::int64_t, Time, Duration time) {
            return rank == n - 1 ? 3 * time : time;
        };
        Clocks clocks{std::vector<std::int64_t>(static_cast<std::size_t>(n)), 0};
        const Cluster* observed = nullptr;
        job.after_steps = [&](int rank, std::int64_t k) { clocks.note(rank, k, *observed); };
        const StaleSynchronousSgdOptions options{bound, 0.5};
        Run run(std::move(job),
                {[=](Worker& worker) { return stale_synchronous_sgd(worker, options); },
                 [=](Worker& server) { return stale_synchronous_sgd_server(server, options); }, 1});
        observed = &run.cluster;

        run.to_the_end();

        CHECK(clocks.furthest_ahead <= bound + 1);
    }
}

// --- a restart within a block whose average is in flight ---

// The serial rule of overlap_local_sgd.hpp, restarted before step `restart` with the models, the
// anchor and its momentum of that time. The average that was in flight is lost.
Eigen::MatrixXd written_down(int n, const OverlapLocalSgdOptions& options, std::int64_t steps,
                             std::int64_t restart) {
    const double momentum = std::get<MomentumRule>(options.inner).momentum;
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, n);
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(26, n);
    Eigen::VectorXd z = x.col(0);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(26);
    std::optional<Eigen::VectorXd> mean;
    for (std::int64_t k = 0; k < steps; ++k) {
        if (k == restart) m.setZero();
        if (k == restart) mean.reset();
        if (k > 0 && k % options.period == 0) mean = x.rowwise().mean();
        for (int i = 0; i < n; ++i) {
            m.col(i) = momentum * m.col(i) + gradient(x.col(i), i);
            x.col(i) -= rate * m.col(i);
        }
        if ((k + 1) % options.period != 0) continue;
        if (mean) {
            v = options.anchor_momentum * v + (z - *mean) / rate;
            z -= rate * v;
        }
        x = (1 - options.alpha) * x;
        x.colwise() += options.alpha * z;
    }
    return x;
}

TEST_CASE("overlap local SGD: a restart within a block loses the average in flight, and goes on") {
    constexpr int n = 4;
    constexpr std::int64_t steps = 24;
    const OverlapLocalSgdOptions options{4, 0.6, 0.7, dense_exchange(AllReduce::ring),
                                         MomentumRule{.momentum = 0.5}};
    // Checkpoints begin with steps 6, 12 and 18, which is within the block of steps 16 to 19.
    const Duration write = 100us;
    const Duration read = 300us;
    const Duration died = 20ms + 3 * write + 500us;
    Absences absences(n);
    absences[0].push_back({Time{died}, Time{died + 2ms}});
    Job job = job_of(n, steps, absences);
    job.failures->on_death = OnDeath::restart;
    job.failures->checkpoints = Checkpoints{6ms, write, read};
    Run run(std::move(job), {[=](Worker& worker) { return overlap_local_sgd(worker, options); }});

    const Duration elapsed = run.to_the_end();

    CHECK(run.processes.restarts() == 1);
    CHECK(elapsed == died + 2ms + read + 6ms);  // steps 18 to 23 again; averages are hidden
    const Eigen::MatrixXd expected = written_down(n, options, steps, 18);
    for (int i = 0; i < n; ++i) CHECK(distance(run.model(i), expected.col(i)) < 1e-12);
}

// --- replicas ---

Absences away_twice() {
    Absences absences(4);
    absences[0].push_back({Time{5500us}, Time{12300us}});
    absences[2].push_back({Time{20200us}, Time{21700us}});
    return absences;
}

SlowmoOptions over_all_reduce(double beta, Buffers buffers, bool average) {
    SlowmoOptions options;
    options.slow.beta = beta;
    options.period = 3;
    options.average = average;
    options.buffers = buffers;
    options.base = {Base::all_reduce, {.momentum = 0.5}};
    return options;
}

TEST_CASE("slowmo: over all-reduce, without slow momentum, it is dense SGD when nodes return") {
    Run dense(job_of(4, 40, away_twice()), {[](Worker& worker) {
                  return synchronous_sgd(
                      worker, SynchronousSgdOptions{.exchange = {}, .rule = {.momentum = 0.5}});
              }});
    const Duration elapsed = dense.to_the_end();
    const SlowmoOptions options = over_all_reduce(0, Buffers::maintain, false);
    Run run(job_of(4, 40, away_twice()), {[=](Worker& worker) { return slowmo(worker, options); }});

    CHECK(run.to_the_end() == elapsed);
    for (int i = 0; i < 4; ++i) CHECK(distance(run.model(i), dense.model(0)) < 1e-12);
}

TEST_CASE("slowmo: over all-reduce all nodes end with one model, also those that returned") {
    for (const Buffers buffers : {Buffers::reset, Buffers::maintain, Buffers::average})
        for (const bool average : {false, true}) {
            if (buffers == Buffers::average && !average) continue;
            CAPTURE(static_cast<int>(buffers));
            CAPTURE(average);
            const SlowmoOptions options = over_all_reduce(0.4, buffers, average);
            Run run(job_of(4, 100, away_twice()),
                    {[=](Worker& worker) { return slowmo(worker, options); }});
            run.to_the_end();
            Eigen::VectorXd optimum = Eigen::VectorXd::Zero(26);
            for (int i = 0; i < 4; ++i) optimum += own_target(i, 26) / 4;

            for (int i = 0; i < 4; ++i) {
                CHECK(distance(run.model(i), run.model(0)) == 0);
                CHECK(distance(run.model(i), optimum) < 1e-2);
            }
        }
}

}  // namespace
}  // namespace paceline::returning_nodes_test
