// Synchronous SGD without values, by every codec, aggregation and schedule that has a form.
#include "analysis/forms/exchange_forms.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/columns.hpp"
#include "algorithms/compression/eight_bit.hpp"
#include "algorithms/compression/half.hpp"
#include "algorithms/compression/natural.hpp"
#include "algorithms/compression/none.hpp"
#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/compression/terngrad.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/runtime/cluster.hpp"
#include "sim/engine/processes.hpp"
#include "topologies/fabrics/machines.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::exchange_forms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{1_Gbps, 25us};

// n workers, g on each machine; servers may have nodes of their own behind them.
struct Site {
    int n;
    int g = 1;
    Link lane{100_Gbps, 2us};
    int cards = 1;

    [[nodiscard]] Fabric fabric(int servers) const {
        if (g == 1) return make_star(n + servers, wire, wire);
        return make_machines(n, g, {BusKind::switched, lane, cards},
                             make_star(n / g * cards, wire, wire));
    }
    [[nodiscard]] IdleNetwork idle() const {
        if (g == 1) return {{wire.capacity(), 50us}, {}, 1};
        return {{wire.capacity(), 54us}, IdleStar{lane.capacity(), 4us}, g, {}, cards};
    }
};

struct Case {
    Site site;
    ExchangeOptions exchange;
    LayoutPtr layout;
    StepTiming timing;
    Duration update{};

    [[nodiscard]] StepModelInput input() const {
        return {site.n, site.idle(), timing, update, layout, fp32};
    }
};

struct Outcome {
    Duration step;
    std::int64_t messages;
};

Outcome simulated(const Case& at) {
    Simulation simulation;
    const bool own_nodes = at.exchange.aggregation.first_server_node.has_value();
    Network network(simulation, at.site.fabric(own_nodes ? at.exchange.aggregation.servers : 0));
    Job job{Vector(at.layout)};
    job.timing = at.timing;
    job.update = at.update;
    job.workers = at.site.n;
    job.takes_step = [](std::int64_t k) { return k < 1; };
    Cluster cluster(network, std::move(job));
    Processes processes{simulation};
    for (int rank = 0; rank < at.site.n; ++rank)
        processes.spawn("worker", synchronous_sgd(cluster.worker(rank),
                                                  SynchronousSgdOptions{at.exchange, {}}));
    simulation.run();
    REQUIRE(processes.finished());
    return {simulation.now().time_since_epoch(),
            static_cast<std::int64_t>(network.messages_delivered())};
}

struct Named {
    std::string name;
    Codec codec;
};

std::vector<Named> codecs() {
    std::vector<Named> all;
    const auto add = [&](const std::string& name, Compressor compressor) {
        all.push_back({name, {compressor}});
        all.push_back({name + " with error feedback", {compressor, true}});
    };
    add("none", make_none());
    add("fp16", make_half());
    add("top-k", make_top_k(0.01));
    add("random-k", make_random_k(1.0 / 64, false));
    add("qsgd", make_qsgd({}));
    add("terngrad", make_terngrad());
    add("shared terngrad", make_shared_terngrad());
    add("sign", make_sign());
    add("natural", make_natural());
    add("8-bit", make_eight_bit());
    add("columns", make_columns());
    all.push_back({"power-sgd", {LowRankCodec{4}}});
    DgcOptions dgc;
    dgc.density = 0.01;
    all.push_back({"dgc", {dgc}});
    all.push_back({"one-bit", {OneBitCodec{}}});
    return all;
}

constexpr int workers = 8;
constexpr double density = 0.01;  // of DGC

struct Way {
    std::string name;
    AggregationPlan plan;
};

// All aggregations of machines with g devices. Servers on nodes of their own stand behind the
// workers.
std::vector<Way> aggregations(int g) {
    std::vector<Way> flat;
    for (const Aggregation kind : {Aggregation::all_reduce, Aggregation::all_gather,
                                   Aggregation::two_phase, Aggregation::sparse_all_reduce})
        flat.push_back({std::to_string(static_cast<int>(kind)), {.kind = kind}});
    flat.push_back(
        {"two-phase in rounds", {.kind = Aggregation::two_phase, .all_to_all = AllToAll::rounds}});
    for (const ServerCoding coded : {ServerCoding::none, ServerCoding::up, ServerCoding::both})
        for (const int servers : {1, 2, workers}) {
            const AggregationPlan plan{
                .kind = Aggregation::servers, .servers = servers, .coded = coded};
            const std::string name = std::to_string(servers) + " servers";
            flat.push_back({name, plan});
            if (g > 1) continue;
            flat.push_back({name + " apart", plan});
            flat.back().plan.first_server_node = workers;
        }
    std::vector<Way> all = flat;
    for (const Way& way : flat)
        for (const char* const machines : {"leaders", "encoded leaders", "shards"}) {
            all.push_back({way.name + ", " + machines, way.plan});
            AggregationPlan& plan = all.back().plan;
            plan.devices = g;
            plan.encoded_inside = machines == std::string("encoded leaders");
            plan.machines =
                machines == std::string("shards") ? ByMachine::shards : ByMachine::leaders;
        }
    return all;
}

bool compressor_can_use(const Compressor& compressor, const AggregationPlan& plan) {
    const bool servers = plan.kind == Aggregation::servers;
    if (plan.encoded_inside && (compressor.lossless || compressor.scaler)) return false;
    if (plan.kind == Aggregation::all_reduce) return compressor.combining == Combining::summable;
    if (servers && plan.coded == ServerCoding::none) return compressor.lossless;
    if (plan.kind == Aggregation::two_phase || (servers && plan.coded == ServerCoding::both))
        return !compressor.draws_alike;
    return plan.kind != Aggregation::sparse_all_reduce;
}

bool can_use(const Codec& codec, const AggregationPlan& plan) {
    const bool servers = plan.kind == Aggregation::servers;
    if (const auto* const compressor = std::get_if<Compressor>(&codec.coder))
        return compressor_can_use(*compressor, plan);
    if (plan.encoded_inside) return false;
    if (std::holds_alternative<LowRankCodec>(codec.coder))
        return plan.machines != ByMachine::shards &&
               (plan.kind == Aggregation::all_reduce ||
                (servers && plan.coded == ServerCoding::none));
    if (std::holds_alternative<OneBitCodec>(codec.coder))
        return plan.kind == Aggregation::two_phase && plan.machines == ByMachine::flat;
    return plan.kind == Aggregation::all_gather || plan.kind == Aggregation::sparse_all_reduce ||
           (servers && plan.coded == ServerCoding::up);
}

// Calls use(codec, aggregation) for all that go together on machines of g devices.
template <class Use>
void for_each_exchange(int g, Use use) {
    for (const Named& named : codecs())
        for (const Way& way : aggregations(g)) {
            if (!can_use(named.codec, way.plan)) continue;
            CAPTURE(g);
            CAPTURE(named.name);
            CAPTURE(way.name);
            CAPTURE(static_cast<int>(way.plan.coded));
            use(named.codec, way.plan);
        }
}

std::optional<Duration> form_of(const Case& at) {
    return exchange_step_time(at.exchange, 0, at.input(), density);
}

// Where several workers of a machine share its card, and no form is known.
bool is_unknown(int g, const Codec& codec, const AggregationPlan& plan) {
    if (g == 1 || plan.machines != ByMachine::flat) return false;
    return plan.kind == Aggregation::two_phase || std::holds_alternative<OneBitCodec>(codec.coder);
}

// Forms over machines of several workers are upper bounds where chunks differ by a byte.
double tolerance(int g, double over_machines) {
    return g == 1 ? 1e-8 : over_machines;
}

TEST_CASE("exchange forms: every codec by every aggregation, whole, with chunks that are equal") {
    const auto layout = std::make_shared<const Layout>(std::vector<Tensor>{{"weight", {512, 640}}});
    int known = 0;
    for (const auto& [g, cards] : std::vector<std::pair<int, int>>{{1, 1}, {4, 1}, {4, 2}, {4, 4}})
        for_each_exchange(g, [&](const Codec& codec, const AggregationPlan& plan) {
            Case at{{workers, g}, {codec, plan, {}}, layout, make_step_timing(10ms, *layout), 1ms};
            at.site.cards = cards;
            const std::optional<Duration> form = form_of(at);
            const Outcome outcome = simulated(at);
            REQUIRE(exchange_messages(at.exchange, at.input(), density) == outcome.messages);
            const bool spread =
                cards > 1 && plan.kind == Aggregation::servers && plan.machines == ByMachine::flat;
            REQUIRE(form.has_value() == !(spread || is_unknown(g, codec, plan)));
            if (!form) return;
            ++known;
            REQUIRE(to_seconds(outcome.step) ==
                    doctest::Approx(to_seconds(*form)).epsilon(tolerance(g, 1e-5)));
        });
    CHECK(known > 3000);
}

TEST_CASE("exchange forms: servers on machines with a slow bus") {
    const auto layout = std::make_shared<const Layout>(std::vector<Tensor>{{"weight", {512, 640}}});
    for (const int servers : {1, 2, 4, 8}) {
        CAPTURE(servers);
        const Case at{
            {workers, 4, {200_Mbps, 2us}},
            {{make_sign()},
             {.kind = Aggregation::servers, .servers = servers, .coded = ServerCoding::both},
             {}},
            layout,
            make_step_timing(10ms, *layout)};
        CHECK(to_seconds(simulated(at).step) ==
              doctest::Approx(to_seconds(form_of(at).value())).epsilon(1e-8));
    }
}

struct RandomCase : Case {
    std::mt19937_64 rng;

    RandomCase(unsigned seed, int g, const Codec& codec, const AggregationPlan& plan)
        : Case{{workers, g}, {codec, plan, {}}, {}, {}, 1ms}, rng(seed) {
        if (rng() % 2 == 0) exchange.codec.coding.per_entry = 2ns;  // as long as messages
        ExchangeSchedule& schedule = exchange.schedule;
        schedule.whole = rng() % 4 == 0;
        if (rng() % 2 == 0) schedule.begin = Begin::beside_backward;
        if (schedule.begin == Begin::beside_backward && rng() % 2 == 0)
            schedule.order = Order::priority;
    }
    [[nodiscard]] bool can_be_cut() const {
        return !std::holds_alternative<LowRankCodec>(exchange.codec.coder) &&
               !std::holds_alternative<OneBitCodec>(exchange.codec.coder);
    }
    void cut_layout(std::vector<Tensor> tensors, std::int64_t bucket_entries) {
        std::vector<double> macs;
        for (std::size_t i = 0; i < tensors.size(); ++i)
            macs.push_back(static_cast<double>(rng() % 1000));
        layout = std::make_shared<const Layout>(std::move(tensors));
        const Duration step = 1ms * static_cast<std::int64_t>(1 + rng() % 10);
        timing = make_step_timing(step, *layout, macs,
                                  exchange.schedule.whole ? layout->entries() : bucket_entries);
    }
};

// All members do the same at the same time: every owner has an equal chunk of every piece.
bool is_even(const AggregationPlan& plan) {
    return plan.kind != Aggregation::servers || plan.servers == workers;
}

TEST_CASE("exchange forms, property: pieces that are tensors, or halves of them, in any schedule") {
    unsigned seed = 0;
    for (int round = 0; round < 3; ++round)
        for (const int g : {1, 4})
            for_each_exchange(g, [&](const Codec& codec, const AggregationPlan& plan) {
                if (!is_even(plan)) return;
                CAPTURE(++seed);
                RandomCase at(seed, g, codec, plan);
                const bool halves = at.can_be_cut() && at.rng() % 2 == 0;
                std::vector<Tensor> tensors;
                const std::uint64_t count = at.exchange.schedule.whole ? 1 : 1 + at.rng() % 8;
                for (std::uint64_t i = 0; i < count; ++i)
                    tensors.push_back({std::to_string(i), {128 << at.rng() % 3, 512}});
                if (halves) at.exchange.schedule.partition = Bytes{4 * 128 * 256};
                at.cut_layout(std::move(tensors), 1);

                const std::optional<Duration> form = form_of(at);
                const Outcome outcome = simulated(at);
                REQUIRE(exchange_messages(at.exchange, at.input(), density) == outcome.messages);
                REQUIRE(form.has_value() == !is_unknown(g, codec, plan));
                if (!form) return;
                REQUIRE(to_seconds(outcome.step) ==
                        doctest::Approx(to_seconds(*form)).epsilon(tolerance(g, 3e-4)));
            });
}

TEST_CASE("exchange forms, property: any pieces come near, and take exactly so many messages") {
    unsigned seed = 0;
    for (const int g : {1, 4})
        for_each_exchange(g, [&](const Codec& codec, const AggregationPlan& plan) {
            CAPTURE(++seed);
            RandomCase at(seed, g, codec, plan);
            std::vector<Tensor> tensors;
            for (std::uint64_t i = 0, count = 1 + at.rng() % 12; i < count; ++i)
                tensors.push_back(
                    {std::to_string(i), {64, static_cast<std::int64_t>(1 + at.rng() % 800)}});
            if (at.rng() % 2 == 0) tensors.push_back({"bias", {61}});
            if (at.rng() % 2 == 0) at.exchange.codec.leave_out = {std::int64_t{-1}};
            if (at.can_be_cut() && at.rng() % 3 == 0)
                at.exchange.schedule.partition =
                    Bytes{static_cast<std::int64_t>(4096 * (1 + at.rng() % 40))};
            at.cut_layout(std::move(tensors), static_cast<std::int64_t>(1 + at.rng() % 100'000));

            const std::optional<Duration> form = form_of(at);
            const Outcome outcome = simulated(at);
            REQUIRE(exchange_messages(at.exchange, at.input(), density) == outcome.messages);
            if (!form) return;
            REQUIRE(to_seconds(outcome.step) ==
                    doctest::Approx(to_seconds(*form))
                        .epsilon(plan.kind == Aggregation::servers ? 0.1 : 0.02));
        });
}

// 2, 3 or 4 streams with one or two pieces each. Coding takes no time.
TEST_CASE("exchange forms, property: pieces that are alike share the wires on several streams") {
    unsigned seed = 0;
    int known = 0;
    for (const int g : {1, 4})
        for_each_exchange(g, [&](const Codec& codec, const AggregationPlan& plan) {
            if (std::holds_alternative<DgcOptions>(codec.coder)) return;  // it takes time to select
            CAPTURE(++seed);
            std::mt19937_64 rng(seed);
            const auto streams = static_cast<int>(2 + rng() % 3);
            std::vector<Tensor> tensors;
            for (std::uint64_t i = 0, count = static_cast<std::uint64_t>(streams) * (1 + rng() % 2);
                 i < count; ++i)
                tensors.push_back({std::to_string(i), {128, 512}});
            const auto layout = std::make_shared<const Layout>(std::move(tensors));
            Case at{{workers, g}, {codec, plan, {}}, layout, {}, 1ms};
            at.timing = make_step_timing(10ms, *layout,
                                         std::vector<double>(layout->tensors().size(), 1), 1);
            at.exchange.codec.coding.per_entry = {};
            at.exchange.schedule = {.whole = false, .streams = streams};

            const std::optional<Duration> form = form_of(at);
            const Outcome outcome = simulated(at);
            REQUIRE(exchange_messages(at.exchange, at.input(), density) == outcome.messages);
            REQUIRE(form.has_value() == !is_unknown(g, codec, plan));
            if (!form) return;
            ++known;
            REQUIRE(to_seconds(outcome.step) ==
                    doctest::Approx(to_seconds(*form)).epsilon(tolerance(g, 1e-5)));
        });
    CHECK(known > 500);
}

// T1 = 10 ms. Four pieces of 160,000 bytes on two streams, by one server for each of two machines
// of two devices, on shards of 80,000: a server is sent one shard of 40,000 bytes, and answers with
// one. Two streams share a lane of 0.8 Gbps, which also carries the messages between machines, as
// the card of 8 Gbps does not hold them up.
TEST_CASE("exchange forms: servers of shards on two streams, by hand") {
    std::vector<Tensor> tensors;
    for (const char* name : {"a", "b", "c", "d"}) tensors.push_back({name, {200, 200}});
    const auto layout = std::make_shared<const Layout>(std::move(tensors));
    Case at{{4, 2},
            {{make_none()},
             {.kind = Aggregation::servers,
              .servers = 2,
              .coded = ServerCoding::none,
              .machines = ByMachine::shards,
              .devices = 2},
             {.whole = false, .streams = 2}},
            layout,
            make_step_timing(10ms, *layout, {1, 1, 1, 1}, 1)};
    at.site.lane = {800_Mbps, 2us};
    const IdleNetwork idle{{8_Gbps, 54us}, IdleStar{at.site.lane.capacity(), 4us}, 2, {}, 1};
    StepModelInput in = at.input();
    in.network = idle;

    // Reduce-scatter and all-gather: one message of 80,000 bytes, at 0.4 Gbps. Push and pull: one
    // of 40,000 bytes.
    const Duration inside = 4us + 1600us;
    const Duration between = 54us + 800us;
    CHECK(exchange_step_time(at.exchange, 0, in) == 10ms + 2 * (2 * inside + 2 * between));
}

TEST_CASE("exchange forms: several streams beside backward and steps into forward have none") {
    const auto layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"a", {64, 64}}, {"b", {64, 64}}});
    Case at{{workers}, {{make_none()}, {}, {}}, layout, make_step_timing(10ms, *layout, {1, 1}, 1)};
    at.exchange.schedule.streams = 2;
    CHECK(form_of(at).has_value());  // one piece on two streams
    at.exchange.schedule.whole = false;
    CHECK(form_of(at).has_value());
    at.exchange.schedule.begin = Begin::beside_backward;
    CHECK_FALSE(form_of(at).has_value());
    at.exchange.schedule.begin = Begin::after_backward;
    at.exchange.codec.coder = make_half();
    CHECK_FALSE(form_of(at).has_value());  // coding keeps the pieces apart
    at.exchange.codec.coder = make_none();
    at.exchange.schedule.streams = 1;
    CHECK(form_of(at).has_value());
    at.exchange.schedule.begin = Begin::into_forward;
    CHECK_FALSE(form_of(at).has_value());
}

// Eight workers, four tensors of 1000, 2000, 3000 and 4000 entries by ring: 14 (50 us + 32 S/8 ns).
TEST_CASE("exchange forms: for merging, the start-up of a ring is its latency") {
    const auto layout = std::make_shared<const Layout>(std::vector<Tensor>{
        {"a", {10, 100}}, {"b", {10, 200}}, {"c", {10, 300}}, {"d", {10, 400}}});
    const Case at{{workers}, {{make_none()}, {}, {}}, layout, make_step_timing(10ms, *layout)};
    const auto estimate = exchange_estimate(at.exchange, at.input());
    REQUIRE(estimate.has_value());
    CHECK(estimate->start_up == 700us);
    CHECK(estimate->time({1, 2, {}}) == 700us + 14 * 20us);

    Case machines = at;
    machines.site.g = 4;
    machines.exchange.aggregation.kind = Aggregation::two_phase;
    CHECK_FALSE(exchange_estimate(machines.exchange, machines.input()).has_value());
}

// The estimate is right where the simulation's stream is the paper's: nothing coded, ring, beside
// backward.
TEST_CASE("exchange forms, property: merged tensors are no slower than apart or whole, simulated") {
    int faster = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        RandomCase at(seed, 1, {make_none()}, {});
        at.exchange.schedule = {.whole = false, .begin = Begin::beside_backward};
        std::vector<Tensor> tensors;
        for (std::uint64_t i = 0, count = 2 + at.rng() % 20; i < count; ++i)
            tensors.push_back(
                {std::to_string(i), {8, static_cast<std::int64_t>(1 + at.rng() % 5000)}});
        at.cut_layout(std::move(tensors), 1);
        const Duration apart = simulated(at).step;
        at.timing = merged(at.timing, exchange_estimate(at.exchange, at.input()).value());
        const Duration merged_step = simulated(at).step;
        at.timing = make_step_timing(at.timing.step, *at.layout);
        const Duration whole = simulated(at).step;

        REQUIRE(merged_step <= apart);
        REQUIRE(merged_step <= whole);
        faster += merged_step < apart && merged_step < whole ? 1 : 0;
    }
    CHECK(faster > 10);
}

}  // namespace
}  // namespace paceline::exchange_forms_test
