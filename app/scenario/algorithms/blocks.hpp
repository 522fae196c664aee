// Blocks of steps: what readers of methods have in common that train alone, by an inner optimizer,
// and exchange something at the end of each block, by an outer one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/diloco.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"

namespace paceline {

/// The names of "inner", where a method takes it.
inline constexpr auto inner_optimizers =
    std::to_array<std::string_view>({"adamw", "lamb", "muon", "sgd"});

/// Reads the inner optimizer, a name or an object of Muon's options, and the keys of Adam. `usual`
/// is that of a scenario without a name. If it is "sgd", the method takes the optimizer's
/// "nesterov" and "clip".
InnerRule read_inner_rule(const ObjectReader& read, const AlgorithmInput& in,
                          std::string_view usual = "adamw");

/// Returns how many vectors an inner optimizer keeps on a device (analysis/forms/memory_forms.hpp).
double kept_by_inner(const InnerRule& rule, const AlgorithmInput& in);

/// The names of "outer", where a method takes it.
inline constexpr auto outer_optimizers =
    std::to_array<std::string_view>({"none", "sgd", "nesterov", "adam"});

/// Reads the rate and the momentum of an outer optimizer that has them; a null pointer is what it
/// has not.
void read_outer_rate(const ObjectReader& read, double* rate, double* momentum);

inline constexpr auto buffer_strategies = std::to_array<Spelling<Buffers>>(
    {{"reset", Buffers::reset}, {"maintain", Buffers::maintain}, {"average", Buffers::average}});

/// Reads the "wire" and the exchange of what is averaged whole, over a preset.
ExchangeOptions read_average(const ObjectReader& read, const AlgorithmInput& in,
                             AlgorithmChoice& choice, ExchangeOptions preset = dense_exchange({}));

/// Reads the "period".
template <class Options>
void read_period(const ObjectReader& read, AlgorithmChoice& choice, Options& options) {
    if (const auto p = read.optional("period"))
        options.period = as_integer(*p, 1, most_steps_of_an_option);
    choice.period = options.period;
}

/// Reads the "period", and the exchange at the end of each block.
template <class Options>
void read_blocks(const ObjectReader& read, const AlgorithmInput& in, AlgorithmChoice& choice,
                 Options& options, ExchangeOptions preset = dense_exchange({})) {
    read_period(read, choice, options);
    options.exchange = read_average(read, in, choice, std::move(preset));
}

/// Reads the inner and the outer optimizer, the period and the exchange of outer gradients, over
/// those of `options`, and what they keep.
AlgorithmChoice read_outer_steps(const ObjectReader& read, const AlgorithmInput& in,
                                 DilocoOptions& options);

/// Moves what each step costs by the choice to the ends of blocks. Each step before the `first`
/// block is a block of its own.
void at_ends_of_blocks(AlgorithmChoice& choice, std::int64_t period, std::int64_t first = 0);

/// Sets what such blocks cost that end with exchanges of so many vectors of the model's size, for
/// which they wait.
void cost_blocks(AlgorithmChoice& choice, const AlgorithmInput& in, const ExchangeOptions& exchange,
                 std::int64_t period, int vectors = 1, std::int64_t first = 0);

}  // namespace paceline
