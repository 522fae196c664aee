// Blocks of steps: what readers of methods have in common that train alone and exchange something
// at the end of each block.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/slowmo.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"

namespace paceline {

inline constexpr auto buffer_strategies = std::to_array<Spelling<Buffers>>(
    {{"reset", Buffers::reset}, {"maintain", Buffers::maintain}, {"average", Buffers::average}});

/// Reads the "wire" and the exchange of what is averaged whole, over a preset.
ExchangeOptions read_average(const ObjectReader& read, const AlgorithmInput& in,
                             AlgorithmChoice& choice, ExchangeOptions preset = dense_exchange({}));

/// Reads the "period", and the exchange at the end of each block.
template <class Options>
void read_blocks(const ObjectReader& read, const AlgorithmInput& in, AlgorithmChoice& choice,
                 Options& options, ExchangeOptions preset = dense_exchange({})) {
    if (const auto p = read.optional("period"))
        options.period = as_integer(*p, 1, most_steps_of_an_option);
    options.exchange = read_average(read, in, choice, std::move(preset));
    choice.period = options.period;
}

/// Sets what blocks cost that end with exchanges of so many vectors of the model's size, for which
/// they wait.
void cost_blocks(AlgorithmChoice& choice, const AlgorithmInput& in, const ExchangeOptions& exchange,
                 std::int64_t period, int vectors = 1);

/// Moves what each step costs by the choice to the ends of blocks.
void at_ends_of_blocks(AlgorithmChoice& choice, std::int64_t period);

}  // namespace paceline
