// Compares the network with a simple reference on random instances: a fluid simulator in doubles
// that solves all rates anew at every change.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/concurrency.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/messages/transfer.hpp"
#include "sim/network/network.hpp"
#include "tests/sim/network/progressive_filling.hpp"
#include "tests/sim/network/random_network.hpp"

namespace paceline::network_against_reference_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

struct Message {
    int from;
    int to;
    Stream stream;
    Bytes size;
    Duration at;     // when it is sent
    Duration pause;  // of the receiver, between taking the one before and asking for this one
};

struct Change {
    Duration at;
    LinkId link;
    Bandwidth bandwidth;
};

struct Instance : RandomNetwork {
    std::vector<Message> messages;  // in the order of sending
    std::vector<Change> changes;
};

/// Messages of a lane use one protocol: rendezvous on odd streams, eager on the others.
Protocol protocol(Stream stream) {
    return stream % 2 == 1 ? Protocol::rendezvous : Protocol::eager;
}

/// Message numbers of each lane, first sent first.
std::vector<std::vector<std::size_t>> lanes(const Instance& instance) {
    std::map<std::tuple<int, int, Stream>, std::vector<std::size_t>> by_name;
    for (std::size_t i = 0; i < instance.messages.size(); ++i) {
        const Message& message = instance.messages[i];
        by_name[{message.from, message.to, message.stream}].push_back(i);
    }
    std::vector<std::vector<std::size_t>> all;
    for (const auto& [name, lane] : by_name) all.push_back(lane);
    return all;
}

/// When each message drained and when it was received, in picoseconds; -1: never.
struct Log {
    std::vector<double> drained;
    std::vector<double> taken;

    explicit Log(std::size_t messages) : drained(messages, -1), taken(messages, -1) {}
    bool operator==(const Log&) const = default;
};

// ---- the reference ----

class Reference {
  public:
    explicit Reference(const Instance& instance)
        : instance_(instance), log_(instance.messages.size()) {
        for (const Link& link : instance.links)
            capacity_.push_back(bytes_per_tick(link.capacity()));
        for (auto& messages : lanes(instance)) {
            lanes_.push_back({.messages = std::move(messages)});
            expect_next(lanes_.back(), 0, 0);
        }
    }

    Log run() {
        while (true) {
            start_what_can();
            change_links();
            set_rates();
            const double next = next_time();
            if (next == infinity) return log_;
            for (Lane& lane : lanes_) lane.remaining -= lane.rate * (next - now_);
            now_ = next;
            for (Lane& lane : lanes_)
                if (lane.flows && lane.ends <= now_) drain(lane);
        }
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    /// A lane has one message at a time: it waits for its start, or flows.
    struct Lane {
        std::vector<std::size_t> messages;
        std::size_t next = 0;
        double asked = 0;  // when the receiver begins to wait for it
        double start = 0;
        bool flows = false;
        double remaining = 0;
        double rate = 0;
        double ends = 0;
    };

    static double bytes_per_tick(Bandwidth rate) {
        return static_cast<double>(rate.bits_per_second) / 8e12;
    }
    static double ticks(Duration span) { return static_cast<double>(span.count()); }
    const Message& message(const Lane& lane) const {
        return instance_.messages[lane.messages[lane.next]];
    }

    void expect_next(Lane& lane, double drained, double taken) {
        lane.flows = false;
        lane.rate = 0;
        lane.start = infinity;
        if (lane.next == lane.messages.size()) return;
        lane.asked = taken + ticks(message(lane).pause);
        lane.start = std::max(ticks(message(lane).at), drained);
        if (protocol(message(lane).stream) == Protocol::rendezvous)
            lane.start = std::max(lane.start, lane.asked);
    }

    void start_what_can() {
        for (Lane& lane : lanes_)
            while (!lane.flows && lane.start <= now_) {
                lane.flows = true;
                lane.remaining = static_cast<double>(message(lane).size.count);
                if (lane.remaining == 0) drain(lane);
            }
    }

    void drain(Lane& lane) {
        const std::size_t i = lane.messages[lane.next];
        double latency = 0;
        for (const std::uint32_t link : instance_.route(message(lane).from, message(lane).to))
            latency += ticks(instance_.links[link].latency);
        log_.drained[i] = now_;
        log_.taken[i] = std::max(now_ + latency, lane.asked);
        ++lane.next;
        expect_next(lane, log_.drained[i], log_.taken[i]);
    }

    void change_links() {
        while (changed_ < instance_.changes.size() &&
               ticks(instance_.changes[changed_].at) <= now_) {
            const Change& change = instance_.changes[changed_++];
            const double efficiency = instance_.links[change.link].efficiency;
            const Link link{.bandwidth = change.bandwidth, .efficiency = efficiency};
            capacity_[change.link] = bytes_per_tick(link.capacity());
        }
    }

    void set_rates() {
        std::vector<std::vector<std::uint32_t>> routes;
        for (const Lane& lane : lanes_)
            if (lane.flows) routes.push_back(instance_.route(message(lane).from, message(lane).to));
        const std::vector<double> rates = progressive_filling(capacity_, routes);
        std::size_t flow = 0;
        for (Lane& lane : lanes_) {
            if (!lane.flows) continue;
            lane.rate = rates[flow++];
            lane.ends = lane.rate > 0 ? now_ + std::max(0.0, lane.remaining) / lane.rate : infinity;
        }
    }

    double next_time() const {
        double next = infinity;
        for (const Lane& lane : lanes_) next = std::min(next, lane.flows ? lane.ends : lane.start);
        if (changed_ < instance_.changes.size())
            next = std::min(next, ticks(instance_.changes[changed_].at));
        return next;
    }

    const Instance& instance_;
    Log log_;
    std::vector<double> capacity_;
    std::vector<Lane> lanes_;
    std::size_t changed_ = 0;
    double now_ = 0;
};

// ---- the network on the same instance ----

struct Run {
    const Instance& instance;
    Simulation simulation;
    Network network;
    Log log;
    RunEnd end{};
    Processes processes{simulation};

    explicit Run(const Instance& of)
        : instance(of), network(simulation, of.fabric()), log(of.messages.size()) {}

    [[nodiscard]] double ticks() const {
        return static_cast<double>(simulation.now().time_since_epoch().count());
    }
    void spawn();
    void run();
};

Task<> send_one(Run& run, std::size_t number) {
    const Message message = run.instance.messages[number];
    co_await run.simulation.sleep(message.at);
    co_await Send(run.network, message.from, message.to, message.stream, message.size,
                  protocol(message.stream));
    run.log.drained[number] = run.ticks();
}

Task<> take_in_order(Run& run, std::vector<std::size_t> lane) {
    for (const std::size_t number : lane) {
        const Message message = run.instance.messages[number];
        co_await run.simulation.sleep(message.pause);
        co_await Receive(run.network, message.to, message.from, message.stream);
        run.log.taken[number] = run.ticks();
    }
}

Task<> change_link(Run& run, Change change) {
    co_await run.simulation.sleep(change.at);
    run.network.set_bandwidth(change.link, change.bandwidth);
}

void Run::spawn() {
    for (std::size_t i = 0; i < instance.messages.size(); ++i)
        processes.spawn("sender", send_one(*this, i));
    for (auto& lane : lanes(instance))
        processes.spawn("receiver", take_in_order(*this, std::move(lane)));
    for (const Change& change : instance.changes)
        processes.spawn("change", change_link(*this, change));
}

void Run::run() {
    spawn();
    end = simulation.run();
}

// ---- random instances ----

void add_messages(Instance& instance, Dice& dice) {
    const std::int64_t messages = 1 + dice.below(dice.one_in(10) ? 60 : 15);
    for (std::int64_t i = 0; i < messages; ++i) {
        const auto from = static_cast<int>(dice.below(instance.hosts));
        const auto hop = static_cast<int>(1 + dice.below(instance.hosts - 1));
        instance.messages.push_back({.from = from,
                                     .to = (from + hop) % instance.hosts,
                                     .stream = static_cast<Stream>(dice.below(3)),
                                     .size = dice.size(),
                                     .at = dice.instant(),
                                     .pause = dice.one_in(2) ? Duration{} : dice.instant() / 4});
    }
    std::ranges::sort(instance.messages, {}, &Message::at);
}

/// A link goes down at an instant of its own. Otherwise a flow that drains in that instant might
/// be done, or a rounding error short of it and wait until the link is back.
void add_changes(Instance& instance, Dice& dice) {
    for (std::int64_t changes = dice.below(6); changes > 0; --changes) {
        const auto link = static_cast<LinkId>(dice.below(std::ssize(instance.links)));
        instance.changes.push_back({dice.instant(), link, dice.bandwidth()});
        if (!dice.one_in(3)) continue;
        const Duration down = dice.below(4) * Duration{1ms} + Duration{1 + dice.below(999'999'999)};
        instance.changes.push_back({down, link, Bandwidth{0}});
        if (!dice.one_in(8)) instance.changes.push_back({down + 3ms, link, dice.bandwidth()});
    }
    std::ranges::sort(instance.changes, {}, &Change::at);
}

Instance random_instance(std::uint64_t seed) {
    Dice dice(seed);
    Instance instance;
    instance.draw(dice);
    add_messages(instance, dice);
    add_changes(instance, dice);
    return instance;
}

TEST_CASE("network, property: messages drain and arrive when the reference says") {
    std::size_t delivered = 0;
    std::size_t stuck = 0;
    for (unsigned seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        const Instance instance = random_instance(seed);
        Run run(instance);

        run.run();

        const Log expected = Reference(instance).run();
        REQUIRE(run.end == RunEnd::idle);
        for (std::size_t i = 0; i < instance.messages.size(); ++i) {
            CAPTURE(i);
            REQUIRE(distance_in_roundings(run.log.drained[i], expected.drained[i]) <= 1);
            REQUIRE(distance_in_roundings(run.log.taken[i], expected.taken[i]) <= 1);
            (expected.taken[i] < 0 ? stuck : delivered) += 1;
        }
    }
    CHECK(delivered > 30'000);  // the instances cover what they should:
    CHECK(stuck > 100);         // some links stay down
}

TEST_CASE("network, property: bytes are conserved, host by host") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        const Instance instance = random_instance(seed);
        Run run(instance);

        run.run();

        std::vector<Bytes> sent(static_cast<std::size_t>(instance.hosts));
        std::vector<Bytes> received(static_cast<std::size_t>(instance.hosts));
        std::uint64_t delivered = 0;
        for (std::size_t i = 0; i < instance.messages.size(); ++i) {
            if (run.log.taken[i] < 0) continue;
            const Message& message = instance.messages[i];
            sent[static_cast<std::size_t>(message.from)] += message.size;
            received[static_cast<std::size_t>(message.to)] += message.size;
            ++delivered;
        }
        for (int host = 0; host < instance.hosts; ++host) {
            REQUIRE(run.network.traffic(host).sent == sent[static_cast<std::size_t>(host)]);
            REQUIRE(run.network.traffic(host).received == received[static_cast<std::size_t>(host)]);
        }
        REQUIRE(run.network.messages_delivered() == delivered);
        const bool all = delivered == instance.messages.size();
        REQUIRE((run.network.flows_in_flight() == 0) == all);
        REQUIRE(run.simulation.waiting().empty() == all);
    }
}

Log log_of(std::uint64_t seed) {
    const Instance instance = random_instance(seed);
    Run run(instance);
    run.run();
    return run.log;
}

TEST_CASE("network, property: the same run twice gives the same log, to the tick") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);

        const Log first = log_of(seed);
        const Log second = log_of(seed);

        REQUIRE(first == second);
    }
}

std::vector<Log> logs_of(std::uint64_t seeds) {
    std::vector<Log> logs;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) logs.push_back(log_of(seed));
    return logs;
}

TEST_CASE("network, property: two runs at once in one process give the logs of one alone") {
    std::vector<Log> first;
    std::vector<Log> second;

    std::thread other([&second] { second = logs_of(300); });
    first = logs_of(300);
    other.join();

    const std::vector<Log> alone = logs_of(300);
    CHECK(first == alone);
    CHECK(second == alone);
}

TEST_CASE("network, property: two runs in turns on one thread give the logs of each alone") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const Instance instance = random_instance(seed);
        const Instance next_instance = random_instance(seed + 1);
        Run one(instance);
        Run other(next_instance);
        one.spawn();
        other.spawn();

        for (Time limit{}; limit < Time{20ms}; limit += 100us) {
            one.simulation.run(limit);
            other.simulation.run(limit);
        }
        one.simulation.run();
        other.simulation.run();

        REQUIRE(one.log == log_of(seed));
        REQUIRE(other.log == log_of(seed + 1));
    }
}

Task<> take(Run& run, Message message) {
    co_await Receive(run.network, message.to, message.from, message.stream);
}

Task<> nap(Run& run, Duration span) {
    co_await run.simulation.sleep(span);
}

/// Gives up on a message after a random time, and tries again until it is received.
Task<> take_impatiently(Run& run, std::vector<std::size_t> lane) {
    Dice dice(lane.front());
    for (const std::size_t number : lane) {
        const Message message = run.instance.messages[number];
        bool taken = false;
        while (!taken) {
            const Duration patience = Duration{1us} + dice.instant() / 10;
            const auto first = co_await first_of(take(run, message), nap(run, patience));
            taken = first.index() == 0;
        }
        run.log.taken[number] = run.ticks();
    }
}

TEST_CASE("network, property: receivers that give up and come back miss no message of any lane") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        Instance instance = random_instance(seed);
        instance.changes.clear();  // no link stays down
        Run run(instance);
        for (std::size_t i = 0; i < instance.messages.size(); ++i)
            run.processes.spawn("sender", send_one(run, i));
        for (auto& lane : lanes(instance))
            run.processes.spawn("receiver", take_impatiently(run, std::move(lane)));

        const RunEnd end = run.simulation.run(Time{1000s});

        REQUIRE(end == RunEnd::idle);
        REQUIRE(run.processes.finished());
        REQUIRE(run.network.messages_delivered() == instance.messages.size());
        REQUIRE(run.network.flows_in_flight() == 0);
        for (std::size_t i = 0; i < instance.messages.size(); ++i) {
            const Message& message = instance.messages[i];
            double latency = 0;
            for (const std::uint32_t link : instance.route(message.from, message.to))
                latency += static_cast<double>(instance.links[link].latency.count());
            REQUIRE(run.log.taken[i] >= run.log.drained[i] + latency);
        }
    }
}

TEST_CASE("network, property: a run can be dropped at any time") {
    for (unsigned seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        const Instance instance = random_instance(seed);
        Run run(instance);
        run.spawn();
        run.simulation.run(Time{static_cast<int>(seed) * Duration{20us}});

        run.processes.drop();
        run.end = run.simulation.run();  // messages in flight are delivered

        REQUIRE(run.end == RunEnd::idle);
        REQUIRE(run.simulation.waiting().empty());
    }
}

}  // namespace
}  // namespace paceline::network_against_reference_test
