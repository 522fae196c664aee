#include "sim/collectives/plans/all_reduce_plan.hpp"

#include <utility>

#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/double_tree.hpp"
#include "sim/collectives/parameter_server.hpp"
#include "sim/collectives/plans/card_rings.hpp"
#include "sim/collectives/plans/hierarchical.hpp"
#include "sim/collectives/staging.hpp"
#include "sim/collectives/tree.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

AllReducePlan plan_for(AllReducePlan plan, Bytes size) {
    if (plan.method != AllReduce::automatic) return plan;
    plan.method =
        size <= most_bytes_doubled ? AllReduce::recursive_doubling : AllReduce::halving_doubling;
    return plan;
}

std::string_view name_of(AllReducePlan plan, Bytes size) {
    switch (plan_for(plan, size).method) {
        case AllReduce::ring:
            return "ring all-reduce";
        case AllReduce::recursive_doubling:
            return "recursive-doubling all-reduce";
        case AllReduce::halving_doubling:
            return "halving-doubling all-reduce";
        case AllReduce::tree:
            return "tree all-reduce";
        case AllReduce::parameter_server:
            return "parameter-server all-reduce";
        case AllReduce::hierarchical:
            return "hierarchical all-reduce";
        case AllReduce::pipelined_ring:
            return "pipelined ring all-reduce";
        case AllReduce::double_tree:
            return "double-tree all-reduce";
        case AllReduce::automatic:
            break;
    }
    return "all-reduce";
}

namespace {

Task<> messages_of(AllReducePlan plan, Rank self, Bytes size) {
    if (plan.cards > 1)
        return on_rings_of_cards(
            std::move(self), size, std::exchange(plan.cards, 1),
            [plan](Rank ring, Bytes part) { return messages_of(plan, std::move(ring), part); });
    switch (plan.method) {
        case AllReduce::ring:
            return ring_all_reduce(std::move(self), size);
        case AllReduce::recursive_doubling:
            return recursive_doubling_all_reduce(std::move(self), size);
        case AllReduce::halving_doubling:
            return halving_doubling_all_reduce(std::move(self), size);
        case AllReduce::tree:
            return tree_all_reduce(std::move(self), size);
        case AllReduce::parameter_server:
            return parameter_server_all_reduce(std::move(self), size, plan.servers,
                                               plan.first_server_node);
        case AllReduce::hierarchical:
            return hierarchical_all_reduce(std::move(self), size, plan.devices);
        case AllReduce::pipelined_ring:
            return pipelined_ring_all_reduce(std::move(self), size, plan.slices);
        case AllReduce::double_tree:
            return double_tree_all_reduce(std::move(self), size, plan.slices);
        case AllReduce::automatic:
            break;
    }
    PACELINE_CHECK(false, "every all-reduce has its case");
}

}  // namespace

Task<> all_reduce(AllReducePlan plan, Rank self, Bytes size) {
    plan = plan_for(plan, size);
    if (!self.staging()) return messages_of(plan, std::move(self), size);
    return staged(self, size, [size] { return size; }, messages_of(plan, self, size));
}

}  // namespace paceline
