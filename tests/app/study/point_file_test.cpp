#include "app/study/point_file.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include "app/study/run_study.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::point_file_test {
namespace {

// A double of random bits, which may be subnormal, infinite or not a number.
double any_double(std::mt19937_64& random) {
    const std::uint64_t bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

bool same(double a, double b) {
    return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

PointResult some_result(std::mt19937_64& random) {
    PointResult result;
    Metrics& m = result.metrics;
    m.nodes = static_cast<int>(random() % 100'000);
    m.devices = m.nodes * 2;
    m.outcome = "finished";
    m.outcome_details = "a \"quoted\" text,\nof two lines \xc3\xa9";
    m.iterations = any_double(random);
    m.sim_time_s = any_double(random);
    m.step_time_s = any_double(random);
    m.speedup = any_double(random);
    m.sent_gb_to_target = any_double(random);
    m.memory_gb = any_double(random);
    m.algbw_gb_per_s = any_double(random);
    m.busbw_gb_per_s = any_double(random);
    m.slowdown = any_double(random);
    m.spread.emplace();
    m.spread->sent_gb.p10 = any_double(random);
    m.spread->transfer_s.max = any_double(random);
    m.activations_gb = any_double(random);
    m.energy_to_target_kwh = any_double(random);
    m.goodput = any_double(random);
    m.events = random();
    for (int i = 0; i < 3; ++i) {
        Evaluation& e = m.timeline.emplace_back();
        e.sim_time_s = any_double(random);
        e.test_loss = any_double(random);
        if (i == 1) e.test_accuracy = any_double(random);
    }
    m.job = "main";
    m.other_jobs.emplace_back().job = "beside";
    m.other_jobs.back().step_time_s = any_double(random);
    result.wall_clock_s = 0.1;
    return result;
}

TEST_CASE("point file: every field reads back to the same, numbers to the bit") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const PointResult written = some_result(random);

        const std::string text = point_text("key", written);
        const auto read = read_point(text, "key");

        REQUIRE(read.has_value());
        const Metrics& a = written.metrics;
        const Metrics& b = read->metrics;
        CHECK(a.nodes == b.nodes);
        CHECK(a.outcome_details == b.outcome_details);
        CHECK(same(a.iterations, b.iterations));
        CHECK(same(*a.step_time_s, *b.step_time_s));
        CHECK(same(*a.sent_gb_to_target, *b.sent_gb_to_target));
        CHECK(same(*a.memory_gb, *b.memory_gb));
        CHECK(same(*a.algbw_gb_per_s, *b.algbw_gb_per_s));
        CHECK(same(*a.busbw_gb_per_s, *b.busbw_gb_per_s));
        CHECK(same(*a.slowdown, *b.slowdown));
        REQUIRE(b.spread.has_value());
        CHECK(same(a.spread->sent_gb.p10, b.spread->sent_gb.p10));
        CHECK(same(a.spread->transfer_s.max, b.spread->transfer_s.max));
        CHECK(same(*a.activations_gb, *b.activations_gb));
        CHECK(same(*a.energy_to_target_kwh, *b.energy_to_target_kwh));
        CHECK(same(*a.goodput, *b.goodput));
        CHECK_FALSE(b.test_loss.has_value());
        CHECK(a.events == b.events);
        REQUIRE(b.timeline.size() == 3);
        CHECK(same(a.timeline[2].test_loss, b.timeline[2].test_loss));
        CHECK(b.timeline[1].test_accuracy.has_value());
        CHECK_FALSE(b.timeline[2].test_accuracy.has_value());
        REQUIRE(b.other_jobs.size() == 1);
        CHECK(same(*a.other_jobs[0].step_time_s, *b.other_jobs[0].step_time_s));
        CHECK(point_text("key", *read) == text);
    }
}

TEST_CASE("point file: a text that was cut or changed by a byte is not read") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const std::string text = point_text("key", some_result(random));

        CHECK_FALSE(read_point(text, "other").has_value());
        CHECK_FALSE(read_point("", "key").has_value());
        for (int i = 0; i < 200; ++i) {
            const std::size_t at = random() % text.size();
            std::string changed = text;
            changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
            CAPTURE(at);
            CHECK_FALSE(read_point(changed, "key").has_value());
            CHECK_FALSE(read_point(text.substr(0, at), "key").has_value());
        }
        CHECK_FALSE(read_point(text + text, "key").has_value());
    }
}

}  // namespace
}  // namespace paceline::point_file_test
