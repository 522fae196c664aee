#include "sim/collectives/plans/all_reduce_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/double_tree.hpp"
#include "sim/collectives/parameter_server.hpp"
#include "sim/collectives/plans/card_rings.hpp"
#include "sim/collectives/plans/hierarchical.hpp"
#include "sim/collectives/plans/nccl_collectives.hpp"
#include "sim/collectives/staging.hpp"
#include "sim/collectives/tree.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

InSwitches stages_of(const NcclChoice& choice) {
    InSwitches stages{.heads = choice.heads, .of_head = choice.of_head};
    if (choice.algorithm != Nccl::Algorithm::nvls_tree)
        stages.between = InSwitches::Between::in_switch;
    if (choice.algorithm == Nccl::Algorithm::collnet_direct)
        stages.inside = InSwitches::Inside::direct;
    if (choice.algorithm == Nccl::Algorithm::collnet_chain)
        stages.inside = InSwitches::Inside::chain;
    return stages;
}

PlanOfSize by_nccl(const Nccl& library, int n, Bytes size) {
    const NcclChoice choice = nccl_choice(library, Nccl::Operation::all_reduce, size, n);
    PlanOfSize chosen{AllReduce::pipelined_ring, choice.on_wire, choice.start_up, choice.cost};
    AllReducePlan& plan = chosen.plan;
    if (choice.algorithm > Nccl::Algorithm::tree) {
        plan.method = n > library.devices ? AllReduce::in_switches : AllReduce::in_switch;
        plan.slices = choice.slices;
        plan.devices = library.devices;
        plan.switches = stages_of(choice);
        return chosen;
    }
    if (choice.algorithm == Nccl::Algorithm::tree) plan.method = AllReduce::double_tree;
    plan.slices = choice.slices;
    plan.devices = std::min(library.devices, n);
    if (n % plan.devices != 0) plan.devices = 1;
    plan.cards = choice.rings;
    return chosen;
}

}  // namespace

PlanOfSize plan_for(const AllReducePlan& plan, int n, Bytes size) {
    if (plan.method == AllReduce::nccl)
        return n == 1 ? PlanOfSize{AllReduce::ring, size} : by_nccl(plan.library, n, size);
    PlanOfSize own{plan, size};
    if (plan.method == AllReduce::open_mpi) {
        constexpr Bytes segment{std::int64_t{1} << 20U};
        constexpr Bytes most_doubled{9'999};
        own.plan.slices = {segment, 2};
        own.plan.method = size <= n * segment ? AllReduce::ring : AllReduce::pipelined_ring;
        if (size <= most_doubled) own.plan.method = AllReduce::recursive_doubling;
    }
    if (plan.method == AllReduce::automatic)
        own.plan.method = size <= most_bytes_doubled ? AllReduce::recursive_doubling
                                                     : AllReduce::halving_doubling;
    return own;
}

bool sums_in_series(const AllReducePlan& plan) {
    switch (plan.method) {
        case AllReduce::ring:
        case AllReduce::recursive_doubling:
        case AllReduce::halving_doubling:
        case AllReduce::automatic:
        case AllReduce::open_mpi:
            return plan.cards == 1;
        default:
            return false;
    }
}

Duration time_of_sums(const AllReducePlan& plan, int n, Bytes size, Bandwidth rate) {
    PACELINE_CHECK(sums_in_series(plan), "sums are in series with the messages");
    if (plan_for(plan, n, size).plan.method == AllReduce::recursive_doubling)
        return (std::int64_t{std::bit_width(static_cast<unsigned>(n - 1))} * size) / rate;
    return Bytes{size.count - size.count / n} / rate;
}

std::string_view name_of(const AllReducePlan& plan, Bytes size) {
    if (plan.method == AllReduce::nccl) return "NCCL all-reduce";
    if (plan.method == AllReduce::open_mpi) return "Open MPI all-reduce";
    switch (plan_for(plan, 2, size).plan.method) {
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
        case AllReduce::in_switch:
        case AllReduce::in_switches:
        case AllReduce::nccl:
        case AllReduce::open_mpi:
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
            if (plan.nested) return hierarchical_all_reduce(std::move(self), size, plan.nested);
            return hierarchical_all_reduce(std::move(self), size, plan.devices);
        case AllReduce::pipelined_ring:
            return pipelined_ring_all_reduce(std::move(self), size, plan.slices);
        case AllReduce::double_tree:
            return double_tree_all_reduce(std::move(self), size, plan.slices, plan.devices);
        case AllReduce::in_switch:
            return all_reduce_in_one_switch(std::move(self), size);
        case AllReduce::in_switches:
            return all_reduce_in_switches(std::move(self), size, plan.slices, plan.devices,
                                          plan.switches);
        case AllReduce::nccl:
        case AllReduce::open_mpi:
        case AllReduce::automatic:
            break;
    }
    PACELINE_CHECK(false, "every all-reduce has its case");
}

}  // namespace

std::optional<RingOfChunks> as_ring(const AllReducePlan& plan, const Rank& self, Bytes size) {
    const Library& library = self.library();
    const bool may_be_ring = plan.method == AllReduce::ring || plan.method == AllReduce::open_mpi;
    if (!may_be_ring || plan.cards > 1 || library.sums || library.staging) return std::nullopt;
    const PlanOfSize chosen = plan_for(plan, self.size(), size);
    if (chosen.plan.method != AllReduce::ring) return std::nullopt;
    return ring_of_all_reduce(self.size(), chosen.size);
}

Task<> all_reduce(const AllReducePlan& plan, const Rank& self, Bytes size) {
    const PlanOfSize chosen = plan_for(plan, self.size(), size);
    const auto& sums = self.library().sums;
    const Duration adding = sums ? time_of_sums(plan, self.size(), size, *sums) : Duration::zero();
    Task<> messages = behind(self.network().simulation(), sum(chosen.start_up, adding),
                             messages_of(chosen.plan, self.with_cost(chosen.cost), chosen.size));
    if (!self.staging()) return messages;
    return staged(self, size, [size] { return size; }, std::move(messages));
}

}  // namespace paceline
