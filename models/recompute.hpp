// Which activations a backward pass computes again instead of keeping them since the forward pass.
//
//   none        all are kept
//   selective   the core of attention: scores, softmax, its dropout and the product with values,
//               which take most memory for their work where sequences are long
//   full        each layer of a transformer; its input is kept. Embedding and output are not
//               computed again
//
// Source: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
// arXiv 2205.05198, sections 4 and 5.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace paceline {

enum class Recompute { none, selective, full };  // each computes again what those before it do

constexpr std::array<std::string_view, 3> recompute_names{"none", "selective", "full"};

constexpr std::string_view name_of(Recompute recompute) {
    return recompute_names[static_cast<std::size_t>(recompute)];
}

}  // namespace paceline
