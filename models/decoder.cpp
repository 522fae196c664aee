#include "models/decoder.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace paceline {

namespace {

std::int64_t key_value_width(const DecoderSizes& sizes) {
    return sizes.width / sizes.heads * sizes.key_value_heads.value_or(sizes.heads);
}

bool norm_has_bias(const DecoderSizes& sizes) {
    return sizes.norm == DecoderNorm::layer && sizes.biases;
}

ProfileLayer norm(std::string name, const DecoderSizes& sizes) {
    ProfileLayer layer{std::move(name), 0, {{"weight", {sizes.width}}}};
    if (norm_has_bias(sizes)) layer.tensors.push_back({"bias", {sizes.width}});
    return layer;
}

ProfileLayer dense(std::string name, std::int64_t inputs, std::int64_t outputs,
                   const DecoderSizes& sizes) {
    const double macs = static_cast<double>(sizes.context) * static_cast<double>(inputs) *
                        static_cast<double>(outputs);
    ProfileLayer layer{std::move(name), macs, {{"weight", {inputs, outputs}}}};
    if (sizes.biases) layer.tensors.push_back({"bias", {outputs}});
    return layer;
}

void add_mlp(Profile& profile, const DecoderSizes& sizes, const std::string& at) {
    const std::int64_t d = sizes.width;
    if (sizes.mlp == DecoderMlp::swiglu) {
        profile.layers.push_back(dense(at + "mlp.gate", d, sizes.inner, sizes));
        profile.layers.push_back(dense(at + "mlp.up", d, sizes.inner, sizes));
        profile.layers.push_back(dense(at + "mlp.down", sizes.inner, d, sizes));
        return;
    }
    profile.layers.push_back(dense(at + "mlp.c_fc", d, sizes.inner, sizes));
    profile.layers.push_back(dense(at + "mlp.c_proj", sizes.inner, d, sizes));
}

void add_layer(Profile& profile, const DecoderSizes& sizes, std::int64_t number) {
    const std::string at = "h." + std::to_string(number) + ".";
    const std::int64_t d = sizes.width;
    const auto tokens = static_cast<double>(sizes.context);
    const std::size_t first = profile.layers.size();
    profile.layers.push_back(norm(at + "ln_1", sizes));
    profile.layers.push_back(dense(at + "attn.c_attn", d, d + 2 * key_value_width(sizes), sizes));
    const std::size_t scores = profile.layers.size();
    profile.layers.push_back(
        {at + "attn.scores", 2 * tokens * tokens * static_cast<double>(d), {}});
    profile.layers.push_back(dense(at + "attn.c_proj", d, d, sizes));
    profile.layers.push_back(norm(at + "ln_2", sizes));
    add_mlp(profile, sizes, at);
    for (std::size_t i = first; i < profile.layers.size(); ++i)
        profile.layers[i].first_by = Recompute::full;
    profile.layers[scores].first_by = Recompute::selective;
}

}  // namespace

Profile decoder_profile(const DecoderSizes& sizes) {
    Profile profile;
    profile.name =
        "transformer " + std::to_string(sizes.layers) + " x " + std::to_string(sizes.width);
    profile.source = "sizes of the scenario";
    profile.sample = "sequence";
    profile.tokens = sizes.context;
    profile.decoder = sizes;
    const std::int64_t d = sizes.width;
    profile.layers.push_back({"wte", 0, {{"weight", {sizes.vocabulary, d}}}});
    if (sizes.positions == DecoderPositions::learned)
        profile.layers.push_back({"wpe", 0, {{"weight", {sizes.context, d}}}});
    for (std::int64_t number = 0; number < sizes.layers; ++number)
        add_layer(profile, sizes, number);
    profile.layers.push_back(norm("ln_f", sizes));
    ProfileLayer output = dense("lm_head", d, sizes.vocabulary, sizes);
    output.tensors.resize(sizes.tied ? 0 : 1);  // it has no bias
    profile.layers.push_back(std::move(output));
    return profile;
}

double parameters_of(const DecoderSizes& sizes) {
    const auto d = static_cast<double>(sizes.width);
    const auto f = static_cast<double>(sizes.inner);
    const auto keys = static_cast<double>(key_value_width(sizes));
    const double matrices_of_mlp = sizes.mlp == DecoderMlp::swiglu ? 3 : 2;
    const double vocabulary = static_cast<double>(sizes.vocabulary) * d;
    const double positions =
        sizes.positions == DecoderPositions::learned ? static_cast<double>(sizes.context) * d : 0;
    const double norm = norm_has_bias(sizes) ? 2 * d : d;
    const double matrices = 2 * d * (d + keys) + matrices_of_mlp * d * f;
    const double biases = sizes.biases ? 3 * d + 2 * keys + (matrices_of_mlp - 1) * f : 0;
    return (sizes.tied ? 1 : 2) * vocabulary + positions +
           static_cast<double>(sizes.layers) * (matrices + 2 * norm + biases) + norm;
}

}  // namespace paceline
