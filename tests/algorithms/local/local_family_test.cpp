// Laws that all local methods obey: time and bytes match the closed forms, the clock does not
// depend on values, a repeated run is the same, and a run can be dropped at any time.
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/bmuf.hpp"
#include "algorithms/local/cocod_sgd.hpp"
#include "algorithms/local/easgd.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/local/overlap_local_sgd.hpp"
#include "algorithms/local/post_local_sgd.hpp"
#include "algorithms/local/slowmo.hpp"
#include "analysis/forms/local_step_models.hpp"
#include "tests/algorithms/local/local_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::algorithms_local_family_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

struct Member {
    std::string name;
    LocalAlgorithm run;
    std::function<std::optional<Duration>(const StepModelInput&, std::int64_t k)> step;
};

constexpr std::int64_t period = 3;

Member slowmo_on(const std::string& name, Base base, bool average, Buffers buffers) {
    SlowmoOptions options;
    options.period = period;
    options.base = {base, {0.9}};
    options.average = average;
    options.buffers = buffers;
    return {name, [=](Worker& w) { return slowmo(w, options); },
            [=](const StepModelInput& in, std::int64_t k) {
                const Mixing ring = make_ring_mixing(in.workers);
                return slowmo_step_time(options, &ring, k, in);
            }};
}

std::vector<Member> family() {
    const auto blocks_from = [](std::int64_t first) {
        return [=](const StepModelInput& in, std::int64_t k) {
            if (!ends_block(k, period, first)) return std::optional(lone_step_time(in));
            return averaged_step_time(dense_exchange(AllReduce::ring), in);
        };
    };
    const auto averaged = blocks_from(0);
    const MomentumRule rule{0.9};
    LocalSgdOptions post = post_local_sgd(4);
    post.period = period;
    post.exchange = dense_exchange(AllReduce::ring);
    post.inner = rule;
    return {
        {"local-sgd",
         [=](Worker& w) { return local_sgd(w, {period, dense_exchange(AllReduce::ring), rule}); },
         averaged},
        {"post-local-sgd", [=](Worker& w) { return local_sgd(w, post); }, blocks_from(4)},
        {"bmuf",
         [=](Worker& w) {
             return bmuf(
                 w, {period, 0.5, 1, BlockForm::nesterov, dense_exchange(AllReduce::ring), rule});
         },
         averaged},
        {"easgd",
         [=](Worker& w) { return easgd(w, {period, 0.1, dense_exchange(AllReduce::ring), rule}); },
         averaged},
        {"cocod-sgd",
         [=](Worker& w) { return cocod_sgd(w, {period, dense_exchange(AllReduce::ring), rule}); },
         [](const StepModelInput& in, std::int64_t k) {
             return overlapped_average_step_time(dense_exchange(AllReduce::ring), period, k, in);
         }},
        {"overlap-local-sgd",
         [=](Worker& w) {
             return overlap_local_sgd(w, {period, 0.6, 0.7, dense_exchange(AllReduce::ring), rule});
         },
         [](const StepModelInput& in, std::int64_t k) {
             if (k < period) return std::optional(lone_step_time(in));
             return overlapped_average_step_time(dense_exchange(AllReduce::ring), period, k, in);
         }},
        slowmo_on("slowmo on local", Base::local, true, Buffers::reset),
        slowmo_on("slowmo on sgp", Base::sgp, true, Buffers::maintain),
        slowmo_on("slowmo on osgp", Base::osgp, true, Buffers::reset),
        slowmo_on("slowmo on sgp-adam", Base::sgp_adam, true, Buffers::average),
        slowmo_on("slowmo on dsgd", Base::dsgd, false, Buffers::maintain),
        slowmo_on("slowmo on all-reduce", Base::all_reduce, false, Buffers::reset),
        slowmo_on("slowmo on local-adam", Base::local_adam, true, Buffers::average),
    };
}

Job family_job(Job job, int nodes, Duration step, Duration update) {
    job.mixing = make_ring_mixing(nodes);
    job.timing = make_step_timing(step, *job.start.layout());
    job.update = update;
    return job;
}

Job timed(int nodes, const LayoutPtr& layout, std::int64_t steps, Duration step) {
    return family_job(timing_job(layout, steps), nodes, step, 7us);
}

Job trained(int nodes, std::int64_t steps, Duration step) {
    return family_job(training_job(small_layout(), steps), nodes, step, 7us);
}

struct FamilyRun : TrainingRun {
    FamilyRun(int nodes, const Member& member, Job job)
        : TrainingRun(nodes, local_link, std::move(job)) {
        spawn_all(member.run);
    }
};

struct Ended {
    Duration at;
    std::vector<std::int64_t> sent;
    std::vector<Eigen::VectorXd> models;

    bool operator==(const Ended&) const = default;
};

Ended finished(int nodes, const Member& member, Job job) {
    FamilyRun run(nodes, member, std::move(job));
    run.simulation.run();
    Ended ended{run.elapsed(), {}, {}};
    for (int i = 0; i < nodes; ++i) {
        ended.sent.push_back(run.network.traffic(i).sent.count);
        if (!run.cluster.worker(i).timing_only())
            ended.models.push_back(run.cluster.worker(i).current_model().values());
    }
    return ended;
}

// An average that is dropped in a partial last block still has a chunk in flight, which drains.
Duration on_the_wires(const Member& member, int n, std::int64_t steps) {
    const bool overlaps = member.name == "cocod-sgd" || member.name == "overlap-local-sgd";
    if (!overlaps || steps % period == 0 || n == 1) return {};
    return ring_all_reduce_time(n, 262'144_B, idle_star(local_link)) / (2 * (n - 1));
}

// Of an exchange of 256 kB over three steps, steps of 1 ms hide a part, steps of 100 us nothing,
// and steps of 10 ms all.
TEST_CASE(
    "local family: a run takes the sum of its closed forms, and drains what is on the wires") {
    const LayoutPtr layout = make_layout({{"a", {256, 256}}});
    for (const Member& member : family())
        for (const int n : {1, 2, 4, 8, 16})
            for (const Duration step : {Duration(100us), Duration(1ms), Duration(10ms)})
                for (const std::int64_t steps : {2, 6, 12, 13}) {
                    CAPTURE(member.name);
                    CAPTURE(n);
                    CAPTURE(step.count());
                    CAPTURE(steps);
                    StepModelInput in = on_star(n, idle_star(local_link), step, layout);
                    in.update = 7us;
                    Duration expected{};
                    for (std::int64_t k = 0; k < steps; ++k) expected += *member.step(in, k);

                    FamilyRun run(n, member, timed(n, layout, steps, step));
                    run.simulation.run();

                    CHECK(run.processes.finished());
                    CHECK(run.elapsed() >= expected);
                    CHECK(run.elapsed() <= expected + on_the_wires(member, n, steps));
                }
}

TEST_CASE("local family: a block that blocks takes tau T1 + A, one that overlaps the longer") {
    const LayoutPtr layout = make_layout({{"a", {256, 256}}});
    const Duration all_reduce = ring_all_reduce_time(8, 262'144_B, idle_star(local_link));
    for (const Duration step : {Duration(100us), Duration(1ms), Duration(10ms)}) {
        CAPTURE(step.count());
        const auto blocks = [&](std::size_t member, std::int64_t count) {
            Job job = timed(8, layout, count * period, step);
            job.update = {};
            FamilyRun run(8, family()[member], std::move(job));
            run.simulation.run();
            return run.elapsed();
        };
        const Duration longer = std::max(period * step, all_reduce);

        CHECK(blocks(0, 4) == 4 * (period * step + all_reduce));  // local-sgd
        CHECK(blocks(4, 4) == 4 * longer);                        // cocod-sgd
        CHECK(blocks(5, 4) == period * step + 3 * longer);        // overlap-local-sgd
    }
}

TEST_CASE("local family: bytes of a worker are those of its averages") {
    const LayoutPtr layout = make_layout({{"a", {256, 256}}});
    const std::int64_t average = 2 * 7 * 262'144 / 8;  // bytes sent in a ring of 8
    const std::array<std::int64_t, 13> averages{4, 4 + 2, 4, 4, 4, 3, 4, 4, 4, 3 * 4, 0, 12, 3 * 4};
    const std::array<std::int64_t, 13> to_each_neighbor{
        0, 0, 0, 0, 0, 0, 0, 12 * 262'148, 12 * 262'148, 12 * 262'148, 12 * 262'144, 0, 0};
    const std::vector<Member> members = family();
    for (std::size_t i = 0; i < members.size(); ++i) {
        CAPTURE(members[i].name);
        FamilyRun run(8, members[i], timed(8, layout, 12, 10ms));
        run.simulation.run();

        for (int rank = 0; rank < 8; ++rank)
            CHECK(run.network.traffic(rank).sent.count ==
                  averages[i] * average + 2 * to_each_neighbor[i]);
    }
}

TEST_CASE("local family: values do not change the clock, and a repeated run is the same") {
    for (const Member& member : family())
        for (const int n : {1, 3, 8}) {
            CAPTURE(member.name);
            CAPTURE(n);

            const Ended timing_only = finished(n, member, timed(n, small_layout(), 11, 50us));
            const Ended first = finished(n, member, trained(n, 11, 50us));
            const Ended second = finished(n, member, trained(n, 11, 50us));

            const bool same = first == second;
            CHECK(same);
            CHECK(timing_only.at == first.at);
            CHECK(timing_only.sent == first.sent);
        }
}

TEST_CASE("local family: as a stand-in it has the clock of the net it stands for") {
    const LayoutPtr published = make_layout({{"a", {256, 256}}});
    for (const Member& member : family()) {
        CAPTURE(member.name);
        Job job = trained(4, 7, 1ms);
        job.charged = published;

        const Ended ended = finished(4, member, std::move(job));
        const Ended timing_only = finished(4, member, timed(4, published, 7, 1ms));

        CHECK(ended.at == timing_only.at);
        CHECK(ended.sent == timing_only.sent);
    }
}

TEST_CASE("local family: dropped at any time, a run leaves nothing behind") {
    int unfinished = 0;
    for (const Member& member : family())
        for (std::int64_t seed = 0; seed < 20; ++seed) {
            CAPTURE(member.name);
            CAPTURE(seed);
            const int n = static_cast<int>(1 + seed % 5);
            FamilyRun run(n, member, trained(n, 12, 50us));
            run.simulation.run(Time{Duration(1us) * (37 * seed)});
            unfinished += run.processes.finished() ? 0 : 1;

            run.processes.drop();
            const RunEnd end = run.simulation.run();

            CHECK(end == RunEnd::idle);
            CHECK(run.simulation.waiting().empty());
            CHECK(run.network.flows_in_flight() == 0);
        }
    CHECK(unfinished > 100);
}

// f_i(x) = |x - t_i|^2 / 2 plus noise: the mean has its minimum at the mean of the targets.
TEST_CASE("local family: the mean of the models comes close to the minimum") {
    for (const Member& member : family()) {
        CAPTURE(member.name);
        for (const int n : {1, 4}) {
            Job job = family_job(training_job(small_layout(), 3 * 400), n, 50us, {});
            job.learning_rate = [](std::int64_t) { return 0.02; };
            FamilyRun run(n, member, std::move(job));
            run.simulation.run();

            Eigen::VectorXd mean = Eigen::VectorXd::Zero(26);
            Eigen::VectorXd minimum = mean;
            for (int i = 0; i < n; ++i) {
                mean += run.cluster.worker(i).current_model().values() / n;
                minimum += own_target(i, 26) / n;
            }
            CHECK((mean - minimum).cwiseAbs().maxCoeff() < 0.1);
        }
    }
}

}  // namespace
}  // namespace paceline::algorithms_local_family_test
