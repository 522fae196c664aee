// Links of unlimited bandwidth, and who observes a network.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "sim/network/fabric.hpp"
#include "sim/network/observer.hpp"
#include "tests/sim/network/transfer_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline {
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

TEST_CASE("unlimited links: the others of a way are shared as ever") {
    Fabric star = make_star(3, Link{unlimited, 1us}, Link{8_Gbps, 1us});
    TransferRun run(star);
    run.transfer({'a', 0, 2, 1_MB});
    run.transfer({'b', 1, 2, 1_MB});
    run.simulation.run();

    CHECK(run.drained['a'] == 2ms);
    CHECK(run.drained['b'] == 2ms);
}

// What it is told, in order.
struct Notes : NetworkObserver {
    struct Note {
        bool begins;
        std::vector<LinkId> route;
        Bytes moved;
        Duration at;
        bool operator==(const Note&) const = default;
    };
    std::vector<Note> all;

    void flow_begins(const Route& route, Time now) override {
        all.push_back({true, {route.begin(), route.end()}, {}, now.time_since_epoch()});
    }
    void flow_ends(const Route& route, Bytes moved, Time now) override {
        all.push_back({false, {route.begin(), route.end()}, moved, now.time_since_epoch()});
    }
};

TEST_CASE("network: an observer is told when messages enter their links and leave them") {
    Notes notes;
    TransferRun run(make_star(2, Link{8_Gbps, 5us}, Link{8_Gbps, 5us}));
    run.network.observe(&notes);
    run.transfer({'a', 0, 1, 1_MB, 2us});
    run.simulation.run();

    const std::vector<LinkId> route{star_up(0), star_down(1, 2)};
    CHECK(notes.all ==
          std::vector<Notes::Note>{{true, route, {}, 2us}, {false, route, 1_MB, 1ms + 2us}});
}

TEST_CASE("network: of a message whose host dies an observer is told what has moved") {
    Notes notes;
    TransferRun run(make_star(2, Link{8_Gbps}, Link{8_Gbps}));
    run.network.observe(&notes);
    run.transfer({'a', 0, 1, 1_MB});
    run.simulation.run(Time{250us});
    run.network.silence(0);
    run.simulation.run();

    REQUIRE(notes.all.size() == 2);
    CHECK(notes.all[1].moved == Bytes{250'000});
    CHECK(notes.all[1].at == 250us);
}

}  // namespace
}  // namespace paceline
