#include "algorithms/runtime/time_use.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/adaptive/one_bit_sgd.hpp"
#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/decentralized/dsgd_awc.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/gossip/ad_psgd.hpp"
#include "algorithms/gossip/swarm_sgd.hpp"
#include "algorithms/local/cocod_sgd.hpp"
#include "algorithms/local/overlap_local_sgd.hpp"
#include "algorithms/servers/async_sgd.hpp"
#include "algorithms/servers/fedavg.hpp"
#include "algorithms/servers/stale_synchronous_sgd.hpp"
#include "sim/compute/node_speeds.hpp"
#include "sim/compute/slow_nodes.hpp"
#include "tests/algorithms/runtime/overlapped_exchange.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::time_use_test {
namespace {

using doctest::Approx;
using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

// How a worker spent its time.
struct Use {
    Duration computed;
    Duration stragglers;
    Duration network;
};

Use use_of(TrainingRun& run, int rank) {
    const Time end = run.simulation.now();
    const TimeUse& use = run.cluster.time_use(rank);
    return {use.computed(), use.waited_for_stragglers(end), use.waited_for_network(end)};
}

Job slow_job(std::int64_t steps, StepFactor law) {
    Job job = timing_job(small_layout(), steps);
    job.compute_time = make_compute_time({{std::move(law)}, {}});
    return job;
}

TEST_CASE("time use: an all-reduce among equal workers waits for the network only") {
    // 104 bytes: each of 8 chunks has 13, so all are there at the same time.
    TrainingRun run(8, link, timing_job(small_layout(), 5));
    run.spawn_all([](Worker& w) { return synchronous_sgd(w, SynchronousSgdOptions{}); });
    run.simulation.run();

    for (int rank = 0; rank < 8; ++rank) {
        const Use use = use_of(run, rank);
        CHECK(use.computed == 5ms);
        CHECK(use.stragglers == 0ms);
        CHECK(use.network == run.elapsed() - 5ms);
    }
}

TEST_CASE("time use: workers that enter an all-reduce early wait for the last to enter") {
    constexpr int steps = 5;
    TrainingRun run(8, link, slow_job(steps, always_slow(4, {.nodes = {2}})));
    run.spawn_all([](Worker& w) { return synchronous_sgd(w, SynchronousSgdOptions{}); });
    run.simulation.run();

    for (int rank = 0; rank < 8; ++rank) {
        CAPTURE(rank);
        const Use use = use_of(run, rank);
        CHECK(use.computed == steps * (rank == 2 ? 4ms : 1ms));
        CHECK(use.stragglers == steps * (rank == 2 ? 0ms : 3ms));
        CHECK(use.network == run.elapsed() - steps * Duration(4ms));
    }
}

// Enters an all-reduce, computes meanwhile, and takes the result.
Task<> overlap(Worker& self, Duration late, Duration computing) {
    static_cast<void>(self.begins_step());
    co_await self.simulation().sleep(late);
    Pending<Vector> mean = self.start(self.all_reduce(self.model()));
    co_await self.compute(computing);
    static_cast<void>(co_await std::move(mean));
}

TEST_CASE("time use: computing during a round does not count as waiting") {
    TrainingRun run(4, link, timing_job(small_layout(), 1));
    const Duration computing[]{1ms, 2ms, 9ms, 0ms};
    for (int rank = 0; rank < 4; ++rank)
        run.spawn(rank, overlap(run.cluster.worker(rank), rank == 3 ? 5ms : 0ms,
                                computing[static_cast<std::size_t>(rank)]));
    run.simulation.run();

    CHECK(use_of(run, 0).stragglers == 4ms);
    CHECK(use_of(run, 1).stragglers == 3ms);
    CHECK(use_of(run, 2).stragglers == 0ms);  // computed until the round was over
    CHECK(use_of(run, 3).stragglers == 0ms);
    CHECK(use_of(run, 2).network == 0ms);
    CHECK(use_of(run, 3).network == run.elapsed());
    for (int rank = 0; rank < 3; ++rank) {
        const Use use = use_of(run, rank);
        CHECK(use.computed + use.stragglers + use.network == run.elapsed());
    }
}

TEST_CASE("time use: neighbor exchange waits for slow neighbors, and for no other node") {
    Job job = slow_job(1, always_slow(4, {.nodes = {0}}));
    job.mixing = MixingSchedule(make_ring_mixing(8));
    TrainingRun run(8, link, std::move(job));
    run.spawn_all([](Worker& w) { return dsgd(w); });
    run.simulation.run();

    // From their step's end on, distant nodes wait for the run to end.
    const Duration exchange = run.elapsed() - 4ms;
    CHECK(use_of(run, 1).stragglers == 3ms);
    CHECK(use_of(run, 7).stragglers == 3ms);
    CHECK(use_of(run, 4).stragglers == 3ms);
    CHECK(use_of(run, 1).network == exchange);
    CHECK(use_of(run, 4).network == exchange);
    // In the round itself a distant node waited for nobody: it left before the slow one came.
    CHECK(use_of(run, 0).stragglers < 1ms);
}

Task<> exchange_late(Worker& self, Duration late) {
    co_await self.simulation().sleep(late);
    static_cast<void>(co_await self.neighbor_average(self.model()));
}

TEST_CASE("time use: only neighbors are waited for, even if others enter while messages travel") {
    Job job = timing_job(small_layout(), 1);
    job.mixing = MixingSchedule(make_ring_mixing(6));
    TrainingRun run(6, link, std::move(job));
    for (int rank = 0; rank < 6; ++rank)
        run.spawn(rank, exchange_late(run.cluster.worker(rank), rank == 3 ? 2us : 0us));
    run.simulation.run();

    for (int rank = 0; rank < 6; ++rank) {
        CAPTURE(rank);
        CHECK(use_of(run, rank).stragglers == (rank == 2 || rank == 4 ? 2us : 0us));
    }
}

Task<> reduce_two_at_once(Worker& self, Duration late) {
    co_await self.simulation().sleep(late);
    Pending<Vector> first = self.start(self.all_reduce(self.model()));
    Pending<Vector> second = self.start(self.all_reduce(self.model()));
    static_cast<void>(co_await std::move(first));
    static_cast<void>(co_await std::move(second));
}

TEST_CASE("time use: rounds that overlap are waited for once") {
    TrainingRun run(2, link, timing_job(small_layout(), 1));
    for (int rank = 0; rank < 2; ++rank)
        run.spawn(rank, reduce_two_at_once(run.cluster.worker(rank), rank * 3ms));
    run.simulation.run();

    CHECK(use_of(run, 0).stragglers == 3ms);
    CHECK(use_of(run, 1).stragglers == 0ms);
}

// Enters a round in which others are missing, and drops it.
Task<> give_up(Worker& self, bool neighbors) {
    Pending<Vector> round =
        self.start(neighbors ? self.neighbor_average(self.model()) : self.all_reduce(self.model()));
    co_await self.simulation().sleep(2ms);
}

TEST_CASE("time use: the wait in a round that is dropped counts until then") {
    for (const bool neighbors : {false, true}) {
        CAPTURE(neighbors);
        Job job = timing_job(small_layout(), 1);
        job.mixing = MixingSchedule(make_ring_mixing(4));
        TrainingRun run(4, link, std::move(job));
        run.spawn(0, give_up(run.cluster.worker(0), neighbors));
        run.simulation.run();

        CHECK(use_of(run, 0).stragglers == 2ms);
    }
}

Task<> arrive_late(Worker& self, Duration late) {
    co_await self.simulation().sleep(late);
    co_await self.barrier();
}

TEST_CASE("time use: at a barrier, all wait for the last to arrive") {
    TrainingRun run(3, link, timing_job(small_layout(), 1));
    for (int rank = 0; rank < 3; ++rank)
        run.spawn(rank, arrive_late(run.cluster.worker(rank), rank * 2ms));
    run.simulation.run();

    for (int rank = 0; rank < 3; ++rank)
        CHECK(use_of(run, rank).stragglers == (2 - rank) * Duration(2ms));
}

Task<> compute_and_fail(Worker& self) {
    Pending<> computing = self.start(self.compute(7ms));
    co_await self.simulation().sleep(3ms);
    throw std::runtime_error("cut");
}

TEST_CASE("time use: a computation that the end of the run cuts short counts as computing") {
    TrainingRun run(1, link, timing_job(small_layout(), 1));
    run.spawn(0, compute_and_fail(run.cluster.worker(0)));
    CHECK_THROWS_AS(run.simulation.run(), std::runtime_error);

    CHECK(use_of(run, 0).computed == 3ms);
    CHECK(use_of(run, 0).network == 0ms);
}

struct Named {
    const char* name;
    std::function<Task<>(Worker&)> run;
    std::function<Task<>(Worker&)> serve{};
};

std::vector<Named> algorithms() {
    return {
        {"dense", [](Worker& w) { return synchronous_sgd(w, SynchronousSgdOptions{}); }},
        {"dense, tree",
         [](Worker& w) {
             return synchronous_sgd(w, SynchronousSgdOptions{dense_exchange(AllReduce::tree)});
         }},
        {"overlapped",
         [](Worker& w) {
             return synchronous_sgd(w, SynchronousSgdOptions{overlapped_exchange({})});
         }},
        {"one-bit", [](Worker& w) { return one_bit_sgd(w, {}); }},
        {"dsgd", [](Worker& w) { return dsgd(w); }},
        {"dsgd-awc", [](Worker& w) { return dsgd_awc(w); }},
        {"overlap-local", [](Worker& w) { return overlap_local_sgd(w, {.period = 3}); }},
        {"cocod", [](Worker& w) { return cocod_sgd(w, {.period = 3}); }},
        {"swarm", [](Worker& w) { return swarm_sgd_non_blocking(w, {.local_steps = 2}); }},
        {"swarm, blocking", [](Worker& w) { return swarm_sgd_blocking(w, {.local_steps = 2}); }},
        {"ad-psgd", [](Worker& w) { return ad_psgd(w, {}); }},
        {"async", [](Worker& w) { return async_sgd(w, {}); },
         [](Worker& w) { return async_sgd_server(w, {}); }},
        {"stale", [](Worker& w) { return stale_synchronous_sgd(w, {}); },
         [](Worker& w) { return stale_synchronous_sgd_server(w, {}); }},
        {"fedavg", [](Worker& w) { return fedavg(w, {.fraction = 0.5, .local_steps = 3}); },
         [](Worker& w) { return fedavg_server(w, {.fraction = 0.5, .local_steps = 3}); }},
    };
}

// The job and the network have one more host if the algorithm has a server.
struct SlowRun : TrainingRun {
    SlowRun(int nodes, const Named& algorithm, Job job)
        : TrainingRun(nodes + (algorithm.serve ? 1 : 0), link,
                      with_server(nodes, algorithm, std::move(job))) {
        if (algorithm.serve) cluster.serve(nodes, "server", algorithm.serve(cluster.server(0)));
        spawn_all(algorithm.run);
    }

  private:
    static Job with_server(int nodes, const Named& algorithm, Job job) {
        job.workers = nodes;
        job.servers = algorithm.serve ? 1 : 0;
        job.mixing = MixingSchedule(make_ring_mixing(nodes));
        return job;
    }
};

Job jittered_job(std::int64_t steps, unsigned seed) {
    Job job = timing_job(small_layout(), steps);
    job.seed = seed;
    job.compute_time =
        make_compute_time({{jitter({JitterLaw::exponential, 1}, RandomStreams(seed))},
                           {slow_at_intervals(5, {20ms, 5ms}, {}, RandomStreams(seed))}});
    return job;
}

TEST_CASE("time use, property: the parts of every worker's time add up to the run's") {
    for (const Named& algorithm : algorithms())
        for (unsigned seed = 0; seed < 4; ++seed) {
            CAPTURE(algorithm.name);
            CAPTURE(seed);
            const int nodes = 2 + 3 * static_cast<int>(seed);
            SlowRun run(nodes, algorithm, jittered_job(12, seed));
            run.simulation.run();

            CHECK(run.processes.finished());
            for (int rank = 0; rank < nodes; ++rank) {
                const Use use = use_of(run, rank);
                CHECK(use.computed == run.cluster.state(rank).compute_time);
                CHECK(use.stragglers >= 0ms);
                CHECK(use.computed + use.stragglers + use.network == run.elapsed());
            }
        }
}

TEST_CASE("time use, property: with slow gradients synchronous methods wait less for messages") {
    // On a network that costs next to nothing, workers wait for stragglers.
    for (const Named& algorithm : algorithms()) {
        const std::string name = algorithm.name;
        if (algorithm.serve || name.starts_with("swarm, b")) continue;  // letters and answers
        CAPTURE(name);
        SlowRun run(8, algorithm, jittered_job(30, 3));
        run.simulation.run();
        for (int rank = 0; rank < 8; ++rank) {
            const Use use = use_of(run, rank);
            CHECK(to_seconds(use.network) <= 0.25 * to_seconds(use.stragglers));
        }
    }
}

TEST_CASE("time use: waits are the same with and without values") {
    for (const Named& algorithm : algorithms()) {
        CAPTURE(algorithm.name);
        Job trained = training_job(small_layout(), 9);
        trained.compute_time = jittered_job(9, 5).compute_time;
        trained.seed = 5;
        SlowRun with(5, algorithm, std::move(trained));
        with.simulation.run();
        SlowRun without(5, algorithm, jittered_job(9, 5));
        without.simulation.run();
        for (int rank = 0; rank < 5; ++rank)
            CHECK(use_of(with, rank).stragglers == use_of(without, rank).stragglers);
        CHECK(with.cluster.metrics().staleness() == without.cluster.metrics().staleness());
        CHECK(with.cluster.metrics().participation() == without.cluster.metrics().participation());
    }
}

TEST_CASE("time use: runs that are dropped half-way leave nothing behind") {
    for (const Named& algorithm : algorithms()) {
        CAPTURE(algorithm.name);
        SlowRun run(5, algorithm, jittered_job(50, 1));
        run.simulation.run(Time{17ms});
        CHECK_FALSE(run.processes.finished());
    }
}

std::optional<double> staleness_of(int nodes, const Named& algorithm, std::int64_t steps) {
    SlowRun run(nodes, algorithm, timing_job(small_layout(), steps));
    run.simulation.run();
    return run.cluster.metrics().staleness();
}

TEST_CASE("staleness: with equal workers and one server, each push finds one push of every other") {
    for (const Named& algorithm : algorithms()) {
        if (!algorithm.serve || std::string(algorithm.name) == "fedavg") continue;
        CAPTURE(algorithm.name);
        for (const int n : {1, 2, 5, 8}) {
            constexpr int steps = 100;
            // First pushes find 0, 1, ..., n-1 pushes of others, and all later ones n-1.
            const double pushes = n * steps;
            const double met = 0.5 * n * (n - 1) + (pushes - n) * (n - 1);
            CHECK(staleness_of(n, algorithm, steps).value() == Approx(met / pushes).epsilon(1e-12));
        }
    }
}

TEST_CASE("staleness: a delayed average is a block old") {
    for (const Named& algorithm : algorithms()) {
        const std::string name = algorithm.name;
        if (name != "overlap-local" && name != "cocod") continue;
        CAPTURE(name);
        CHECK(staleness_of(4, algorithm, 12) == 3);
    }
}

TEST_CASE("staleness: methods that wait for what they use have none") {
    for (const Named& algorithm : algorithms()) {
        const std::string name = algorithm.name;
        if (name == "dense" || name == "dsgd" || name == "fedavg")
            CHECK_FALSE(staleness_of(4, algorithm, 6).has_value());
    }
}

TEST_CASE("participation: FedAvg has the share of clients that are drawn, and others have none") {
    for (const Named& algorithm : algorithms()) {
        CAPTURE(algorithm.name);
        SlowRun run(8, algorithm, timing_job(small_layout(), 6));
        run.simulation.run();
        const std::optional<double> expected =
            std::string(algorithm.name) == "fedavg" ? std::optional(0.5) : std::nullopt;
        CHECK(run.cluster.metrics().participation() == expected);
    }
}

// --- coding beside the rounds of several streams ---

struct Span {
    Time begin;
    Time end = never;
};

struct Entered {
    int host;
    Span span;
};

// What the workers report: computations by host, and rounds by stream.
struct Timeline {
    explicit Timeline(std::optional<TrainingRun>& run) : run_(run) {
        observer.computing_begins = [this](int host, Work) {
            busy.push_back({host, {now()}});
            return std::uint64_t{busy.size()};
        };
        observer.computing_ends = [this](std::uint64_t token) { busy[token - 1].span.end = now(); };
        observer.round_begins = [this](int host, const RoundPart& round) {
            rounds.emplace_back(round.stream, Entered{host, {now()}});
            return std::uint64_t{rounds.size()};
        };
        observer.round_ends = [this](std::uint64_t token) {
            rounds[token - 1].second.span.end = now();
        };
        observer.waited = [this](int host, WaitFor, Time from, Time until) {
            waits.push_back({host, {from, until}});
        };
    }
    [[nodiscard]] Time now() const { return run_->simulation.now(); }

    WorkerObserver observer;
    std::deque<Entered> busy;
    std::deque<std::pair<Stream, Entered>> rounds;
    std::deque<Entered> waits;

  private:
    std::optional<TrainingRun>& run_;
};

bool covers(const Span& span, Time begin, Time end) {
    return span.begin <= begin && end <= span.end;
}

// The waits for stragglers of a host, by the definition: instant by instant between all events.
Duration waited_by_definition(const Timeline& seen, int host, std::size_t members) {
    std::vector<Span> waits;
    for (const auto& [stream, part] : seen.rounds) {
        if (part.host != host) continue;
        std::vector<Time> entries;
        for (const auto& [other, of_other] : seen.rounds)
            if (other == stream && of_other.span.begin <= part.span.end)
                entries.push_back(of_other.span.begin);
        const Time last = *std::ranges::max_element(entries);
        waits.push_back({part.span.begin, entries.size() == members ? last : part.span.end});
    }
    std::set<Time> events;
    for (const Span& wait : waits) events.insert({wait.begin, wait.end});
    for (const Entered& one : seen.busy) events.insert({one.span.begin, one.span.end});
    Duration sum{};
    for (auto at = events.begin(); at != events.end() && std::next(at) != events.end(); ++at) {
        const Time begin = *at;
        const Time end = *std::next(at);
        const bool idle = std::ranges::none_of(seen.busy, [&](const Entered& one) {
            return one.host == host && covers(one.span, begin, end);
        });
        const bool waits_now =
            std::ranges::any_of(waits, [&](const Span& one) { return covers(one, begin, end); });
        if (idle && waits_now) sum += end - begin;
    }
    return sum;
}

struct Doings {
    std::vector<Duration> coding_at, coding;         // several may queue on the device
    std::vector<std::vector<Duration>> round_after;  // by stream, after the round before
};

Task<> code_at(Worker& self, Duration at, Duration takes) {
    co_await self.simulation().sleep(at);
    co_await self.compute(takes);
}

Task<> hand_in(Rank rank, Bytes block) {
    if (rank.place() > 0) co_await rank.send(0, block);
    for (int from = 1; rank.place() == 0 && from < rank.size(); ++from) co_await rank.receive(from);
}

// Odd rounds are reductions to the first worker, which others leave before all have entered.
Task<> carry_rounds(Worker& self, int stream, std::vector<Duration> after) {
    const GroupPtr group = self.group(self.everybody()->members, stream);
    for (std::size_t i = 0; i < after.size(); ++i) {
        co_await self.simulation().sleep(after[i]);
        Vector mine(self.model().layout());
        if (i % 2 == 0)
            co_await self.all_reduce(std::move(mine), AllReduce::ring, 3'000_B, group);
        else
            co_await self.reduce_to_first(
                std::move(mine), [](const Rank& rank) { return hand_in(rank, 2'000_B); },
                [](const Round<Vector>& round) { return round.of(0); }, group);
    }
}

Task<> do_all(Worker& self, Doings doings) {
    std::vector<Pending<>> pending;
    for (std::size_t i = 0; i < doings.coding.size(); ++i)
        pending.push_back(self.start(code_at(self, doings.coding_at[i], doings.coding[i])));
    for (std::size_t s = 0; s < doings.round_after.size(); ++s)
        pending.push_back(
            self.start(carry_rounds(self, static_cast<int>(s), doings.round_after[s])));
    for (Pending<>& one : pending) co_await std::move(one);
}

TEST_CASE("time use, property: coding beside rounds of other streams leaves accounts that add up") {
    for (unsigned seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::uniform_int_distribution<std::int64_t> when(0, 2'000'000'000);
        std::uniform_int_distribution<std::int64_t> length(0, 300'000'000);
        const int workers = 2 + static_cast<int>(seed % 3);
        const std::size_t streams = 1 + seed % 2;
        std::optional<TrainingRun> run;
        Timeline seen(run);
        Job job = timing_job(small_layout(), 1);
        job.observer = &seen.observer;
        run.emplace(workers, link, std::move(job));
        for (int rank = 0; rank < workers; ++rank) {
            Doings doings;
            for (int i = 0; i < 6; ++i) {
                doings.coding_at.emplace_back(when(random));
                doings.coding.emplace_back(length(random));
            }
            doings.round_after.resize(streams);
            for (std::vector<Duration>& after : doings.round_after)
                for (int i = 0; i < 4; ++i) after.emplace_back(when(random) / 3);
            run->spawn(rank, do_all(run->cluster.worker(rank), doings));
        }
        run->simulation.run();
        REQUIRE(run->processes.finished());

        for (int rank = 0; rank < workers; ++rank) {
            CAPTURE(rank);
            const Use use = use_of(*run, rank);
            CHECK(use.stragglers ==
                  waited_by_definition(seen, rank, static_cast<std::size_t>(workers)));
            CHECK(use.computed + use.stragglers + use.network == run->elapsed());
            Duration reported{};
            for (const Entered& wait : seen.waits)
                if (wait.host == rank) reported += wait.span.end - wait.span.begin;
            CHECK(reported == use.stragglers);
        }
        CHECK(run->cluster.held().accounts == 0);
    }
}

// Worker 0 still codes after its last step; worker 1 computes longer.
Task<> code_after_steps(Worker& self) {
    while (self.begins_step()) co_await self.compute(1ms);
    co_await self.simulation().sleep(500us);
    if (self.rank() == 0) co_await self.compute(2ms);
    if (self.rank() == 1) co_await self.compute(9ms);
}

TEST_CASE("time use: what a worker computes after its last step is no wait for stragglers") {
    TrainingRun run(2, link, timing_job(small_layout(), 1));
    run.spawn_all(code_after_steps);
    run.simulation.run();

    REQUIRE(run.elapsed() == 10'500us);
    const Use first = use_of(run, 0);
    CHECK(first.computed == 3ms);
    CHECK(first.stragglers == 7ms);  // from 3.5 ms on
    CHECK(first.network == 500us);
    const Use second = use_of(run, 1);
    CHECK(second.computed == 10ms);
    CHECK(second.stragglers == 0ms);
}

}  // namespace
}  // namespace paceline::time_use_test
