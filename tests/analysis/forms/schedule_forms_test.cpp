// Forms of schedules against time lines on paper. exchange_forms_test.cpp holds them to
// simulations.
#include "analysis/forms/schedule_forms.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::schedule_forms_test {
namespace {

using namespace std::chrono_literals;

constexpr ExchangeSchedule beside{.whole = false, .begin = Begin::beside_backward};
constexpr ExchangeSchedule after{.whole = false, .begin = Begin::after_backward};
constexpr ExchangeSchedule phases{.whole = false, .begin = Begin::in_phases};

StepTiming buckets_ready_at(const std::vector<Duration>& readies) {
    StepTiming timing{.step = readies.back(), .buckets = {}};
    for (std::size_t i = 0; i < readies.size(); ++i)
        timing.buckets.push_back({readies.size() - 1 - i, 1, readies[i]});
    return timing;
}

ScheduledPiece coded(std::size_t bucket, Duration encode, Duration travel, Duration decode) {
    return {bucket, {{{true, encode}}, {{false, travel}}, {{true, decode}}}};
}
ScheduledPiece uncoded(std::size_t bucket, Duration travel) {
    return {bucket, {{}, {{false, travel}}, {}}};
}

ExchangeSchedule by_priority(ExchangeSchedule schedule) {
    schedule.order = Order::priority;
    return schedule;
}

struct RandomSchedule {
    std::mt19937_64 rng;
    StepTiming timing;
    std::vector<ScheduledPiece> pieces;

    explicit RandomSchedule(std::uint64_t seed, bool coding) : rng(seed) {
        std::vector<Duration> readies{random_time()};
        for (std::uint64_t i = rng() % 10; i > 0; --i)
            readies.push_back(readies.back() + random_time());
        timing = buckets_ready_at(readies);
        for (std::size_t b = 0; b < readies.size(); ++b)
            for (std::uint64_t parts = 1 + rng() % 3; parts > 0; --parts)
                pieces.push_back(coding ? coded(b, random_time(), random_time(), random_time())
                                        : uncoded(b, random_time()));
    }
    Duration random_time() { return Duration{static_cast<std::int64_t>(rng() % 1000)}; }
    [[nodiscard]] Duration sum_of(std::vector<PieceStage> PieceForm::* stages) const {
        Duration all{};
        for (const ScheduledPiece& piece : pieces)
            for (const PieceStage& stage : piece.form.*stages) all += stage.time;
        return all;
    }
};

TEST_CASE("schedule forms: coding beside backward queues on the device") {
    const StepTiming timing = buckets_ready_at({6ms, 10ms});
    const std::vector pieces{coded(0, 2ms, 3ms, 1ms), coded(1, 2ms, 3ms, 1ms)};

    // device  0-6 backward, 6-8 encode 0, 8-12 backward, 12-13 decode 0, 13-15 encode 1, 18-19
    //         decode 1
    // stream  8-11, 15-18
    CHECK(end_of_pieces(timing, beside, pieces) == 19ms);
    // device  0-10 backward, 10-14 encode, 15-16 decode 0, 18-19 decode 1;  stream  12-15, 15-18
    CHECK(end_of_pieces(timing, after, pieces) == 19ms);
}

TEST_CASE("schedule forms: in phases, nothing of coding and travelling goes side by side") {
    const StepTiming timing = buckets_ready_at({6ms, 10ms});
    const std::vector pieces{coded(0, 2ms, 9ms, 1ms), coded(1, 2ms, 1ms, 1ms)};

    // device  0-10, 10-14 encode, 24-26 decode;  stream  14-23, 23-24
    CHECK(end_of_pieces(timing, phases, pieces) == 26ms);
}

TEST_CASE("schedule forms: in phases, a step is the sum of its phases") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const RandomSchedule uncoded_ones(seed, false);
        CHECK(end_of_pieces(uncoded_ones.timing, phases, uncoded_ones.pieces) ==
              end_of_pieces(uncoded_ones.timing, after, uncoded_ones.pieces));
        const RandomSchedule random(seed, true);
        CHECK(end_of_pieces(random.timing, phases, random.pieces) ==
              random.timing.step + random.sum_of(&PieceForm::encode) +
                  random.sum_of(&PieceForm::travel) + random.sum_of(&PieceForm::decode));
    }
}

TEST_CASE("schedule forms: a fast stream makes coding beside backward no longer than behind it") {
    const StepTiming timing = buckets_ready_at({6ms, 10ms});
    const std::vector pieces{coded(0, 2ms, 9ms, 1ms), coded(1, 2ms, 1ms, 1ms)};

    // device  0-6, 6-8, 8-12, 12-14 encode 1, 17-18 decode 0, 18-19 decode 1;  stream  8-17, 17-18
    CHECK(end_of_pieces(timing, beside, pieces) == 19ms);
    // device  0-10, 10-14, 21-22 decode 0, 22-23 decode 1;  stream  12-21, 21-22
    CHECK(end_of_pieces(timing, after, pieces) == 23ms);
}

TEST_CASE("schedule forms: the second part of a bucket is encoded behind the next segment") {
    const StepTiming timing = buckets_ready_at({1ms, 5ms});
    const std::vector pieces{coded(0, 1ms, 1ms, 0ms), coded(0, 1ms, 1ms, 0ms),
                             coded(1, 1ms, 1ms, 0ms)};

    // device  0-1, 1-2 encode 0, 2-6 backward, 6-7 encode 1, 7-8 encode 2;  stream  2-3, 7-8, 8-9
    CHECK(end_of_pieces(timing, beside, pieces) == 9ms);
}

TEST_CASE(
    "schedule forms: an owner's work waits for the segment in progress, and holds the stream") {
    const StepTiming timing = buckets_ready_at({1ms, 5ms});
    const PieceForm two_phase{{}, {{false, 1ms}, {true, 1ms}, {false, 1ms}}, {}};

    // stream  1-2, work 5-6, 6-7;  7-8, work 8-9, 9-10
    CHECK(end_of_pieces(timing, beside, {{0, two_phase}, {1, two_phase}}) == 10ms);
}

TEST_CASE("schedule forms: by priority the piece of the first layers goes first") {
    const StepTiming timing = buckets_ready_at({1ms, 2ms, 3ms});
    std::vector pieces{uncoded(0, 5ms), uncoded(1, 5ms), uncoded(2, 5ms)};
    pieces[1].form.decode = {{true, 4ms}};

    CHECK(end_of_pieces(timing, beside, pieces) == 16ms);               // 1-6, 6-11 + 4, 11-16
    CHECK(end_of_pieces(timing, by_priority(beside), pieces) == 20ms);  // 1-6, 6-11, 11-16 + 4
}

TEST_CASE("schedule forms: by priority an idle stream sees all parts of a bucket") {
    const StepTiming timing = buckets_ready_at({1ms});
    std::vector pieces{uncoded(0, 1ms), uncoded(0, 2ms)};
    pieces[0].form.decode = {{true, 4ms}};

    CHECK(end_of_pieces(timing, beside, pieces) == 6ms);               // 1-2 + 4, 2-4
    CHECK(end_of_pieces(timing, by_priority(beside), pieces) == 8ms);  // 1-3, 3-4 + 4
}

TEST_CASE("schedule forms, property: without coding it is e_i = max(r_i, e_(i-1)) + X_i") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        const RandomSchedule at(seed, false);
        Duration end{};
        for (const ScheduledPiece& piece : at.pieces)
            end = std::max(end, at.timing.buckets[piece.bucket].ready) +
                  piece.form.travel.front().time;
        REQUIRE(end_of_pieces(at.timing, beside, at.pieces) == end);
        REQUIRE(end_of_pieces(at.timing, after, at.pieces) ==
                at.timing.step + at.sum_of(&PieceForm::travel));
    }
}

TEST_CASE("schedule forms, property: no schedule beats its device, its stream or its last piece") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        const RandomSchedule at(seed, true);
        const Duration device =
            at.timing.step + at.sum_of(&PieceForm::encode) + at.sum_of(&PieceForm::decode);
        const Duration stream = at.sum_of(&PieceForm::travel);
        const Duration last = at.timing.step + total_time(at.pieces.back().form);
        for (const ExchangeSchedule& schedule : {beside, by_priority(beside), after}) {
            const Duration end = end_of_pieces(at.timing, schedule, at.pieces);
            REQUIRE(end >= device);
            REQUIRE(end >= last);
            REQUIRE(end >= at.timing.buckets.front().ready + stream);
            REQUIRE(end <= device + stream);
        }
    }
}

TEST_CASE("schedule forms, property: one piece takes the sum of its stages, beside and after") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        RandomSchedule at(seed, true);
        at.pieces = {at.pieces.back()};
        const Duration all = at.timing.step + total_time(at.pieces.front().form);
        for (const ExchangeSchedule& schedule : {beside, by_priority(beside), after})
            REQUIRE(end_of_pieces(at.timing, schedule, at.pieces) == all);
    }
}

}  // namespace
}  // namespace paceline::schedule_forms_test
