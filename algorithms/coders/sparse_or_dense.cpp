#include "algorithms/coders/sparse_or_dense.hpp"

#include <bit>
#include <utility>

#include "sim/collectives/chunks.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Bytes halving_doubling_chain(const Fold& fold, Bytes size) {
    Bytes chain;
    for (int width = fold.survivors / 2; width >= 1; width /= 2)
        chain += 2 * chunks(size, fold.survivors, fold.survivors - width, width);
    if (fold.extra > 0) chain += 2 * size;
    return chain;
}

Bytes hierarchical_chain(int machines, int devices, Bytes size) {
    const Bytes part = chunk(size, devices, devices - 1);
    const Bytes piece = chunk(part, machines, machines - 1);
    return 2 * (devices - 1) * part + 2 * (machines - 1) * devices * piece;
}

Bytes nested_chain(const NestedGroups& groups, int n, Bytes size) {
    Bytes chain;
    std::int64_t at_once = 1;  // rings of a level that may share a link
    for (const int members : groups.sizes) {
        size = chunk(size, members, members - 1);
        chain += 2 * (members - 1) * at_once * size;
        at_once *= members;
    }
    const int last = groups.groups(n);
    return chain + 2 * (last - 1) * at_once * chunk(size, last, last - 1);
}

Bytes doubling_chain(SparseSizes& sizes, int n) {
    const Fold fold(n);
    Bytes chain;
    for (int step = 0; step < fold.steps; ++step)  // the block of the first survivor is heaviest
        chain += sizes.of_union(fold.contributions(0, step));
    if (fold.extra > 0) chain += sizes.of_union(1) + sizes.of_union(n);
    return chain;
}

}  // namespace

SparseRule rule_at(const DgcOptions& options, double density) {
    return {density, options.uncompressed == Uncompressed::in_messages, options.law, options.format,
            options.selection};
}

Bytes dense_chain(AllReducePlan plan, int n, Bytes size) {
    const PlanOfSize chosen = plan_for(plan, n, size);
    plan = chosen.plan;
    size = chosen.size;
    const Fold fold(n);
    switch (plan.method) {
        case AllReduce::ring:
            return 2 * (n - 1) * chunk(size, n, n - 1);
        case AllReduce::recursive_doubling:
            return (fold.steps + (fold.extra > 0 ? 2 : 0)) * size;
        case AllReduce::halving_doubling:
            return halving_doubling_chain(fold, size);
        case AllReduce::tree:
            return 2 * std::bit_width(static_cast<unsigned>(n - 1)) * size;
        case AllReduce::parameter_server:
            return 2 * (plan.first_server_node ? n : n - 1) *
                   chunk(size, plan.servers, plan.servers - 1);
        case AllReduce::pipelined_ring:
            return 2 * (n - 1) * chunk(size, n, n - 1);
        case AllReduce::double_tree:
            return 2 * size;
        case AllReduce::in_switch:
        case AllReduce::in_switches:
            return size;
        case AllReduce::hierarchical:
            if (plan.nested) return nested_chain(*plan.nested, n, size);
            return hierarchical_chain(n / plan.devices, plan.devices, size);
        case AllReduce::nccl:
        case AllReduce::open_mpi:
        case AllReduce::automatic:
            break;
    }
    PACELINE_CHECK(false, "every all-reduce has its chain");
}

Bytes sparse_chain(const DgcOptions& options, const AggregationPlan& aggregation,
                   SparseSizes& sizes, int n) {
    const Bytes sparse = aggregation.kind == Aggregation::all_gather ? (n - 1) * sizes.of_union(1)
                                                                     : doubling_chain(sizes, n);
    const Bytes rest = uncompressed_bytes(sizes.layout(), options.format);
    if (options.uncompressed == Uncompressed::in_messages || rest == Bytes{0}) return sparse;
    return sparse + dense_chain(aggregation.all_reduce, n, rest);
}

Bytes dense_bytes(const DgcOptions& options, const Layout& layout) {
    return layout.entries() * Bytes{options.format.bytes_per_dense_entry};
}

StageExchange stage_exchange(const DgcOptions& options, const AggregationPlan& aggregation,
                             SparseSizesPtr sizes, double density, int n) {
    const bool dense = aggregation.kind != Aggregation::servers &&
                       (density == 1 || sparse_chain(options, aggregation, *sizes, n) >
                                            dense_chain(aggregation.all_reduce, n,
                                                        dense_bytes(options, sizes->layout())));
    return {density, dense, std::move(sizes)};
}

}  // namespace paceline
