#include "analysis/measures/metrics.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/sparse/dgc.hpp"
#include "sim/messages/transfer.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::metrics_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link link{1_Gbps};

Task<> wait_for_message(Network& network, int to, int from) {
    co_await Receive(network, to, from, 0);
}

Task<> do_nothing_for_ever(Worker& self) {
    while (self.begins_step()) co_await self.compute(0us);
}

Task<> work(Worker& self, Duration span) {
    co_await self.compute(span);
}

Task<> stop_at(Simulation& simulation, Duration when) {
    co_await simulation.sleep(when);
    simulation.stop();
}

// Four nodes, 4000 bytes, a ring: 1 ms of computation and 48 us of communication per step.
struct DenseRun : TrainingRun {
    explicit DenseRun(int nodes, std::int64_t steps = 3)
        : TrainingRun(nodes, link, timing_job(make_layout({{"a", {1000}}}), steps)) {
        spawn_all([](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{}); });
    }
    Metrics finish(const RunFacts& facts, Time limit = never) {
        const RunEnd end = simulation.run(limit);
        return measure(simulation, network, cluster, end, processes.finished(), facts,
                       tally_of_run(simulation, network, cluster));
    }
};

Metrics measured(TrainingRun& run) {
    const RunEnd end = run.simulation.run();
    return measure(run.simulation, run.network, run.cluster, end, run.processes.finished(),
                   {step_of_tests, 32, 1280},
                   tally_of_run(run.simulation, run.network, run.cluster));
}

TEST_CASE("metrics: a finished run has all its figures") {
    DenseRun run(4);

    const Metrics m = run.finish({1ms, 32, 1280});

    CHECK(m.nodes == 4);
    CHECK(m.outcome == "finished");
    CHECK(m.outcome_details.empty());
    CHECK_FALSE(m.failed());
    CHECK(m.iterations == 3);
    CHECK(m.sim_time_s == Approx(3.144e-3));
    CHECK(m.step_time_s.value() == Approx(1.048e-3));
    CHECK(m.compute_s.value() == Approx(1e-3));
    CHECK(m.exposed_comm_s.value() == Approx(48e-6));
    CHECK(m.epochs.value() == Approx(3 * 4 * 32 / 1280.0));
    CHECK(m.samples_per_s.value() == Approx(4 * 32 / 1.048e-3));
    CHECK(m.epoch_time_s.value() == Approx(1.048e-3 * 1280 / (4 * 32)));
    CHECK(m.epoch_time_s.value() * m.epochs.value() == Approx(m.sim_time_s));
    CHECK(m.speedup.value() == Approx(4 / 1.048));
    CHECK(m.efficiency.value() == Approx(1 / 1.048));
    CHECK(m.events == run.simulation.events_fired());
}

TEST_CASE("metrics: bytes are counted at the nodes' links, per node and step") {
    DenseRun ring(4);
    DenseRun uneven(3);

    const Metrics m = ring.finish({1ms, {}, {}});
    const Metrics u = uneven.finish({1ms, {}, {}});

    CHECK(m.bytes_sent_per_node_per_step.value() == Approx(6000));
    CHECK(m.bytes_received_per_node_per_step.value() == Approx(6000));
    CHECK(u.bytes_sent_per_node_per_step.value() == Approx(2 * 2 * 4000 / 3.0));
    CHECK(u.bytes_received_per_node_per_step.value() == Approx(2 * 2 * 4000 / 3.0));
}

TEST_CASE("metrics: bytes are per machine, speedup and efficiency per device") {
    DenseRun alone(4);
    DenseRun on_two(4);

    const Metrics one_each = alone.finish({1ms, 32, 1280});
    const Metrics m = on_two.finish({1ms, 32, 1280, 2});

    CHECK(one_each.devices == 4);
    CHECK(m.nodes == 2);
    CHECK(m.devices == 4);
    CHECK(m.iterations == 3);
    CHECK(m.bytes_sent_per_node_per_step.value() == Approx(2 * 6000));
    CHECK(m.bytes_received_per_node_per_step.value() == Approx(2 * 6000));
    CHECK(m.speedup == one_each.speedup);
    CHECK(m.efficiency == one_each.efficiency);
    CHECK(m.compute_s == one_each.compute_s);
    CHECK(m.samples_per_s == one_each.samples_per_s);
    CHECK(m.epochs == one_each.epochs);
}

TEST_CASE("metrics: speedup is against one node, whatever its own step takes in the run") {
    DenseRun run(4);

    const Metrics m = run.finish({2ms, 32, 1280});

    CHECK(m.speedup.value() == Approx(8 / 1.048));
    CHECK(m.efficiency.value() == Approx(2 / 1.048));
}

TEST_CASE("metrics: speedup is the ratio of samples per second") {
    DenseRun run(4);

    const Metrics m = run.finish({1ms, 32, 1280});

    const double alone_samples_per_s = 32 / 1e-3;
    CHECK(m.speedup.value() == Approx(m.samples_per_s.value() / alone_samples_per_s));
}

TEST_CASE("metrics: one node alone has speedup 1 and exposes nothing") {
    DenseRun run(1);

    const Metrics m = run.finish({1ms, 32, 1280});

    CHECK(m.speedup.value() == Approx(1));
    CHECK(m.efficiency.value() == Approx(1));
    CHECK(m.exposed_comm_s.value() == Approx(0));
    CHECK(m.bytes_sent_per_node_per_step.value() == 0);
}

TEST_CASE("metrics: figures that need a batch or a data set are empty without one") {
    DenseRun nothing(2);
    DenseRun batch_only(2);

    const Metrics m = nothing.finish({1ms, {}, {}});
    const Metrics b = batch_only.finish({1ms, 32, {}});

    CHECK_FALSE(m.samples_per_s.has_value());
    CHECK_FALSE(m.epochs.has_value());
    CHECK(m.speedup.has_value());
    CHECK(b.samples_per_s.has_value());
    CHECK_FALSE(b.epochs.has_value());
}

TEST_CASE("metrics: selection is time of the device, not exposed communication") {
    DgcOptions options;
    options.selection = {Selection::exact, Duration{500}};
    const LayoutPtr layout = make_layout({{"a", {32, 32}}});
    TrainingRun run(1, link, timing_job(layout, 3));
    run.spawn_all([=](Worker& self) { return dgc(self, {sparse_exchange(options)}); });

    const Metrics m = measured(run);

    CHECK(m.compute_s.value() == Approx(1e-3 + 1024 * 10 * 500e-12));
    CHECK(m.exposed_comm_s.value() == Approx(0));
    CHECK(m.speedup.value() == Approx(1e-3 / (1e-3 + 5.12e-6)));
}

TEST_CASE("metrics: a run that meets its time limit counts the steps that were done") {
    DenseRun run(4, 1000);

    const Metrics m = run.finish({1ms, 32, 1280}, Time{10ms});

    CHECK(m.outcome == "time-limit");
    CHECK_FALSE(m.failed());
    CHECK(m.sim_time_s == Approx(10e-3));
    CHECK(m.iterations == 9);  // the tenth gradient would be done at 9 x 1.048 + 1 ms
    CHECK(m.step_time_s.value() == Approx(10e-3 / 9));
    CHECK(m.exposed_comm_s.value() == Approx(10e-3 / 9 - 1e-3));
}

TEST_CASE("metrics: a step that is cut short counts once its gradient is computed") {
    DenseRun run(4, 1000);

    const Metrics m = run.finish({1ms, 32, 1280}, Time{10'450us});

    CHECK(m.iterations == 10);
    CHECK(m.step_time_s.value() == Approx(1045e-6));
}

TEST_CASE("metrics: before the first gradient is computed there is no figure per step") {
    DenseRun run(4);

    const Metrics m = run.finish({1ms, 32, 1280}, Time{500us});

    CHECK(m.outcome == "time-limit");
    CHECK(m.iterations == 0);
    CHECK_FALSE(m.step_time_s.has_value());
    CHECK_FALSE(m.compute_s.has_value());
    CHECK_FALSE(m.exposed_comm_s.has_value());
    CHECK_FALSE(m.bytes_sent_per_node_per_step.has_value());
    CHECK_FALSE(m.samples_per_s.has_value());
    CHECK_FALSE(m.speedup.has_value());
    CHECK_FALSE(m.efficiency.has_value());
}

TEST_CASE("metrics: a run without steps finishes and has no figure per step") {
    DenseRun run(2, 0);

    const Metrics m = run.finish({1ms, 32, 1280});

    CHECK(m.outcome == "finished");
    CHECK(m.sim_time_s == 0);
    CHECK_FALSE(m.speedup.has_value());
}

TEST_CASE("metrics: a deadlock names who waits for what") {
    TrainingRun run(3, link, timing_job(small_layout(), 1));
    run.spawn(0, work(run.cluster.worker(0), 1us));
    run.spawn(1, wait_for_message(run.network, 1, 0));
    run.spawn(2, wait_for_message(run.network, 2, 1));

    const Metrics m = measured(run);

    CHECK(m.outcome == "deadlock");
    CHECK(m.failed());
    CHECK(m.outcome_details ==
          "node 1 waits for a message from node 0; node 2 waits for a message from node 1");
    CHECK(m.iterations == 0);
}

TEST_CASE("metrics: a deadlock of many names the first and counts the others") {
    TrainingRun run(9, link, timing_job(small_layout(), 1));
    run.spawn_all([&run](Worker& self) {
        return wait_for_message(run.network, self.rank(), (self.rank() + 1) % 9);
    });

    const Metrics m = measured(run);

    CHECK(m.outcome == "deadlock");
    CHECK(m.outcome_details.starts_with("node 0 waits for a message from node 1; node 1 waits"));
    CHECK(m.outcome_details.ends_with("; and 4 more"));
}

TEST_CASE("metrics: a worker that lets no time pass is named") {
    TrainingRun run(2, link, timing_job(small_layout(), 1'000'000'000));
    run.simulation.limit_resumptions(1000);
    run.spawn(0, work(run.cluster.worker(0), 1us));
    run.spawn(1, do_nothing_for_ever(run.cluster.worker(1)));

    const Metrics m = measured(run);

    CHECK(m.outcome == "spinning");
    CHECK(m.failed());
    CHECK(m.outcome_details == "node 1 does not let time pass");
}

TEST_CASE("metrics: work beyond the end of time is out of range") {
    TrainingRun run(1, link, timing_job(small_layout(), 1));
    run.spawn(0, work(run.cluster.worker(0), Duration::max()));

    const Metrics m = measured(run);

    CHECK(m.outcome == "out-of-range");
    CHECK(m.failed());
    CHECK_FALSE(m.outcome_details.empty());
}

TEST_CASE("metrics: a run that was stopped from outside has not finished") {
    DenseRun run(2);
    run.processes.spawn("outside", stop_at(run.simulation, 1500us));

    const Metrics m = run.finish({1ms, 32, 1280});

    CHECK(m.outcome != "finished");
    CHECK(m.outcome != "deadlock");
    CHECK(m.iterations == 1);
}

}  // namespace
}  // namespace paceline::metrics_test
