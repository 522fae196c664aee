#include "app/scenario/algorithms/neighbors.hpp"

#include <utility>

#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/neighbor_forms.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"

namespace paceline {

namespace {

std::int64_t messages_to_neighbors(const Mixing& mixing) {
    std::int64_t messages = 0;
    for (int i = 0; i < mixing.nodes(); ++i)
        messages += static_cast<std::int64_t>(mixing.listeners(i).size());
    return messages;
}

}  // namespace

AlgorithmChoice decentralized(const ObjectReader& read, const AlgorithmInput& in, int vectors,
                              bool beside, MixingUse use) {
    AlgorithmChoice choice;
    choice.exchange.emplace();
    return averaging(std::move(choice), read, in, in.workers, vectors, beside, use);
}

AlgorithmChoice neighborly(const ObjectReader& read, const AlgorithmInput& in, int vectors,
                           bool beside) {
    AlgorithmChoice choice;
    const AggregationPlan aggregation = read_neighbor_exchange(read, in, choice).aggregation;
    const bool by_machine = aggregation.machines != ByMachine::flat;
    return averaging(std::move(choice), read, in,
                     by_machine ? in.workers / aggregation.devices : in.workers, vectors, beside,
                     MixingUse::averages);
}

AlgorithmChoice averaging(AlgorithmChoice choice, const ObjectReader& read,
                          const AlgorithmInput& in, int members, int vectors, bool beside,
                          MixingUse use) {
    choice.mixing = read_mixing(read.required("mixing", "such as {\"kind\": \"ring\"}"), members,
                                use, members == in.workers ? in.devices_of_machines() : 1);
    choice.sends_at_once = choice.mixing.degree * vectors;
    choice.meets_everybody = choice.mixing.meets_everybody;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    const ExchangeOptions exchange = *choice.exchange;
    choice.contribution = [exchange, wire = choice.wire, vectors, workers = in.workers](
                              const Layout& layout, std::int64_t, double) {
        return vectors * form_of_contribution(exchange, layout, wire, workers);
    };
    // Time and messages of a step do not depend on what the seed draws.
    const auto mixing_of = [make = choice.mixing.make](std::int64_t k) {
        constexpr std::uint64_t any_seed = 1;
        return make(any_seed).at(k);
    };
    choice.model_step = [=](const StepModelInput& at, std::int64_t k, double) {
        return neighbor_exchange_step_time(exchange, *mixing_of(k), vectors, beside, at);
    };
    choice.messages = [=](const StepModelInput& at, std::int64_t k) {
        return neighbor_exchange_messages(exchange, messages_to_neighbors(*mixing_of(k)), vectors,
                                          at);
    };
    return choice;
}

}  // namespace paceline
