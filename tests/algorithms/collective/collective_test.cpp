#include "algorithms/collective/collective.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "analysis/forms/message_counts.hpp"
#include "sim/engine/check.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::collective_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 25us};

constexpr std::array operations{
    Operation::all_reduce,       Operation::reduce_scatter, Operation::all_gather_ring,
    Operation::all_gather_bruck, Operation::all_to_all,     Operation::broadcast,
    Operation::reduce,
};

TEST_CASE("collective: one step takes the gradient's time and the closed form of the operation") {
    const LayoutPtr layout = make_layout({{"all", {30'000}}});
    for (const Operation operation : operations)
        for (int n = 1; n <= 17; ++n) {
            CAPTURE(static_cast<int>(operation));
            CAPTURE(n);
            const CollectiveOptions options{operation, AllReduce::ring};
            TrainingRun run(n, link, timing_job(layout, 1));
            run.spawn_all([&](Worker& worker) { return collective(worker, options); });
            run.simulation.run();

            const StepModelInput in = on_star(n, idle_star(link), step_of_tests, layout);
            REQUIRE(run.elapsed() == collective_step_time(options, in).value());
            REQUIRE(static_cast<std::int64_t>(run.network.messages_delivered()) ==
                    collective_messages(options, n, 120'000_B));
        }
}

TEST_CASE("collective: all-gather and all-to-all of S bytes move blocks of S/n") {
    const LayoutPtr layout = make_layout({{"all", {2000}}});  // 8000 bytes
    for (const Operation operation :
         {Operation::all_gather_ring, Operation::all_gather_bruck, Operation::all_to_all}) {
        TrainingRun run(8, link, timing_job(layout, 1));
        run.spawn_all(
            [&](Worker& worker) { return collective(worker, {operation, AllReduce::ring}); });
        run.simulation.run();

        CHECK(run.sent_by_all() == 8 * 7 * 1000_B);
    }
    CHECK(block_of(8001_B, 8) == 1001_B);
    CHECK(block_of(8000_B, 1) == 8000_B);
}

TEST_CASE("collective: a worker with values is refused") {
    TrainingRun run(2, link, training_job(make_layout({{"all", {4}}}), 1));
    run.spawn_all([](Worker& worker) { return collective(worker, {}); });

    CHECK_THROWS_AS(run.simulation.run(), LogicError);
}

}  // namespace
}  // namespace paceline::collective_test
