// Two groups on one oversubscribed spine: times worked out by hand, because closed forms describe
// one group alone.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/network/network.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/leaf_spine.hpp"

namespace paceline::groups_on_a_spine_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

struct Reduction {
    std::vector<int> members;
    Bytes size;
    Duration begin = 0s;
};

// Leaves of four hosts at 1 Gbps under one spine, with an uplink of `uplink`. Returns when each
// job's last member ends.
std::vector<double> ends(const std::vector<Reduction>& jobs, Bandwidth uplink, Duration latency) {
    LeafSpine shape;
    shape.hosts = 8;
    shape.hosts_per_leaf = 4;
    shape.spines = 1;
    shape.link = {1_Gbps, latency};
    shape.uplink = {uplink, latency};
    StarRun run(8, make_leaf_spine(shape, 1));
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const auto group = std::make_shared<const Group>(
            Group{jobs[j].members, static_cast<std::uint32_t>(j + 1)});
        for (int place = 0; place < static_cast<int>(group->members.size()); ++place)
            run.spawn(group->members[static_cast<std::size_t>(place)],
                      ring_all_reduce({run.network, group, place, j + 1}, jobs[j].size),
                      jobs[j].begin);
    }
    run.simulation.run();
    REQUIRE(run.processes.finished());
    std::vector<double> result;
    for (const Reduction& job : jobs) {
        Duration last{};
        for (const int host : job.members)
            last = std::max(last, run.ended[static_cast<std::size_t>(host)]);
        result.push_back(to_seconds(last));
    }
    return result;
}

constexpr double whole = 8e-3;  // seconds of 1 MB at 1 Gbps

void check(const std::vector<double>& got, const std::vector<double>& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-9));
}

TEST_CASE("groups on a spine: one alone takes its closed form") {
    // Four links of 10 us; two steps of half of the vector.
    check(ends({{{0, 4}, 1_MB}}, 1_Gbps, 10us), {2 * (40e-6 + whole / 2)});
    CHECK(
        ends({{{0, 4}, 1_MB}}, 1_Gbps, 10us).front() ==
        doctest::Approx(to_seconds(ring_all_reduce_time(2, 1_MB, {1_Gbps, 40us}))).epsilon(1e-12));
}

TEST_CASE("groups on a spine: two at once have half of the uplink each") {
    check(ends({{{0, 4}, 1_MB}, {{1, 5}, 1_MB}}, 1_Gbps, 10us),
          {2 * (40e-6 + whole), 2 * (40e-6 + whole)});
}

TEST_CASE(
    "groups on a spine: the longer one has all of the uplink once the shorter one is through") {
    // Both at half speed until 1 MB each has passed; then the second one's other megabyte.
    check(ends({{{0, 4}, 1_MB}, {{1, 5}, 2_MB}}, 1_Gbps, 0us), {2 * whole, 3 * whole});
}

TEST_CASE("groups on a spine: a group that starts later takes half from then on") {
    // 4 ms alone: half is through. Then both at half speed: the first needs 8 ms more, the second
    // has half left by then and the uplink for itself.
    check(ends({{{0, 4}, 1_MB}, {{1, 5}, 1_MB, 4ms}}, 1_Gbps, 0us), {12e-3, 16e-3});
}

TEST_CASE(
    "groups on a spine: three of four have what the uplink leaves, who stays in is untouched") {
    // 1.5 Gbps for three: 0.5 Gbps each; hosts 3 and 2 of the first leaf exchange at full rate.
    check(ends({{{0, 4}, 1_MB}, {{1, 5}, 1_MB}, {{2, 6}, 1_MB}}, Bandwidth{1'500'000'000}, 0us),
          {2 * whole, 2 * whole, 2 * whole});
    check(ends({{{0, 4}, 1_MB}, {{1, 5}, 1_MB}, {{2, 3}, 1_MB}}, Bandwidth{1'500'000'000}, 10us),
          {2 * (40e-6 + whole / 1.5), 2 * (40e-6 + whole / 1.5), 2 * (20e-6 + whole / 2)});
}

TEST_CASE("groups on a spine: with a wide uplink groups do not slow each other") {
    check(ends({{{0, 4}, 1_MB}, {{1, 5}, 1_MB}}, 2_Gbps, 10us),
          {2 * (40e-6 + whole / 2), 2 * (40e-6 + whole / 2)});
}

}  // namespace
}  // namespace paceline::groups_on_a_spine_test
