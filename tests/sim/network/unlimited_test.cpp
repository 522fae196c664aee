// Links of unlimited bandwidth.
#include <cstdint>

#include <doctest/doctest.h>

#include "sim/network/fabric.hpp"
#include "sim/network/network_observer.hpp"
#include "tests/sim/network/transfer_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::unlimited_test {
namespace {

using namespace literals;
using namespace std::chrono_literals;

TEST_CASE("unlimited links: a message takes their latency and no more") {
    const Link fast{unlimited, 3us};
    TransferRun run(make_star(4, fast, fast));
    run.transfer({'a', 0, 1, 1000_MB});
    run.transfer({'b', 2, 1, 1000_MB, 1ms});
    run.transfer({'c', 3, 1, 1000_MB, 1ms});
    run.simulation.run();

    CHECK(run.drained['a'] == 0us);
    CHECK(run.delivered['a'] == 6us);
    CHECK(run.delivered['b'] == 1ms + 6us);
    CHECK(run.delivered['c'] == 1ms + 6us);
    CHECK(run.network.traffic(1).received == 3000_MB);
    CHECK(run.network.flows_in_flight() == 0);
}

TEST_CASE("unlimited links: other links of a route are shared as usual") {
    Fabric star = make_star(3, Link{unlimited, 1us}, Link{8_Gbps, 1us});
    TransferRun run(star);
    run.transfer({'a', 0, 2, 1_MB});
    run.transfer({'b', 1, 2, 1_MB});
    run.simulation.run();

    CHECK(run.drained['a'] == 2ms);
    CHECK(run.drained['b'] == 2ms);
}

TEST_CASE("unlimited links: an observer does not see them on a message's route") {
    Route seen;
    NetworkObserver observer;
    observer.begins = [&seen](std::uint32_t, const NetworkObserver::Message& message) {
        seen = message.route;
    };
    TransferRun run(make_star(3, Link{unlimited}, Link{8_Gbps}));
    run.network.observe(&observer);
    run.transfer({'a', 0, 2, 1_MB});
    run.simulation.run();

    CHECK(seen == Route{star_down(2, 3)});
}

}  // namespace
}  // namespace paceline::unlimited_test
