// CHOCO-SGD without values, flat and by machine, whole and in pieces, against its forms.
#include "analysis/forms/choco_forms.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/runtime/cluster.hpp"
#include "sim/engine/processes.hpp"
#include "tests/algorithms/compressed/choco_options.hpp"
#include "tests/analysis/forms/drawn_tensors.hpp"
#include "topologies/fabrics/machines.hpp"
#include "topologies/fabrics/star.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::choco_forms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{1_Gbps, 25us};
const Link lane{10_Gbps, 2us};
constexpr int workers = 16;
constexpr Duration update = 1ms;

struct Case {
    int g;
    ChocoSgdOptions options;
    MixingPtr mixing;
    LayoutPtr layout;
    StepTiming timing;

    [[nodiscard]] StepModelInput input() const {
        IdleNetwork network{{wire.capacity(), 50us}, {}, 1};
        if (g > 1) network = {{wire.capacity(), 54us}, IdleStar{lane.capacity(), 4us}, g};
        return {workers, network, timing, update, layout, fp32};
    }
    [[nodiscard]] std::optional<Duration> form(std::int64_t step) const {
        return choco_sgd_step_time(options, *mixing, step, input());
    }
    [[nodiscard]] bool beside() const {
        return options.exchange.schedule.begin == Begin::beside_backward;
    }
};

struct Outcome {
    Duration time;
    std::int64_t messages;
};

Outcome simulated(const Case& at, std::int64_t steps, bool by_events = false) {
    Simulation simulation;
    Fabric fabric = make_star(workers, wire, wire);
    if (at.g > 1)
        fabric = make_machines(workers, at.g, {BusKind::switched, lane},
                               make_star(workers / at.g, wire, wire));
    Network network(simulation, std::move(fabric), {.by_events = by_events});
    Job job{Vector(at.layout)};
    job.timing = at.timing;
    job.update = update;
    job.mixing = at.mixing;
    job.takes_step = [steps](std::int64_t k) { return k < steps; };
    Cluster cluster(network, std::move(job));
    Processes processes{simulation};
    for (int rank = 0; rank < workers; ++rank)
        processes.spawn("worker", choco_sgd(cluster.worker(rank), at.options));
    simulation.run();
    REQUIRE(processes.finished());
    return {simulation.now().time_since_epoch(),
            static_cast<std::int64_t>(network.messages_delivered())};
}

Case random_case(unsigned seed) {
    std::mt19937_64 rng(seed);
    Case at{rng() % 2 == 0 ? 1 : 4, {}, {}, {}, {}};
    const std::vector<Compressor> compressors{make_top_k(0.05), make_scaled_sign(),
                                              make_qsgd({7, 128})};
    at.options = choco_options(compressors[rng() % 3], 0.5,
                               {.per_entry = rng() % 2 == 0 ? Duration{9} : 3ns});
    ExchangeOptions& exchange = at.options.exchange;
    if (at.g > 1) exchange.aggregation = {.machines = ByMachine::leaders, .devices = at.g};
    exchange.schedule.whole = rng() % 3 == 0;
    if (!exchange.schedule.whole && rng() % 2 == 0)
        exchange.schedule.begin = Begin::beside_backward;
    const int members = workers / at.g;
    at.mixing = std::make_shared<const Mixing>(rng() % 2 == 0 ? make_ring_mixing(members)
                                                              : make_hypercube_mixing(members));
    DrawnTensors drawn = draw_tensors(rng);
    at.layout = std::move(drawn.layout);
    const Duration step = 1ms * static_cast<std::int64_t>(1 + rng() % 30);
    at.timing = make_step_timing(step, *at.layout, drawn.macs,
                                 exchange.schedule.whole ? at.layout->entries() : 100'000);
    return at;
}

TEST_CASE("CHOCO forms, property: messages and steps in any pieces, flat and by machine") {
    int known = 0;
    int known_beside = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Case at = random_case(seed);
        CAPTURE(at.g);
        CAPTURE(at.beside());
        CAPTURE(at.timing.buckets.size());
        const Outcome three = simulated(at, 3);
        const Outcome four = simulated(at, 4);
        std::int64_t messages = 0;
        for (std::int64_t k = 0; k < 4; ++k)
            messages += choco_sgd_messages(at.options, *at.mixing, k, at.input());
        REQUIRE(messages == four.messages);
        REQUIRE(simulated(at, 3, true).time == three.time);
        const double tolerance = at.g == 1 ? 1e-8 : 1e-3;
        if (const auto first = at.form(0); first && !at.beside())
            REQUIRE(to_seconds(simulated(at, 1).time) ==
                    doctest::Approx(to_seconds(*first)).epsilon(tolerance));
        const std::optional<Duration> form = at.form(3);
        if (!form) continue;
        ++known;
        known_beside += at.beside() ? 1 : 0;
        REQUIRE(to_seconds(four.time - three.time) ==
                doctest::Approx(to_seconds(*form)).epsilon(tolerance));
    }
    CHECK(known > 150);
    CHECK(known_beside > 20);
}

// Signs of two tensors of 800,000 entries to two neighbors: 100,004 bytes a message and 1.600064 ms
// of the link. Backward completes them after 4 and 6 ms; the update takes 1 ms.
Case two_pieces() {
    const auto layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"a", {800, 1000}}, {"b", {800, 1000}}});
    Case at{1,
            choco_options(make_scaled_sign(), 0.5, {Duration{0}}),
            std::make_shared<const Mixing>(make_ring_mixing(workers)),
            layout,
            {6ms, {{1, 1, 4ms}, {0, 1, 6ms}}}};
    at.options.exchange.schedule.whole = false;
    return at;
}

TEST_CASE("CHOCO forms: beside backward a message has a whole step to arrive") {
    Case at = two_pieces();
    CHECK(at.form(1) == 6ms + 1ms);  // 3.250128 ms beside 6 ms
    at.timing = {3ms, {{1, 1, 2ms}, {0, 1, 3ms}}};
    CHECK(at.form(1) == 2 * 1'600'064ns + 50us + 1ms);
    CHECK(at.form(0) == 3ms + 1ms);
    at.options.exchange.schedule.begin = Begin::beside_backward;
    // The last message of a step leaves after 3 ms and arrives 1.650064 ms later or, behind the
    // first, at 5.250128 ms. Backward completes the first piece of the next step at 6 ms.
    CHECK(at.form(1) == 3ms + 1ms);
    CHECK(simulated(at, 4).time - simulated(at, 3).time == 3ms + 1ms);
    at.timing = {2ms, {{1, 1, 1ms}, {0, 1, 2ms}}};
    CHECK_FALSE(at.form(1).has_value());
    CHECK(simulated(at, 20).time > 20 * (2ms + 1ms));  // some messages come too late
}

TEST_CASE("CHOCO forms: neighbors of unequal degrees have none, nor machines beside backward") {
    Case at = two_pieces();
    at.mixing = std::make_shared<const Mixing>(make_star_mixing(workers));
    CHECK_FALSE(at.form(1).has_value());

    at = two_pieces();
    at.g = 4;
    at.mixing = std::make_shared<const Mixing>(make_ring_mixing(workers / 4));
    at.options.exchange.aggregation = {.machines = ByMachine::leaders, .devices = 4};
    CHECK(at.form(1).has_value());
    at.options.exchange.schedule.begin = Begin::beside_backward;
    CHECK_FALSE(at.form(1).has_value());
}

}  // namespace
}  // namespace paceline::choco_forms_test
