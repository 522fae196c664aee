#include "models/activations.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

double tokens_of(const DecoderSizes& sizes) {
    return static_cast<double>(sizes.context);
}

double width_of(const DecoderSizes& sizes) {
    return static_cast<double>(sizes.width);
}

// Bytes of a mask's entry; Llama's parts have no dropout.
double mask_of(const DecoderSizes& sizes) {
    return sizes.mlp == DecoderMlp::gelu ? 1 : 0;
}

double ends_of(const DecoderSizes& sizes, double w) {
    constexpr double fp32_bytes = 4;
    return tokens_of(sizes) * (width_of(sizes) * (mask_of(sizes) + 2 * w) +
                               fp32_bytes * static_cast<double>(sizes.vocabulary));
}

}  // namespace

LayerActivations layer_activations(const DecoderSizes& sizes, int bytes_of_number) {
    PACELINE_CHECK(bytes_of_number == 2 || bytes_of_number == 4, "a number has 16 or 32 bits");
    const double w = bytes_of_number;
    const double mask = mask_of(sizes);
    const double s = tokens_of(sizes);
    const double h = width_of(sizes);
    const auto f = static_cast<double>(sizes.inner);
    const auto heads = static_cast<double>(sizes.heads);
    const double g = static_cast<double>(sizes.key_value_heads.value_or(sizes.heads)) / heads;
    const bool is_gelu = sizes.mlp == DecoderMlp::gelu;
    const double core = heads * s * s * (is_gelu ? 2 * w + mask : w);
    const double attention = s * h * (w * (3 + 2 * g) + mask);
    const double feed_forward = s * (w * (h + (is_gelu ? 2 : 4) * f) + mask * h);
    const double norms = 2 * w * s * h;
    return {attention + core + feed_forward + norms, core};
}

double activation_bytes(const DecoderSizes& sizes, std::int64_t sequences, int bytes_of_number,
                        Recompute recompute) {
    const LayerActivations layer = layer_activations(sizes, bytes_of_number);
    const double w = bytes_of_number;
    const auto layers = static_cast<double>(sizes.layers);
    double kept = 0;
    switch (recompute) {
        case Recompute::none:
            kept = layers * layer.all;
            break;
        case Recompute::selective:
            kept = layers * (layer.all - layer.core) + layer.core;
            break;
        case Recompute::full:
            kept = layers * w * tokens_of(sizes) * width_of(sizes) + layer.all;
            break;
    }
    return static_cast<double>(sequences) * (kept + ends_of(sizes, w));
}

}  // namespace paceline
