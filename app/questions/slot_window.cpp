#include "app/questions/slot_window.hpp"

#include <algorithm>

#include "app/run/seats.hpp"
#include "models/tensors/layout.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"

namespace paceline {

namespace {

struct Hop {
    Bandwidth slowest{unlimited};
    Duration latency{};
};

Hop hop_between(const Fabric& fabric, int from, int to) {
    Route route;
    fabric.find_route(from, to, route);
    Hop hop;
    for (const LinkId link : route) {
        hop.slowest = std::min(hop.slowest, fabric.links[link].capacity());
        hop.latency = sum(hop.latency, fabric.links[link].latency);
    }
    return hop;
}

}  // namespace

std::optional<SlotWindow> binding_slots(const Scenario& scenario) {
    const int n = scenario.cluster.workers;
    if (!scenario.algorithm.all_reduce || n < 2) return std::nullopt;
    const PlanOfSize chosen =
        plan_for(*scenario.algorithm.all_reduce, n,
                 scenario.algorithm.wire.weigh(scenario.workload.layout->entries()));
    const Slices& cut = chosen.plan.slices;
    if (chosen.plan.method != AllReduce::pipelined_ring || chosen.plan.cards > 1 || cut.slots == 0)
        return std::nullopt;
    const Bytes part = chunk(chosen.size, n, n - 1);
    const int count = slices_of(part, cut);
    if (std::int64_t{2} * (n - 1) * count <= cut.slots) return std::nullopt;
    const Fabric fabric = fabric_of(scenario);
    std::optional<SlotWindow> worst;
    for (int from = 0; from < n; ++from) {
        const int to = wrapped(from + 1, n);
        const Hop there = hop_between(fabric, from, to);
        if (there.slowest == unlimited || there.slowest.bits_per_second == 0) continue;
        SlotWindow window{from, to, cut.slots, chunk(part, count, count - 1)};
        const Duration t = window.slice / there.slowest;
        window.on_the_line = multiple(cut.slots, t);
        window.returns = sum(t, sum(there.latency, hop_between(fabric, to, from).latency));
        if (window.on_the_line >= window.returns) continue;
        window.most_bytes_per_s =
            static_cast<double>(cut.slots * window.slice.count) / to_seconds(window.returns);
        window.line_bytes_per_s = static_cast<double>(there.slowest.bits_per_second) / 8;
        if (!worst || window.most_bytes_per_s < worst->most_bytes_per_s) worst = window;
    }
    return worst;
}

}  // namespace paceline
