#include "analysis/forms/message_counts.hpp"

#include <algorithm>
#include <bit>

#include "analysis/forms/sparse_forms.hpp"
#include "analysis/forms/step_models.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Returns floor(log2 n).
int doublings(int n) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
}

// Returns the slices of the longest of n parts.
std::int64_t slices_of_part(Bytes size, int n, const Slices& cut) {
    const std::int64_t longest = (size.count + n - 1) / n;
    return std::max<std::int64_t>(1, (longest + cut.slice.count - 1) / cut.slice.count);
}

// Returns how many rings go through n workers: one for each card, if they leave a machine.
std::int64_t rings_of(const AllReducePlan& plan, int n) {
    return n > plan.devices ? plan.cards : 1;
}

// Returns the longest part of a vector that one of the rings carries.
Bytes part_of_ring(const AllReducePlan& plan, int n, Bytes size) {
    const std::int64_t rings = rings_of(plan, n);
    return {(size.count + rings - 1) / rings};
}

// Each slice of a half goes up and down its tree, of which there are two for each card.
std::int64_t double_tree_messages(const AllReducePlan& plan, int n, Bytes size) {
    if (n == 1) return 0;
    std::int64_t slices = 0;
    const std::int64_t cards = rings_of(plan, n);
    for (std::int64_t card = 0; card < cards; ++card) {
        const std::int64_t part = size.count / cards + (card >= cards - size.count % cards ? 1 : 0);
        slices += slices_of_part({part / 2}, 1, plan.slices) +
                  slices_of_part({(part + 1) / 2}, 1, plan.slices);
    }
    return 2 * (std::int64_t{n} - 1) * slices;
}

// Of each slice: two stages inside a machine, and one between.
std::int64_t in_switches_messages(const AllReducePlan& plan, int n, Bytes size) {
    const InSwitches& how = plan.switches;
    const std::int64_t machines = n / plan.devices;
    const std::int64_t inside = how.inside == InSwitches::Inside::in_switch
                                    ? 2 * std::int64_t{n}
                                    : 2 * machines * how.heads * (std::int64_t{plan.devices} - 1);
    const std::int64_t between = how.between == InSwitches::Between::in_switch
                                     ? machines * how.heads
                                     : 4 * (machines - 1) * how.heads;
    return slices_in_switches(size, plan.slices, how) * (inside + between);
}

std::int64_t folded(int n, std::int64_t messages_of_a_survivor) {
    const std::int64_t survivors = std::int64_t{1} << doublings(n);
    return survivors * messages_of_a_survivor + 2 * (n - survivors);
}

}  // namespace

namespace {

std::int64_t nested_messages(const NestedGroups& groups, int n) {
    std::int64_t of_a_member = groups.groups(n) - 1;
    for (const int members : groups.sizes) of_a_member += members - 1;
    return 2 * std::int64_t{n} * of_a_member;
}

}  // namespace

std::int64_t all_reduce_messages(const AllReducePlan& of_any_size, int n, Bytes size) {
    const PlanOfSize chosen = plan_for(of_any_size, n, size);
    const AllReducePlan& plan = chosen.plan;
    size = chosen.size;
    const std::int64_t all = n;
    switch (plan.method) {
        case AllReduce::ring:
            return rings_of(plan, n) * 2 * all * (all - 1);
        case AllReduce::recursive_doubling:
            return folded(n, doublings(n));
        case AllReduce::halving_doubling:
            return folded(n, std::int64_t{2} * doublings(n));
        case AllReduce::tree:
            return 2 * (all - 1);
        case AllReduce::parameter_server:
            return 2 * std::int64_t{plan.servers} * (plan.first_server_node ? all : all - 1);
        case AllReduce::pipelined_ring:
            return rings_of(plan, n) * 2 * all * (all - 1) *
                   slices_of_part(part_of_ring(plan, n, size), n, plan.slices);
        case AllReduce::double_tree:
            return double_tree_messages(plan, n, size);
        case AllReduce::hierarchical:
            if (plan.nested) return nested_messages(*plan.nested, n);
            return 2 * all * (plan.devices - 1) + 2 * all * (all / plan.devices - 1);
        case AllReduce::in_switch:
            return all;
        case AllReduce::in_switches:
            return in_switches_messages(plan, n, size);
        case AllReduce::nccl:
        case AllReduce::open_mpi:
        case AllReduce::automatic:
            break;
    }
    PACELINE_CHECK(false, "every all-reduce has its number of messages");
}

std::int64_t nccl_messages(const Nccl& library, Nccl::Operation operation, int n, Bytes size) {
    if (n == 1) return 0;
    const NcclChoice choice = nccl_choice(library, operation, size, n);
    const std::int64_t all = n;
    if (operation == Nccl::Operation::broadcast || operation == Nccl::Operation::reduce)
        return (all - 1) * slices_of_part(choice.on_wire, 1, choice.slices);
    const Bytes part{(choice.on_wire.count + choice.rings - 1) / choice.rings};
    return choice.rings * all * (all - 1) * slices_of_part(part, n, choice.slices);
}

std::int64_t all_gather_messages(AllGather how, int n) {
    const std::int64_t all = n;
    if (how == AllGather::ring) return all * (all - 1);
    return all * std::bit_width(static_cast<unsigned>(n - 1));
}

std::int64_t sparse_all_reduce_messages(int n) {
    return folded(n, doublings(n));
}

std::int64_t collective_messages(const CollectiveOptions& options, int n, Bytes size) {
    const std::int64_t all = n;
    if (options.library)
        return nccl_messages(*options.library, by_name_of_nccl(options.operation), n, size);
    switch (options.operation) {
        case Operation::all_reduce:
            return all_reduce_messages(options.all_reduce, n, size);
        case Operation::all_gather_bruck:
            return all_gather_messages(AllGather::bruck, n);
        case Operation::reduce_scatter:
        case Operation::all_gather_ring:
        case Operation::all_to_all:
            return all * (all - 1);
        case Operation::broadcast:
        case Operation::reduce:
            if (options.method == RootedMethod::chain)
                return (all - 1) * slices_of_part(size, 1, options.slices);
            if (options.method == RootedMethod::ring)
                return n == 1 ? 0
                              : all * (all - 1) * slices_of_part(size, n, options.slices) + all - 1;
            return all - 1;
    }
    PACELINE_CHECK(false, "every operation has its number of messages");
}

std::int64_t sparse_exchange_messages(const DgcOptions& options, const AggregationPlan& aggregation,
                                      const Layout& layout, double density, int n) {
    const AllReducePlan& plan = aggregation.all_reduce;
    if (form_exchanges_dense(options, aggregation, layout, density, n))
        return all_reduce_messages(plan, n, form_of_dense(layout, options.format));
    const std::int64_t messages = aggregation.kind == Aggregation::all_gather
                                      ? all_gather_messages(aggregation.all_gather, n)
                                      : sparse_all_reduce_messages(n);
    const Bytes rest = form_of_rest(layout, options.format);
    if (options.uncompressed == Uncompressed::in_messages || rest == Bytes{0}) return messages;
    return messages + all_reduce_messages(plan, n, rest);
}

}  // namespace paceline
