#include "analysis/measures/link_intervals.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/coroutine.hpp"
#include "sim/network/network_observer.hpp"
#include "tests/sim/network/random_network.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::link_intervals_test {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using doctest::Approx;

constexpr Link usual{.bandwidth = 8_Gbps, .latency = 5us};  // 1 byte in 1 ns

// Calls functions at given times.
class Plan {
  public:
    explicit Plan(Simulation& simulation) : simulation_(simulation) {}
    void at(Time when, std::function<void()> what) {
        all_.push_back({std::move(what)});
        simulation_.at(when, action<&Step::happen>(all_.back()));
    }

  private:
    struct Step {
        std::function<void()> what;
        void happen(std::uint32_t /*unused*/) const { what(); }
    };

    Simulation& simulation_;
    std::deque<Step> all_;
};

// A star of two hosts that is watched. Host 0 sends over link 0 ("node 0 up") and link 3 ("node 1
// down").
struct Watched {
    explicit Watched(Duration width) : intervals(network, width) {
        observer = intervals.observer();
        network.observe(&observer);
    }
    void send_at(Time when, Bytes size) {
        plan.at(when, [this, size] { network.send(0, 1, stream++, size, Protocol::eager, done); });
    }
    void run() {
        simulation.run();
        intervals.finish();
    }
    [[nodiscard]] std::vector<LinkInterval> of(LinkId link) const {
        std::vector<LinkInterval> found;
        intervals.for_each([&](const LinkInterval& one) {
            if (one.link == link) found.push_back(one);
        });
        return found;
    }

    Simulation simulation;
    Plan plan{simulation};
    Network network{simulation, make_star(2, usual, usual)};
    LinkIntervals intervals;
    NetworkObserver observer;
    Join done{1000};
    Stream stream = 0;
};

TEST_CASE(
    "link intervals: a message fills the intervals that it flows in, and the others are empty") {
    Watched run(100us);
    run.send_at(Time{150us}, 200'000_B);  // flows from 150 to 350 us
    run.send_at(Time{995us}, 0_B);        // arrives at 1005 us
    run.run();

    const std::vector<LinkInterval> up = run.of(0);
    REQUIRE(up.size() == 11);
    const std::vector<std::int64_t> bytes{0, 50'000, 100'000, 50'000, 0, 0, 0, 0, 0, 0, 0};
    for (std::size_t i = 0; i < up.size(); ++i) {
        CAPTURE(i);
        CHECK(up[i].bytes == bytes[i]);
        CHECK(up[i].utilization == Approx(static_cast<double>(bytes[i]) / 100'000).epsilon(1e-9));
        CHECK(up[i].capacity_bps == Approx(8e9).epsilon(1e-12));
        CHECK(up[i].from == Time{i * 100us});
        CHECK(up[i].to == std::min(Time{(i + 1) * 100us}, Time{1005us}));
    }
    CHECK(run.of(3).size() == 11);
    CHECK(run.of(1).empty());  // the way back carried nothing
}

TEST_CASE("link intervals: utilization is of what a link can carry at the time") {
    Watched run(1ms);
    run.send_at(Time{0us}, 2'500'000_B);
    run.plan.at(Time{500us}, [&] { run.network.set_bandwidth(0, 4_Gbps); });
    run.plan.at(Time{2500us}, [&] { run.network.set_bandwidth(0, 0_Gbps); });
    run.plan.at(Time{4000us}, [&] { run.network.set_bandwidth(0, 8_Gbps); });
    run.run();

    // 0.5 MB in the first 0.5 ms, 1 MB in 2 ms, nothing until 4 ms, then 1 MB in 1 ms.
    const std::vector<LinkInterval> up = run.of(0);
    const std::vector<std::int64_t> bytes{750'000, 500'000, 250'000, 0, 1'000'000};
    const std::vector<double> use{1, 1, 1, 0, 1};
    const std::vector<double> capacity{6e9, 4e9, 2e9, 0, 8e9};
    REQUIRE(up.size() == 6);  // the message arrives 10 us after it has drained, at 5 ms
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        CAPTURE(i);
        CHECK(up[i].bytes == bytes[i]);
        CHECK(up[i].utilization == Approx(use[i]).epsilon(1e-9));
        CHECK(up[i].capacity_bps == Approx(capacity[i]).epsilon(1e-9));
    }
    // The other link on the way has 8 Gbps all the time.
    CHECK(run.of(3)[1].utilization == Approx(0.5).epsilon(1e-9));
}

TEST_CASE("link intervals: a run gets 80 to 200 intervals of 1, 2 or 5 times a power of ten") {
    for (const Duration length : {3ms + 0ns, 700ms + 0ns, 1s + 0ns, 1900ms + 0ns, 999999937ns}) {
        CAPTURE(length.count());
        Watched run(Duration::zero());
        for (const int part : {0, 1, 2, 3}) run.send_at(Time{Duration{length} * part / 4}, 100_B);
        run.plan.at(Time{length}, [] {});
        run.run();
        const std::vector<LinkInterval> up = run.of(0);
        CHECK(up.size() >= 80);
        CHECK(up.size() <= 200);
        CHECK(up.back().to == Time{length});
        std::int64_t width = run.intervals.width().count();
        while (width % 10 == 0) width /= 10;
        CHECK((width == 1 || width == 2 || width == 5));
        std::int64_t bytes = 0;
        for (const LinkInterval& one : up) bytes += one.bytes;
        CHECK(bytes == 400);
    }
}

TEST_CASE("link intervals: a run too long for the width that was asked for gets ten times that") {
    Watched run(1us);
    run.send_at(Time{0us}, 1'000'000_B);
    run.plan.at(Time{50ms}, [] {});
    run.run();
    CHECK(run.intervals.width() == 10us);
    CHECK(run.of(0).size() == 5000);
}

TEST_CASE("link intervals, property: every link's bytes are those of the messages routed over it") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        RandomNetwork random;
        random.draw(dice);
        Simulation simulation;
        Network network(simulation, random.fabric());
        LinkIntervals intervals(network, dice.one_in(2) ? Duration::zero() : Duration{777us});
        const NetworkObserver observer = intervals.observer();
        network.observe(&observer);
        Plan plan(simulation);
        Join drained(1000);
        std::map<LinkId, std::int64_t> expected;
        for (Stream stream = 0; stream < 30; ++stream) {
            const auto from = static_cast<int>(dice.below(random.hosts));
            const auto to =
                static_cast<int>((from + 1 + dice.below(random.hosts - 1)) % random.hosts);
            const Bytes size = dice.size();
            for (const LinkId link : random.route(from, to))
                if (size.count > 0) expected[link] += size.count;
            plan.at(Time{dice.instant()}, [&, from, to, stream, size] {
                network.send(from, to, stream, size, Protocol::eager, drained);
            });
        }
        simulation.run();
        intervals.finish();

        std::map<LinkId, std::int64_t> found;
        intervals.for_each([&](const LinkInterval& one) {
            found[one.link] += one.bytes;
            CHECK(one.utilization <= 1);
            CHECK(one.bytes >= 0);
            const double length = static_cast<double>((one.to - one.from).count()) * 1e-12;
            CHECK(static_cast<double>(one.bytes) <= one.capacity_bps / 8 * length + 1);
        });
        std::erase_if(found, [](const auto& entry) { return entry.second == 0; });
        CHECK(found == expected);
    }
}

}  // namespace
}  // namespace paceline::link_intervals_test
