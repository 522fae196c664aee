// Rendezvous in band: clearances travel back on the connection.
#include <chrono>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::in_band_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Protocol in_band = Protocol::rendezvous_in_band;
constexpr Duration latency = 1ms;  // from host to host
constexpr Duration t = 8ms;        // of 1 MB

StarRun two() {
    return {2, {1_Gbps, latency / 2}};
}

Task<> send_in_turn(StarRun& run, int count) {
    for (int i = 0; i < count; ++i) co_await Send(run.network, 0, 1, 1, 1_MB, in_band);
}
Task<> receive_in_turn(StarRun& run, int count) {
    for (int i = 0; i < count; ++i) co_await Receive(run.network, 1, 0, 1, in_band);
}

TEST_CASE("in band: each message waits a round trip for a receiver that was not posted ahead") {
    for (int count = 1; count <= 4; ++count) {
        StarRun run = two();
        run.spawn(0, send_in_turn(run, count));
        run.spawn(1, receive_in_turn(run, count));
        run.simulation.run();

        CHECK(run.ended[1] == count * (2 * latency + t));
    }
}

TEST_CASE("in band: a clearance that is there already costs nothing, and an early sender waits") {
    StarRun late_sender = two();
    late_sender.spawn(0, send_in_turn(late_sender, 1), 5ms);
    late_sender.spawn(1, receive_in_turn(late_sender, 1));
    late_sender.simulation.run();
    CHECK(late_sender.ended[1] == 5ms + t + latency);

    StarRun late_receiver = two();
    late_receiver.spawn(0, send_in_turn(late_receiver, 1));
    late_receiver.spawn(1, receive_in_turn(late_receiver, 1), 5ms);
    late_receiver.simulation.run();
    CHECK(late_receiver.ended[1] == 5ms + 2 * latency + t);
}

Task<> receive_one(StarRun& run) {
    co_await Receive(run.network, 1, 0, 1, in_band);
}

TEST_CASE("in band: receives that are posted ahead send their clearances ahead") {
    StarRun run = two();
    run.spawn(0, send_in_turn(run, 3));
    for (int i = 0; i < 3; ++i) run.spawn(1, receive_one(run));
    run.simulation.run();

    CHECK(run.ended[1] == 3 * t + 2 * latency);
}

Task<> receive_later(StarRun& run, Duration wait) {
    co_await run.simulation.sleep(wait);
    co_await Receive(run.network, 0, 1, 1, in_band);
}
Task<> send_back(StarRun& run) {
    co_await Send(run.network, 1, 0, 1, 1_MB, in_band);
}

TEST_CASE("in band: a clearance waits for what its receiver has set out itself") {
    // Host 0 sends from 1 to 9 ms. Its own receive of 3 ms is cleared at 9 ms, so host 1 sends from
    // 10 to 18 ms: the two directions of the pair run one after the other.
    StarRun run = two();
    run.spawn(0, send_in_turn(run, 1));
    run.spawn(1, receive_in_turn(run, 1));
    run.spawn(1, send_back(run));
    run.spawn(0, receive_later(run, 3ms));
    run.simulation.run();

    CHECK(run.ended[0] == 19ms);
    CHECK(run.network.lanes() == 0);
}

TEST_CASE("in band: an exchange whose receives are posted together goes both ways at once") {
    const Library library{.protocol = in_band};
    StarRun run = two();
    for (int place = 0; place < 2; ++place)
        run.spawn(place, ring_all_reduce(Rank(run.network, run.group, place, 1, library), 2_MB));
    run.simulation.run();

    CHECK(run.last_end() == 2 * (2 * latency + t));
}

TEST_CASE("in band: a ring with w slices under way takes a round trip per w slices") {
    for (const int w : {1, 2, 3, 8}) {
        CAPTURE(w);
        const int n = 4;
        const int k = 8;
        const Library library{.protocol = in_band};
        StarRun run(n, {1_Gbps, latency / 2});
        for (int place = 0; place < n; ++place)
            run.spawn(place,
                      pipelined_ring_all_reduce(Rank(run.network, run.group, place, 1, library),
                                                n * k * 125'000_B, {125'000_B, w}));
        run.simulation.run();

        const Duration slice = 1ms;
        const int last = 2 * (n - 1) * k - 1;
        const Duration period = std::max(w * slice, slice + 2 * latency);
        CHECK(run.last_end() == latency + last / w * period + last % w * slice + slice + latency);
    }
}

Task<> receive_until(StarRun& run, Duration until) {
    const auto first = co_await first_of(receive_one(run), [](Simulation& s, Duration d) -> Task<> {
        co_await s.sleep(d);
    }(run.simulation, until));
    CHECK(first.index() == 1);
}

TEST_CASE("in band: the clearance of a receiver that has withdrawn is lost") {
    StarRun run = two();
    run.spawn(1, receive_until(run, 500us));  // its clearance arrives after 1 ms
    run.spawn(0, send_in_turn(run, 1), 2ms);
    run.spawn(1, receive_in_turn(run, 1), 6ms);
    run.simulation.run();

    CHECK(run.ended[1] == 6ms + 2 * latency + t);
}

}  // namespace
}  // namespace paceline::in_band_test
