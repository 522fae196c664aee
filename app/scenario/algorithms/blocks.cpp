#include "app/scenario/algorithms/blocks.hpp"

#include <utility>

#include "algorithms/local/local_sgd.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/local_step_models.hpp"

namespace paceline {

ExchangeOptions read_average(const ObjectReader& read, const AlgorithmInput& in,
                             AlgorithmChoice& choice, ExchangeOptions preset) {
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    return read_exchange(read, in, std::move(preset), choice);
}

void cost_blocks(AlgorithmChoice& choice, const AlgorithmInput& in, const ExchangeOptions& exchange,
                 std::int64_t period, int vectors) {
    choice.contribution = [=, wire = choice.wire, workers = in.workers](const Layout& layout,
                                                                        std::int64_t, double) {
        return share_of_steps(vectors * form_of_contribution(exchange, layout, wire, workers),
                              period);
    };
    choice.model_step = [=](const StepModelInput& at, std::int64_t k, double) {
        return averaged_step_time(exchange, period, k, at, vectors);
    };
    choice.messages = [=](const StepModelInput& at, std::int64_t k) {
        return ends_block(k, period) ? vectors * exchange_messages(exchange, at) : 0;
    };
}

void at_ends_of_blocks(AlgorithmChoice& choice, std::int64_t period) {
    choice.contribution = [each = choice.contribution, period](const Layout& layout, std::int64_t k,
                                                               double epoch) {
        return share_of_steps(each(layout, k, epoch), period);
    };
    choice.model_step = [each = choice.model_step, period](const StepModelInput& at, std::int64_t k,
                                                           double epoch) {
        return ends_block(k, period) ? each(at, k, epoch) : lone_step_time(at);
    };
    choice.messages = [each = choice.messages, period](const StepModelInput& at, std::int64_t k) {
        return ends_block(k, period) ? each(at, k) : 0;
    };
}

}  // namespace paceline
