#include "sim/engine/event_queue.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "sim/engine/action.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/units.hpp"

namespace paceline::event_queue_test {
namespace {

using namespace std::chrono_literals;

struct Recorder {
    std::string log;

    void note(std::uint32_t letter) { log += static_cast<char>(letter); }
    Action write(char letter) { return action<&Recorder::note>(*this, std::uint32_t(letter)); }
};

void fire_all(EventQueue& queue) {
    while (!queue.empty()) queue.pop().action();
}

TEST_CASE("event queue: an action calls the member function of its object with its number") {
    Recorder recorder;
    const Action write = action<&Recorder::note>(recorder, 'x');

    write();
    write();

    CHECK(recorder.log == "xx");
}

TEST_CASE("event queue: events leave in time order, and in push order within an instant") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{7us}, recorder.write('d'));
    queue.push(Time{5us}, recorder.write('a'));
    queue.push(Time{7us}, recorder.write('e'));
    queue.push(Time{5us}, recorder.write('b'));
    queue.push(Time{6us}, recorder.write('c'));
    queue.push(Time{7us}, recorder.write('f'));

    fire_all(queue);

    CHECK(recorder.log == "abcdef");
}

TEST_CASE("event queue: a new queue is empty, and has no next event") {
    EventQueue queue;

    CHECK(queue.empty());
    CHECK(queue.size() == 0);
    CHECK_FALSE(queue.keep_alive(false));
    CHECK_THROWS_AS(static_cast<void>(queue.pop()), LogicError);
    CHECK_THROWS_AS(static_cast<void>(queue.next_time()), LogicError);
}

TEST_CASE("event queue: the next time is that of the event that pop returns") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{9us}, recorder.write('b'));
    queue.push(Time{5us}, recorder.write('a'));

    const Time next = queue.next_time();
    const Event event = queue.pop();

    CHECK(next == Time{5us});
    CHECK(event.at == Time{5us});
    CHECK(event.action.argument == 'a');
    CHECK(queue.next_time() == Time{9us});
    CHECK(queue.size() == 1);
}

TEST_CASE("event queue: events can be pushed to an instant while it drains") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{5us}, recorder.write('a'));
    queue.push(Time{5us}, recorder.write('b'));
    queue.push(Time{6us}, recorder.write('f'));

    queue.pop().action();
    queue.push(Time{5us}, recorder.write('c'));
    queue.pop().action();
    queue.pop().action();
    queue.push(Time{5us}, recorder.write('d'));
    queue.push(Time{5us}, recorder.write('e'));
    fire_all(queue);

    CHECK(recorder.log == "abcdef");
}

TEST_CASE("event queue: an instant can be opened again after the next time was looked at") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{5us}, recorder.write('a'));
    queue.push(Time{6us}, recorder.write('c'));

    queue.pop().action();
    const Time next = queue.next_time();
    queue.push(Time{5us}, recorder.write('b'));

    CHECK(next == Time{6us});
    CHECK(queue.next_time() == Time{5us});
    fire_all(queue);
    CHECK(recorder.log == "abc");
}

TEST_CASE("event queue: an event in the past is a programming error, with its place in the code") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{5us}, recorder.write('a'));
    queue.pop();
    std::string message;

    try {
        queue.push(Time{5us} - Duration{1}, recorder.write('b'));
    } catch (const LogicError& error) {
        message = error.what();
    }

    CHECK(message.find("an event cannot be pushed into the past") != std::string::npos);
    CHECK(message.find("event_queue.cpp:") != std::string::npos);
    CHECK(queue.empty());
}

TEST_CASE("event queue: a cancelled event does not leave") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{5us}, recorder.write('a'));
    const EventId middle = queue.push(Time{5us}, recorder.write('x'));
    queue.push(Time{5us}, recorder.write('b'));
    const EventId last = queue.push(Time{5us}, recorder.write('y'));
    const EventId alone = queue.push(Time{6us}, recorder.write('z'));
    queue.push(Time{7us}, recorder.write('c'));

    CHECK(queue.cancel(middle));
    CHECK(queue.cancel(last));
    CHECK(queue.cancel(alone));

    CHECK(queue.size() == 3);
    fire_all(queue);
    CHECK(recorder.log == "abc");
}

TEST_CASE("event queue: an instant whose events were all cancelled takes new ones") {
    Recorder recorder;
    EventQueue queue;
    const EventId only = queue.push(Time{5us}, recorder.write('x'));
    queue.cancel(only);

    queue.push(Time{6us}, recorder.write('b'));
    queue.push(Time{5us}, recorder.write('a'));

    fire_all(queue);
    CHECK(recorder.log == "ab");
}

TEST_CASE("event queue: cancelling what was popped or cancelled before does nothing") {
    Recorder recorder;
    EventQueue queue;
    const EventId popped = queue.push(Time{5us}, recorder.write('x'));
    const EventId cancelled = queue.push(Time{6us}, recorder.write('y'));
    queue.pop();
    queue.cancel(cancelled);
    queue.push(Time{7us}, recorder.write('a'));  // these reuse the memory of the two
    queue.push(Time{7us}, recorder.write('b'));

    CHECK_FALSE(queue.cancel(popped));
    CHECK_FALSE(queue.cancel(cancelled));

    fire_all(queue);
    CHECK(recorder.log == "ab");
}

TEST_CASE("event queue: cancelling an event of another, longer queue does nothing") {
    Recorder recorder;
    EventQueue longer;
    longer.push(Time{5us}, recorder.write('x'));
    const EventId foreign = longer.push(Time{5us}, recorder.write('y'));
    EventQueue queue;

    CHECK_FALSE(queue.cancel(foreign));
    queue.push(Time{5us}, recorder.write('a'));
    CHECK_FALSE(queue.cancel(foreign));

    CHECK(queue.size() == 1);
}

TEST_CASE("event queue: an id that no push returned names no event") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{5us}, recorder.write('a'));

    CHECK_FALSE(queue.cancel(EventId{}));

    CHECK(queue.size() == 1);
}

TEST_CASE("event queue: daemon events are events, but not foreground") {
    Recorder recorder;
    EventQueue queue;
    const EventId foreground = queue.push(Time{5us}, recorder.write('a'));
    const EventId daemon = queue.push(Time{4us}, recorder.write('b'), EventKind::daemon);
    queue.push(Time{6us}, recorder.write('c'), EventKind::daemon);

    CHECK(queue.keep_alive(false));
    queue.cancel(daemon);
    CHECK(queue.keep_alive(false));
    queue.cancel(foreground);

    CHECK_FALSE(queue.keep_alive(false));
    CHECK_FALSE(queue.empty());
    CHECK(queue.next_time() == Time{6us});
    fire_all(queue);
    CHECK_FALSE(queue.keep_alive(false));
    CHECK(recorder.log == "c");
}

TEST_CASE("event queue: a popped foreground event no longer keeps the run alive") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{5us}, recorder.write('a'));
    queue.push(Time{6us}, recorder.write('b'), EventKind::daemon);

    queue.pop();

    CHECK_FALSE(queue.keep_alive(false));
    CHECK(queue.size() == 1);
}

TEST_CASE("event queue: an event can be at `never`") {
    Recorder recorder;
    EventQueue queue;
    queue.push(never, recorder.write('b'));
    queue.push(Time{5us}, recorder.write('a'));

    fire_all(queue);

    CHECK(recorder.log == "ab");
}

TEST_CASE("event queue: events with keys leave behind all others, by rank, host and stream") {
    Recorder recorder;
    EventQueue queue;
    const auto push = [&](char letter, EventKey key) {
        queue.push(Time{5us}, recorder.write(letter), EventKind::foreground, key);
    };
    push('j', {EventRank::arrives, 2, 7});
    push('a', {});
    push('h', {EventRank::arrives, 1, 8});
    push('i', {EventRank::arrives, 1, 8});
    push('g', {EventRank::arrives, 1, 7});
    push('b', {});
    push('e', {EventRank::drains, 9, 1});
    push('f', {EventRank::drains, (1 << EventKey::host_bits) - 2, 0});
    push('d', {EventRank::drains, 3, 0});
    push('c', {EventRank::begins, (1 << EventKey::host_bits) - 1, ~std::uint64_t{0}});

    fire_all(queue);

    CHECK(recorder.log == "abcdefghij");
}

/// The queue, and its oracle: a map ordered by (time, key, push number).
struct Twin {
    using Key = std::tuple<Time, std::uint64_t, std::uint32_t>;

    EventQueue queue;
    std::map<Key, EventKind> model;
    std::vector<std::pair<EventId, Key>> pushed;
    std::size_t foreground = 0;
    std::size_t standby = 0;
    Time now;
    std::mt19937_64 rng;

    explicit Twin(std::uint64_t seed) : rng(seed) {}

    void push(std::uint64_t spread) {
        const auto wait = Duration{static_cast<std::int64_t>(rng() % spread)};
        constexpr std::array kinds{EventKind::foreground, EventKind::foreground, EventKind::daemon,
                                   EventKind::standby};
        const EventKind kind = kinds[rng() % kinds.size()];
        const EventKey rank = rng() % 2 == 0 ? EventKey{}
                                             : EventKey{static_cast<EventRank>(1 + rng() % 3),
                                                        static_cast<int>(rng() % 3), rng() % 2};
        const Key key{now + wait, rank.value(), static_cast<std::uint32_t>(pushed.size())};
        const Action named{.argument = std::get<2>(key)};
        pushed.emplace_back(queue.push(std::get<0>(key), named, kind, rank), key);
        model.emplace(key, kind);
        foreground += kind == EventKind::foreground ? 1 : 0;
        standby += kind == EventKind::standby ? 1 : 0;
    }

    void cancel_any() {
        if (pushed.empty()) return;
        const auto& [id, key] = pushed[rng() % pushed.size()];
        const auto expected = model.find(key);
        const bool pending = expected != model.end();
        REQUIRE(queue.cancel(id) == pending);
        if (pending) forget(expected);
    }

    void pop() {
        if (model.empty()) return;
        const auto expected = model.begin();
        REQUIRE(queue.next_time() == std::get<0>(expected->first));
        const Event event = queue.pop();
        REQUIRE(Key{event.at, event.key.value(), event.action.argument} == expected->first);
        now = event.at;
        forget(expected);
    }

    void compare() const {
        REQUIRE(queue.size() == model.size());
        REQUIRE(queue.empty() == model.empty());
        REQUIRE(queue.keep_alive(false) == (foreground > 0));
        REQUIRE(queue.keep_alive(true) == (foreground + standby > 0));
    }

  private:
    void forget(std::map<Key, EventKind>::const_iterator gone) {
        foreground -= gone->second == EventKind::foreground ? 1 : 0;
        standby -= gone->second == EventKind::standby ? 1 : 0;
        model.erase(gone);
    }
};

TEST_CASE("event queue, property: behaves as an ordered map under random push, cancel and pop") {
    constexpr std::array<std::uint64_t, 4> spreads{1, 3, 300, 1'000'000};  // distinct times
    for (unsigned seed = 0; seed < 300; ++seed) {
        for (const std::uint64_t spread : spreads) {
            CAPTURE(seed);
            CAPTURE(spread);
            Twin twin(seed);
            for (int step = 0; step < 600; ++step) {
                const std::uint64_t dice = twin.rng() % 10;
                const bool growing = step / 150 % 2 == 0;  // many are pushed, then many cancelled
                if (dice < (growing ? 8U : 1U))
                    twin.push(spread);
                else if (dice < 9)
                    twin.cancel_any();
                else
                    twin.pop();
                twin.compare();
            }
            while (!twin.model.empty()) twin.pop();
            twin.compare();
        }
    }
}

std::int64_t peak_memory_in_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

TEST_CASE("event queue: a million timeouts that are set and cancelled leave no memory behind") {
    Recorder recorder;
    EventQueue queue;
    queue.push(Time{1h}, recorder.write('a'));
    const std::int64_t before = peak_memory_in_mib();
    int cancelled = 0;

    for (std::int64_t i = 0; i < 1'000'000; ++i) {
        const EventId timeout = queue.push(Time{1s} + Duration{i}, recorder.write('x'));
        cancelled += queue.cancel(timeout) ? 1 : 0;
    }

    CHECK(cancelled == 1'000'000);
    CHECK(queue.size() == 1);
    CHECK(peak_memory_in_mib() - before < 10);
    fire_all(queue);
    CHECK(recorder.log == "a");
}

TEST_CASE("event queue: a million events that each push their successor leave no memory behind") {
    Recorder recorder;
    EventQueue queue;
    const std::int64_t before = peak_memory_in_mib();
    for (std::int64_t i = 0; i < 1000; ++i) queue.push(Time{Duration{i}}, recorder.write('x'));

    for (int i = 0; i < 1'000'000; ++i) {
        const Event event = queue.pop();
        queue.push(event.at + 1ns, event.action);
    }

    CHECK(queue.size() == 1000);
    CHECK(queue.next_time() == Time{1us});
    CHECK(peak_memory_in_mib() - before < 10);
}

}  // namespace
}  // namespace paceline::event_queue_test
