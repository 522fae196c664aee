// Laws that every algorithm of the gossip family obeys.
#include <random>

#include <doctest/doctest.h>

#include "tests/algorithms/gossip/gossip_run.hpp"

namespace paceline::gossip_modes_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{10_Mbps, 5us};

Job gossip_job(Job job, int n) {
    job.mixing = std::make_shared<const Mixing>(make_ring_mixing(n));
    job.timing = make_step_timing(200us, *job.start.layout());
    job.update = 7us;
    return job;
}

struct Ended {
    Duration at;
    std::uint64_t events;
    std::vector<std::int64_t> sent;
    std::vector<Eigen::VectorXd> models;

    bool operator==(const Ended&) const = default;
};

Ended ended(int n, const GossipAlgorithm& algorithm, Job job) {
    TrainingRun run(n, link, gossip_job(std::move(job), n));
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    Ended end{run.elapsed(), run.simulation.events_fired(), {}, {}};
    for (int rank = 0; rank < n; ++rank) {
        end.sent.push_back(run.network.traffic(rank).sent.count);
        if (!run.cluster.worker(rank).timing_only()) end.models.push_back(run.model_of(rank));
    }
    return end;
}

TEST_CASE("gossip, property: a run that is repeated is the same to the last bit") {
    for (const NamedGossip& one : gossip_algorithms({0.9}))
        for (const int n : {1, 2, 5, 8}) {
            CAPTURE(one.name);
            CAPTURE(n);
            const bool same = ended(n, one.run, training_job(small_layout(), 15)) ==
                              ended(n, one.run, training_job(small_layout(), 15));
            CHECK(same);
        }
}

TEST_CASE("gossip, property: timing-only runs cost the time and traffic of runs with values") {
    for (const NamedGossip& one : gossip_algorithms({0.9}))
        for (const int n : {1, 2, 5, 8}) {
            CAPTURE(one.name);
            CAPTURE(n);
            const Ended timed = ended(n, one.run, timing_job(small_layout(), 15));
            const Ended trained = ended(n, one.run, training_job(small_layout(), 15));
            CHECK(timed.at == trained.at);
            CHECK(timed.sent == trained.sent);
            CHECK(timed.events == trained.events);
        }
}

TEST_CASE("gossip: a stand-in's messages weigh what the net weighs that it stands in for") {
    const LayoutPtr large = make_layout({{"a", {30, 40}}});
    for (const NamedGossip& one : gossip_algorithms({0.9})) {
        CAPTURE(one.name);
        Job job = training_job(small_layout(), 9);
        job.charged = large;
        const Ended standing_in = ended(4, one.run, std::move(job));
        const Ended itself = ended(4, one.run, timing_job(large, 9));
        CHECK(standing_in.at == itself.at);
        CHECK(standing_in.sent == itself.sent);
    }
}

TEST_CASE("gossip: alone each of them is momentum SGD") {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    for (int k = 0; k < 15; ++k) {
        m = 0.9 * m + pull_to_own_target(x, 0, k);
        x -= 0.1 * m;
    }
    for (const NamedGossip& one : gossip_algorithms({0.9})) {
        CAPTURE(one.name);
        const Ended end = ended(1, one.run, training_job(small_layout(), 15));
        CHECK((end.models[0] - x).norm() < 1e-10);
        CHECK(end.at == 15 * 207us);
        CHECK(end.sent[0] == 0);
    }
}

TEST_CASE("gossip, property: dropped at any time, a run leaves only messages in flight") {
    int unfinished = 0;
    for (const NamedGossip& one : gossip_algorithms({0.9}))
        for (unsigned seed = 0; seed < 25; ++seed) {
            CAPTURE(one.name);
            CAPTURE(seed);
            std::mt19937_64 rng(seed);
            const int n = 1 + static_cast<int>(rng() % 7);
            TrainingRun run(n, link, gossip_job(training_job(small_layout(), 20), n));
            run.spawn_all(one.run);
            run.simulation.run(Time{Duration{static_cast<std::int64_t>(rng() % 8'000'000'000)}});
            unfinished += run.processes.finished() ? 0 : 1;
            if (seed % 5 == 0) continue;  // destroyed without being dropped

            run.processes.drop();
            REQUIRE(run.simulation.run() == RunEnd::idle);
            REQUIRE(run.network.flows_in_flight() == 0);
        }
    CHECK(unfinished > 80);
}

}  // namespace
}  // namespace paceline::gossip_modes_test
