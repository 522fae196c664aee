#include "algorithms/local/sparseloco.hpp"

#include "algorithms/compression/chunked_top_k.hpp"
#include "algorithms/exchange/exchange_presets.hpp"

namespace paceline {

DilocoOptions sparseloco() {
    DilocoOptions options{.period = 30, .outer = OuterSgd{.rate = 1}};
    options.exchange = compressed_exchange(make_chunked_top_k({.of_senders = true}), true);
    options.exchange.codec.error_decay = 0.95;
    return options;
}

}  // namespace paceline
