// Jobs whose nodes fail: rounds, averages and letters. Times are compared with closed forms.
#include <random>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/gossip/ad_psgd.hpp"
#include "algorithms/gossip/sgp.hpp"
#include "algorithms/gossip/swarm_sgd.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker_processes.hpp"
#include "algorithms/servers/fedavg.hpp"
#include "analysis/forms/closed_forms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::failing_nodes_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

using Absences = std::vector<std::vector<Absence>>;  // by node

NextAbsence listed(const Absences& absences) {
    return [absences, given = std::vector<std::size_t>(absences.size())](
               int node, Time since) mutable -> std::optional<Absence> {
        const auto i = static_cast<std::size_t>(node);
        while (given[i] < absences[i].size() && absences[i][given[i]].returns <= since) ++given[i];
        if (given[i] == absences[i].size()) return std::nullopt;
        return absences[i][given[i]++];
    };
}

Absences none(int nodes) {
    return Absences(static_cast<std::size_t>(nodes));
}

Time at(Duration time) {
    return Time{time};
}

const Link wire{1_Gbps, 10us};

struct FailingRun {
    Simulation simulation;
    Network network;
    Cluster cluster;
    WorkerProcesses processes;

    FailingRun(int nodes, Job job, WorkerProgram work)
        : network(simulation, make_star(nodes + job.servers, wire, wire)),
          cluster(network, std::move(job)),
          processes(network, cluster, std::move(work)) {}

    RunEnd to_the_end(Time limit = never) {
        processes.begin();
        const RunEnd end = simulation.run(limit);
        processes.count_absences();
        return end;
    }
    [[nodiscard]] Duration elapsed() const { return simulation.now().time_since_epoch(); }
};

LayoutPtr thousand() {
    return make_layout({{"all", {25'000, 1}}});  // 100 kB: 0.8 ms on the wire
}

Job failing_job(std::int64_t steps, const Absences& absences, OnDeath on_death,
                Duration detection) {
    Job job = timing_job(thousand(), steps);
    job.failures = Failures{.next_absence = listed(absences),
                            .on_death = on_death,
                            .return_from = ReturnFrom::peer,
                            .detection = detection};
    return job;
}

WorkerProgram dense() {
    return {[](Worker& worker) { return synchronous_sgd(worker, SynchronousSgdOptions{}); }};
}

Duration ring(int nodes) {
    return ring_all_reduce_time(nodes, 100'000_B, idle_star(wire));
}

void check_near(Duration measured, Duration expected) {
    CAPTURE(to_string(measured));
    CAPTURE(to_string(expected));
    // Chunks differ by a byte in each step of a ring.
    CHECK(std::abs(to_seconds(measured - expected)) < 1e-6 * to_seconds(expected));
}

TEST_CASE("go on: the survivors run a collective again after a member's death is detected") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(3 + rng() % 8);
        const auto dead = static_cast<std::size_t>(rng() % static_cast<unsigned>(n));
        const auto steps = static_cast<std::int64_t>(2 + rng() % 5);
        const Duration detection = 1ms * static_cast<int>(rng() % 50);
        // During the collective of the first step.
        const Duration died = 1ms + ring(n) * (1 + static_cast<int>(rng() % 98)) / 100;
        Absences absences = none(n);
        absences[dead].push_back({at(died)});
        FailingRun run(n, failing_job(steps, absences, OnDeath::go_on, detection), dense());

        CHECK(run.to_the_end() == RunEnd::idle);

        CHECK(run.processes.finished());
        check_near(run.elapsed(),
                   died + detection + ring(n - 1) + (steps - 1) * (1ms + ring(n - 1)));
        for (std::size_t rank = 0; rank < static_cast<std::size_t>(n); ++rank) {
            CHECK(run.cluster.state(static_cast<int>(rank)).gradients ==
                  (rank == dead ? 1 : steps));
            if (rank != dead)
                CHECK(run.cluster.time_use(static_cast<int>(rank)).waited_for_dead() == detection);
        }
    }
}

TEST_CASE(
    "go on: a node that returns takes part from the next step, with a copy of a peer's model") {
    constexpr int n = 5;
    const Duration died = 1ms + ring(n) / 2;
    // The survivors compute their gradients of step 3 when it returns.
    const Duration second_step = died + ring(n - 1) + 2 * (1ms + ring(n - 1));
    Absences absences = none(n);
    absences[2].push_back({at(died), at(second_step + 50us)});
    FailingRun run(n, failing_job(5, absences, OnDeath::go_on, 0s), dense());

    run.to_the_end();

    // Steps 0 to 3 without it, step 4 with it.
    check_near(run.elapsed(), died + ring(n - 1) + 3 * (1ms + ring(n - 1)) + 1ms + ring(n));
    CHECK(run.cluster.state(2).gradients == 2);
    CHECK(run.network.traffic(3).sent - run.network.traffic(4).sent == 100'000_B);  // the copy
}

TEST_CASE("stall: the others wait for its return, run the round without it, and continue with it") {
    constexpr int n = 4;
    const Duration died = 1ms + ring(n) / 3;
    Absences absences = none(n);
    absences[1].push_back({at(died), at(500ms)});
    FailingRun run(n, failing_job(3, absences, OnDeath::stall, 0s), dense());

    run.to_the_end();

    const Duration copy = 100'000_B / 1_Gbps + 20us;
    check_near(run.elapsed(), 500ms + copy + ring(n - 1) + 2 * (1ms + ring(n)));
    CHECK(run.cluster.time_use(0).waited_for_dead() == 500ms + copy - died);
}

TEST_CASE(
    "stall: a node that never returns ends the run and is named, even if others keep failing") {
    constexpr int n = 4;
    Absences absences = none(n);
    absences[1].push_back({at(1500us)});
    for (int i = 0; i < 1000; ++i)  // another node keeps failing and returning
        absences[3].push_back({at(2ms + i * 10ms), at(7ms + i * 10ms)});
    FailingRun run(n, failing_job(3, absences, OnDeath::stall, 0s), dense());

    CHECK(run.to_the_end() == RunEnd::idle);

    CHECK(!run.processes.finished());
    CHECK(run.processes.missing_nodes_text().starts_with(
        "node 1 died at 0.0015 s and never returns"));
    CHECK(run.elapsed() < 20ms);
}

TEST_CASE("restart: all nodes go back to the checkpoint and lose what they computed since") {
    constexpr int n = 4;
    const Duration step = 1ms + ring(n);
    Absences absences = none(n);
    // Checkpoints begin with steps 4 and 8 (slightly more than every 4 steps). The death is in
    // step 10.
    const Duration write = 100us;
    const Duration died = 10 * step + 2 * write + 500us;
    absences[2].push_back({at(died), at(died + 40ms)});
    Job job = failing_job(12, absences, OnDeath::restart, 5ms);
    job.failures->checkpoints = Checkpoints{4 * step - 1us, write, 7ms};
    FailingRun run(n, std::move(job), dense());

    run.to_the_end();

    CHECK(run.processes.finished());
    CHECK(run.processes.restarts() == 1);
    check_near(run.elapsed(), died + 40ms + 7ms + 4 * step);  // steps 8 to 11 again
    CHECK(run.cluster.state(0).gradients == 12);
    CHECK(run.cluster.state(0).undone == 2);
    CHECK(run.cluster.time_use(0).waited_for_dead() == 47ms);
    CHECK(run.cluster.time_use(2).away() == 40ms);
    CHECK(run.cluster.time_use(0).writing() == 2 * write);
}

TEST_CASE("restart: a checkpoint that was not completely written does not count") {
    constexpr int n = 3;
    const Duration step = 1ms + ring(n);
    Absences absences = none(n);
    const Duration died = 2 * step + 1ms;  // while the checkpoint of step 2 is written
    absences[0].push_back({at(died), at(died + 10ms)});
    Job job = failing_job(4, absences, OnDeath::restart, 0s);
    job.failures->checkpoints = Checkpoints{2 * step - 1us, 2ms, 0s};
    FailingRun run(n, std::move(job), dense());

    run.to_the_end();

    check_near(run.elapsed(), died + 10ms + 4 * step + 2ms);  // all steps again, and one checkpoint
}

// --- values ---

Job training_job(int nodes, std::int64_t steps, const Absences& absences) {
    const LayoutPtr layout = small_layout();
    Job job{Vector(layout, Eigen::VectorXd::Ones(26))};
    job.timing = make_step_timing(1ms, *layout);
    job.takes_step = [steps](std::int64_t k) { return k < steps; };
    job.objective = [](const Vector& x, int rank, std::int64_t) -> Eigen::VectorXd {
        return x.values() - own_target(rank, 26);
    };
    job.failures = Failures{
        .next_absence = listed(absences), .return_from = ReturnFrom::peer, .detection = 100us};
    job.workers = nodes;
    return job;
}

TEST_CASE("go on: all survivors sum the same contributions in a step") {
    constexpr int n = 4;
    Absences absences = none(n);
    absences[1].push_back({at(500us)});  // in its first gradient
    FailingRun run(n, training_job(n, 6, absences), {[](Worker& worker) {
                       return synchronous_sgd(
                           worker,
                           SynchronousSgdOptions{.exchange = {}, .rule = {.momentum = 0.5}});
                   }});
    run.to_the_end();

    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    for (int k = 0; k < 6; ++k) {
        Eigen::VectorXd g = Eigen::VectorXd::Zero(26);
        for (const int rank : {0, 2, 3}) g += (x - own_target(rank, 26)) / 3;
        m = 0.5 * m + g;
        x -= 0.1 * m;
    }
    CHECK((run.cluster.worker(0).current_model().values() - x).cwiseAbs().maxCoeff() < 1e-14);
}

// Averages without gradients.
Job averaging_job(int nodes, std::int64_t steps, const Absences& absences,
                  const MixingSchedule& mixing) {
    Job job = training_job(nodes, steps, absences);
    job.objective = [](const Vector& x, int, std::int64_t) -> Eigen::VectorXd {
        return Eigen::VectorXd::Zero(x.entries());
    };
    job.mixing = mixing;
    return job;
}

Absences random_absences(int nodes, std::mt19937_64& rng) {
    Absences absences = none(nodes);
    for (auto& of_node : absences) {
        Time now{};
        while (now < at(40ms)) {
            now = now + 100us * static_cast<int>(1 + rng() % 200);
            const Time back = now + 100us * static_cast<int>(1 + rng() % 100);
            of_node.push_back({now, back});
            now = back;
        }
    }
    return absences;
}

TEST_CASE("neighbors, property: averages over the present neighbors have weights that sum to 1") {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(3 + rng() % 8);
        // An average with rows that sum to 1 leaves equal models unchanged.
        FailingRun run(n,
                       averaging_job(n, 40, random_absences(n, rng),
                                     rng() % 2 == 0 ? MixingSchedule(make_ring_mixing(n))
                                                    : make_one_peer_exponential(n)),
                       {[](Worker& worker) { return dsgd(worker); }});
        CHECK(run.to_the_end(at(10s)) == RunEnd::idle);
        CHECK(run.processes.deaths() > 0);
        CHECK(run.processes.finished());
        for (int rank = 0; rank < n; ++rank)
            CHECK((run.cluster.worker(rank).model().values() - Eigen::VectorXd::Ones(26))
                      .cwiseAbs()
                      .maxCoeff() < 1e-12);
    }
}

TEST_CASE(
    "neighbors: while the same nodes are away, symmetric averages keep the sum of the models") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(4 + rng() % 6);
        const int gone = static_cast<int>(rng() % static_cast<unsigned>(n));
        Absences absences = none(n);
        absences[static_cast<std::size_t>(gone)].push_back({Time{}});  // was never present
        FailingRun run(n, averaging_job(n, 60, absences, make_ring_mixing(n)),
                       {[](Worker& worker) { return dsgd(worker); }});
        double sum = 0;
        double spread = 0;
        for (int rank = 0; rank < n; ++rank) {
            const double value = std::cos(1.0 + rank);
            run.cluster.worker(rank).model() =
                Vector(small_layout(), Eigen::VectorXd::Constant(26, value));
            if (rank != gone) sum += value;
        }
        run.to_the_end();
        double after = 0;
        for (int rank = 0; rank < n; ++rank) {
            if (rank == gone) continue;
            const double value = run.cluster.worker(rank).model().values()[0];
            after += value;
            spread = std::max(spread, std::abs(value - sum / (n - 1)));
        }
        CHECK(after == doctest::Approx(sum).epsilon(1e-12));
        CHECK(spread < 0.3);  // the remaining path still reaches consensus
    }
}

TEST_CASE(
    "push-sum, property: shares go to those who are there, and weights neither vanish nor grow") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        constexpr int n = 8;
        FailingRun run(n,
                       averaging_job(n, 60, random_absences(n, rng), make_one_peer_exponential(n)),
                       {[](Worker& worker) { return sgp(worker, {}); }});
        run.to_the_end(at(10s));
        for (int rank = 0; rank < n; ++rank)  // x / w of equal models is that model
            CHECK(run.cluster.worker(rank).model().values()[0] == doctest::Approx(1).epsilon(1e-9));
    }
}

TEST_CASE(
    "neighbors: a neighbor that dies is waited for as long as the detection takes, then no more") {
    constexpr int n = 6;
    Job job = failing_job(5, none(n), OnDeath::go_on, 30ms);
    Absences absences = none(n);
    absences[2].push_back({at(500us)});
    job.failures->next_absence = listed(absences);
    job.mixing = make_ring_mixing(n);
    FailingRun run(n, std::move(job), {[](Worker& worker) { return dsgd(worker); }});
    run.to_the_end();
    // A step of a node with two neighbors: the gradient, and two vectors over the node's link.
    const Duration step = 1ms + 2 * (100'000_B / 1_Gbps) + 20us;
    const Duration of_the_ends = 30ms + 500us;  // when nodes 1 and 3 detect it
    CHECK(run.elapsed() >= of_the_ends + 4 * step - 2ms);
    CHECK(run.elapsed() <= of_the_ends + 5 * step);
}

TEST_CASE("gossip: survivors of AD-PSGD and SwarmSGD are not delayed by a death") {
    constexpr int n = 8;
    Absences absences = none(n);
    absences[3].push_back({at(4500us)});
    absences[6].push_back({at(6500us), at(9ms)});
    for (const bool swarm : {true, false}) {
        CAPTURE(swarm);
        Job job = failing_job(50, absences, OnDeath::go_on, 2ms);
        job.mixing = make_complete_mixing(n);
        FailingRun run(n, std::move(job), {[swarm](Worker& worker) {
                           return swarm ? swarm_sgd_non_blocking(worker, {.local_steps = 2})
                                        : ad_psgd(worker, {});
                       }});
        run.to_the_end();
        CHECK(run.processes.finished());
        for (const int rank : {0, 1, 2, 4, 5, 7}) CHECK(run.cluster.state(rank).gradients == 50);
        CHECK(run.cluster.state(3).gradients == 4);
        CHECK(run.elapsed() >= 50ms);
        CHECK(run.elapsed() <= 56ms);  // and the last exchanges
    }
}

TEST_CASE("SwarmSGD blocking: a partner's death is handled once it is detected") {
    Job job = failing_job(20, none(2), OnDeath::go_on, 5ms);
    Absences absences = none(2);
    absences[1].push_back({at(2100us)});
    job.failures->next_absence = listed(absences);
    job.mixing = make_complete_mixing(2);
    FailingRun run(2, std::move(job),
                   {[](Worker& worker) { return swarm_sgd_blocking(worker, {.local_steps = 2}); }});
    run.to_the_end();
    CHECK(run.processes.finished());
    check_near(run.elapsed(), 2100us + 5ms + 18ms);
}

// --- FedAvg ---

Job federated_job(int n, std::int64_t steps, const Absences& absences) {
    Job job = failing_job(steps, absences, OnDeath::go_on, 0s);
    job.failures->return_from = ReturnFrom::own;
    job.workers = n;
    job.servers = 1;
    return job;
}

WorkerProgram federated(const FedavgOptions& options) {
    return {[options](Worker& worker) { return fedavg(worker, options); },
            [options](Worker& server) { return fedavg_server(server, options); }, 1};
}

TEST_CASE("FedAvg: it asks more clients than it needs and does not wait for the slowest") {
    constexpr int n = 10;
    Job job = federated_job(n, 6, none(n));
    job.compute_time = [](int rank, std::int64_t, Time, Duration nominal) {
        return rank < 2 ? 100 * nominal : nominal;  // two stragglers that would delay every round
    };
    // All are asked and the first 8 are kept, never those two.
    const FedavgOptions options{.fraction = 0.8, .local_steps = 2, .over_selection = 1.25};
    FailingRun run(n, std::move(job), federated(options));
    run.to_the_end();
    CHECK(run.processes.finished());
    // Down: all ten share the server's link; up: eight do.
    const Duration model = 100'000_B / 1_Gbps;
    check_near(run.elapsed(), 3 * (10 * model + 20us + 2ms + 8 * model + 20us));
    for (int rank = 0; rank < n; ++rank)
        CHECK(run.cluster.state(rank).gradients == (rank < 2 ? 0 : 6));
}

TEST_CASE("FedAvg, property: clients come and go, and every run ends with all its rounds") {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 8);
        const FedavgOptions options{.fraction = 0.1 * static_cast<double>(1 + rng() % 10),
                                    .local_steps = static_cast<std::int64_t>(1 + rng() % 4),
                                    .over_selection = rng() % 2 == 0 ? 1.0 : 1.5};
        FailingRun run(n, federated_job(n, 24, random_absences(n, rng)), federated(options));
        CHECK(run.to_the_end(at(100s)) == RunEnd::idle);
        CAPTURE(run.processes.missing_nodes_text());
        CHECK(run.processes.finished());
    }
}

TEST_CASE("FedAvg: a round with a deadline ends then, with the answers that have arrived") {
    constexpr int n = 3;
    Job job = federated_job(n, 4, none(n));
    job.compute_time = [](int rank, std::int64_t, Time, Duration nominal) {
        return rank == 0 ? 1000 * nominal : nominal;
    };
    FailingRun run(n, std::move(job), federated({.local_steps = 2, .deadline = 50ms}));
    run.to_the_end();
    CHECK(run.elapsed() == 2 * 50ms);
    CHECK(run.cluster.state(1).gradients == 4);
}

// --- all kinds of failures at once ---

TEST_CASE("failures, property: with any absences a run ends, and is the same when repeated") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        const auto once = [seed] {
            std::mt19937_64 rng(seed);
            const int n = static_cast<int>(2 + rng() % 7);
            const auto on_death = rng() % 2 == 0 ? OnDeath::go_on : OnDeath::stall;
            Job job = failing_job(20, random_absences(n, rng), on_death, 300us);
            const bool local = rng() % 2 == 0;
            FailingRun run(n, std::move(job), {[local](Worker& worker) {
                               return local ? local_sgd(worker, {.period = 3})
                                            : synchronous_sgd(worker, SynchronousSgdOptions{});
                           }});
            CHECK(run.to_the_end(at(10s)) == RunEnd::idle);
            CHECK(run.processes.finished());
            std::string told = to_string(run.elapsed());
            for (int rank = 0; rank < n; ++rank)
                told += fmt::format(" {} {}", run.cluster.state(rank).gradients,
                                    run.network.traffic(rank).sent.count);
            return told;
        };
        CHECK(once() == once());
    }
}

TEST_CASE("failures: a run that is cut short and dropped leaves nothing behind") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        std::mt19937_64 rng(seed);
        Job job = averaging_job(6, 40, random_absences(6, rng), make_ring_mixing(6));
        FailingRun run(6, std::move(job), {[](Worker& worker) { return dsgd(worker); }});
        CHECK(run.to_the_end(at(100us * static_cast<int>(1 + rng() % 300))) == RunEnd::time_limit);
    }
}

}  // namespace
}  // namespace paceline::failing_nodes_test
