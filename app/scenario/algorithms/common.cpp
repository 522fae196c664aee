#include "app/scenario/algorithms/common.hpp"

#include <array>

namespace paceline {

namespace {

constexpr auto wires =
    std::to_array<Spelling<WireFormat>>({{"fp32", fp32}, {"fp16", fp16}, {"bf16", fp16}});

}  // namespace

WireFormat as_wire(const Place& place) {
    return as_choice(place, "a wire format", wires);
}

CodingCost read_coding(const ObjectReader& read) {
    CodingCost cost;
    if (const auto p = read.optional("coding_step")) cost.per_entry = as_duration(*p);
    return cost;
}

MomentumRule rule_of(const Optimizer& optimizer) {
    return {optimizer.momentum, optimizer.nesterov, optimizer.weight_decay, optimizer.clip};
}

void use_all_reduce(AlgorithmChoice& choice, const AllReducePlan& plan) {
    choice.all_reduce = plan;
    const bool by_machines = plan.method == AllReduce::hierarchical && !plan.nested;
    choice.goes_around =
        plan.method == AllReduce::ring || plan.method == AllReduce::pipelined_ring || by_machines;
    choice.names_hierarchy = by_machines;
    if (plan.method != AllReduce::parameter_server) return;
    choice.sends_at_once = plan.servers;
    choice.meets_everybody = true;
    if (plan.first_server_node) choice.server_nodes = plan.servers;
}

AdamRule read_adam_rule(const ObjectReader& read, const AlgorithmInput& in, AdamRule rule) {
    rule.weight_decay = in.optimizer.weight_decay;
    if (const auto p = read.optional("beta1")) rule.beta1 = as_share(*p);
    if (const auto p = read.optional("beta2")) rule.beta2 = as_share(*p);
    if (const auto p = read.optional("epsilon")) rule.epsilon = as_number_above(*p, 0, 1);
    return rule;
}

}  // namespace paceline
