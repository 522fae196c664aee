// The 1-bit methods whose compressed momenta arrive during the next forward pass.
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/adaptive/one_bit_adam.hpp"
#include "algorithms/adaptive/one_bit_lamb.hpp"
#include "algorithms/compression/eight_bit.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/aggregation_forms.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::one_bit_into_forward_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr AdamRule rule{0.9, 0.99, 1e-4, 0.01, false};
constexpr std::int64_t freeze_step = 4;

using Algorithm = std::function<Task<>(Worker&)>;

Algorithm adam(const ExchangeOptions& exchange) {
    return [=](Worker& w) {
        return one_bit_adam(w, {.exchange = exchange, .rule = rule, .freeze_step = freeze_step});
    };
}

Algorithm lamb(const ExchangeOptions& exchange) {
    return [=](Worker& w) {
        return one_bit_lamb(
            w, {.exchange = exchange, .rule = {.adam = rule}, .freeze_step = freeze_step});
    };
}

// 1 to 6 tensors, whose values and times differ.
Job random_job(std::mt19937_64& rng, std::int64_t steps) {
    std::vector<Tensor> tensors;
    std::vector<double> macs;
    for (std::uint64_t i = 0, count = 1 + rng() % 6; i < count; ++i) {
        tensors.push_back({std::to_string(i), {3, static_cast<std::int64_t>(1 + rng() % 40)}});
        macs.push_back(static_cast<double>(1 + rng() % 100));
    }
    const LayoutPtr layout = make_layout(std::move(tensors));
    Job job = training_job(layout, steps);
    job.learning_rate = adaptive_rate;
    job.update = Duration(1us) * static_cast<std::int64_t>(rng() % 50);
    job.timing = make_step_timing(step_of_tests, *layout, macs, 1);
    return job;
}

struct Trained {
    Eigen::VectorXd model;
    Duration time;
};

Trained trained(int n, const Job& job, const Algorithm& algorithm, bool by_events = false) {
    Simulation simulation;
    Network network(simulation, make_star(n, adaptive_link, adaptive_link),
                    {.by_events = by_events});
    Cluster cluster(network, job);
    Processes processes{simulation};
    for (int rank = 0; rank < n; ++rank) processes.spawn("worker", algorithm(cluster.worker(rank)));
    simulation.run();
    REQUIRE(processes.finished());
    return {cluster.worker(0).current_model().values(), simulation.now().time_since_epoch()};
}

TEST_CASE("1-bit methods, property: into forward they train as beside backward, in every bit") {
    int sooner = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = 1 + static_cast<int>(rng() % 5);
        ExchangeOptions exchange = one_bit_exchange(rng() % 2 == 0, {Duration{90}});
        if (rng() % 3 == 0) exchange.codec = {make_eight_bit(), true, {Duration{90}}, {}};
        const auto algorithm = rng() % 2 == 0 ? &adam : &lamb;
        exchange.schedule = {.whole = false,
                             .begin = Begin::beside_backward,
                             .order = rng() % 2 == 0 ? Order::priority : Order::fifo,
                             .streams = 1 + static_cast<int>(rng() % 3)};
        const Job job = random_job(rng, freeze_step + static_cast<std::int64_t>(rng() % 9));

        const Trained beside = trained(n, job, algorithm(exchange));
        exchange.schedule.begin = Begin::into_forward;
        const Trained into = trained(n, job, algorithm(exchange));

        REQUIRE((into.model.array() == beside.model.array()).all());
        REQUIRE(trained(n, job, algorithm(exchange), true).time == into.time);
        sooner += into.time < beside.time ? 1 : 0;
    }
    CHECK(sooner > 3);
}

TEST_CASE("1-bit Adam: in partitions, too, it trains into forward as beside backward") {
    ExchangeOptions exchange{{make_eight_bit(), true, {}, {}}, {}, {}};
    exchange.aggregation.kind = Aggregation::two_phase;
    exchange.schedule = {.whole = false,
                         .begin = Begin::beside_backward,
                         .order = Order::priority,
                         .partition = 60_B};
    std::mt19937_64 rng(7);
    const Job job = random_job(rng, 15);
    const Trained beside = trained(4, job, adam(exchange));
    exchange.schedule.begin = Begin::into_forward;

    CHECK(trained(4, job, adam(exchange)).model == beside.model);
}

// Three tensors, a first, with T/9 of forward and 2T/9 of backward each, exchanged by priority in
// X_a, X_b and X_c. c begins at B and travels alone while backward completes b and a. Then a goes
// first, and b travels while a's forward pass takes T/9:
//
//   c begins at       B after forward has ended
//   a arrives at      B + X_c + X_a
//   b arrives X_b sooner, where X_b > T/9, and its forward pass and that of c follow
//
// so that forward ends again B + X_a + X_b + X_c + 2T/9 after it has ended. Beside backward it is
// T/9 more. Messages that are coded before they travel begin as soon as c is complete, B = 2T/9.
// Buffers of signs are coded when they travel, behind the segment of b that backward has begun, B =
// 4T/9. Coding takes no time here.
struct ThreeTensors {
    static constexpr int n = 4;
    static constexpr Duration step = 900us;
    static constexpr Duration ninth = step / 9;
    LayoutPtr layout = make_layout({{"a", {n, 50'000}}, {"b", {n, 100'000}}, {"c", {n, 400'000}}});
    ExchangeOptions exchange;
    Duration begin;  // B

    explicit ThreeTensors(bool signs)
        : exchange(one_bit_exchange(false, {Duration{0}})), begin(4 * ninth) {
        exchange.schedule = {
            .whole = false, .begin = Begin::into_forward, .order = Order::priority};
        if (signs) return;
        exchange.codec = {make_eight_bit(), true, {Duration{0}}, {}};
        exchange.aggregation.kind = Aggregation::all_gather;
        begin = 2 * ninth;
    }
    [[nodiscard]] Job job(std::int64_t steps) const {
        Job job{Vector(layout)};
        job.timing = make_step_timing(step, *layout, {1, 1, 1}, 1);
        job.takes_step = [steps](std::int64_t k) { return k < steps; };
        return job;
    }
    [[nodiscard]] Duration time_of(std::int64_t steps) const {
        TrainingRun run(n, adaptive_link, job(steps));
        run.spawn_all(adam(exchange));
        run.simulation.run();
        return run.elapsed();
    }
    [[nodiscard]] Duration travel(std::size_t tensor) const {
        const StepModelInput in = on_star(n, idle_star(adaptive_link), step, layout);
        const Layout part = *part_of(*layout, layout->offset(tensor), layout->offset(tensor + 1));
        return total_time(*piece_form(exchange, part, 0, in));
    }
};

TEST_CASE("1-bit Adam: into forward by priority, the first layer's forward pass hides a message") {
    for (const bool signs : {true, false}) {
        CAPTURE(signs);
        ThreeTensors at(signs);
        constexpr Duration ninth = ThreeTensors::ninth;
        const Duration travels = at.travel(0) + at.travel(1) + at.travel(2);
        REQUIRE(at.travel(2) > 4 * ninth);
        REQUIRE(at.travel(1) > ninth);

        const Duration warm_up = at.time_of(freeze_step);
        const Bytes gradient = fp32.weigh(at.layout->entries());
        CHECK(warm_up == freeze_step * (ThreeTensors::step +
                                        *all_reduce_time(AllReduce::ring, ThreeTensors::n, gradient,
                                                         idle_network(adaptive_link))));
        // The first forward pass waits for nothing. The last step's pieces arrive behind it.
        for (const std::int64_t steps : {1, 2, 5})
            CHECK(at.time_of(freeze_step + steps) ==
                  warm_up + 3 * ninth + (steps - 1) * (at.begin + travels + 2 * ninth) + at.begin +
                      travels);

        at.exchange.schedule.begin = Begin::beside_backward;
        CHECK(at.time_of(freeze_step + 3) == warm_up + 3 * (3 * ninth + at.begin + travels));
    }
}

}  // namespace
}  // namespace paceline::one_bit_into_forward_test
