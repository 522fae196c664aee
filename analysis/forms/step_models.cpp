#include "analysis/forms/step_models.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/collective/collective.hpp"
#include "algorithms/sparse/dgc.hpp"
#include "algorithms/sparse/gradient_dropping.hpp"
#include "analysis/forms/inside_forms.hpp"
#include "analysis/forms/sparse_forms.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Known = std::optional<Duration>;  // empty if no closed form is known

Known operator+(Known a, Known b) {
    if (!a || !b) return std::nullopt;
    return sum(*a, *b);
}

bool spans_machines(int n, const IdleNetwork& network) {
    return network.bus && n > network.devices;
}

// Returns what joins all n workers uniformly, if anything does: their bus or the star.
std::optional<IdleStar> as_one_star(int n, const IdleNetwork& network) {
    if (spans_machines(n, network)) return std::nullopt;
    return network.bus ? *network.bus : network.star;
}

Known all_reduce_over_machines(const AllReducePlan& plan, int n, Bytes size,
                               const IdleNetwork& network) {
    if (plan.method == AllReduce::ring && plan.cards > 1)
        return n % network.devices == 0
                   ? rings_of_cards_time(n, size, plan.cards, *network.bus, network.star)
                   : std::nullopt;
    if (plan.method == AllReduce::ring)
        return ring_over_machines_time(n, size, *network.bus, network.star);
    if (plan.nested) return std::nullopt;
    if (plan.method == AllReduce::hierarchical)
        return hierarchical_all_reduce_time(n / plan.devices, plan.devices, size, *network.bus,
                                            network.star, network.sharing());
    return std::nullopt;
}

// Returns the time of what NCCL has chosen.
Known nccl_time(const PlanOfSize& chosen, int n, IdleNetwork network) {
    const auto charge = [&](IdleStar& star, bool apart) {
        star.start_up = sum(star.start_up, chosen.start_up);
        star.message_cost = chosen.cost.occupies.of(apart);
        star.message_delay = chosen.cost.delays.of(apart);
    };
    charge(network.star, true);
    if (network.bus) charge(*network.bus, false);
    return all_reduce_time(chosen.plan, n, chosen.size, network);
}

// Returns the time of any operation except the all-reduce.
Known collective_time(const CollectiveOptions& options, int n, Bytes size, const IdleStar& star) {
    const Bytes block{size.count / n + (size.count % n > 0 ? 1 : 0)};
    switch (options.operation) {
        case Operation::reduce_scatter:
            return ring_reduce_scatter_time(n, size, star);
        case Operation::all_gather_ring:
            return ring_all_gather_time(n, block, star);
        case Operation::all_gather_bruck:
            return bruck_all_gather_time(n, block, star);
        case Operation::all_to_all:
            return all_to_all_time(options.all_to_all, n, block, star);
        case Operation::broadcast:
            if (options.method == RootedMethod::chain)
                return chain_time(n, size, options.slices, star);
            return options.method == RootedMethod::at_once ? broadcast_at_once_time(n, size, star)
                                                           : binomial_broadcast_time(n, size, star);
        case Operation::reduce:
            if (options.method == RootedMethod::chain)
                return chain_time(n, size, options.slices, star);
            return options.method == RootedMethod::ring
                       ? pipelined_ring_reduce_time(n, size, options.slices, star)
                       : binomial_reduce_time(n, size, star);
        case Operation::all_reduce:
            break;
    }
    return std::nullopt;
}

// Returns the time of W(1), W(2), ... by recursive doubling; each is worked out once.
Known sparse_doubling_time(const DgcOptions& options, double density, const Layout& layout, int n,
                           const IdleNetwork& network) {
    std::map<int, Bytes> unions;
    const auto weight = [&](int c) {
        const auto found = unions.find(c);
        if (found != unions.end()) return found->second;
        return unions.emplace(c, form_of_union(options, layout, density, c)).first->second;
    };
    if (const std::optional<IdleStar> star = as_one_star(n, network))
        return sparse_all_reduce_time(n, weight, *star);
    const int devices = network.devices;
    if (!std::has_single_bit(static_cast<unsigned>(n)) ||
        !std::has_single_bit(static_cast<unsigned>(devices)))
        return std::nullopt;
    return sparse_doubling_over_machines_time(n / devices, devices, weight, *network.bus,
                                              network.star, network.sharing());
}

Known sparse_exchange_time(const DgcOptions& options, const AggregationPlan& aggregation,
                           double density, const Layout& layout, int n,
                           const IdleNetwork& network) {
    const Bytes one = form_of_union(options, layout, density, 1);
    const Known time = aggregation.kind == Aggregation::all_gather
                           ? all_gather_time(aggregation.all_gather, n, one, network)
                           : sparse_doubling_time(options, density, layout, n, network);
    const Bytes rest = form_of_rest(layout, options.format);
    if (options.uncompressed == Uncompressed::in_messages || rest == Bytes{0}) return time;
    return time + all_reduce_time(aggregation.all_reduce, n, rest, network);
}

}  // namespace

Duration staging_time(int n, Bytes in, Bytes out, const IdleNetwork& network) {
    if (!network.staging || n == 1) return {};
    const std::int64_t together = std::min(n, network.devices);
    return sum((together * in) / *network.staging, (together * out) / *network.staging);
}

std::optional<Duration> all_gather_time(AllGather how, int n, Bytes block,
                                        const IdleNetwork& network) {
    const std::optional<IdleStar> star = as_one_star(n, network);
    const Duration staging = staging_time(n, block, n * block, network);
    if (how == AllGather::bruck)
        return star ? std::optional(sum(staging, bruck_all_gather_time(n, block, *star)))
                    : std::nullopt;
    return sum(staging,
               star ? ring_all_gather_time(n, block, *star)
                    : ring_all_gather_over_machines_time(n, block, *network.bus, network.star));
}

std::optional<Duration> all_to_all_time(AllToAll how, int n, Bytes block,
                                        const IdleNetwork& network) {
    const std::optional<IdleStar> star = as_one_star(n, network);
    if (!star) return std::nullopt;
    return sum(staging_time(n, n * block, n * block, network),
               all_to_all_time(how, n, block, *star));
}

std::optional<Duration> all_reduce_time(AllReducePlan plan, int n, Bytes size,
                                        const IdleNetwork& network) {
    if (network.islands != IslandLanes::none)
        return Known{all_reduce_time(plan, n, longest_part(size, network),
                                     lane_between_islands(network))} +
               inside_island_time(size, network);
    if (network.staging) {
        IdleNetwork on_hosts = network;
        on_hosts.staging.reset();
        return Known{staging_time(n, size, size, network)} +
               all_reduce_time(plan, n, size, on_hosts);
    }
    if (network.sums) {
        IdleNetwork free = network;
        free.sums.reset();
        return Known{time_of_sums(plan, n, size, *network.sums)} +
               all_reduce_time(plan, n, size, free);
    }
    if (plan.method == AllReduce::nccl) return nccl_time(plan_for(plan, n, size), n, network);
    plan = plan_for(plan, n, size).plan;
    const std::optional<IdleStar> star = as_one_star(n, network);
    if (!star) return all_reduce_over_machines(plan, n, size, network);
    switch (plan.method) {
        case AllReduce::ring:
            return ring_all_reduce_time(n, size, *star);
        case AllReduce::recursive_doubling:
            return recursive_doubling_all_reduce_time(n, size, *star);
        case AllReduce::halving_doubling:
            return halving_doubling_all_reduce_time(n, size, *star);
        case AllReduce::tree:
            return tree_all_reduce_time(n, size, *star);
        case AllReduce::parameter_server:
            return parameter_server_all_reduce_time(n, size, plan.servers,
                                                    !plan.first_server_node.has_value(), *star);
        case AllReduce::hierarchical:
            if (plan.nested) return nested_all_reduce_time(*plan.nested, n, size, *star);
            return hierarchical_all_reduce_time(n / plan.devices, plan.devices, size, *star, *star,
                                                plan.devices);
        case AllReduce::pipelined_ring:
            return pipelined_ring_all_reduce_time(n, size, plan.slices, *star);
        case AllReduce::double_tree:
            return n == 1 ? Known{Duration{}} : std::nullopt;
        case AllReduce::in_switch:
            return sum(sum(star->start_up, star->latency),
                       sum(star->message_cost, size / star->bandwidth));
        case AllReduce::in_switches:
            return std::nullopt;
        case AllReduce::nccl:
        case AllReduce::open_mpi:
        case AllReduce::automatic:
            break;
    }
    PACELINE_CHECK(false, "every all-reduce has its case");
}

std::optional<Duration> collective_step_time(const CollectiveOptions& options,
                                             const StepModelInput& in) {
    const Bytes size = in.wire.weigh(in.layout->entries());
    const Known work = sum(in.timing.step, in.update);
    if (options.operation == Operation::all_reduce)
        return work + all_reduce_time(options.all_reduce, in.workers, size, in.network);
    const std::optional<IdleStar> star = as_one_star(in.workers, in.network);
    if (!star || options.library) return std::nullopt;
    return work + collective_time(options, in.workers, size, *star);
}

std::optional<Duration> dense_step_time(AllReducePlan plan, const StepModelInput& in) {
    const Bytes size = in.wire.weigh(in.layout->entries());
    return Known{sum(in.timing.step, in.update)} +
           all_reduce_time(std::move(plan), in.workers, size, in.network);
}

namespace {

// Vectors go one after the other.
std::optional<Duration> island_neighbors_step_time(const Mixing& mixing, int vectors, bool beside,
                                                   const StepModelInput& in) {
    const Duration alone = sum(in.timing.step, in.update);
    if (mixing.nodes() == 1) return alone;
    const Bytes size = in.wire.weigh(in.layout->entries());
    StepModelInput on_lane{mixing.nodes(), lane_between_islands(in.network), {}, {}, {},
                           WireFormat{1}};
    on_lane.layout = std::make_shared<const Layout>(
        std::vector<Tensor>{{"message", {longest_part(size, in.network).count}}});
    const auto lane = neighbor_step_time(mixing, 1, false, on_lane);
    if (!lane || beside) return std::nullopt;
    return sum(alone, multiple(vectors, sum(*lane, inside_island_time(size, in.network))));
}

}  // namespace

std::optional<Duration> neighbor_step_time(const Mixing& mixing, int vectors, bool beside,
                                           const StepModelInput& in) {
    if (in.network.islands != IslandLanes::none)
        return island_neighbors_step_time(mixing, vectors, beside, in);
    const std::optional<IdleStar> star = as_one_star(in.workers, in.network);
    const std::size_t degree = mixing.listeners(0).size();
    for (int i = 0; i < mixing.nodes(); ++i) {
        const std::vector<MixingWeight>& row = mixing.row(i);
        const auto others =
            std::ranges::count_if(row, [i](const MixingWeight& w) { return w.node != i; });
        if (mixing.listeners(i).size() != degree || !std::cmp_equal(others, degree))
            return std::nullopt;
    }
    if (!star) return std::nullopt;
    Duration exchange{};
    if (mixing.nodes() > 1) exchange = star->start_up;
    if (degree > 0)
        exchange = sum(
            exchange, sum(star->latency, star->together(static_cast<std::int64_t>(degree) * vectors,
                                                        in.wire.weigh(in.layout->entries()))));
    const Duration step =
        beside ? std::max(in.timing.step, exchange) : sum(in.timing.step, exchange);
    return sum(step, in.update);
}

bool form_exchanges_dense(const DgcOptions& options, const AggregationPlan& aggregation,
                          const Layout& layout, double density, int n) {
    if (density == 1) return true;
    const IdleNetwork one_byte_per_tick{{Bandwidth{8'000'000'000'000}, {}}, {}, 1};
    const Known sparse =
        sparse_exchange_time(options, aggregation, density, layout, n, one_byte_per_tick);
    const Known dense = all_reduce_time(aggregation.all_reduce, n,
                                        form_of_dense(layout, options.format), one_byte_per_tick);
    return *sparse > *dense;
}

std::optional<Duration> sparse_travel_time(const DgcOptions& options,
                                           const AggregationPlan& aggregation, double density,
                                           const Layout& layout, int n,
                                           const IdleNetwork& network) {
    if (!form_exchanges_dense(options, aggregation, layout, density, n))
        return sparse_exchange_time(options, aggregation, density, layout, n, network);
    return all_reduce_time(aggregation.all_reduce, n, form_of_dense(layout, options.format),
                           network);
}

std::optional<Duration> gradient_dropping_step_time(const GradientDroppingOptions& options,
                                                    std::int64_t step, const StepModelInput& in) {
    if (step < options.dense_steps) return dense_step_time(options.aggregation.all_reduce, in);
    const Layout everything({{"everything", {in.layout->entries(), 1}}});
    const Duration search = form_of_search(options.codec.selection, in.layout->entries());
    return Known{sum(sum(in.timing.step, in.update), search)} +
           sparse_travel_time(options.codec, options.aggregation, options.codec.density, everything,
                              in.workers, in.network);
}

}  // namespace paceline
