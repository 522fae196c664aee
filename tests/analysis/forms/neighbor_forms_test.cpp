// D-PSGD without values, flat and by machine, whole and in pieces, against the forms.
#include "analysis/forms/neighbor_forms.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/half.hpp"
#include "algorithms/compression/none.hpp"
#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/decentralized/dsgd_awc.hpp"
#include "algorithms/runtime/cluster.hpp"
#include "sim/engine/processes.hpp"
#include "tests/analysis/forms/drawn_tensors.hpp"
#include "topologies/fabrics/machines.hpp"
#include "topologies/fabrics/star.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::neighbor_forms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{1_Gbps, 25us};
const Link lane{10_Gbps, 2us};
constexpr int workers = 16;

struct Case {
    int g;
    bool beside;  // the average runs beside the gradient of the same model
    ExchangeOptions exchange;
    MixingPtr mixing;
    LayoutPtr layout;
    StepTiming timing;

    [[nodiscard]] StepModelInput input() const {
        IdleNetwork network{{wire.capacity(), 50us}, {}, 1};
        if (g > 1) network = {{wire.capacity(), 54us}, IdleStar{lane.capacity(), 4us}, g};
        return {workers, network, timing, 1ms, layout, fp32};
    }
    [[nodiscard]] std::optional<Duration> form() const {
        return neighbor_exchange_step_time(exchange, *mixing, 1, beside, input());
    }
};

struct Outcome {
    Duration step;
    std::int64_t messages;
};

Outcome simulated(const Case& at) {
    Simulation simulation;
    Fabric fabric = make_star(workers, wire, wire);
    if (at.g > 1)
        fabric = make_machines(workers, at.g, {BusKind::switched, lane},
                               make_star(workers / at.g, wire, wire));
    Network network(simulation, std::move(fabric));
    Job job{Vector(at.layout)};
    job.timing = at.timing;
    job.update = 1ms;
    job.mixing = at.mixing;
    job.takes_step = [](std::int64_t k) { return k < 1; };
    Cluster cluster(network, std::move(job));
    Processes processes{simulation};
    for (int rank = 0; rank < workers; ++rank)
        processes.spawn("worker", at.beside ? dsgd_awc(cluster.worker(rank), at.exchange)
                                            : dsgd(cluster.worker(rank), at.exchange));
    simulation.run();
    REQUIRE(processes.finished());
    return {simulation.now().time_since_epoch(),
            static_cast<std::int64_t>(network.messages_delivered())};
}

std::int64_t edges_of(const Mixing& mixing) {
    std::int64_t edges = 0;
    for (int i = 0; i < mixing.nodes(); ++i)
        edges += static_cast<std::int64_t>(mixing.listeners(i).size());
    return edges;
}

Case random_case(unsigned seed) {
    std::mt19937_64 rng(seed);
    Case at{rng() % 2 == 0 ? 1 : 4, rng() % 4 == 0, {}, {}, {}, {}};
    if (at.g > 1) at.exchange.aggregation = {.machines = ByMachine::leaders, .devices = at.g};
    at.exchange.codec.coder = rng() % 2 == 0 ? make_none() : make_half();
    at.exchange.codec.coding.per_entry = rng() % 2 == 0 ? Duration{9} : 3ns;
    at.exchange.schedule.whole = rng() % 3 == 0;
    if (!at.exchange.schedule.whole && !at.beside && rng() % 2 == 0)
        at.exchange.schedule.begin = Begin::beside_backward;
    const int members = workers / at.g;
    at.mixing = std::make_shared<const Mixing>(rng() % 2 == 0 ? make_ring_mixing(members)
                                                              : make_hypercube_mixing(members));
    DrawnTensors drawn = draw_tensors(rng);
    at.layout = std::move(drawn.layout);
    const Duration step = 1ms * static_cast<std::int64_t>(1 + rng() % 30);
    at.timing = make_step_timing(step, *at.layout, drawn.macs,
                                 at.exchange.schedule.whole ? at.layout->entries() : 100'000);
    return at;
}

TEST_CASE("neighbor forms, property: D-PSGD in any pieces, flat and by machine") {
    int known = 0;
    for (unsigned seed = 0; seed < 600; ++seed) {
        CAPTURE(seed);
        const Case at = random_case(seed);
        CAPTURE(at.g);
        CAPTURE(at.beside);
        CAPTURE(at.timing.buckets.size());
        const Outcome outcome = simulated(at);
        REQUIRE(neighbor_exchange_messages(at.exchange, edges_of(*at.mixing), 1, at.input()) ==
                outcome.messages);
        const std::optional<Duration> form = at.form();
        if (!form) continue;
        ++known;
        REQUIRE(to_seconds(outcome.step) ==
                doctest::Approx(to_seconds(*form)).epsilon(at.g == 1 ? 1e-8 : 1e-3));
    }
    CHECK(known > 450);
}

// T1 = 10 ms; two buckets of 125,000 bytes, complete at 8 and 10 ms, to two neighbors: 2 ms of the
// link each.
Case two_buckets() {
    const auto layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"a", {125, 250}}, {"b", {125, 250}}});
    return {1,
            false,
            {{make_none()}, {}, {.whole = false, .begin = Begin::beside_backward}},
            std::make_shared<const Mixing>(make_ring_mixing(workers)),
            layout,
            {10ms, {{1, 1, 8ms}, {0, 1, 10ms}}}};
}

TEST_CASE("neighbor forms: pieces beside backward share the link, which is never idle in between") {
    Case at = two_buckets();
    CHECK(at.form() == 12ms + 50us + 1ms);
    at.timing.buckets[0].ready = 9ms;  // the second joins the first, and both end at 13 ms
    CHECK(at.form() == 13ms + 50us + 1ms);
    at.exchange.schedule.begin = Begin::after_backward;
    CHECK(at.form() == 14ms + 50us + 1ms);
    at.exchange.schedule.whole = true;
    CHECK(at.form() == 14ms + 50us + 1ms);
}

TEST_CASE("neighbor forms: neighbors of unequal degrees, or vectors in pieces, have none") {
    Case at = two_buckets();
    CHECK_FALSE(neighbor_exchange_step_time(at.exchange, *at.mixing, 2, false, at.input()));
    at.mixing = std::make_shared<const Mixing>(make_star_mixing(workers));
    CHECK_FALSE(at.form().has_value());
}

}  // namespace
}  // namespace paceline::neighbor_forms_test
