// Streaming DiLoCo's closed forms against arithmetic on paper;
// tests/app/scenario/algorithms/local_family_test.cpp checks that the simulation agrees with them.
#include "analysis/forms/streaming_forms.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "algorithms/compression/qsgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::streaming_forms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// Two tensors of 125,000 entries each, 500,000 bytes among 4 nodes at 1 GB/s: a ring takes 6 chunks
// of 125 us and 10 us each, W = 810 us.
StepModelInput four_workers(Duration step) {
    return on_star(4, {8_Gbps, 10us}, step, make_layout({{"a", {500, 250}}, {"b", {250, 500}}}));
}

StreamingDilocoOptions of(std::int64_t period, std::int64_t delay) {
    StreamingDilocoOptions options{.fragments = 2, .delay = delay};
    options.diloco.period = period;
    options.diloco.exchange = dense_exchange(AllReduce::ring);
    return options;
}

TEST_CASE("streaming forms: without a delay each exchange is waited for") {
    const StepModelInput in = four_workers(1ms);
    const auto step = [&](std::int64_t k) { return *streaming_step_time(of(6, 0), k, in); };

    for (const std::int64_t k : {0, 1, 3, 4, 6, 7}) CHECK(step(k) == 1ms);
    for (const std::int64_t k : {2, 5, 8}) CHECK(step(k) == 1ms + 810us);
}

TEST_CASE("streaming forms: beside tau steps only the rest of an exchange is waited for") {
    const StepModelInput quick = four_workers(200us);
    const auto step = [&](std::int64_t k) { return *streaming_step_time(of(6, 2), k, quick); };

    for (const std::int64_t k : {0, 1, 2, 3, 5, 6}) CHECK(step(k) == 200us);
    for (const std::int64_t k : {4, 7, 10}) CHECK(step(k) == 200us + 410us);
    for (const std::int64_t k : {4, 7, 10})
        CHECK(*streaming_step_time(of(6, 2), k, four_workers(500us)) == 500us);
}

// Coding at 8 ns a pass: 2 passes of 125,000 entries are 2 ms to encode, ... each message 1 pass.
TEST_CASE(
    "streaming forms: coding takes the device before the next step and behind the one of the "
    "arrival") {
    StreamingDilocoOptions options = of(12, 3);
    options.diloco.exchange.codec.coder = make_qsgd({.levels = 7});
    options.diloco.exchange.codec.coding = {8ns};
    options.diloco.exchange.aggregation.kind = Aggregation::all_gather;
    const StepModelInput in = four_workers(20ms);
    const Compressor qsgd = make_qsgd({.levels = 7});
    const Duration pass = 125'000 * 8ns;

    CHECK(*streaming_step_time(options, 6, in) ==
          20ms + qsgd.encode * pass + 4 * qsgd.decode * pass);
    CHECK(*streaming_step_time(options, 7, in) == 20ms);
    CHECK(*streaming_step_time(options, 8, in) == 20ms);
}

TEST_CASE("streaming forms: bytes and messages are those of both fragments in a period") {
    const StepModelInput in = four_workers(1ms);

    CHECK(streaming_contribution(of(8, 1), *in.layout, fp32, 4) == Bytes{1'000'000 / 8});
    std::int64_t messages = 0;
    for (std::int64_t k = 0; k < 8; ++k) messages += streaming_messages(of(8, 1), k, in);
    CHECK(messages == 2 * 24);
}

// Four matrices of 1,000 entries, of 4 bits each and a norm of 4 bytes for 512 entries, but the
// last one: 32 bits an entry.
TEST_CASE(
    "streaming forms: a tensor that is left out by place is that of the net, not of each "
    "fragment") {
    const LayoutPtr layout =
        make_layout({{"a", {10, 100}}, {"b", {10, 100}}, {"c", {10, 100}}, {"d", {10, 100}}});
    StreamingDilocoOptions options = of(4, 0);
    options.diloco.exchange.codec.coder = make_qsgd({.levels = 7});
    options.diloco.exchange.codec.leave_out = {std::int64_t{-1}};

    CHECK(streaming_contribution(options, *layout, fp32, 4) ==
          Bytes{(3 * (500 + 2 * 4) + 4000) / 4});
}

}  // namespace
}  // namespace paceline::streaming_forms_test
