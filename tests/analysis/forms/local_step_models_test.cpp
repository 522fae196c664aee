// The step models against arithmetic on paper. tests/algorithms/local/local_family_test.cpp checks
// that the simulation agrees with them.
#include "analysis/forms/local_step_models.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::local_step_models_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// 1,000,000 bytes among 4 nodes at 1 GB/s: a ring takes 6 chunks of 250 us and 10 us each, A = 1560
// us.
StepModelInput four_workers(Duration step, Duration update) {
    StepModelInput in = on_star(4, {8_Gbps, 10us}, step, make_layout({{"a", {500, 500}}}));
    in.update = update;
    return in;
}

std::optional<Duration> time_of_step(std::int64_t period, std::int64_t first, std::int64_t k,
                                     const StepModelInput& in) {
    if (!ends_block(k, period, first)) return lone_step_time(in);
    return averaged_step_time({}, in);
}

template <class Step>
Duration of_block(std::int64_t first, std::int64_t period, const Step& step) {
    Duration sum{};
    for (std::int64_t k = first; k < first + period; ++k) sum += *step(k);
    return sum;
}

TEST_CASE("local step models: a block of tau steps takes tau (T1 + U) and an all-reduce") {
    const StepModelInput in = four_workers(1ms, 50us);
    const auto step = [&](std::int64_t k) { return time_of_step(4, 0, k, in); };

    CHECK(*step(0) == 1050us);
    CHECK(*step(3) == 1050us + 1560us);
    CHECK(of_block(8, 4, step) == 4 * 1050us + 1560us);
}

TEST_CASE("local step models: beside an average a block takes the longer of the two") {
    const StepModelInput in = four_workers(1ms, 50us);
    const auto block = [&](std::int64_t period) {
        return of_block(2 * period, period, [&](std::int64_t k) {
            return overlapped_average_step_time({}, period, k, in);
        });
    };

    CHECK(block(1) == 1560us);
    CHECK(block(2) == 2100us);
    CHECK(block(24) == 24 * 1050us);
}

TEST_CASE("local step models: after the switch post-local SGD counts its blocks anew") {
    const StepModelInput in = four_workers(1ms, 0us);
    const auto step = [&](std::int64_t k) { return *time_of_step(3, 5, k, in); };

    for (std::int64_t k = 0; k < 5; ++k) CHECK(step(k) == 2560us);
    CHECK(step(5) == 1ms);
    CHECK(step(6) == 1ms);
    CHECK(step(7) == 2560us);
    CHECK(step(8) == 1ms);
    CHECK(step(10) == 2560us);
}

TEST_CASE("local step models: SlowMo takes the steps of its base, and what it averages") {
    const StepModelInput in = four_workers(1ms, 0us);
    const Mixing ring = make_ring_mixing(4);  // two listeners each
    SlowmoOptions options;
    options.period = 2;
    const auto step = [&](std::int64_t k) { return *slowmo_step_time(options, &ring, k, in); };
    const auto inside = [&] { return step(4); };
    const auto at_end = [&] { return step(5) - step(4); };

    CHECK(inside() == 1ms);
    CHECK(at_end() == 1560us);
    options.buffers = Buffers::average;
    CHECK(at_end() == 2 * 1560us);
    options.base.base = Base::local_adam;
    CHECK(inside() == 1ms);
    CHECK(at_end() == 3 * 1560us);
    options.buffers = Buffers::maintain;
    options.base.base = Base::dsgd;
    CHECK(inside() == 1ms + 10us + 2 * 1ms);
    CHECK(at_end() == 1560us);
    options.base.base = Base::sgp;  // sends 4 more bytes to each of two listeners: 8 ns
    CHECK(inside() == 1ms + 10us + 2 * 1ms + 8ns);
    options.average = false;
    CHECK(at_end() == 0us);
    options.base.base = Base::all_reduce;
    CHECK(inside() == 2560us);
}

TEST_CASE("local step models: where an all-reduce or an exchange has no form, neither has a step") {
    StepModelInput in = four_workers(1ms, 0us);
    const Mixing star = make_star_mixing(4);
    SlowmoOptions options;
    options.base.base = Base::dsgd;
    CHECK_FALSE(slowmo_step_time(options, &star, 0, in).has_value());

    in.network.bus = in.network.star;
    in.network.devices = 2;
    const ExchangeOptions tree = dense_exchange(AllReduce::tree);
    CHECK(lone_step_time(in) == 1ms);
    CHECK_FALSE(averaged_step_time(tree, in).has_value());
    CHECK_FALSE(overlapped_average_step_time(tree, 2, 1, in).has_value());
}

}  // namespace
}  // namespace paceline::local_step_models_test
