// Where the slots of a ring bind, against simulations and against arithmetic by hand.
#include "app/questions/slot_window.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/questions/explain.hpp"
#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::slot_window_test {
namespace {

using doctest::Approx;

// Two sites 10 ms apart; 8 chunks of 3.25 MB, in 7 slices each where a slot has 512 KiB.
Study two_sites(int channels, const std::string& aggregation = "") {
    const TemporaryFolder folder;
    return read_study(folder.write("scenario.json", fmt::format(R"({{
        "cluster": {{"nodes": 8, "fabric": {{"kind": "dumbbell",
            "link": {{"bandwidth": "25Gbps", "latency": "10us"}},
            "bottleneck": {{"bandwidth": "5Gbps", "latency": "10ms"}}}}}},
        "workload": {{"gradient": "26MB", "gradient_time": "0s"}},
        "algorithm": {{"kind": "dense"{},
            "all_reduce": {{"kind": "pipelined-ring", "channels": {}}}}},
        "stop": {{"iterations": 1}}}})",
                                                                aggregation, channels)),
                      {});
}

TEST_CASE("slots bind on the hop between two sites, by as much as the round trip says") {
    const Study study = two_sites(1);
    const auto window = binding_slots(study.points[0].scenario);
    REQUIRE(window);
    CHECK(window->from == 3);
    CHECK(window->to == 4);
    CHECK(window->slots == 8);
    CHECK(window->slice == Bytes{464'286});
    const double t = 464'286 * 8 / 5e9;
    CHECK(to_seconds(window->on_the_line) == Approx(8 * t));
    CHECK(to_seconds(window->returns) == Approx(t + 2 * 0.01002));
    CHECK(window->line_bytes_per_s == Approx(5e9 / 8));
    // 98 slices in windows of 8; the last one need not come back.
    const double bound = 12 * (t + 2 * 0.01002);
    const double step = run_point(study.points[0].scenario, nullptr).step_time_s.value();
    CHECK(step > bound);
    CHECK(step < bound * 1.06);
    CHECK(98 * 464'286 / step < window->most_bytes_per_s * 1.02);
}

TEST_CASE("slots that fill the line bind nowhere, and neither do those of fewer slices") {
    CHECK_FALSE(binding_slots(two_sites(8).points[0].scenario));
    CHECK(binding_slots(two_sites(2).points[0].scenario));
    // 2 (n-1) k = 98 slices; 8 x 16 slots
    CHECK_FALSE(binding_slots(two_sites(16).points[0].scenario));
}

TEST_CASE("slots of a flat ring are looked at, and not those of one ring for each card") {
    const auto binds = [](const std::string& rings) {
        const TemporaryFolder folder;
        const Study study = read_study(folder.write("scenario.json", fmt::format(R"({{
            "cluster": {{"nodes": 4, "devices_per_node": 2, "nics": 2,
                "bus": {{"kind": "switched", "link": {{"bandwidth": "800Gbps"}}}},
                "fabric": {{"kind": "star", "link": {{"bandwidth": "100Gbps", "latency": "5ms"}}}}}},
            "workload": {{"gradient": "260MB", "gradient_time": "0s"}},
            "algorithm": {{"kind": "dense", "all_reduce":
                {{"kind": "pipelined-ring", "channels": 1, "rings": "{}"}}}},
            "stop": {{"iterations": 1}}}})",
                                                                                 rings)),
                                       {});
        return binding_slots(study.points[0].scenario).has_value();
    };
    CHECK(binds("one"));
    CHECK_FALSE(binds("per-card"));
}

TEST_CASE("explain names the hop, and keeps quiet where nothing binds") {
    const auto notes = [](int channels) {
        std::string text;
        for (const std::string& note : explain_point(two_sites(channels), 0, {}).notes)
            text += note;
        return text;
    };
    CHECK(notes(1).find("the ring's slots are the limit from worker 3 to worker 4") !=
          std::string::npos);
    CHECK(notes(8).find("slots") == std::string::npos);
}

}  // namespace
}  // namespace paceline::slot_window_test
