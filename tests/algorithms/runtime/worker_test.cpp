// What a single worker does: steps, state, computation, random streams.
#include "algorithms/runtime/worker.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/runtime/backward.hpp"
#include "sim/engine/check.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::worker_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};  // 10 us from host to host

struct Seen {
    Duration at;
    Vector value;
};

Duration now_of(const Worker& self) {
    return self.simulation().now().time_since_epoch();
}

Task<> note_gradients(Worker& self, std::vector<Seen>& seen) {
    while (self.begins_step()) {
        Vector g = co_await self.gradient(self.model());
        seen.push_back({now_of(self), std::move(g)});
    }
}

Task<> change_model_meanwhile(Worker& self, std::vector<Seen>& seen) {
    Vector& x = self.model();
    Pending<Vector> gradient = self.start(self.gradient(x));
    co_await self.simulation().sleep(100us);
    x.writable().setConstant(1000);
    Vector g = co_await std::move(gradient);
    seen.push_back({now_of(self), std::move(g)});
}

Task<> change_model_before_awaiting(Worker& self, std::vector<Seen>& seen) {
    Vector& x = self.model();
    Task<Vector> gradient = self.gradient(x);
    x *= 1000;
    Vector g = co_await std::move(gradient);
    seen.push_back({now_of(self), std::move(g)});
}

Task<> note_buckets(Worker& self, std::vector<Seen>& seen) {
    while (self.begins_step()) {
        Vector x = 2 * self.model();
        Backward backward = self.backward(x);
        x *= -3;
        for (std::size_t i = 0; i < backward.buckets(); ++i) {
            co_await backward.completed(i);
            Vector part = part_of(backward.gradient(), backward.offset(i), backward.layout(i));
            seen.push_back({now_of(self), std::move(part)});
        }
    }
}

Task<> take_all_steps(Worker& self, Duration each, std::vector<std::int64_t>& steps) {
    while (self.begins_step()) {
        steps.push_back(self.step());
        co_await self.compute(each);
    }
}

Task<> note_epochs(Worker& self, std::vector<double>& epochs, std::vector<double>& rates) {
    while (self.begins_step()) {
        epochs.push_back(self.epoch());
        rates.push_back(self.learning_rate());
        co_await self.compute(1us);
    }
}

struct Update {
    std::int64_t k;
    int rank;
    bool operator==(const Update&) const = default;
};

Task<> update_after(Worker& self, std::vector<Duration> waits, std::vector<Update>& updates) {
    for (std::size_t i = 0; i < waits.size(); ++i) {
        co_await self.compute(waits[i]);
        const auto k = static_cast<std::int64_t>(i);
        self.once(k, [&] { updates.push_back({k, self.rank()}); });
    }
}

LayoutPtr three_layers() {
    return make_layout({{"front", {4, 5}}, {"middle", {3}}, {"back", {2, 5}}});
}

Job bucket_job(Job job) {
    job.timing = make_step_timing(300us, *job.start.layout(), {1, 1, 2}, 1);
    return job;
}

TEST_CASE("worker: a gradient takes the time of a step and equals the objective's at x") {
    const LayoutPtr layout = small_layout();
    TrainingRun run(2, link, training_job(layout, 1));
    std::vector<Seen> seen;
    run.spawn(1, note_gradients(run.cluster.worker(1), seen));

    run.simulation.run();

    REQUIRE(seen.size() == 1);
    CHECK(seen[0].at == 1ms);
    CHECK(seen[0].value.layout() == layout);
    CHECK(seen[0].value.values() == pull_to_own_target(Eigen::VectorXd::Ones(26), 1, 0));
}

TEST_CASE("worker: its k-th gradient is that of its k-th step") {
    TrainingRun run(2, link, training_job(small_layout(), 3));
    std::vector<Seen> seen;
    run.spawn(1, note_gradients(run.cluster.worker(1), seen));

    run.simulation.run();

    REQUIRE(seen.size() == 3);
    CHECK(seen[2].at == 3ms);
    CHECK(seen[1].value.values() == pull_to_own_target(Eigen::VectorXd::Ones(26), 1, 1));
    CHECK(seen[2].value.values() == pull_to_own_target(Eigen::VectorXd::Ones(26), 1, 2));
}

TEST_CASE("worker: changing x while a gradient is computed does not change the gradient") {
    TrainingRun run(1, link, training_job(small_layout(), 1));
    std::vector<Seen> seen;
    run.spawn(0, change_model_meanwhile(run.cluster.worker(0), seen));

    run.simulation.run();

    REQUIRE(seen.size() == 1);
    CHECK(seen[0].at == 1ms);
    CHECK(seen[0].value.values() == pull_to_own_target(Eigen::VectorXd::Ones(26), 0, 0));
    CHECK(run.model_of(0) == Eigen::VectorXd::Constant(26, 1000));
}

TEST_CASE("worker: a gradient is at x as it was when it was called") {
    TrainingRun run(1, link, training_job(small_layout(), 1));
    std::vector<Seen> seen;
    run.spawn(0, change_model_before_awaiting(run.cluster.worker(0), seen));

    run.simulation.run();

    REQUIRE(seen.size() == 1);
    CHECK(seen[0].value.values() == pull_to_own_target(Eigen::VectorXd::Ones(26), 0, 0));
}

TEST_CASE("worker: a timing-only gradient takes the same time and has no values") {
    const LayoutPtr layout = small_layout();
    TrainingRun run(1, link, timing_job(layout, 1));
    std::vector<Seen> seen;
    run.spawn(0, note_gradients(run.cluster.worker(0), seen));

    run.simulation.run();

    REQUIRE(seen.size() == 1);
    CHECK(seen[0].at == 1ms);
    CHECK_FALSE(seen[0].value.has_values());
    CHECK(seen[0].value.layout() == layout);
    CHECK(run.cluster.worker(0).timing_only());
}

TEST_CASE("worker: gradients and other work count as time of the device") {
    TrainingRun run(2, link, timing_job(small_layout(), 3));
    std::vector<Seen> seen;
    std::vector<std::int64_t> steps;
    run.spawn(0, note_gradients(run.cluster.worker(0), seen));
    run.spawn(1, take_all_steps(run.cluster.worker(1), 7us, steps));

    run.simulation.run();

    CHECK(run.cluster.state(0).gradients == 3);
    CHECK(run.cluster.state(0).compute_time == 3ms);
    CHECK(run.cluster.state(1).gradients == 0);
    CHECK(run.cluster.state(1).compute_time == 21us);
}

TEST_CASE("worker: the buckets of backward are the segments of the whole gradient") {
    TrainingRun run(2, link, bucket_job(training_job(three_layers(), 2)));
    std::vector<Seen> seen;
    run.spawn(1, note_buckets(run.cluster.worker(1), seen));

    run.simulation.run();

    const Eigen::VectorXd twos = Eigen::VectorXd::Constant(33, 2);
    const Eigen::VectorXd first = pull_to_own_target(twos, 1, 0);
    const Eigen::VectorXd second = pull_to_own_target(twos, 1, 1);
    REQUIRE(seen.size() == 6);
    CHECK(seen[0].value.values() == first.segment(23, 10));
    CHECK(seen[1].value.values() == first.segment(20, 3));
    CHECK(seen[2].value.values() == first.segment(0, 20));
    CHECK(seen[3].value.values() == second.segment(23, 10));
    CHECK(seen[5].value.values() == second.segment(0, 20));
}

TEST_CASE("worker: a bucket has a layout of its own") {
    Job job = timing_job(three_layers(), 1);
    job.timing = make_step_timing(300us, *three_layers(), {1, 1, 2}, 11);
    TrainingRun run(1, link, std::move(job));
    std::vector<Seen> seen;
    run.spawn(0, note_buckets(run.cluster.worker(0), seen));

    run.simulation.run();

    REQUIRE(seen.size() == 2);
    REQUIRE(seen[0].value.layout()->tensors().size() == 2);
    CHECK(seen[0].value.layout()->tensors()[0].name == "middle");
    CHECK(seen[0].value.layout()->tensors()[1].name == "back");
    CHECK(seen[0].value.entries() == 13);
    CHECK(seen[1].value.entries() == 20);
    CHECK_FALSE(seen[1].value.has_values());
}

TEST_CASE("worker: buckets are complete when the step timing says, the last at the step's end") {
    TrainingRun run(1, link, bucket_job(timing_job(three_layers(), 2)));
    std::vector<Seen> seen;
    run.spawn(0, note_buckets(run.cluster.worker(0), seen));

    run.simulation.run();

    REQUIRE(seen.size() == 6);
    CHECK(seen[0].at == 200us);  // forward 100 us, half of backward's 200 us
    CHECK(seen[1].at == 250us);
    CHECK(seen[2].at == 300us);
    CHECK(seen[3].at == 500us);
    CHECK(seen[5].at == 600us);
    CHECK(run.cluster.state(0).gradients == 2);
    CHECK(run.cluster.state(0).compute_time == 600us);
}

TEST_CASE("worker: whether a step is taken is decided once for all workers") {
    const auto asked = std::make_shared<std::vector<std::int64_t>>();
    Job job = timing_job(small_layout(), 1);
    job.takes_step = [asked](std::int64_t k) {
        asked->push_back(k);
        return k < 3;
    };
    TrainingRun run(3, link, std::move(job));
    std::vector<std::vector<std::int64_t>> steps(3);
    run.spawn(0, take_all_steps(run.cluster.worker(0), 5us, steps[0]));
    run.spawn(1, take_all_steps(run.cluster.worker(1), 1us, steps[1]));
    run.spawn(2, take_all_steps(run.cluster.worker(2), 100us, steps[2]));

    run.simulation.run();

    CHECK(*asked == std::vector<std::int64_t>{0, 1, 2, 3});
    CHECK(steps[0] == std::vector<std::int64_t>{0, 1, 2});
    CHECK(steps[1] == steps[0]);
    CHECK(steps[2] == steps[0]);
}

TEST_CASE("worker: after the stop rule's first no, it is not asked again") {
    int calls = 0;
    Job job = timing_job(small_layout(), 1);
    job.takes_step = [&calls](std::int64_t) {
        ++calls;
        return false;
    };
    TrainingRun run(2, link, std::move(job));

    const bool first = run.cluster.worker(0).begins_step();
    const bool again = run.cluster.worker(0).begins_step();
    const bool other = run.cluster.worker(1).begins_step();

    CHECK_FALSE(first);
    CHECK_FALSE(again);
    CHECK_FALSE(other);
    CHECK(calls == 1);
}

TEST_CASE("worker: epochs are steps by steps per epoch, and 0 where these are not known") {
    Job known = timing_job(small_layout(), 4);
    known.steps_per_epoch = 2.5;
    TrainingRun with(1, link, std::move(known));
    TrainingRun without(1, link, timing_job(small_layout(), 4));
    std::vector<double> epochs;
    std::vector<double> no_epochs;
    std::vector<double> rates;
    with.spawn(0, note_epochs(with.cluster.worker(0), epochs, rates));
    without.spawn(0, note_epochs(without.cluster.worker(0), no_epochs, rates));

    with.simulation.run();
    without.simulation.run();

    CHECK(epochs == std::vector<double>{0, 0.4, 0.8, 1.2});
    CHECK(no_epochs == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("worker: the learning rate is the schedule's at the step") {
    Job job = timing_job(small_layout(), 3);
    job.learning_rate = [](std::int64_t k) { return 1.0 / static_cast<double>(k + 1); };
    TrainingRun run(1, link, std::move(job));
    std::vector<double> epochs;
    std::vector<double> rates;
    run.spawn(0, note_epochs(run.cluster.worker(0), epochs, rates));

    run.simulation.run();

    CHECK(rates == std::vector<double>{1, 0.5, 1.0 / 3});
}

TEST_CASE("worker: each has a model of its own, which begins as the job's") {
    TrainingRun run(2, link, training_job(small_layout(), 1));

    run.cluster.worker(0).model() *= 5;

    CHECK(run.model_of(0) == Eigen::VectorXd::Constant(26, 5));
    CHECK(run.model_of(1) == Eigen::VectorXd::Ones(26));
}

TEST_CASE("worker: the replicated model exists once and begins as the job's") {
    TrainingRun run(3, link, training_job(small_layout(), 1));

    Vector& x = run.cluster.worker(0).replicated_model();
    x *= 5;

    CHECK(&run.cluster.worker(2).replicated_model() == &x);
    CHECK(run.cluster.worker(1).replicated_model().values() == Eigen::VectorXd::Constant(26, 5));
    CHECK(run.model_of(0) == Eigen::VectorXd::Ones(26));
}

TEST_CASE("worker: replicated state exists once by name, and is zero at first") {
    TrainingRun run(2, link, training_job(small_layout(), 1));

    Vector& m = run.cluster.worker(0).replicated("momentum");
    Vector& v = run.cluster.worker(1).replicated("variance");
    m.writable().setConstant(2);

    CHECK(&run.cluster.worker(1).replicated("momentum") == &m);
    CHECK(&v != &m);
    CHECK(v.values() == Eigen::VectorXd::Zero(26));
}

TEST_CASE("worker: replicated state has no values in a timing-only run") {
    TrainingRun run(2, link, timing_job(small_layout(), 1));

    CHECK_FALSE(run.cluster.worker(0).replicated("momentum").has_values());
    CHECK_FALSE(run.cluster.worker(0).replicated_model().has_values());
    CHECK(run.cluster.worker(1).replicated("momentum").entries() == 26);
}

TEST_CASE("worker: an update runs once, on the first worker that gets there") {
    TrainingRun run(3, link, timing_job(small_layout(), 1));
    std::vector<Update> updates;
    run.spawn(0, update_after(run.cluster.worker(0), {2us, 2us, 9us}, updates));  // 2, 4, 13
    run.spawn(1, update_after(run.cluster.worker(1), {1us, 8us, 1us}, updates));  // 1, 9, 10
    run.spawn(2, update_after(run.cluster.worker(2), {5us, 5us, 5us}, updates));  // 5, 10, 15

    run.simulation.run();

    CHECK(updates == std::vector<Update>{{0, 1}, {1, 0}, {2, 1}});
}

TEST_CASE("worker: updates have no gaps") {
    TrainingRun run(2, link, timing_job(small_layout(), 1));
    const auto nothing = [] {};
    run.cluster.worker(0).once(0, nothing);

    CHECK_THROWS_AS(run.cluster.worker(1).once(2, nothing), LogicError);
    CHECK_NOTHROW(run.cluster.worker(1).once(0, nothing));
    CHECK_NOTHROW(run.cluster.worker(1).once(1, nothing));
}

TEST_CASE("worker: random streams are reproducible, and differ by rank, name and seed") {
    Job other_seed = timing_job(small_layout(), 1);
    other_seed.seed = 2;
    TrainingRun run(2, link, timing_job(small_layout(), 1));
    TrainingRun again(2, link, timing_job(small_layout(), 1));
    TrainingRun other(2, link, std::move(other_seed));

    const RandomStream batch = run.cluster.worker(1).stream("batch");

    CHECK(batch == run.cluster.worker(1).stream("batch"));
    CHECK(batch == again.cluster.worker(1).stream("batch"));
    CHECK_FALSE(batch == run.cluster.worker(0).stream("batch"));
    CHECK_FALSE(batch == run.cluster.worker(1).stream("noise"));
    CHECK_FALSE(batch == other.cluster.worker(1).stream("batch"));
}

Task<> update_twice(Worker& self) {
    co_await self.update();
    co_await self.update();
}

TEST_CASE("update: it takes the job's update time on the device, or none") {
    Job job = timing_job(small_layout(), 1);
    job.update = 250us;
    TrainingRun with(1, {1_Gbps}, std::move(job));
    TrainingRun without(1, {1_Gbps}, timing_job(small_layout(), 1));
    for (TrainingRun* run : {&with, &without}) {
        run->spawn_all(update_twice);
        run->simulation.run();
    }

    CHECK(with.elapsed() == 500us);
    CHECK(with.cluster.state(0).compute_time == 500us);
    CHECK(with.cluster.state(0).gradients == 0);
    CHECK(without.elapsed() == 0us);
}

TEST_CASE("workers: a cluster may use fewer than all hosts") {
    Job job = timing_job(small_layout(), 4);
    job.workers = 3;
    TrainingRun some(5, {1_Gbps, 5us}, std::move(job));
    TrainingRun all(3, {1_Gbps, 5us}, timing_job(small_layout(), 4));
    for (TrainingRun* run : {&some, &all}) {
        run->spawn_all([](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{}); });
        run->simulation.run();
    }

    CHECK(some.cluster.workers() == 3);
    CHECK(some.cluster.worker(0).workers() == 3);
    CHECK(some.elapsed() == all.elapsed());
    CHECK(some.network.traffic(2).sent == all.network.traffic(2).sent);
    for (const int host : {3, 4}) {
        CHECK(some.network.traffic(host).sent == Bytes{0});
        CHECK(some.network.traffic(host).received == Bytes{0});
    }
}

TEST_CASE("workers: more workers than hosts are refused") {
    Job job = timing_job(small_layout(), 1);
    job.workers = 4;

    CHECK_THROWS_AS(TrainingRun(3, {1_Gbps}, std::move(job)), LogicError);
}

}  // namespace
}  // namespace paceline::worker_test
