#include "algorithms/runtime/backward.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/compute/slow_nodes.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::backward_test {
namespace {

using namespace std::chrono_literals;

const Link link{Bandwidth{1'000'000'000}, 5us};

Duration now_of(const Worker& self) {
    return self.simulation().now().time_since_epoch();
}

/// Tensors of random sizes and work, each a bucket of its own.
Job random_job(std::mt19937& random, bool trains) {
    std::uniform_int_distribution<std::int64_t> entries(1, 9);
    std::uniform_real_distribution<double> macs(0, 1);
    std::vector<Tensor> tensors;
    std::vector<double> work;
    const auto count = std::uniform_int_distribution<int>(1, 8)(random);
    for (int i = 0; i < count; ++i) {
        tensors.push_back({std::to_string(i), {entries(random)}});
        work.push_back(macs(random) < 0.2 ? 0 : macs(random));
    }
    const LayoutPtr layout = make_layout(tensors);
    Job job = trains ? training_job(layout, 1) : timing_job(layout, 1);
    const Duration step(std::uniform_int_distribution<std::int64_t>(1, 3'000'000'000)(random));
    job.timing = make_step_timing(step, *layout, work, 1);
    return job;
}

struct Request {
    Duration at;
    Duration takes;
};

struct Plan {
    std::vector<Duration> coding;   // of each bucket, requested when it is complete
    std::vector<Request> requests;  // others
};

struct Ends {
    std::vector<Duration> buckets;
    std::vector<Duration> coding;
};

Task<> code_bucket(Worker& self, const Backward& backward, std::size_t i, Duration coding,
                   Ends& ends) {
    co_await backward.completed(i);
    ends.buckets[i] = now_of(self);
    co_await self.compute(coding);
    ends.coding[i] = now_of(self);
}

Task<> compute_at(Worker& self, Request request) {
    co_await self.simulation().sleep(request.at);
    co_await self.compute(request.takes);
}

Task<> code_beside_backward(Worker& self, Plan plan, Ends& ends) {
    Backward backward = self.backward(self.model());
    std::vector<Pending<>> pending;
    for (std::size_t i = 0; i < backward.buckets(); ++i)
        pending.push_back(self.start(code_bucket(self, backward, i, plan.coding[i], ends)));
    for (const Request& request : plan.requests)
        pending.push_back(self.start(compute_at(self, request)));
    for (Pending<>& one : pending) co_await std::move(one);
}

// A queue with one server, first-in first-out: the segments of backward, the coding of each bucket,
// which is requested before the next segment, and the other requests, at times of their own.
Ends expected_ends(const StepTiming& timing, const Plan& plan) {
    const std::size_t buckets = timing.buckets.size();
    Ends ends{std::vector<Duration>(buckets), std::vector<Duration>(buckets)};
    struct Entry {
        Duration at;
        Duration takes;
        int kind;  // 0: other; 1: coding; 2: segment
        std::size_t bucket;
    };
    std::vector<Entry> waiting;
    for (const Request& request : plan.requests)
        waiting.push_back({request.at, request.takes, 0, 0});
    waiting.push_back({0us, timing.buckets[0].ready, 2, 0});
    Duration free{};
    while (!waiting.empty()) {
        const auto next = std::ranges::min_element(waiting, [](const Entry& a, const Entry& b) {
            return a.at != b.at ? a.at < b.at : a.kind < b.kind;
        });
        const Entry entry = *next;
        waiting.erase(next);
        free = std::max(free, entry.at) + entry.takes;
        if (entry.kind == 1) ends.coding[entry.bucket] = free;
        if (entry.kind != 2) continue;
        const std::size_t i = entry.bucket;
        ends.buckets[i] = free;
        waiting.push_back({free, plan.coding[i], 1, i});
        if (i + 1 < buckets)
            waiting.push_back(
                {free, timing.buckets[i + 1].ready - timing.buckets[i].ready, 2, i + 1});
    }
    return ends;
}

TEST_CASE("backward, property: segments and coding queue on the device, coding of a bucket first") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Job job = random_job(random, false);
        const StepTiming timing = job.timing;
        std::uniform_int_distribution<std::int64_t> part(1, timing.step.count() / 3 + 1);
        Plan plan;
        for (std::size_t i = 0; i < timing.buckets.size(); ++i)
            plan.coding.emplace_back(seed % 4 == 0 ? 0 : part(random));
        for (unsigned i = 0; i < seed % 6; ++i)
            plan.requests.push_back({Duration(part(random) * 3 + 1), Duration(part(random))});
        TrainingRun run(1, link, std::move(job));
        Ends ends{std::vector<Duration>(timing.buckets.size()),
                  std::vector<Duration>(timing.buckets.size())};
        run.spawn(0, code_beside_backward(run.cluster.worker(0), plan, ends));

        run.simulation.run();

        REQUIRE(run.processes.finished());
        const Ends expected = expected_ends(timing, plan);
        CHECK(ends.buckets == expected.buckets);
        CHECK(ends.coding == expected.coding);
        Duration work = timing.step;
        for (const Duration coding : plan.coding) work += coding;
        for (const Request& request : plan.requests) work += request.takes;
        CHECK(run.cluster.time_use(0).computed() == work);
        CHECK(run.cluster.state(0).compute_time == work);
        CHECK(run.cluster.state(0).gradients == 1);
    }
}

// --- into forward ---

struct Arrivals {
    Simulation& simulation;
    std::vector<Duration> at;  // by bucket
    std::vector<std::size_t> asked{};
};

Task<> sleep_until(Simulation& simulation, Duration at) {
    const Duration wait = at - simulation.now().time_since_epoch();
    if (wait > 0us) co_await simulation.sleep(wait);
}

Task<> go_into_forward(Worker& self, Arrivals& arrivals, Ends& ends) {
    Backward backward = self.forward_and_backward(self.model(), [&arrivals](std::size_t bucket) {
        arrivals.asked.push_back(bucket);
        return sleep_until(arrivals.simulation, arrivals.at[bucket]);
    });
    for (std::size_t i = 0; i < backward.buckets(); ++i) {
        co_await backward.completed(i);
        ends.buckets[i] = now_of(self);
    }
}

Ends run_into_forward(TrainingRun& run, std::vector<Duration> arrive) {
    const std::size_t buckets = arrive.size();
    Arrivals arrivals{run.simulation, std::move(arrive)};
    Ends ends{std::vector<Duration>(buckets), {}};
    run.spawn(0, go_into_forward(run.cluster.worker(0), arrivals, ends));
    run.simulation.run();
    REQUIRE(run.processes.finished());
    std::vector<std::size_t> reversed(buckets);
    for (std::size_t i = 0; i < buckets; ++i) reversed[i] = buckets - 1 - i;
    CHECK(arrivals.asked == reversed);
    return ends;
}

TEST_CASE("into forward, property: if nothing is waited for, buckets are complete as in backward") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Job job = random_job(random, false);
        const int gradients = 1 + static_cast<int>(seed % 3);
        job.timing = accumulated(job.timing, gradients);
        const StepTiming timing = job.timing;
        TrainingRun run(1, link, std::move(job));
        const Ends ends = run_into_forward(run, std::vector<Duration>(timing.buckets.size()));
        for (std::size_t i = 0; i < timing.buckets.size(); ++i)
            CHECK(std::abs((ends.buckets[i] - timing.buckets[i].ready).count()) <= 1);
        CHECK(run.elapsed() == timing.step);
        CHECK(run.cluster.time_use(0).computed() == timing.step);
    }
}

TEST_CASE("into forward, property: each bucket's layers wait for the bucket alone") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Job job = random_job(random, false);
        const Duration one = job.timing.step;
        const std::vector<Bucket> in_one = job.timing.buckets;
        const int gradients = 1 + static_cast<int>(seed % 3);
        job.timing = accumulated(job.timing, gradients);
        const std::size_t buckets = in_one.size();
        std::uniform_int_distribution<std::int64_t> when(0, one.count());
        std::vector<Duration> arrive;
        for (std::size_t b = 0; b < buckets; ++b) arrive.emplace_back(when(random));
        TrainingRun run(1, link, std::move(job));
        const Ends ends = run_into_forward(run, arrive);

        // s_b = max(e_(b+1), a_b), e_b = s_b + f_b, with f_b half of b's part of backward
        const Duration forward = one / 3;
        double end = 0;
        for (std::size_t b = buckets; b-- > 0;) {
            const Duration since = b == 0 ? forward : in_one[b - 1].ready;
            const auto part = static_cast<double>((in_one[b].ready - since).count());
            end = std::max(end, static_cast<double>(arrive[b].count())) + part / 2;
        }
        const double late = end - static_cast<double>(forward.count());
        for (std::size_t b = 0; b < buckets; ++b) {
            const Duration ready = multiple(gradients - 1, one) + in_one[b].ready;
            CHECK(std::abs(static_cast<double>((ends.buckets[b] - ready).count()) - late) <=
                  static_cast<double>(buckets) + 2);
        }
        CHECK(run.cluster.time_use(0).computed() == multiple(gradients, one));
        CHECK(run.cluster.state(0).compute_time == multiple(gradients, one));
    }
}

TEST_CASE("into forward: the first layers' bucket holds up everything, to the picosecond") {
    std::mt19937 random(7);
    Job job = random_job(random, false);
    const StepTiming timing = job.timing;
    std::vector<Duration> arrive(timing.buckets.size());
    arrive.back() = 5ms;
    TrainingRun run(1, link, std::move(job));
    run_into_forward(run, arrive);
    CHECK(run.elapsed() == 5ms + timing.step);
}

Task<> change_model_at(Worker& self, Duration at, double value) {
    co_await self.simulation().sleep(at);
    self.model().writable().setConstant(value);
}

Task<> gradient_of_late_model(Worker& self, Vector& gradient) {
    Arrivals arrivals{self.simulation(), {2ms, 1ms, 0ms}};
    Pending<> early = self.start(change_model_at(self, 1999us, 7));
    Pending<> late = self.start(change_model_at(self, 2400us, 9));
    Backward backward = self.forward_and_backward(self.model(), [&arrivals](std::size_t bucket) {
        return sleep_until(arrivals.simulation, arrivals.at[bucket]);
    });
    co_await backward.completed(0);
    gradient = backward.gradient();
    co_await backward.completed(2);
    co_await std::move(early);
    co_await std::move(late);
}

TEST_CASE("into forward: the gradient is that at the model at the end of the forward pass") {
    const LayoutPtr layout = make_layout({{"a", {2}}, {"b", {2}}, {"c", {2}}});
    Job job = training_job(layout, 1);
    job.timing = make_step_timing(900us, *layout, {1, 1, 1}, 1);  // forward: 100 us each
    TrainingRun run(1, link, std::move(job));
    Vector gradient(layout);
    run.spawn(0, gradient_of_late_model(run.cluster.worker(0), gradient));

    run.simulation.run();

    REQUIRE(run.processes.finished());
    const Eigen::VectorXd sevens = Eigen::VectorXd::Constant(6, 7);
    CHECK(gradient.values() == pull_to_own_target(sevens, 0, 0));
    CHECK(run.elapsed() == 2100us + 600us);
}

Task<> lose_all(Worker& self) {
    Backward backward = self.backward(self.model());
    co_await backward.completed(backward.buckets() - 1);
}

TEST_CASE(
    "backward: a gradient that is not finite ends the run when the first bucket is complete") {
    const LayoutPtr layout = make_layout({{"a", {2}}, {"b", {2}}});
    Job job = training_job(layout, 1);
    job.timing = make_step_timing(900us, *layout, {1, 1}, 1);
    job.objective = [](const Vector& x, int, std::int64_t) {
        return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), std::nan("")));
    };
    TrainingRun run(1, link, std::move(job));
    run.spawn_all(lose_all);
    CHECK_THROWS_AS(run.simulation.run(), Diverged);
    CHECK(run.elapsed() == 600us);
}

Task<> take_early(Worker& self) {
    const Backward backward = self.backward(self.model());
    CHECK_THROWS_AS(static_cast<void>(backward.gradient()), LogicError);
    CHECK_THROWS_AS(static_cast<void>(backward.completed(1)), LogicError);
    co_await backward.completed(0);
    CHECK(backward.gradient().layout() == self.model().layout());
}

TEST_CASE("backward: a gradient that is not complete and unknown buckets are refused") {
    TrainingRun run(1, link, timing_job(small_layout(), 1));
    run.spawn_all(take_early);
    run.simulation.run();
    CHECK(run.processes.finished());
}

TEST_CASE("backward: a slow worker takes longer in each segment") {
    std::mt19937 random(3);
    Job job = random_job(random, false);
    job.compute_time = make_compute_time({{always_slow(4, {.nodes = {0}})}, {}});
    const StepTiming timing = job.timing;
    TrainingRun run(1, link, std::move(job));
    Ends ends{std::vector<Duration>(timing.buckets.size()),
              std::vector<Duration>(timing.buckets.size())};
    const Plan plan{std::vector<Duration>(timing.buckets.size()), {}};
    run.spawn(0, code_beside_backward(run.cluster.worker(0), plan, ends));
    run.simulation.run();
    for (std::size_t i = 0; i < timing.buckets.size(); ++i)
        CHECK(ends.buckets[i] == 4 * timing.buckets[i].ready);
}

}  // namespace
}  // namespace paceline::backward_test
