#include "sim/compute/shared_device.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::shared_device_test {
namespace {

struct Interval {
    std::int64_t begin;
    std::int64_t end;
};

// Lets the collectives of a device begin and end that do so after `from`, until `to`.
void go_on(CollectivesOnDevice& device, const std::vector<Interval>& collectives, std::int64_t from,
           std::int64_t to) {
    for (std::int64_t t = from + 1; t <= to; ++t)
        for (const Interval& collective : collectives) {
            if (collective.begin == t) device.begin(Time{Duration{t}});
            if (collective.end == t) device.end(Time{Duration{t}});
        }
}

// Returns when work that takes `alone` ends, tick by tick: a tick beside a collective is worth 1 -
// share.
double end_tick_by_tick(const std::vector<Interval>& collectives, double share, std::int64_t begin,
                        std::int64_t alone) {
    double done = 0;
    std::int64_t t = begin;
    for (; done < static_cast<double>(alone); ++t) {
        bool beside = false;
        for (const Interval& c : collectives) beside = beside || (c.begin <= t && t < c.end);
        done += beside ? 1 - share : 1;
    }
    return static_cast<double>(t);
}

TEST_CASE("shared device: work ends where its speed beside collectives adds up to it") {
    std::mt19937 draw(1);
    const auto upto = [&](std::int64_t most) {
        return std::int64_t{std::uniform_int_distribution<int>(0, static_cast<int>(most))(draw)};
    };
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        std::vector<Interval> collectives;
        for (std::int64_t i = upto(6); i > 0; --i) {
            const std::int64_t begin = upto(900);
            collectives.push_back({begin, begin + 1 + upto(400)});
        }
        const double share = 0.01 * static_cast<double>(upto(90));
        const std::int64_t begin = upto(300);
        const std::int64_t alone = 1 + upto(500);

        CollectivesOnDevice device;
        go_on(device, collectives, -1, begin);
        const WorkOnDevice work(device, share, Time{Duration{begin}}, Duration{alone});
        std::int64_t now = begin;
        while (work.left(Time{Duration{now}}) > Duration::zero()) {
            const std::int64_t next = now + work.left(Time{Duration{now}}).count();
            go_on(device, collectives, now, next);
            now = next;
        }
        const double expected = end_tick_by_tick(collectives, share, begin, alone);
        const double rounding = 1 + 1 / (1 - share);  // of half a tick, at the speed that is left
        CHECK(std::abs(static_cast<double>(now) - expected) <= rounding);
    }
}

TEST_CASE("shared device: collectives that overlap count once") {
    CollectivesOnDevice device;
    device.begin(Time{Duration{10}});
    device.begin(Time{Duration{20}});
    device.end(Time{Duration{30}});
    CHECK(device.until(Time{Duration{35}}) == Duration{25});
    device.end(Time{Duration{40}});
    CHECK(device.until(Time{Duration{100}}) == Duration{30});
}

}  // namespace
}  // namespace paceline::shared_device_test
