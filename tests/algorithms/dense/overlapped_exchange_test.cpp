#include "tests/algorithms/runtime/overlapped_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::overlapped_exchange_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Duration latency = 5us;  // of a link
const Link wire{1_Gbps, latency};

AllReducePlan servers_on_workers(int servers) {
    AllReducePlan plan = AllReduce::parameter_server;
    plan.servers = servers;
    return plan;
}

struct OverlappedRun : TrainingRun {
    OverlappedRun(int nodes, const Link& link, AllReducePlan how, MomentumRule rule, Job job)
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) {
            return synchronous_sgd(self, SynchronousSgdOptions{overlapped_exchange(how), rule});
        });
    }
    [[nodiscard]] const Eigen::VectorXd& model() {
        return cluster.worker(0).replicated_model().values();
    }
};

Duration time_of(int nodes, const Link& link, AllReducePlan how, Job job) {
    OverlappedRun run(nodes, link, how, {}, std::move(job));
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return run.elapsed();
}

Duration time_of_dense(int nodes, const Link& link, AllReducePlan how, Job job) {
    TrainingRun run(nodes, link, std::move(job));
    run.spawn_all([=](Worker& self) {
        return synchronous_sgd(self, SynchronousSgdOptions{dense_exchange(how)});
    });
    run.simulation.run();
    return run.elapsed();
}

// Returns tensors whose bytes n divides, so that all chunks have the same length.
LayoutPtr even_layout(std::mt19937_64& rng, int n) {
    std::vector<Tensor> tensors;
    const std::uint64_t count = 1 + rng() % 12;
    for (std::uint64_t i = 0; i < count; ++i)
        tensors.push_back({std::to_string(i), {n, static_cast<std::int64_t>(1 + rng() % 2000)}});
    return make_layout(std::move(tensors));
}

std::vector<double> random_macs(std::mt19937_64& rng, const Layout& layout) {
    std::vector<double> macs;
    for (std::size_t i = 0; i < layout.tensors().size(); ++i)
        macs.push_back(static_cast<double>(rng() % 1000));
    return macs;
}

Bytes bytes_of(const Layout& layout, const Bucket& bucket) {
    Bytes size;
    for (std::size_t i = 0; i < bucket.count; ++i)
        size += fp32.weigh(layout.tensors()[bucket.first + i].entries());
    return size;
}

// A second implementation of e_i = max(r_i, e_(i-1)) + a_i.
template <class AllReduceTime>
Duration recurrence(const StepTiming& timing, const Layout& layout, AllReduceTime time) {
    Duration end = 0s;
    for (const Bucket& bucket : timing.buckets)
        end = std::max(end, bucket.ready) + time(bytes_of(layout, bucket));
    return end;
}

// The textbook's formulas, with every drain rounded up to the tick.
Duration ring_time(int n, Bytes size, Bandwidth rate) {
    return 2 * (n - 1) * (2 * latency + Bytes{size.count / n} / rate);
}
Duration doubling_time(int n, Bytes size, Bandwidth rate) {
    Duration time = 0s;
    for (int width = 1; width < n; width *= 2) time += 2 * latency + size / rate;
    return time;
}
Duration halving_time(int n, Bytes size, Bandwidth rate) {
    Duration time = 0s;
    for (int part = 2; part <= n; part *= 2)
        time += 2 * (2 * latency + Bytes{size.count / part} / rate);
    return time;
}

// Three tensors of 1000, 2000 and 3000 entries; backward completes them, last one first, after 6, 8
// and 10 ms.
LayoutPtr three_tensors() {
    return make_layout({{"a", {1000}}, {"b", {2000}}, {"c", {3000}}});
}
StepTiming three_buckets() {
    return {10ms, {{2, 1, 6ms}, {1, 1, 8ms}, {0, 1, 10ms}}};
}
Job three_bucket_job(std::int64_t steps) {
    Job job = timing_job(three_tensors(), steps);
    job.timing = three_buckets();
    return job;
}

TEST_CASE("overlapped SGD: with one bucket it is dense SGD, in every bit and to the picosecond") {
    for (const AllReduce how : {AllReduce::ring, AllReduce::recursive_doubling,
                                AllReduce::halving_doubling, AllReduce::tree})
        for (const int n : {1, 2, 3, 5, 8})
            for (const double momentum : {0.0, 0.9}) {
                CAPTURE(static_cast<int>(how));
                CAPTURE(n);
                CAPTURE(momentum);
                TrainingRun dense(n, wire, training_job(small_layout(), 10));
                dense.spawn_all([=](Worker& self) {
                    return synchronous_sgd(self,
                                           SynchronousSgdOptions{dense_exchange(how), {momentum}});
                });
                dense.simulation.run();

                OverlappedRun overlapped(n, wire, how, {momentum},
                                         training_job(small_layout(), 10));
                overlapped.simulation.run();

                CHECK(overlapped.elapsed() == dense.elapsed());
                CHECK(overlapped.model() == dense.cluster.worker(0).replicated_model().values());
            }
}

TEST_CASE("overlapped SGD: buckets of any size leave the values of dense SGD as they are") {
    const LayoutPtr layout = small_layout();
    for (const int n : {1, 2, 3, 6})
        for (std::int64_t entries = 1; entries <= 27; ++entries) {
            CAPTURE(n);
            CAPTURE(entries);
            TrainingRun dense(n, wire, training_job(layout, 10));
            dense.spawn_all([](Worker& self) {
                return synchronous_sgd(
                    self, SynchronousSgdOptions{dense_exchange(AllReduce::ring), {0.9}});
            });
            dense.simulation.run();

            Job job = training_job(layout, 10);
            job.timing = make_step_timing(step_of_tests, *layout, {4, 0, 2, 0}, entries);
            OverlappedRun overlapped(n, wire, AllReduce::ring, {0.9}, std::move(job));
            overlapped.simulation.run();

            const Eigen::VectorXd& expected = dense.cluster.worker(0).replicated_model().values();
            REQUIRE((overlapped.model() - expected).cwiseAbs().maxCoeff() <= 1e-12);
        }
}

TEST_CASE("overlapped SGD: on a slow network the exchange follows the first bucket without a gap") {
    // 1 Mbps, two nodes: a bucket of S bytes takes S / 125 kB/s plus four latencies of 5 us.
    const Link slow{1_Mbps, latency};

    const Duration time = time_of(2, slow, AllReduce::ring, three_bucket_job(1));

    CHECK(time == 6ms + (96ms + 20us) + (64ms + 20us) + (32ms + 20us));
}

TEST_CASE("overlapped SGD: on a fast network nothing shows but the last bucket") {
    // 1 Gbps: 96 us, 64 us and 32 us. Each bucket is ready long after the previous one is done.
    const Duration time = time_of(2, wire, AllReduce::ring, three_bucket_job(1));

    CHECK(time == 10ms + 32us + 20us);
}

TEST_CASE("overlapped SGD: a bucket waits for the one before, and only for it") {
    // 20 Mbps: 4.8, 3.2 and 1.6 ms. The first ends at 10.8, the second at 14, the last at 15.6.
    const Link medium{20_Mbps, 0s};

    CHECK(time_of(2, medium, AllReduce::ring, three_bucket_job(1)) == 15'600us);
    // 40 Mbps: the buckets end at 8.4, 10 and 10.8 ms. The last one waits only for backward.
    CHECK(time_of(2, {40_Mbps, 0s}, AllReduce::ring, three_bucket_job(1)) == 10'800us);
}

TEST_CASE("overlapped SGD: without computation it is one all-reduce after the other") {
    Job job = three_bucket_job(1);
    job.timing = {0s, {{2, 1, 0s}, {1, 1, 0s}, {0, 1, 0s}}};

    CHECK(time_of(2, wire, AllReduce::ring, std::move(job)) == (96us + 64us + 32us) + 3 * 20us);
}

TEST_CASE("overlapped SGD: alone it takes its computation and sends nothing") {
    OverlappedRun run(1, wire, AllReduce::ring, {}, three_bucket_job(7));
    run.simulation.run();

    CHECK(run.elapsed() == 70ms);
    CHECK(run.cluster.state(0).compute_time == 70ms);
    CHECK(run.network.traffic(0).sent == 0_B);
}

TEST_CASE("overlapped SGD: the optimizer's update follows the exchange, in every step") {
    Job job = three_bucket_job(3);
    job.update = 700us;
    OverlappedRun run(2, wire, AllReduce::ring, {}, std::move(job));
    run.simulation.run();

    CHECK(run.elapsed() == 3 * (10ms + 52us + 700us));
    CHECK(run.cluster.state(1).compute_time == 3 * (10ms + 700us));
}

TEST_CASE("overlapped SGD: with accumulated gradients, only the last one hides communication") {
    Job job = three_bucket_job(2);
    job.timing = accumulated(three_buckets(), 4);

    // At 1 Mbps the exchange begins with the first bucket of the fourth gradient.
    CHECK(time_of(2, {1_Mbps, 0s}, AllReduce::ring, std::move(job)) == 2 * (36ms + 192ms));
}

TEST_CASE("overlapped SGD, property: a step takes e_i = max(r_i, e_(i-1)) + a_i") {
    int waited = 0;  // cases in which some bucket waits for the previous one
    for (unsigned seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = 1 << rng() % 5;
        const LayoutPtr layout = even_layout(rng, n);
        const Bandwidth rate{static_cast<std::int64_t>(1'000'000 + rng() % 1'000'000'000)};
        const Link link{rate, latency};
        Job job = timing_job(layout, 2);
        job.timing = make_step_timing(step_of_tests, *layout, random_macs(rng, *layout),
                                      static_cast<std::int64_t>(1 + rng() % 10'000));
        const StepTiming timing = job.timing;
        const StepModelInput in{n, idle_network(link), timing, {}, layout, fp32};

        const auto expect = [&](AllReduce how, auto formula) {
            CAPTURE(static_cast<int>(how));
            const Duration step =
                recurrence(timing, *layout, [&](Bytes size) { return formula(n, size, rate); });
            REQUIRE(time_of(n, link, how, job) == 2 * step);
            REQUIRE(exchange_step_time(overlapped_exchange(how), 0, in) == step);
            if (step > timing.step + formula(n, bytes_of(*layout, timing.buckets.back()), rate))
                ++waited;
        };
        expect(AllReduce::ring, ring_time);
        expect(AllReduce::recursive_doubling, doubling_time);
        expect(AllReduce::halving_doubling, halving_time);
    }
    CHECK(waited > 100);
}

TEST_CASE("overlapped SGD, property: over a ring of any size a step takes the recurrence") {
    for (int n = 1; n <= 13; ++n)
        for (unsigned seed = 0; seed < 10; ++seed) {
            CAPTURE(n);
            CAPTURE(seed);
            std::mt19937_64 rng(seed);
            const LayoutPtr layout = even_layout(rng, n);
            Job job = timing_job(layout, 3);
            job.timing = make_step_timing(step_of_tests, *layout, random_macs(rng, *layout), 700);
            const Duration step = recurrence(job.timing, *layout, [&](Bytes size) {
                return ring_time(n, size, wire.bandwidth);
            });

            REQUIRE(time_of(n, wire, AllReduce::ring, job) == 3 * step);
        }
}

TEST_CASE("overlapped SGD: through servers on the workers a step takes the recurrence") {
    for (const int n : {2, 3, 5, 8})
        for (const int servers : {1, 2}) {
            CAPTURE(n);
            CAPTURE(servers);
            for (const Bandwidth rate : {1_Mbps, 20_Mbps, 1_Gbps}) {
                const double seconds =
                    to_seconds(recurrence(three_buckets(), *three_tensors(), [&](Bytes size) {
                        const Bytes part{size.count / servers * (n - 1)};
                        return 2 * (2 * latency + part / rate);
                    }));
                REQUIRE(to_seconds(time_of(n, {rate, latency}, servers_on_workers(servers),
                                           three_bucket_job(1))) ==
                        doctest::Approx(seconds).epsilon(1e-9));
            }
        }
}

TEST_CASE("overlapped SGD: where members leave apart, gaps between buckets make it exact again") {
    // 100 Mbps: no all-reduce of a bucket takes 20 ms, and every bucket comes 100 ms after the
    // previous one.
    const Link link{100_Mbps, latency};
    for (const AllReduce how : {AllReduce::tree, AllReduce::recursive_doubling,
                                AllReduce::halving_doubling, AllReduce::automatic})
        for (const int n : {3, 5, 6, 7, 11}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);
            Job job = timing_job(three_tensors(), 1);
            job.timing = {300ms, {{2, 1, 100ms}, {1, 1, 200ms}, {0, 1, 300ms}}};
            const Duration tail = *all_reduce_time(how, n, 4000_B, idle_network(link));

            CHECK(time_of(n, link, how, std::move(job)) == 300ms + tail);
        }
}

TEST_CASE("overlapped SGD: where members leave apart, it takes no longer than the recurrence") {
    for (const AllReduce how :
         {AllReduce::tree, AllReduce::recursive_doubling, AllReduce::halving_doubling})
        for (const int n : {3, 5, 6, 7, 11, 13})
            for (const Bandwidth rate : {1_Mbps, 20_Mbps, 1_Gbps}) {
                CAPTURE(static_cast<int>(how));
                CAPTURE(n);
                const Link link{rate, latency};
                const Duration step = recurrence(
                    three_buckets(), *three_tensors(),
                    [&](Bytes size) { return *all_reduce_time(how, n, size, idle_network(link)); });

                CHECK(time_of(n, link, how, three_bucket_job(1)) <= step);
            }
}

TEST_CASE(
    "overlapped SGD, property: without latency it is no slower than dense SGD, and no faster "
    "than its computation and its last bucket") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(2 + rng() % 7);
        const LayoutPtr layout = even_layout(rng, n);
        const Link link{Bandwidth{static_cast<std::int64_t>(1'000'000 + rng() % 1'000'000'000)}};
        const Job whole = timing_job(layout, 1);
        Job cut = whole;
        cut.timing = make_step_timing(step_of_tests, *layout, random_macs(rng, *layout),
                                      static_cast<std::int64_t>(1 + rng() % 4'000));
        const Bytes last{bytes_of(*layout, cut.timing.buckets.back()).count / n};
        const auto messages = static_cast<std::int64_t>(cut.timing.buckets.size()) * 2 * (n - 1);

        const Duration overlapped = time_of(n, link, AllReduce::ring, cut);
        const Duration dense = time_of_dense(n, link, AllReduce::ring, whole);

        REQUIRE(overlapped <= dense + Duration{messages});  // a tick of rounding per message
        REQUIRE(overlapped >= step_of_tests + 2 * (n - 1) * (last / link.bandwidth));
    }
}

TEST_CASE("overlapped SGD: it sends the bytes of dense SGD") {
    for (const int n : {2, 3, 8}) {
        OverlappedRun run(n, wire, AllReduce::ring, {}, three_bucket_job(2));
        run.simulation.run();

        CHECK(run.sent_by_all() == 2 * 2 * (n - 1) * 24'000_B);
    }
}

TEST_CASE("overlapped SGD: a straggler's bucket holds up everyone's, and their backward goes on") {
    OverlappedRun run(2, wire, AllReduce::ring, {}, three_bucket_job(1));
    TrainingRun late(2, wire, three_bucket_job(1));
    late.spawn(
        0, synchronous_sgd(late.cluster.worker(0), SynchronousSgdOptions{overlapped_exchange({})}));
    late.spawn(1, [](Simulation& simulation, Worker& self) -> Task<> {
        co_await simulation.sleep(50ms);
        co_await synchronous_sgd(self, SynchronousSgdOptions{overlapped_exchange({})});
    }(late.simulation, late.cluster.worker(1)));
    late.simulation.run();
    run.simulation.run();

    CHECK(late.elapsed() == run.elapsed() + 50ms);
    CHECK(late.cluster.state(0).compute_time == 10ms);
}

struct SeededRun : OverlappedRun {
    explicit SeededRun(unsigned seed)
        : OverlappedRun(5, wire, AllReduce::ring, {0.9}, job_of(seed)) {}

    static Job job_of(unsigned seed) {
        std::mt19937_64 rng(seed);
        const LayoutPtr layout = small_layout();
        Job job = rng() % 2 == 0 ? timing_job(layout, 20) : training_job(layout, 20);
        job.update = Duration{static_cast<std::int64_t>(rng() % 2) * 1'000'000};
        job.timing = make_step_timing(20us, *layout, random_macs(rng, *layout),
                                      static_cast<std::int64_t>(1 + rng() % 10));
        return job;
    }
};

TEST_CASE("overlapped SGD: a run twice, and two side by side, are the same") {
    for (const unsigned seed : {0U, 1U, 2U, 3U}) {
        SeededRun alone(seed);
        alone.simulation.run();
        SeededRun one(seed);
        SeededRun other(seed);
        for (Duration limit = 10us; !one.processes.finished(); limit += 37us) {
            one.simulation.run(Time{limit});
            other.simulation.run(Time{limit / 2});
        }
        other.simulation.run();

        CHECK(other.elapsed() == alone.elapsed());
        CHECK(other.simulation.events_fired() == alone.simulation.events_fired());
        if (!alone.cluster.worker(0).timing_only()) {
            CHECK(one.model() == alone.model());
            CHECK(other.model() == alone.model());
        }
    }
}

TEST_CASE("overlapped SGD, property: dropped at any time, a run leaves only messages in flight") {
    int unfinished = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        SeededRun run(seed);
        run.simulation.run(Time{Duration{static_cast<std::int64_t>(rng() % 2'000'000'000)}});
        unfinished += run.processes.finished() ? 0 : 1;

        if (seed % 2 == 0) continue;  // destroyed without being dropped
        run.processes.drop();
        REQUIRE(run.simulation.run() == RunEnd::idle);
        REQUIRE(run.simulation.waiting().empty());
        REQUIRE(run.network.flows_in_flight() == 0);
    }
    CHECK(unfinished > 50);
}

}  // namespace
}  // namespace paceline::overlapped_exchange_test
