// The loop of synchronous methods, whose mean gradient is formed at once in one frame, held against
// the same steps of separate operations.
#include "algorithms/exchange/synchronous_steps.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/messages/transfer.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::synchronous_steps_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

void descend(Worker& self, double gamma, const Vector& aggregate) {
    self.replicated_model() -= gamma * aggregate;
}

Task<> in_one_frame(Worker& self, const AllReducePlan& how) {
    return synchronous_steps(self, dense_exchange(how),
                             [&self](std::int64_t, double gamma, const Vector& aggregate) {
                                 descend(self, gamma, aggregate);
                             });
}

Task<> by_operations(Worker& self, const AllReducePlan& how) {
    while (self.begins_step()) {
        Vector g = co_await self.gradient(self.replicated_model());
        const Vector mean = co_await self.all_reduce(std::move(g), how);
        self.once(self.step(), [&] { descend(self, self.learning_rate(), mean); });
        co_await self.update();
    }
}

// What else happens at a time of its own: a message on the links of a collective, or a computation
// on the device of a worker.
struct Disturbance {
    Duration at;
    int from;
    int to;  // `from`: a computation
    Bytes size;
    Duration takes;
};

Task<> send_at(TrainingRun& run, Disturbance what) {
    co_await run.simulation.sleep(what.at);
    co_await Send(run.network, what.from, what.to, 7, what.size, Protocol::eager);
}

Task<> compute_at(Worker& self, Disturbance what) {
    co_await self.simulation().sleep(what.at);
    co_await self.compute(what.takes);
}

struct Case {
    int nodes = 2;
    Link link{1_Gbps, 5us};
    Job job;
    AllReducePlan how;
    std::vector<Disturbance> disturbances{};
};

using Begun = std::tuple<int, std::int64_t, Duration>;  // rank, step, when

struct Outcome {
    std::vector<Begun> steps;
    Duration end;
    Eigen::VectorXd model;
    std::vector<Duration> computed;  // by rank
    Bytes sent;
};

template <class Algorithm>
Outcome outcome_of(const Case& of, const Algorithm& algorithm) {
    Outcome seen;
    Job job = of.job;
    Simulation* clock = nullptr;
    job.after_steps = [&](int rank, std::int64_t k) {
        seen.steps.emplace_back(rank, k, clock->now().time_since_epoch());
    };
    TrainingRun run(of.nodes, of.link, std::move(job));
    clock = &run.simulation;
    run.spawn_all([&](Worker& self) { return algorithm(self, of.how); });
    for (const Disturbance& what : of.disturbances)
        run.processes.spawn("other", what.from == what.to
                                         ? compute_at(run.cluster.worker(what.from), what)
                                         : send_at(run, what));
    run.simulation.run();
    CHECK(run.processes.finished());
    seen.end = run.elapsed();
    seen.model = run.cluster.worker(0).replicated_model().values();
    for (int rank = 0; rank < of.nodes; ++rank)
        seen.computed.push_back(run.cluster.state(rank).compute_time);
    seen.sent = run.sent_by_all();
    return seen;
}

Case random_case(std::mt19937& random) {
    const auto draw = [&random](int from, int to) {
        return std::uniform_int_distribution<int>(from, to)(random);
    };
    Case drawn{.nodes = draw(1, 9), .job = training_job(small_layout(), draw(1, 4)), .how = {}};
    drawn.link = {Bandwidth{draw(1'000, 1'000'000)}, Duration{draw(0, 1) * draw(1, 20'000'000)}};
    constexpr AllReduce methods[] = {AllReduce::ring,           AllReduce::ring,
                                     AllReduce::ring,           AllReduce::recursive_doubling,
                                     AllReduce::pipelined_ring, AllReduce::halving_doubling,
                                     AllReduce::tree,           AllReduce::automatic,
                                     AllReduce::open_mpi};
    drawn.how = methods[draw(0, 8)];
    Library& library = drawn.job.library;
    if (draw(0, 3) == 0) library.start_up = Duration{draw(1, 100'000'000)};
    if (draw(0, 3) == 0) library.occupies = 0.01 * draw(1, 50);
    if (draw(0, 3) == 0) library.staging = Bandwidth{draw(1'000, 1'000'000)};
    if (draw(0, 3) == 0 && sums_in_series(drawn.how))
        library.sums = Bandwidth{draw(1'000, 1'000'000)};
    if (draw(0, 3) == 0) library.protocol = Protocol::eager;
    if (draw(0, 1) == 0) drawn.job.update = Duration{draw(1, 500'000'000)};
    if (draw(0, 1) == 0)
        drawn.job.compute_time = [](int rank, std::int64_t k, Time asked, Duration nominal) {
            return nominal + nominal * ((7 * rank + 5 * k) % 11) / 10 +
                   asked.time_since_epoch() % 1us;
        };
    if (drawn.nodes < 2) return drawn;
    for (int i = draw(0, 6); i > 0; --i) {
        const int from = draw(0, drawn.nodes - 1);
        const int to = draw(0, drawn.nodes - 1);
        drawn.disturbances.push_back({Duration{std::int64_t{10} * draw(0, 500'000'000)}, from, to,
                                      Bytes{draw(1, 500)}, Duration{draw(1, 900'000'000)}});
    }
    return drawn;
}

TEST_CASE(
    "synchronous steps, property: in one frame, they take the time of separate operations, "
    "whatever library, plan and disturbance") {
    int disturbed_rings = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Case drawn = random_case(random);
        disturbed_rings += drawn.how.method == AllReduce::ring && !drawn.disturbances.empty();

        const Outcome at_once = outcome_of(drawn, &in_one_frame);
        const Outcome apart = outcome_of(drawn, &by_operations);

        CHECK(at_once.steps == apart.steps);
        CHECK(at_once.end == apart.end);
        CHECK(at_once.computed == apart.computed);
        CHECK(at_once.sent == apart.sent);
        CHECK((at_once.model - apart.model).norm() < 1e-12);
    }
    CHECK(disturbed_rings > 40);
}

}  // namespace
}  // namespace paceline::synchronous_steps_test
