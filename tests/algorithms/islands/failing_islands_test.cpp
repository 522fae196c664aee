// Islands that die and return: models against a serial reference, and what is sent for a return.
#include <array>
#include <random>

#include <doctest/doctest.h>

#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/islands/islands.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker_processes.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/mixing.hpp"

namespace paceline::failing_islands_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{10_Gbps, 100ns};  // what a step sends takes microseconds beside a millisecond

// One absence of one island: it dies within a step, and joins at another.
struct Death {
    int island = 0;
    std::int64_t in_step = 0;
    std::int64_t joins = 0;
    ReturnFrom from = ReturnFrom::own;
};

struct Case {
    int islands = 3;
    int devices = 2;
    int lanes = 1;
    std::int64_t period = 2;  // 0: averages with neighbors on a ring in every step
    std::int64_t steps = 9;
    Death death;
    bool keep_shards = false;
    std::int64_t dies_again_in = 0;  // this step, for good; 0: it does not
};

// The middle of a step that computes for a millisecond.
Time within(std::int64_t step) {
    return Time{1ms * step + 500us};
}

NextAbsence absences_of(const Case& at) {
    return [death = at.death, again = at.dies_again_in](int island,
                                                        Time since) -> std::optional<Absence> {
        if (island != death.island) return std::nullopt;
        if (since > Time{} && again > 0) return Absence{within(again), never};
        if (since > Time{}) return std::nullopt;
        return Absence{within(death.in_step),
                       death.joins > 0 ? within(death.joins - 1) : Time{never}};
    };
}

IslandMembers members_of(const Case& at) {
    IslandMembers members(static_cast<std::size_t>(at.islands));
    for (int rank = 0; rank < at.islands * at.devices; ++rank)
        members[static_cast<std::size_t>(rank / at.devices)].push_back(rank);
    return members;
}

Job failing_job(const Case& at, Job job) {
    job.failures = Failures{.next_absence = absences_of(at),
                            .on_death = OnDeath::go_on,
                            .return_from = at.death.from,
                            .detection = 100us,
                            .domains = members_of(at),
                            .are_islands = true,
                            .keep_shards = at.keep_shards};
    if (at.period == 0) job.mixing = std::make_shared<const Mixing>(make_ring_mixing(at.islands));
    return job;
}

WorkerProgram program_of(const Case& at) {
    IslandOptions options{members_of(at), at.lanes, dense_exchange({})};
    std::function<Task<>(Worker&)> outer = [](Worker& self) {
        return dsgd(self, dense_exchange({}));
    };
    if (at.period > 0)
        outer = [period = at.period](Worker& self) {
            LocalSgdOptions options;
            options.period = period;
            options.exchange = dense_exchange({});
            return local_sgd(self, options);
        };
    return {[options = SharedValue<IslandOptions>(options), outer](Worker& device) {
        return on_islands(device, options, outer);
    }};
}

struct FailingRun {
    Simulation simulation;
    Network network;
    Cluster cluster;
    WorkerProcesses processes;

    FailingRun(const Case& at, Job job)
        : network(simulation, make_star(at.islands * at.devices, wire, wire)),
          cluster(network, failing_job(at, std::move(job))),
          processes(network, cluster, program_of(at)) {
        processes.begin();
        CHECK(simulation.run() == RunEnd::idle);
        processes.count_absences();
        CHECK(processes.finished());
    }
};

struct Replica {
    Eigen::VectorXd x;
    std::int64_t gradients = 0;
    bool lives = true;
};

// The models of all islands, by three loops.
std::vector<Replica> serial_models(const Case& at, Eigen::Index entries) {
    std::vector<Replica> all(static_cast<std::size_t>(at.islands),
                             {Eigen::VectorXd::Ones(entries)});
    Replica& mortal = all[static_cast<std::size_t>(at.death.island)];
    const Replica& peer = all[static_cast<std::size_t>((at.death.island + 1) % at.islands)];
    const Replica& first = all[at.death.island == 0 ? 1 : 0];  // of those present, in each step
    for (std::int64_t k = 0; k < at.steps; ++k) {
        if (k == at.death.in_step) mortal.lives = false;
        // The copy arrives when the step before has begun.
        if (k == at.death.joins - 1 && at.death.from == ReturnFrom::peer) mortal.x = peer.x;
        if (k == at.death.joins) {
            mortal.lives = true;
            if (at.death.from == ReturnFrom::joined_peer) mortal.x = first.x;
        }
        for (int i = 0; i < at.islands; ++i) {
            Replica& one = all[static_cast<std::size_t>(i)];
            if (!one.lives) continue;
            Eigen::VectorXd sum = Eigen::VectorXd::Zero(entries);
            for (int d = 0; d < at.devices; ++d)
                sum += pull_to_own_target(one.x, i * at.devices + d, one.gradients);
            one.x -= 0.1 * sum / at.devices;
            ++one.gradients;
        }
        if (at.period > 0 && (k + 1) % at.period != 0) continue;
        Eigen::VectorXd mean = Eigen::VectorXd::Zero(entries);
        int present = 0;
        for (const Replica& one : all)
            if (one.lives) mean += one.x, ++present;
        const std::vector<Replica> before = all;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].lives) continue;
            if (at.period > 0) {
                all[i].x = mean / present;
                continue;
            }
            // A ring: a third of each neighbor; of a missing one, of its own.
            Eigen::VectorXd average = before[i].x / 3;
            for (const std::size_t j : {(i + 1) % all.size(), (i + all.size() - 1) % all.size()})
                average += before[before[j].lives ? j : i].x / 3;
            all[i].x = average;
        }
    }
    return all;
}

TEST_CASE("islands, property: survivors average among themselves, and the dead one joins again") {
    std::mt19937 random(7);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    const LayoutPtr layout = small_layout();
    for (int round = 0; round < 40; ++round) {
        Case at;
        at.islands = pick(3, 4);
        at.devices = pick(1, 3);
        at.lanes = pick(0, 1) == 0 ? 1 : at.devices;
        at.period = pick(0, 3);
        at.death = {pick(0, at.islands - 1), pick(1, 5), 0, ReturnFrom::own};
        constexpr std::array ways{ReturnFrom::own, ReturnFrom::peer, ReturnFrom::joined_peer};
        at.death.from = ways[static_cast<std::size_t>(pick(0, 2))];
        if (pick(0, 3) > 0) at.death.joins = at.death.in_step + pick(1, 2);
        CAPTURE(round);
        CAPTURE(at.islands);
        CAPTURE(at.devices);
        CAPTURE(at.lanes);
        CAPTURE(at.period);
        CAPTURE(at.death.in_step);
        CAPTURE(at.death.joins);
        CAPTURE(static_cast<int>(at.death.from));

        FailingRun run(at, training_job(layout, at.steps));

        const std::vector<Replica> models = serial_models(at, layout->entries());
        for (int rank = 0; rank < at.islands * at.devices; ++rank) {
            const Replica& island = models[static_cast<std::size_t>(rank / at.devices)];
            if (!island.lives) continue;
            CAPTURE(rank);
            CHECK((run.cluster.worker(rank).model().values() - island.x).norm() < 1e-12);
            CHECK(run.cluster.state(rank).gradients == island.gradients);
        }
        CHECK(run.cluster.held().rounds == 0);
        CHECK(run.cluster.held().accounts == 0);
    }
}

TEST_CASE("islands: what the dead one computed since its last average is lost") {
    Case at{3, 2, 2, 4, 12, {1, 6, 10, ReturnFrom::peer}};
    FailingRun run(at, timing_job(small_layout(), at.steps));

    // Six gradients before its death, of which four are in the first average.
    for (int rank = 0; rank < 6; ++rank) {
        CHECK(run.cluster.state(rank).lost == (rank / 2 == 1 ? 2 : 0));
        CHECK(run.cluster.state(rank).gradients == (rank / 2 == 1 ? 8 : 12));
    }

    at.death.from = ReturnFrom::own;  // it brings its two whole steps back
    CHECK(FailingRun(at, timing_job(small_layout(), at.steps)).cluster.state(2).lost == 0);

    at.dies_again_in = 11;  // with these, and another
    CHECK(FailingRun(at, timing_job(small_layout(), at.steps)).cluster.state(2).lost == 3);
}

TEST_CASE(
    "islands: each device of a joining one fetches what it keeps from the device in its place") {
    const Case at{3, 2, 2, 20, 9, {0, 2, 5, ReturnFrom::peer}};
    const auto sent_by = [&at](int rank, bool shards) {
        Case here = at;
        here.keep_shards = shards;
        FailingRun run(here, timing_job(make_layout({{"all", {25'000, 1}}}), at.steps));
        return run.network.traffic(rank).sent;
    };
    // Island 1 serves the copy; island 2 sends inside as much otherwise.
    for (const int place : {0, 1}) {
        CHECK(sent_by(2 + place, false) - sent_by(4 + place, false) == 100'000_B);
        CHECK(sent_by(2 + place, true) - sent_by(4 + place, true) == 50'000_B);
    }
}

}  // namespace
}  // namespace paceline::failing_islands_test
