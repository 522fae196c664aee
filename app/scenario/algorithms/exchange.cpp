#include "app/scenario/algorithms/exchange.hpp"

#include <algorithm>
#include <utility>

#include "analysis/forms/exchange_forms.hpp"
#include "app/scenario/algorithms/common.hpp"

namespace paceline {

namespace {

// Records what the transport needs of the cluster.
void need_of_transport(AlgorithmChoice& choice, const TransportPlan& transport) {
    switch (transport.carrier) {
        case Carrier::servers:
            choice.sends_at_once = std::max(choice.sends_at_once, transport.servers);
            choice.meets_everybody = true;
            if (transport.first_server_node) choice.server_nodes = transport.servers;
            break;
        case Carrier::two_phase:
            choice.meets_everybody = true;
            break;
        case Carrier::all_reduce:
        case Carrier::all_gather:
        case Carrier::sparse_all_reduce:
            break;
    }
    use_servers(choice, transport.all_reduce);
}

}  // namespace

ExchangeOptions read_exchange(const ObjectReader& /*read*/, const AlgorithmInput& /*in*/,
                              ExchangeOptions preset, AlgorithmChoice& choice) {
    need_of_transport(choice, preset.transport);
    return preset;
}

void cost_by_exchange(AlgorithmChoice& choice, const AlgorithmInput& in,
                      const ExchangeOptions& options, std::int64_t passes) {
    choice.contribution = [options, wire = choice.wire, workers = in.workers](
                              const Layout& layout, std::int64_t, double) {
        return form_of_contribution(options, layout, wire, workers);
    };
    choice.model_step = [options, passes](const StepModelInput& at, std::int64_t, double) {
        return exchange_step_time(options, passes, at);
    };
    choice.messages = [options](const StepModelInput& at, std::int64_t) {
        return exchange_messages(options, at);
    };
}

}  // namespace paceline
