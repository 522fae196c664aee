#include "app/scenario/algorithms/synchronous.hpp"

#include "algorithms/dense/synchronous_sgd.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"

namespace paceline {

AlgorithmChoice synchronous(AlgorithmChoice choice, const AlgorithmInput& in,
                            const ExchangeOptions& exchange) {
    const SharedValue<SynchronousSgdOptions> options(
        SynchronousSgdOptions{exchange, rule_of(in.optimizer)});
    cost_by_exchange(choice, in, exchange);
    choice.kept = kept_by_momentum(in) + kept_by_codec(exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return synchronous_sgd(worker, options); };
    return choice;
}

}  // namespace paceline
