#include "app/scenario/workload/decoder_sizes.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace paceline {

namespace {

constexpr auto decoder_key_table = std::to_array<std::string_view>(
    {"layers", "width", "heads", "key_value_heads", "vocabulary", "context", "inner", "tied", "mlp",
     "norm", "positions", "biases"});
constexpr auto mlps = std::to_array<Spelling<DecoderMlp>>(
    {{"gelu", DecoderMlp::gelu}, {"swiglu", DecoderMlp::swiglu}});
constexpr auto norms = std::to_array<Spelling<DecoderNorm>>(
    {{"layer", DecoderNorm::layer}, {"rms", DecoderNorm::rms}});
constexpr auto position_kinds = std::to_array<Spelling<DecoderPositions>>(
    {{"learned", DecoderPositions::learned}, {"rotary", DecoderPositions::rotary}});

constexpr std::int64_t most_decoder_entries = std::int64_t{1} << 50;

void read_heads(const ObjectReader& read, DecoderSizes& sizes) {
    const Place heads = read.required("heads", "such as 16");
    sizes.heads = as_integer(heads, 1, sizes.width);
    if (sizes.width % sizes.heads != 0)
        heads.refuse(fmt::format("{} heads do not divide the width, {}", sizes.heads, sizes.width));
    const auto groups = read.optional("key_value_heads");
    if (!groups) return;
    sizes.key_value_heads = as_integer(*groups, 1, sizes.heads);
    if (sizes.heads % *sizes.key_value_heads != 0)
        groups->refuse(
            fmt::format("{} key-value heads do not divide the {} heads, which share them equally",
                        *sizes.key_value_heads, sizes.heads));
}

void read_mlp(const ObjectReader& read, DecoderSizes& sizes) {
    if (const auto mlp = read.optional("mlp"))
        sizes.mlp = as_choice(*mlp, "a feed-forward part", mlps);
    constexpr std::int64_t most_inner = 100'000'000;
    sizes.inner = 4 * sizes.width;
    if (sizes.mlp == DecoderMlp::swiglu)
        sizes.inner =
            as_integer(read.required("inner",
                                     "the width of gate and up; Llama has about 8/3 of the width, "
                                     "such as 11008 of 4096"),
                       1, most_inner);
    else if (const auto inner = read.optional("inner"))
        sizes.inner = as_integer(*inner, 1, most_inner);
}

}  // namespace

Keys decoder_keys() {
    return decoder_key_table;
}

DecoderSizes read_decoder(const Place& place) {
    const ObjectReader read(place, decoder_key_table);
    DecoderSizes sizes;
    sizes.layers = as_integer(read.required("layers", "such as 24"), 1, 10'000);
    sizes.width =
        as_integer(read.required("width", "of a token's vector, such as 1024"), 1, 1'000'000);
    read_heads(read, sizes);
    sizes.vocabulary =
        as_integer(read.required("vocabulary", "tokens, such as 50304"), 1, 100'000'000);
    sizes.context =
        as_integer(read.required("context", "tokens of a sequence, such as 1024"), 1, 10'000'000);
    read_mlp(read, sizes);
    if (const auto tied = read.optional("tied")) sizes.tied = as_bool(*tied);
    if (const auto norm = read.optional("norm"))
        sizes.norm = as_choice(*norm, "a normalization", norms);
    if (const auto positions = read.optional("positions"))
        sizes.positions = as_choice(*positions, "a kind of positions", position_kinds);
    if (const auto biases = read.optional("biases")) sizes.biases = as_bool(*biases);
    if (parameters_of(sizes) > static_cast<double>(most_decoder_entries))
        place.refuse(fmt::format("a net has at most {} parameters", most_decoder_entries));
    return sizes;
}

}  // namespace paceline
