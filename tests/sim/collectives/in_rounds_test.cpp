// Collectives that run ahead of the event queue against the same ones by events: the same
// picoseconds, the same bytes, whatever interrupts them.
#include "sim/collectives/in_rounds.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/measures/link_use.hpp"
#include "sim/ahead/ahead_run.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/all_to_all.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/plans/card_rings.hpp"
#include "sim/collectives/plans/hierarchical.hpp"
#include "sim/collectives/plans/nccl_collectives.hpp"
#include "sim/collectives/reduce_scatter.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "sim/collectives/tree.hpp"
#include "sim/collectives/two_phase.hpp"
#include "sim/engine/processes.hpp"
#include "topologies/fabrics/dumbbell.hpp"
#include "topologies/fabrics/machines.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::in_rounds_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

using Random = std::mt19937_64;

std::int64_t up_to(Random& random, std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
}

Link random_link(Random& random) {
    Link link{{1'000'000 * (1 + up_to(random, 3000))}, Duration{1000 * up_to(random, 90'000'000)}};
    if (random() % 3 == 0) link.latency = {};
    return link;
}

Fabric random_star(Random& random, int hosts) {
    const Link up = random_link(random);
    Fabric star = make_star(hosts, up, random() % 2 == 0 ? up : random_link(random));
    if (random() % 2 == 0)
        for (Link& link : star.links) link = random_link(random);
    return star;
}

// Two sites: the ways between them have a link of their own, once each way in a ring.
Fabric random_dumbbell(Random& random, int hosts) {
    return make_dumbbell(hosts, random_link(random), random_link(random));
}
constexpr int most_cards = 2;

Fabric random_fabric(Random& random, int hosts) {
    if (random() % 5 == 0) return random_dumbbell(random, hosts);
    if (hosts % 2 == 0 && random() % 3 == 0) {
        const auto kind = random() % 2 == 0 ? BusKind::switched : BusKind::direct;
        const int devices = hosts % 4 == 0 && random() % 2 == 0 ? 4 : 2;
        const int cards = random() % 2 == 0 ? most_cards : 1;
        return make_machines(hosts, devices, {kind, random_link(random), cards},
                             random_star(random, hosts / devices * cards));
    }
    return random_star(random, hosts);
}

Task<> no_work() {
    co_return;
}

constexpr MessageCost::ByPlace by_place{Duration{700'000}, Duration{2'300'000}};
constexpr MessageCost cost{.occupies = by_place};
constexpr MessageCost delay{.delays = by_place};

AllReducePlan by_nccl() {
    AllReducePlan plan = AllReduce::nccl;
    plan.library.inside = plan.library.between = Bandwidth{1'000'000'000};
    return plan;
}

Task<> collective(int kind, Rank self, Bytes size, const UnionWeight& sparse,
                  const BlockWeight& block, int devices) {
    const Bytes slice{1 + size.count / 50};
    const int device = self.place() % devices;
    const auto abreast = [&] { return self.part(device, devices, self.size() / devices); };
    switch (kind) {
        case 0:
            return ring_all_reduce(std::move(self), size);
        case 1:
            return recursive_doubling_all_reduce(std::move(self), size);
        case 2:
            return halving_doubling_all_reduce(std::move(self), size);
        case 3:
            return tree_all_reduce(std::move(self), size);
        case 4:
            return ring_reduce_scatter(std::move(self), size);
        case 5:
            return ring_all_gather_chunks(std::move(self), size);
        case 6:
            return ring_all_gather(std::move(self), size);
        case 7:
            return bruck_all_gather(std::move(self), size);
        case 8:
            return all_to_all(AllToAll::rounds, std::move(self), size);
        case 9:
            return sparse_all_reduce(std::move(self), sparse);
        case 10:
            return all_gather(AllGather::ring, std::move(self), block);
        case 11:
            return all_gather(AllGather::bruck, std::move(self), block);
        case 12:
            return binomial_broadcast(std::move(self), size);
        case 13:
            return binomial_reduce(std::move(self), size);
        case 14:
            return chain_broadcast(std::move(self), size, {slice, 1});
        case 15:
            return chain_broadcast(std::move(self), size, {slice, 3});
        case 16:
            return chain_reduce(std::move(self), size, {slice, 4});
        case 17:
            return pipelined_ring_all_reduce(std::move(self), size, {slice, 2});
        case 18:
            return pipelined_ring_all_reduce(std::move(self), size, {slice, 8});
        case 19:
            return pipelined_ring_reduce(std::move(self), size, {slice, 3});
        case 20:
            return pipelined_ring_all_reduce(std::move(self), size, {slice, 1, 1});
        case 21:
            return pipelined_ring_all_reduce(std::move(self), size, {slice, 1, 3});
        case 22:
            return pipelined_ring_all_reduce(std::move(self), size, {size + 1_B, 1, 2});
        case 23:
            return pipelined_ring_all_reduce(std::move(self), size, {slice, 1, 16});
        case 24:
            return pipelined_ring_reduce(std::move(self), size, {slice, 1, 4});
        case 25:
            return chain_broadcast(std::move(self), size, {slice, 1, 2});
        case 26:
            return chain_reduce(std::move(self), size, {slice, 1, 5});
        case 27:
            return on_rings_of_cards(std::move(self), size, most_cards, &ring_all_reduce);
        case 28:
            return on_rings_of_cards(
                std::move(self), size, most_cards, [slice](Rank ring, Bytes part) {
                    return pipelined_ring_all_reduce(std::move(ring), part, {slice, 4});
                });
        case 29:
            return on_rings_of_cards(std::move(self), size, most_cards, &ring_reduce_scatter);
        case 30:
            return on_rings_of_cards(
                std::move(self), size, most_cards, [slice](Rank ring, Bytes part) {
                    return pipelined_ring_all_reduce(std::move(ring), part, {slice, 1, 3});
                });
        case 31:
            return ring_all_reduce(self.with_cost(delay), size);
        case 32:
            return pipelined_ring_all_reduce(self.with_cost(cost), size, {slice, 1, 3});
        case 33:
            return pipelined_ring_all_reduce(self.with_cost(delay), size, {slice, 1, 4});
        case 34:
            return chain_broadcast(self.with_cost(cost), size, {slice, 1, 2});
        case 35:
            return halving_doubling_all_reduce(self.with_cost(cost), size);
        case 36:
            return all_reduce(by_nccl(), self, size);
        case 37:
            return nccl_collective(self, by_nccl().library, Nccl::Operation::reduce_scatter, size);
        case 38:
            return all_to_all(AllToAll::grouped, std::move(self), size);
        case 39:
            return all_to_all(AllToAll::grouped, std::move(self), block);
        case 40:
            return two_phase(AllToAll::grouped, std::move(self), block, &no_work);
        case 41:
            return hierarchical_all_reduce(self, size, devices);
        case 42:
            return ring_all_reduce(abreast(), chunk(size, devices, device));
        case 43:
            return ring_reduce_scatter(abreast().with_cost(cost), size);
        case 44:
            return ring_all_gather_chunks(abreast(), size + Bytes{device});
        case 45:
            return ring_all_reduce(abreast().with_cost(delay), size);
        case 46:
            return pipelined_ring_all_reduce(abreast(), size, {slice, 4});
        case 47:
            return ring_all_reduce(abreast(), (1 + device) * size);
        default:
            return tree_all_reduce(std::move(self), size);
    }
}
constexpr int first_grouped = 38;
constexpr int kinds = 41;
constexpr int first_abreast = kinds;
constexpr int kinds_abreast = 7;

struct Step {
    int kind;
    Bytes size;
    std::vector<Duration> pauses;  // [host], before it enters
};

// A job of collectives one after the other, and what comes in between.
struct Plan {
    int hosts = 2;
    int devices = 1;  // of a machine, for rings side by side
    Fabric fabric;
    Duration overhead{};
    std::vector<Step> steps;
    std::vector<Step> second;  // beside them, on streams of their own
    struct Foreign {
        Duration at;
        int from;
        int to;
        Bytes size;
    };
    std::vector<Foreign> flows;
    struct Change {
        Duration at;
        LinkId link;
        Bandwidth bandwidth;
    };
    std::vector<Change> changes;
    struct Death {
        Duration at;
        int host;
    };
    std::vector<Death> deaths;
    bool on_one_stream = false;
    bool takes_no_time = false;  // all messages are delivered in the instant in which they set out
    Time limit = never;
};

std::vector<Step> random_steps(Random& random, int hosts, int count) {
    std::vector<Step> steps;
    for (int i = 0; i < count; ++i) {
        Step step{static_cast<int>(random() % kinds), {up_to(random, 300'000)}, {}};
        if (random() % 6 == 0) step.size = {up_to(random, 5)};
        const bool together = random() % 3 == 0;
        for (int host = 0; host < hosts; ++host)
            step.pauses.push_back(together ? Duration{1ms}
                                           : Duration{1000 * up_to(random, 9'000'000)});
        steps.push_back(std::move(step));
    }
    return steps;
}

// `instants` are those of things that happen in an undisturbed run; interruptions hit them, too.
Plan random_plan(Random& random, bool disturbed, const std::vector<Duration>& instants = {}) {
    Plan plan;
    plan.hosts = 2 + static_cast<int>(up_to(random, 9));
    plan.fabric = random_fabric(random, plan.hosts);
    if (random() % 4 == 0) plan.overhead = Duration{1000 * up_to(random, 3'000'000)};
    plan.steps = random_steps(random, plan.hosts, 1 + static_cast<int>(up_to(random, 4)));
    plan.on_one_stream = random() % 2 == 0;
    if (!disturbed) return plan;
    if (random() % 3 == 0) plan.second = random_steps(random, plan.hosts, 2);
    const auto when = [&] {
        if (instants.empty() || random() % 2 == 0)
            return Duration{1000 * up_to(random, 60'000'000)};
        return instants[random() % instants.size()] + Duration{up_to(random, 2) - 1};
    };
    for (auto i = up_to(random, 3); i > 0; --i) {
        const int from = static_cast<int>(up_to(random, plan.hosts - 1));
        const int to = static_cast<int>(up_to(random, plan.hosts - 1));
        if (from != to) plan.flows.push_back({when(), from, to, {up_to(random, 400'000)}});
    }
    for (auto i = up_to(random, 2); i > 0; --i)
        plan.changes.push_back({when(),
                                static_cast<LinkId>(random() % plan.fabric.links.size()),
                                {1'000'000 * up_to(random, 2000) * up_to(random, 2)}});
    if (random() % 4 == 0)
        plan.deaths.push_back({when(), static_cast<int>(up_to(random, plan.hosts - 1))});
    if (random() % 4 == 0) plan.limit = Time{when()};
    return plan;
}

// Messages of the second stream share nothing with those of the first.
Plan random_plan_without_time(Random& random, bool disturbed,
                              const std::vector<Duration>& instants) {
    Plan plan = random_plan(random, disturbed, instants);
    plan.fabric = make_star(plan.hosts, {unlimited, 0us}, {unlimited, 0us});
    plan.overhead = {};
    plan.changes.clear();
    plan.takes_no_time = true;
    return plan;
}

struct Outcome {
    std::vector<std::pair<Duration, int>>
        ends;  // of members' steps, in the order in which they happen
    std::vector<Bytes> bytes;
    std::uint64_t delivered = 0;
    std::uint64_t ahead = 0;
    std::uint64_t interrupted = 0;
    bool finished = false;
    std::vector<std::string> waiting{};
    std::vector<std::pair<Duration, Bytes>> links;  // busy, carried
};

NetworkObserver observer_of(LinkUse& use, const Simulation& simulation) {
    return {.begins =
                [&](std::uint32_t id, const NetworkObserver::Message& message) {
                    use.begins(id, message.route, message.since);
                },
            .drains = [&](std::uint32_t id, Bytes sent) { use.drains(id, sent, simulation.now()); },
            .carries = [&](const Route& route, Bytes bytes,
                           Duration busy) { use.carries(route, bytes, busy); }};
}

Outcome run(const Plan& plan, bool by_events, bool watched = false) {
    Simulation simulation;
    Network network(simulation, Fabric(plan.fabric),
                    {.overhead = plan.overhead, .by_events = by_events});
    const GroupPtr group = whole_group(plan.hosts);
    Outcome outcome;
    LinkUse use;
    const NetworkObserver observer = observer_of(use, simulation);
    if (watched) network.observe(&observer);
    const UnionWeight sparse = [](const Union& merged) { return Bytes{3000 * merged.count}; };
    const BlockWeight block = [](int place) { return Bytes{1000 + 777 * place}; };
    const auto member = [&](int host, const std::vector<Step>& steps, Stream first) -> Task<> {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            co_await simulation.sleep(steps[i].pauses[static_cast<std::size_t>(host)]);
            const Rank self(network, group, host, plan.on_one_stream ? first : first + i);
            co_await collective(steps[i].kind, self, steps[i].size, sparse, block, plan.devices);
            outcome.ends.emplace_back(simulation.now().time_since_epoch(), host);
        }
    };
    const auto foreign = [&](Plan::Foreign flow) -> Task<> {
        co_await simulation.sleep(flow.at);
        if (network.is_away(flow.from)) co_return;
        co_await Send(network, flow.from, flow.to, 77, flow.size, Protocol::eager);
    };
    const auto change = [&](Plan::Change of) -> Task<> {
        co_await simulation.sleep(of.at);
        network.set_bandwidth(of.link, of.bandwidth);
    };
    std::deque<Processes> members;  // of each host
    const auto death = [&](Plan::Death of) -> Task<> {
        co_await simulation.sleep(of.at);
        members[static_cast<std::size_t>(of.host)].drop();
        network.host_leaves(of.host);
    };
    for (int host = 0; host < plan.hosts; ++host) {
        Processes& own = members.emplace_back(simulation);
        own.spawn("a", member(host, plan.steps, 1000));
        if (!plan.second.empty()) own.spawn("b", member(host, plan.second, 2000));
    }
    Processes others(simulation);
    for (const Plan::Foreign& flow : plan.flows) others.spawn("flow", foreign(flow));
    for (const Plan::Change& one : plan.changes) others.spawn("change", change(one));
    for (const Plan::Death& one : plan.deaths) others.spawn("death", death(one));
    simulation.run(plan.limit);
    while (network.settle()) simulation.run(plan.limit);
    // Messages without bytes drain in the instant in which they set out, and have no fixed place in
    // it
    const auto is_tiny = [](const Step& step) { return step.size < 4000_B; };
    if (plan.takes_no_time || std::ranges::any_of(plan.steps, is_tiny) ||
        std::ranges::any_of(plan.second, is_tiny))
        std::ranges::sort(outcome.ends);
    for (int host = 0; host < plan.hosts; ++host) {
        outcome.bytes.push_back(network.traffic(host).sent);
        outcome.bytes.push_back(network.traffic(host).received);
    }
    for (LinkId link = 0; watched && link < network.links(); ++link)
        outcome.links.emplace_back(use.busy(link, simulation.now()), use.bytes(link));
    outcome.delivered = network.messages_delivered();
    outcome.finished = std::ranges::all_of(members, &Processes::finished);
    for (const Waiting& one : simulation.waiting()) outcome.waiting.push_back(one.what);
    std::ranges::sort(outcome.waiting);
    outcome.ahead = Ahead::of(network).finished();
    outcome.interrupted = Ahead::of(network).handed_over();
    return outcome;
}

void check_same(const Outcome& a, const Outcome& b) {
    REQUIRE(a.finished == b.finished);
    REQUIRE(a.ends == b.ends);
    REQUIRE(a.bytes == b.bytes);
    REQUIRE(a.delivered == b.delivered);
    REQUIRE(a.waiting == b.waiting);
    REQUIRE(a.links == b.links);
}

struct Runs {
    std::uint64_t ahead = 0;
    std::uint64_t interrupted = 0;
};

// Runs plans ahead and by events, every other one disturbed.
Runs compare_both_ways(std::uint64_t seeds, Plan (*make)(Random& random, bool disturbed,
                                                         const std::vector<Duration>& instants)) {
    Runs runs;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        std::vector<Duration> instants;
        for (const auto& [time, host] : run(make(random, false, {}), true).ends)
            instants.push_back(time);
        random.seed(seed);
        const Plan plan = make(random, seed % 2 == 0, instants);
        const Outcome fast = run(plan, false);
        check_same(fast, run(plan, true));
        runs.ahead += fast.ahead;
        runs.interrupted += fast.interrupted;
    }
    return runs;
}

TEST_CASE("ahead of the queue, property: undisturbed collectives take the very times of events") {
    std::uint64_t ahead = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const Plan plan = random_plan(random, false);
        const Outcome events = run(plan, true);
        const Outcome fast = run(plan, false);
        REQUIRE(events.ahead == 0);
        check_same(fast, events);
        ahead += fast.ahead;
    }
    CHECK(ahead > 4000);
}

TEST_CASE("ahead of the queue, property: whatever interrupts them, all times are those of events") {
    std::uint64_t interrupted = 0;
    for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        std::vector<Duration> instants;
        for (const auto& [time, host] : run(random_plan(random, false), true).ends)
            instants.push_back(time);
        random.seed(seed);
        const Plan plan = random_plan(random, true, instants);
        const Outcome fast = run(plan, false);
        check_same(fast, run(plan, true));
        interrupted += fast.interrupted;
    }
    CHECK(interrupted > 4000);
}

TEST_CASE(
    "ahead of the queue, property: where messages take no time, members end in the same instants") {
    const auto [ahead, interrupted] = compare_both_ways(3000, &random_plan_without_time);
    CHECK(ahead > 2000);
    CHECK(interrupted > 1000);
}

TEST_CASE(
    "ahead of the queue, property: links are busy for as long, and carry as much, as by events") {
    std::uint64_t ahead = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const Plan plan = random_plan(random, seed % 2 == 0);
        const Outcome fast = run(plan, false, true);
        check_same(fast, run(plan, true, true));
        ahead += fast.ahead;
    }
    CHECK(ahead > 1000);
}

// Grouped messages share links, and run ahead only where these are alike.
Plan random_grouped_plan(Random& random, bool disturbed, const std::vector<Duration>& instants) {
    Plan plan = random_plan(random, disturbed, instants);
    const Link link = random_link(random);
    plan.fabric = make_star(plan.hosts, link, link);
    for (Plan::Change& change : plan.changes)
        change.link %= static_cast<LinkId>(plan.fabric.links.size());
    if (random() % 3 == 0)
        for (Link& one : plan.fabric.links) one.latency = random_link(random).latency;
    plan.overhead = {};
    for (Step& step : plan.steps)
        step.kind = first_grouped + static_cast<int>(random() % (kinds - first_grouped));
    return plan;
}

TEST_CASE("ahead of the queue, property: grouped messages take the very times of events") {
    const auto [ahead, interrupted] = compare_both_ways(4000, &random_grouped_plan);
    CHECK(ahead > 4000);
    CHECK(interrupted > 2000);
}

// Rings side by side that share machines' cards, all devices one or each half of them. Where the
// bus is as narrow as a card, it may bind first.
Plan random_plan_abreast(Random& seeds, bool disturbed, const std::vector<Duration>& instants) {
    Random random(seeds());
    Plan plan = random_plan(seeds, disturbed, instants);
    plan.devices = 2 + static_cast<int>(up_to(random, 3));
    const int machines = 2 + static_cast<int>(up_to(random, 4));
    const int hosts = plan.hosts = machines * plan.devices;
    const int cards = plan.devices == 4 && random() % 3 == 0 ? 2 : 1;
    const auto kind = random() % 2 == 0 ? BusKind::switched : BusKind::direct;
    const Link card = random_link(random);
    Fabric star = random_star(random, machines * cards);
    if (random() % 2 == 0) star = make_star(machines * cards, card, card);
    Link bus{{1'000'000 * (1 + up_to(random, 30'000))}, Duration{up_to(random, 3'000'000)}};
    if (random() % 3 == 0)
        bus.bandwidth = {card.bandwidth.bits_per_second * 2 / (3 + up_to(random, 3))};
    plan.fabric = make_machines(hosts, plan.devices, {kind, bus, cards}, std::move(star));
    for (Plan::Change& change : plan.changes)
        change.link %= static_cast<LinkId>(plan.fabric.links.size());
    for (Plan::Foreign& flow : plan.flows) {
        flow.from %= hosts;
        flow.to = (flow.from + 1 + flow.to % (hosts - 1)) % hosts;
    }
    for (Plan::Death& death : plan.deaths) death.host %= hosts;
    const auto steps = [&](std::size_t count) {
        std::vector<Step> all = random_steps(random, hosts, static_cast<int>(count));
        for (Step& step : all) {
            if (random() % 4 == 0) step.pauses.assign(step.pauses.size(), 0us);
            if (random() % 4 == 0) continue;
            step.kind = first_abreast + static_cast<int>(random() % kinds_abreast);
            if (random() % 2 == 0) continue;
            for (int host = 0; host < hosts; ++host)  // machines are apart, their devices together
                step.pauses[static_cast<std::size_t>(host)] =
                    step.pauses[static_cast<std::size_t>(host - host % plan.devices)];
        }
        return all;
    };
    plan.steps = steps(1 + random() % 4);
    if (!plan.second.empty()) plan.second = steps(2);
    return plan;
}

TEST_CASE("ahead of the queue, property: rings that share cards take the very times of events") {
    const auto [ahead, interrupted] = compare_both_ways(6000, &random_plan_abreast);
    CHECK(ahead > 4000);
    CHECK(interrupted > 4000);
}

TEST_CASE("ahead of the queue: eight rings through the cards of 32 machines run as one") {
    Plan plan;
    plan.hosts = 256;
    plan.devices = 8;
    plan.fabric = make_machines(256, 8, {BusKind::switched, {100_Gbps, 1us}},
                                make_star(32, {10_Gbps, 20us}, {10_Gbps, 20us}));
    std::vector<Duration> late(256);
    for (std::size_t host = 0; host < late.size(); ++host) late[host] = 1us * (host * host % 64);
    for (const Bytes size : {97_MB, 9'700'003_B}) {
        plan.steps = {{first_abreast, size, late}};
        const Outcome fast = run(plan, false);
        CHECK(fast.ahead == 8 + 2 * 32);
        CHECK(fast.interrupted == 0);
        check_same(fast, run(plan, true));
    }
}

TEST_CASE("ahead of the queue: a group among 64 members is one, and delivers all its messages") {
    Plan plan;
    plan.hosts = 64;
    plan.fabric = make_star(64, {1_Gbps, 50us}, {1_Gbps, 50us});
    std::vector<Duration> late(64);
    for (std::size_t host = 0; host < late.size(); ++host) late[host] = 1us * (host * host % 64);
    plan.steps = {{first_grouped, 10'001_B, late}};
    const Outcome fast = run(plan, false);
    CHECK(fast.ahead == 1);
    CHECK(fast.interrupted == 0);
    CHECK(fast.delivered == 64 * 63);
    check_same(fast, run(plan, true));
}

TEST_CASE("ahead of the queue: unequal blocks of members that enter apart go by events") {
    Plan plan;
    plan.hosts = 3;
    plan.fabric = make_star(3, {1_Gbps, 50us}, {1_Gbps, 50us});
    plan.steps = {{first_grouped + 1, 0_B, {0us, 0us, 3us}}};
    const Outcome fast = run(plan, false);
    CHECK(fast.ahead == 0);
    CHECK(fast.interrupted == 1);
    check_same(fast, run(plan, true));
    plan.steps = {{first_grouped + 1, 0_B, {3us, 3us, 3us}}};
    CHECK(run(plan, false).ahead == 1);
}

TEST_CASE("ahead of the queue: groups on links of two speeds go by events") {
    Plan plan;
    plan.hosts = 3;
    plan.fabric = make_star(3, {1_Gbps, 50us}, {2_Gbps, 50us});
    plan.steps = {{first_grouped, 1000_B, {0us, 0us, 0us}}};
    CHECK(run(plan, false).ahead == 0);
}

TEST_CASE(
    "ahead of the queue: a link that changes after its owner has ended changes no time before") {
    // The root of a broadcast has sent all; its last message crosses when its uplink changes. Then
    // a foreign flow hands the broadcast over.
    Plan plan;
    plan.hosts = 3;
    plan.fabric = make_star(3, {1_Gbps, 1us}, {1_Gbps, 10ms});
    plan.fabric.links[3].loss =
        0.5;  // of an unused link: where links lose, routes are looked up anew
    plan.steps = {{12, 1_MB, std::vector<Duration>(3, 1ms)}};
    const Outcome whole = run(plan, true);
    const Duration root_ends = whole.ends[0].first;
    REQUIRE(root_ends == 17ms);
    plan.changes = {{root_ends + 1us, 0, 1_Mbps}};
    plan.flows = {{root_ends + 2us, 1, 2, 1000_B}};
    const Outcome fast = run(plan, false);
    CHECK(fast.interrupted == 1);
    check_same(fast, run(plan, true));
}

TEST_CASE("ahead of the queue: a ring among 64 nodes is one, and delivers all its messages") {
    Random random(1);
    Plan plan;
    plan.hosts = 64;
    plan.fabric = make_star(64, {1_Gbps, 50us}, {1_Gbps, 50us});
    plan.steps = {{0, 97_MB, std::vector<Duration>(64, 0us)}};
    const Outcome fast = run(plan, false);
    CHECK(fast.ahead == 1);
    CHECK(fast.interrupted == 0);
    CHECK(fast.delivered == 64 * 126);
    check_same(fast, run(plan, true));
}

TEST_CASE("ahead of the queue: a stop that is requested within a long ring is noticed there") {
    constexpr int hosts = 6000;  // 72 million messages in one event
    Simulation simulation;
    Network network(simulation, make_star(hosts, {1_Gbps, 50us}, {1_Gbps, 50us}));
    const GroupPtr group = whole_group(hosts);
    Progress progress;
    simulation.report_to(&progress);
    Processes processes(simulation);
    const auto member = [&](int place) -> Task<> {
        co_await simulation.sleep(1ms);
        if (place + 1 == hosts) progress.stop = true;  // the last one enters
        co_await ring_all_reduce(Rank(network, group, place, 1), 97_MB);
    };
    for (int place = 0; place < hosts; ++place) processes.spawn("member", member(place));

    CHECK(simulation.run() == RunEnd::stopped);
    CHECK(simulation.now() < Time{1200us});  // the first messages drain after 129 us
    CHECK(Ahead::of(network).finished() == 0);
    CHECK(Ahead::of(network).handed_over() == 1);
}

TEST_CASE("ahead of the queue: where messages share links, collectives go by events") {
    Plan plan;
    plan.hosts = 8;
    plan.fabric = make_machines(8, 4, {BusKind::switched, {100_Gbps, 1us}},
                                make_star(2, {1_Gbps, 50us}, {1_Gbps, 50us}));
    plan.steps = {{1, 1_MB, std::vector<Duration>(8, 0us)}};
    const Outcome shared = run(plan, false);
    CHECK(shared.ahead == 0);
    plan.steps = {{0, 1_MB, std::vector<Duration>(8, 0us)}};  // one flow per machine
    CHECK(run(plan, false).ahead == 1);
}

}  // namespace
}  // namespace paceline::in_rounds_test
