#include "sim/network/lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/coroutine.hpp"

namespace paceline::lanes_test {
namespace {

constexpr int here = 1;
constexpr int there = 0;
constexpr Stream stream = 7;

/// One lane, and receivers for it.
struct Run {
    LaneTable lanes;
    Lane& lane = lanes[lanes.find_or_add(here, there, stream)];
    Join first{1};
    Join second{1};
    Join third{1};

    /// An eager message, or one that was allowed to set out.
    void set_out() { ++lane.under_way; }
    void deliver() {
        set_out();
        lane.deliver();
    }
};

// ---- receivers ----

TEST_CASE("lanes: a receiver is notified when the message arrives, and not before") {
    Run run;

    run.lane.receive(run.first);
    const bool before = run.first.complete();
    run.deliver();

    CHECK_FALSE(before);
    CHECK(run.first.complete());
}

TEST_CASE("lanes: what has arrived answers the next receive at once") {
    Run run;

    run.deliver();
    run.lane.receive(run.first);

    CHECK(run.first.complete());
}

TEST_CASE("lanes: the k-th message answers the k-th receive") {
    Run run;

    run.deliver();
    run.deliver();
    run.lane.receive(run.first);
    run.lane.receive(run.second);
    run.lane.receive(run.third);

    CHECK(run.first.complete());
    CHECK(run.second.complete());
    CHECK_FALSE(run.third.complete());
}

TEST_CASE("lanes: receivers are served in order") {
    Run run;
    run.lane.receive(run.first);
    run.lane.receive(run.second);

    run.deliver();
    const bool first_served_alone = run.first.complete() && !run.second.complete();
    run.deliver();

    CHECK(first_served_alone);
    CHECK(run.second.complete());
}

TEST_CASE("lanes: each receiver lets one message set out") {
    Run run;

    const bool before = run.lane.has_receiver();
    run.lane.receive(run.first);
    const bool with_receiver = run.lane.has_receiver();
    run.set_out();
    const bool for_a_second = run.lane.has_receiver();
    run.lane.deliver();
    run.lane.receive(run.second);

    CHECK_FALSE(before);
    CHECK(with_receiver);
    CHECK_FALSE(for_a_second);
    CHECK(run.lane.has_receiver());
}

TEST_CASE("lanes: a receiver that has withdrawn is not notified, and the message is kept") {
    Run run;
    run.lane.receive(run.first);

    run.lane.withdraw(run.first);
    run.deliver();
    run.lane.receive(run.second);

    CHECK_FALSE(run.first.complete());
    CHECK(run.second.complete());
}

TEST_CASE("lanes: if its receiver withdraws, a message in flight goes to the next receiver") {
    Run run;
    run.lane.receive(run.first);
    run.set_out();
    run.lane.withdraw(run.first);

    run.lane.receive(run.second);
    const bool for_another = run.lane.has_receiver();
    run.lane.deliver();

    CHECK_FALSE(for_another);
    CHECK(run.second.complete());
}

TEST_CASE("lanes: receivers withdraw from any place in the queue") {
    Run run;
    Join fourth{1};
    run.lane.receive(run.first);
    run.lane.receive(run.second);
    run.lane.receive(run.third);

    run.lane.withdraw(run.second);
    run.lane.withdraw(run.third);
    run.lane.receive(fourth);  // behind the first
    run.lane.withdraw(run.first);
    run.lane.withdraw(run.first);  // no longer there
    run.deliver();

    CHECK(fourth.complete());
    CHECK_FALSE(run.first.complete());
    CHECK(run.lane.waiting == 0);
    CHECK(run.lane.idle());
}

// ---- messages ----

std::vector<LaneTable::Message> messages_of(const LaneTable& lanes, const Lane& lane) {
    std::vector<LaneTable::Message> all;
    for (LaneTable::Message m = lane.oldest; m != Lane::none; m = lanes.behind(m)) all.push_back(m);
    return all;
}

TEST_CASE("lanes: messages drain and arrive in order") {
    LaneTable lanes;
    const LaneTable::Index index = lanes.find_or_add(here, there, stream);
    for (const LaneTable::Message message : {4U, 2U, 9U}) lanes.push(index, message);

    lanes.drain(index);
    const LaneTable::Message undrained = lanes[index].undrained;
    lanes.arrive(index);
    lanes.drain(index);
    lanes.drain(index);
    lanes.push(index, 4);

    CHECK(undrained == 2);
    CHECK(lanes[index].undrained == 4);
    CHECK(messages_of(lanes, lanes[index]) == std::vector<LaneTable::Message>{2, 9, 4});
}

TEST_CASE("lanes: messages are removed from any place, and the queue goes on") {
    for (unsigned removed = 0; removed < 16; ++removed)
        for (unsigned drained = 0; drained <= 4; ++drained) {
            CAPTURE(removed);
            CAPTURE(drained);
            LaneTable lanes;
            const LaneTable::Index index = lanes.find_or_add(here, there, stream);
            for (LaneTable::Message message = 0; message < 4; ++message) lanes.push(index, message);
            for (unsigned i = 0; i < drained; ++i) lanes.drain(index);

            lanes.remove_messages(index, [removed](LaneTable::Message message) {
                return (removed >> message & 1U) != 0;
            });
            lanes.push(index, 4);

            std::vector<LaneTable::Message> expected;
            LaneTable::Message undrained = Lane::none;
            for (LaneTable::Message message = 0; message < 5; ++message) {
                if ((removed >> message & 1U) != 0) continue;
                expected.push_back(message);
                if (message >= drained) undrained = std::min(undrained, message);
            }
            REQUIRE(messages_of(lanes, lanes[index]) == expected);
            REQUIRE(lanes[index].undrained == undrained);
            REQUIRE(lanes[index].newest == 4);
        }
}

// ---- the table ----

TEST_CASE("lanes: lanes of other nodes, sources and streams stay apart") {
    LaneTable lanes;

    const LaneTable::Index one = lanes.find_or_add(here, there, stream);

    CHECK(lanes.find_or_add(here, there, stream) == one);
    CHECK(lanes.find(2, there, stream) == LaneTable::none);
    CHECK(lanes.find(here, 2, stream) == LaneTable::none);
    CHECK(lanes.find(here, there, stream + 1) == LaneTable::none);
    CHECK(lanes.find(there, here, stream) == LaneTable::none);
    CHECK(lanes.find(here, there, stream | (Stream{1} << 63U)) == LaneTable::none);
}

TEST_CASE("lanes: a lane with nothing in it is removed, and another one takes its place") {
    LaneTable lanes;
    Join receiver{1};
    const LaneTable::Index first = lanes.find_or_add(here, there, stream);
    lanes[first].receive(receiver);

    lanes.remove_if_idle(first);
    const std::size_t with_receiver = lanes.size();
    lanes[first].withdraw(receiver);
    lanes.remove_if_idle(first);

    CHECK(with_receiver == 1);
    CHECK(lanes.size() == 0);
    CHECK(lanes.find(here, there, stream) == LaneTable::none);
    CHECK(lanes.find_or_add(there, here, stream) == first);
    CHECK(lanes[first].idle());
}

TEST_CASE("lanes, property: the table finds what a map finds, and visits what it holds") {
    using Name = std::tuple<int, int, Stream>;
    std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp)
    LaneTable lanes;
    std::map<Name, LaneTable::Index> expected;
    for (int step = 0; step < 200'000; ++step) {
        // Phases of growth and of decline; streams as jobs choose them.
        const bool add = random() % 10 < (step / 20'000 % 2 == 0 ? 8U : 2U);
        const Name name{static_cast<int>(random() % 40), static_cast<int>(random() % 40),
                        (random() % 4 << 61U) | random() % 20};
        const auto [to, from, on] = name;
        const auto known = expected.find(name);
        REQUIRE(lanes.find(to, from, on) ==
                (known == expected.end() ? LaneTable::none : known->second));
        if (add && known == expected.end()) {
            expected[name] = lanes.find_or_add(to, from, on);
            ++lanes[expected[name]].arrived;
        } else if (!add && known != expected.end()) {
            lanes[known->second].arrived = 0;
            lanes.remove_if_idle(known->second);
            expected.erase(known);
        }
        REQUIRE(lanes.size() == expected.size());
    }
    std::map<Name, LaneTable::Index> visited;
    lanes.for_each([&](LaneTable::Index index) {
        visited[{lanes[index].to, lanes[index].from, lanes[index].stream}] = index;
    });
    CHECK(visited == expected);
    CHECK(expected.size() > 100);
}

}  // namespace
}  // namespace paceline::lanes_test
