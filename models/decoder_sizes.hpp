// The sizes of a decoder-only transformer (models/decoder.hpp says what they mean).
#pragma once

#include <cstdint>
#include <optional>

namespace paceline {

enum class DecoderMlp { gelu, swiglu };
enum class DecoderNorm { layer, rms };
enum class DecoderPositions { learned, rotary };

struct DecoderSizes {
    std::int64_t layers = 1;
    std::int64_t width = 1;
    std::int64_t heads = 1;
    std::int64_t vocabulary = 1;
    std::int64_t context = 1;
    std::int64_t inner = 4;
    bool tied = true;
    std::optional<std::int64_t> key_value_heads{};  // divide `heads`; default: all of them
    DecoderMlp mlp = DecoderMlp::gelu;
    DecoderNorm norm = DecoderNorm::layer;
    DecoderPositions positions = DecoderPositions::learned;
    bool biases = true;
};

}  // namespace paceline
