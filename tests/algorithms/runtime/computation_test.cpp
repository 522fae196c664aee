// The device as a resource: what a worker computes queues on it.
#include "algorithms/runtime/computation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/runtime/worker.hpp"
#include "algorithms/runtime/worker_observer.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::computation_test {
namespace {

using namespace std::chrono_literals;

const Link link{Bandwidth{1'000'000'000}, 5us};

struct Asked {
    Duration at;
    Duration takes;
};

struct Span {
    Duration begin;
    Duration end;
    bool operator==(const Span&) const = default;
};

Task<> compute_at(Worker& self, Asked asked) {
    co_await self.simulation().sleep(asked.at);
    co_await self.compute(asked.takes);
}

Task<> compute_all(Worker& self, std::vector<Asked> requests) {
    std::vector<Pending<>> pending;
    for (const Asked& asked : requests) pending.push_back(self.start(compute_at(self, asked)));
    for (Pending<>& one : pending) co_await std::move(one);
}

// Records the computations of host 0 in the order in which they begin.
struct Spans {
    explicit Spans(std::optional<TrainingRun>& run) {
        observer.computing_begins = [this, &run](int host, Work) {
            if (host != 0) return std::uint64_t{0};
            seen.push_back({run->elapsed(), {}});
            return std::uint64_t{seen.size()};
        };
        observer.computing_ends = [this, &run](std::uint64_t token) {
            if (token > 0) seen[token - 1].end = run->elapsed();
        };
    }
    WorkerObserver observer;
    std::vector<Span> seen;
};

TEST_CASE(
    "computation, property: a device computes one thing at a time, in the order of requests") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::uniform_int_distribution<int> times(0, 2000);
        std::uniform_int_distribution<int> lengths(0, 300);
        std::vector<Asked> requests;
        for (int i = 0; i < 20; ++i)
            requests.push_back({times(random) * 1us, lengths(random) * 1us});

        std::optional<TrainingRun> run;
        Spans spans(run);
        Job job = timing_job(small_layout(), 1);
        job.observer = &spans.observer;
        run.emplace(2, link, std::move(job));
        run->spawn(0, compute_all(run->cluster.worker(0), requests));
        run->spawn(1, compute_all(run->cluster.worker(1), {{0us, 5000us}}));  // another device
        run->simulation.run();

        // Lindley: a request begins when its predecessor has ended, or at once.
        std::ranges::stable_sort(requests, {}, &Asked::at);
        std::vector<Span> expected;
        Duration free{};
        Duration sum{};
        for (const Asked& asked : requests) {
            const Duration begin = std::max(free, asked.at);
            free = begin + asked.takes;
            sum += asked.takes;
            expected.push_back({begin, free});
        }
        CHECK(spans.seen == expected);
        CHECK(run->cluster.state(0).compute_time == sum);
        CHECK(run->cluster.time_use(0).computed() == sum);
    }
}

Task<> gradient_beside_coding(Worker& self, std::vector<double>& order) {
    Pending<> coding = self.start(self.compute(3ms, [&order] { order.push_back(1); }));
    const Vector g = co_await self.gradient(self.model());
    order.push_back(2);
    co_await std::move(coding);
    CHECK(self.simulation().now().time_since_epoch() == 4ms);
    CHECK(g.has_values());
}

TEST_CASE("computation: a gradient queues behind the coding that was asked for before it") {
    TrainingRun run(1, link, training_job(small_layout(), 1));
    std::vector<double> order;
    run.spawn(0, gradient_beside_coding(run.cluster.worker(0), order));

    run.simulation.run();

    REQUIRE(run.processes.finished());
    CHECK(order == std::vector<double>{1, 2});
    CHECK(run.elapsed() == 4ms);
}

Task<> code_twice_in_step_one(Worker& self, std::vector<Duration>& ends) {
    while (self.begins_step()) {
        Pending<> first = self.start(self.compute(100us));
        Pending<> second = self.start(self.compute(200us));
        co_await std::move(first);
        ends.push_back(self.simulation().now().time_since_epoch());
        co_await std::move(second);
        ends.push_back(self.simulation().now().time_since_epoch());
    }
}

TEST_CASE("computation: a checkpoint occupies the device, and is written once") {
    Job job = training_job(small_layout(), 2);
    job.failures = Failures{.next_absence = [](int, Time) { return std::optional<Absence>{}; },
                            .on_death = OnDeath::restart,
                            .checkpoints = Checkpoints{.every = 0us, .write = 2ms, .read = 0us}};
    TrainingRun run(1, link, std::move(job));
    std::vector<Duration> ends;
    run.spawn(0, code_twice_in_step_one(run.cluster.worker(0), ends));

    run.simulation.run();

    CHECK(ends == std::vector<Duration>{100us, 300us, 2400us, 2600us});
    CHECK(run.cluster.time_use(0).writing() == 2ms);
    CHECK(run.cluster.time_use(0).computed() == 600us);
}

TEST_CASE("computation: a worker that dies leaves its device free") {
    TrainingRun run(1, link, timing_job(small_layout(), 1));
    auto life = std::make_unique<Processes>(run.simulation);
    life->spawn("first life", compute_all(run.cluster.worker(0), {{0us, 10ms}, {1us, 10ms}}));
    run.simulation.run(Time{} + 5ms);
    life.reset();

    auto next = std::make_unique<Processes>(run.simulation);
    next->spawn("second life", compute_all(run.cluster.worker(0), {{0us, 3ms}}));
    run.simulation.run();

    CHECK(next->finished());
    CHECK(run.elapsed() == 8ms);
    CHECK(run.cluster.time_use(0).computed() == 8ms);
}

}  // namespace
}  // namespace paceline::computation_test
